"""LoRAs in peft's and kohya's names, against the same change made to the weights by hand."""

import json
from math import sqrt

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.lora_files import LoraFolders
from spatialstudio.domain.errors import Cancelled, ModelNotFound, RequestError
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    RequestId,
    SamplingSettings,
    StepEvent,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import LoraUse
from tests.adapters.diffusion.conftest import card_of
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES, save_tiny_family
from tests.fakes import CountingToken, events_of, scene_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning"),  # diffusers 0.42, numpy 2
    pytest.mark.filterwarnings("ignore:`upcast_vae"),  # which its own pipeline calls
]

RANK = 2
ALPHA = 5.0
WEIGHT = 0.7
FAMILIES = ("StableDiffusionPipeline", "StableDiffusionXLPipeline", "FluxPipeline")
GUIDED = GuidanceSettings(method_id="psg", strength=20.0, last_step=1)


class Tiny:
    """A family with a folder of LoRAs, loaded once."""

    def __init__(self, family, folder):
        self.family = family
        self.folder = folder
        save_tiny_family(family, folder / "tiny")
        (folder / "loras").mkdir()
        self.backend = DiffusersBackend(folder / "archives", LoraFolders([folder]))
        self.card = card_of(folder / "tiny")
        self.plain = self.draw()
        self.layers = {
            name: module.weight.shape
            for name, module in self.denoiser.named_modules()
            if name.endswith((".to_q", ".to_v"))
        }

    @property
    def denoiser(self):
        return self.backend._loaded.denoiser

    def draw(self, *loras, token=None, **values):
        height, width = self.family.size
        request = GenerationRequest(
            id=RequestId("run"),
            scene=scene_of(),
            backend_id="diffusers",
            model=ModelRef(id="tiny"),
            sampling=SamplingSettings(seed=7, steps=2, loras=loras),
            height=height,
            width=width,
            capture=CaptureSettings(attention_every=1, preview_every=0),
        )
        return events_of(self.backend, with_values(request, **values), self.card, token)

    def save(self, name, weights, metadata=None):
        save_file(weights, self.folder / "loras" / f"{name}.safetensors", metadata)


@pytest.fixture(scope="module", params=FAMILIES)
def tiny(request, tmp_path_factory):
    (family,) = (each for each in TINY_FAMILIES if each.pipeline_class == request.param)
    return Tiny(family, tmp_path_factory.mktemp("tiny"))


def pairs_of(tiny):
    """A and B of every query and value layer of the denoiser."""
    torch.manual_seed(1)
    return {
        name: (0.3 * torch.randn(RANK, inside), 0.3 * torch.randn(outside, RANK))
        for name, (outside, inside) in tiny.layers.items()
    }


def in_names_of_peft(tiny, pairs):
    denoiser = (tiny.family.pipeline_class == "FluxPipeline" and "transformer") or "unet"
    named = {}
    for name, (down, up) in pairs.items():
        named[f"{denoiser}.{name}.lora_A.weight"] = down
        named[f"{denoiser}.{name}.lora_B.weight"] = up
        named[f"{denoiser}.{name}.alpha"] = torch.tensor(ALPHA)
    return named


def in_names_of_kohya(tiny, pairs):
    prefix = "lora_transformer" if tiny.family.pipeline_class == "FluxPipeline" else "lora_unet"
    named = {}
    for name, (down, up) in pairs.items():
        module = f"{prefix}_{name.replace('.', '_')}"
        named[f"{module}.lora_down.weight"] = down
        named[f"{module}.lora_up.weight"] = up
        named[f"{module}.alpha"] = torch.tensor(ALPHA)
    return named


def merged(tiny, pairs, scale):
    """What the model draws with the LoRA added to its weights."""
    before = {name: tiny.denoiser.get_submodule(name).weight.clone() for name in pairs}
    with torch.no_grad():
        for name, (down, up) in pairs.items():
            tiny.denoiser.get_submodule(name).weight.add_(scale * up @ down)
        drawn = tiny.draw()
        for name, weight in before.items():
            tiny.denoiser.get_submodule(name).weight.copy_(weight)
    return drawn


def picture(events):
    return events[-1].image.astype(int)


def pos(events):
    return [(step.pos, step.pos_after) for step in events if isinstance(step, StepEvent)]


@pytest.mark.parametrize("named", [in_names_of_peft, in_names_of_kohya])
def test_a_lora_changes_the_weights_by_w_alpha_over_r_b_a(tiny, named):
    pairs = pairs_of(tiny)
    tiny.save("mine", named(tiny, pairs))
    changed = tiny.draw(LoraUse(name="mine", weight=WEIGHT))
    expected = merged(tiny, pairs, WEIGHT * ALPHA / RANK)
    assert np.abs(picture(changed) - picture(expected)).max() <= 1
    assert np.abs(picture(changed) - picture(tiny.plain)).max() > 1
    assert changed[-1].setup.loras.keys() == {"mine"}
    again = tiny.draw()
    assert np.array_equal(picture(again), picture(tiny.plain))
    assert pos(again) == pos(tiny.plain)


def test_weight_0_is_no_lora(tiny):
    tiny.save("mine", in_names_of_peft(tiny, pairs_of(tiny)))
    drawn = tiny.draw(LoraUse(name="mine", weight=0.0))
    assert np.array_equal(picture(drawn), picture(tiny.plain))
    assert pos(drawn) == pos(tiny.plain)
    assert drawn[-1].setup.loras is None


def test_two_loras_add_up_and_the_estimate_counts_them(tiny):
    pairs = pairs_of(tiny)
    tiny.save("one", in_names_of_peft(tiny, pairs))
    tiny.save("two", in_names_of_kohya(tiny, pairs))
    both = tiny.draw(*(LoraUse(name=name, weight=WEIGHT / 2) for name in ("one", "two")))
    alone = tiny.draw(LoraUse(name="one", weight=WEIGHT))
    assert np.abs(picture(both) - picture(alone)).max() <= 1
    numbers = sum(down.numel() + up.numel() for down, up in pairs.values()) + len(pairs)
    more = both[0].memory.weights_bytes - tiny.plain[0].memory.weights_bytes
    assert more == 2 * 4 * numbers


def test_guidance_works_with_a_lora(tiny):
    tiny.save("mine", in_names_of_peft(tiny, pairs_of(tiny)))
    guided = tiny.draw(LoraUse(name="mine", weight=0.1), guidance=GUIDED)
    steps = [step for step in guided if isinstance(step, StepEvent)]
    assert all(np.isfinite(step.guidance_loss) for step in steps)
    assert not np.array_equal(picture(guided), picture(tiny.draw(LoraUse(name="mine", weight=0.1))))


def test_a_cancelled_run_takes_its_loras_off(tiny):
    tiny.save("mine", in_names_of_peft(tiny, pairs_of(tiny)))
    with pytest.raises(Cancelled):
        tiny.draw(LoraUse(name="mine"), token=CountingToken(4))
    assert np.array_equal(picture(tiny.draw()), picture(tiny.plain))


def of_sd_1():
    module = "unet.down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k"
    return {f"{module}.lora_A.weight": (4, 768), f"{module}.lora_B.weight": (320, 4)}


def of_sdxl():
    module = "lora_unet_down_blocks_1_attentions_0_transformer_blocks_0_attn2_to_k"
    return {f"{module}.lora_down.weight": (4, 2048), f"{module}.lora_up.weight": (640, 4)}


def of_flux():
    module = "transformer.single_transformer_blocks.0.attn.to_q"
    return {f"{module}.lora_A.weight": (4, 3072), f"{module}.lora_B.weight": (3072, 4)}


OTHERS = {
    "StableDiffusionPipeline": (of_sdxl, "Stable Diffusion XL"),
    "StableDiffusionXLPipeline": (of_flux, "FLUX.1"),
    "FluxPipeline": (of_sd_1, "Stable Diffusion 1.5"),
}


def test_a_lora_of_another_family_is_named(tiny):
    shapes, family = OTHERS[tiny.family.pipeline_class]
    tiny.save("other", {name: torch.zeros(shape) for name, shape in shapes().items()})
    for weight in (0.0, 1.0):
        with pytest.raises(RequestError, match=f"trained for {family}"):
            tiny.draw(LoraUse(name="other", weight=weight))


def test_layers_of_other_sizes_are_refused(tiny):
    name, (outside, inside) = next(iter(tiny.layers.items()))
    pairs = {name: (torch.zeros(RANK, inside + 1), torch.zeros(outside, RANK))}
    tiny.save("wide", in_names_of_peft(tiny, pairs))
    with pytest.raises(RequestError, match="does not fit the model: 1 of its 2"):
        tiny.draw(LoraUse(name="wide"))
    assert np.array_equal(picture(tiny.draw()), picture(tiny.plain))


def test_an_unknown_lora_is_named(tiny):
    with pytest.raises(ModelNotFound, match='no LoRA "nothing"'):
        tiny.draw(LoraUse(name="nothing", weight=0.5))


def test_alpha_is_read_from_the_configuration_of_peft(tiny):
    pairs = pairs_of(tiny)
    weights = in_names_of_peft(tiny, pairs)
    without = {name: value for name, value in weights.items() if not name.endswith("alpha")}
    component = next(iter(weights)).partition(".")[0]
    stated = {f"{component}.lora_alpha": 4, f"{component}.use_rslora": True}
    tiny.save("stated", without, {"lora_adapter_metadata": json.dumps(stated)})
    changed = tiny.draw(LoraUse(name="stated", weight=0.1))
    expected = merged(tiny, pairs, 0.1 * 4 / sqrt(RANK))
    assert np.abs(picture(changed) - picture(expected)).max() <= 1


def test_kohyas_own_names_of_flux_are_split_into_queries_keys_and_values(tmp_path):
    (family,) = (each for each in TINY_FAMILIES if each.pipeline_class == "FluxPipeline")
    tiny = Tiny(family, tmp_path)
    attention = tiny.denoiser.transformer_blocks[0].attn
    layers = (attention.to_q, attention.to_k, attention.to_v)
    width = attention.to_q.weight.shape[0]
    torch.manual_seed(0)
    down, up = 0.3 * torch.randn(RANK, width), 0.3 * torch.randn(len(layers) * width, RANK)
    module = "lora_unet_double_blocks_0_img_attn_qkv"
    weights = {f"{module}.lora_down.weight": down, f"{module}.lora_up.weight": up}
    tiny.save("own", weights | {f"{module}.alpha": torch.tensor(ALPHA)})
    changed = tiny.draw(LoraUse(name="own", weight=WEIGHT))
    with torch.no_grad():
        for layer, part in zip(layers, up.split(width), strict=True):
            layer.weight.add_(WEIGHT * ALPHA / RANK * part @ down)
    assert np.abs(picture(changed) - picture(tiny.draw())).max() <= 1
    assert np.abs(picture(changed) - picture(tiny.plain)).max() > 1
