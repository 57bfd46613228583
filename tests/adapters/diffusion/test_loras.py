"""LoRAs in peft's and kohya's names, against the same change made to the weights by hand."""

import json
from math import sqrt

import diffusers
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.lora_files import LoraFolders
from spatialstudio.domain.errors import BackendError, Cancelled, ModelNotFound, RequestError
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
from tests.adapters.diffusion.drawn_families import card_of
from tests.adapters.diffusion.tiny_families import (
    HALF,
    TINY_FAMILIES,
    WIDTH,
    TinyFamily,
    flux,
    save_tiny_family,
)
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

    def __init__(self, family, model, folder):
        self.family = family
        self.folder = folder
        (folder / "loras").mkdir()
        self.backend = DiffusersBackend(folder / "archives", LoraFolders([folder]))
        self.card = card_of(model)
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


@pytest.fixture(scope="module")
def make_tiny(tiny_folder, tmp_path_factory):
    def make(pipeline_class):
        (family,) = (each for each in TINY_FAMILIES if each.pipeline_class == pipeline_class)
        return Tiny(family, tiny_folder(pipeline_class), tmp_path_factory.mktemp("tiny"))

    return make


@pytest.fixture(scope="module", params=FAMILIES)
def tiny(request, make_tiny):
    return make_tiny(request.param)


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


def test_kohyas_own_names_of_flux_are_split_into_queries_keys_and_values(make_tiny):
    tiny = make_tiny("FluxPipeline")
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


@pytest.fixture(scope="module")
def tiny_sdxl(make_tiny):
    return make_tiny("StableDiffusionXLPipeline")


def in_names_of_stability(name, blocks):
    """Return kohya's name of a layer of SDXL's UNet by the names of its original code."""
    place, _, rest = name.partition(".attentions.")
    number, _, layer = rest.partition(".")
    kind, _, level = place.partition(".")
    if kind == "mid_block":
        block = "middle_block_1"
    elif kind == "down_blocks":
        block = f"input_blocks_{int(level) * (blocks + 1) + int(number) + 1}_1"
    else:
        block = f"output_blocks_{int(level) * (blocks + 1) + int(number)}_1"
    return f"lora_unet_{block}_{layer.replace('.', '_')}"


def test_the_original_names_of_sdxl_are_read(tiny_sdxl):
    pairs = pairs_of(tiny_sdxl)
    blocks = tiny_sdxl.denoiser.config.layers_per_block
    weights = {}
    for name, (down, up) in pairs.items():
        module = in_names_of_stability(name, blocks)
        weights[f"{module}.lora_down.weight"] = down
        weights[f"{module}.lora_up.weight"] = up
        weights[f"{module}.alpha"] = torch.tensor(ALPHA)
    tiny_sdxl.save("original", weights)
    changed = tiny_sdxl.draw(LoraUse(name="original", weight=WEIGHT))
    expected = merged(tiny_sdxl, pairs, WEIGHT * ALPHA / RANK)
    assert np.abs(picture(changed) - picture(expected)).max() <= 1
    assert np.abs(picture(changed) - picture(tiny_sdxl.plain)).max() > 1
    unused = tiny_sdxl.draw(LoraUse(name="original", weight=0.0))
    assert np.array_equal(picture(unused), picture(tiny_sdxl.plain))


def wide_flux():
    """Return FLUX with one single block of the published width, which diffusers expects."""
    transformer = diffusers.FluxTransformer2DModel(
        in_channels=16,
        num_layers=0,
        num_single_layers=1,
        joint_attention_dim=WIDTH,
        pooled_projection_dim=HALF,
        guidance_embeds=True,
    )
    return flux() | {"transformer": transformer}


@pytest.mark.slow
def test_single_blocks_of_flux_in_kohyas_names_are_split(tmp_path):
    family = TinyFamily("FluxPipeline", wide_flux, (64, 64), (64, 64))
    save_tiny_family(family, tmp_path / "tiny")
    tiny_flux = Tiny(family, tmp_path / "tiny", tmp_path)
    block = tiny_flux.denoiser.single_transformer_blocks[0]
    layers = (block.attn.to_q, block.attn.to_k, block.attn.to_v, block.proj_mlp)
    width, sizes = block.attn.to_q.weight.shape[1], [each.weight.shape[0] for each in layers]
    torch.manual_seed(0)
    down, up = 0.3 * torch.randn(RANK, width), 0.3 * torch.randn(sum(sizes), RANK)
    module = "lora_unet_single_blocks_0_linear1"
    weights = {f"{module}.lora_down.weight": down, f"{module}.lora_up.weight": up}
    tiny_flux.save("single", weights | {f"{module}.alpha": torch.tensor(ALPHA)})
    changed = tiny_flux.draw(LoraUse(name="single", weight=WEIGHT))
    kept = [layer.weight.clone() for layer in layers]
    with torch.no_grad():
        for layer, part in zip(layers, up.split(sizes), strict=True):
            layer.weight.add_(WEIGHT * ALPHA / RANK * part @ down)
        expected = tiny_flux.draw()
        for layer, weight in zip(layers, kept, strict=True):
            layer.weight.copy_(weight)
    assert np.abs(picture(changed) - picture(expected)).max() <= 1
    assert np.abs(picture(changed) - picture(tiny_flux.plain)).max() > 1


TEXT_LAYERS = [
    *(f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj", "out_proj")),
    *("mlp.fc1", "mlp.fc2"),
]
"""Layers of a text encoder that kohya's scripts train, as of the first block."""


@pytest.mark.parametrize("encoder", ["text_encoder", "text_encoder_2"])
@pytest.mark.parametrize("is_kohya", [True, False], ids=["kohya", "peft"])
@pytest.mark.parametrize(
    "layers", [TEXT_LAYERS, TEXT_LAYERS[:3], TEXT_LAYERS[4:5]], ids=["all", "q, k, v", "fc1"]
)
def test_layers_of_the_text_encoders_are_changed(tiny_sdxl, encoder, is_kohya, layers):
    own = getattr(tiny_sdxl.backend._loaded.pipeline, encoder)
    modules = {path.removeprefix("text_model."): part for path, part in own.named_modules()}
    torch.manual_seed(2)
    weights, added = {}, {}
    for name in (f"encoder.layers.0.{each}" for each in layers):
        layer = modules[name]
        down, up = torch.randn(RANK, layer.in_features), torch.randn(layer.out_features, RANK)
        module = f"{encoder}.text_model.{name}"
        if is_kohya:
            place = "lora_te1" if encoder == "text_encoder" else "lora_te2"
            module = f"{place}_text_model_{name.replace('.', '_')}"
        names = ("lora_down", "lora_up") if is_kohya else ("lora_A", "lora_B")
        weights |= {f"{module}.{names[0]}.weight": down, f"{module}.{names[1]}.weight": up}
        weights[f"{module}.alpha"] = torch.tensor(ALPHA)
        added[layer] = WEIGHT * ALPHA / RANK * up @ down
    tiny_sdxl.save("words", weights)
    changed = tiny_sdxl.draw(LoraUse(name="words", weight=WEIGHT))
    expected = drawn_with_merged(tiny_sdxl, added)
    assert np.abs(picture(changed) - picture(expected)).max() <= 1
    assert not np.array_equal(picture(changed), picture(tiny_sdxl.plain))
    assert np.array_equal(picture(tiny_sdxl.draw()), picture(tiny_sdxl.plain))


def drawn_with_merged(model, added):
    """Draw with the products of a LoRA added to the weights of its layers, and restore them."""
    kept = {layer: layer.weight.clone() for layer in added}
    with torch.no_grad():
        for layer, more in added.items():
            layer.weight.add_(more)
        drawn = model.draw()
        for layer, weight in kept.items():
            layer.weight.copy_(weight)
    return drawn


def linear_and_convolutions(denoiser):
    """Return a layer of each kind that programs train, by name."""
    kinds = ("attn1.to_q", "attn2.to_out.0", "ff.net.0.proj", "proj_in", "conv1", "time_emb_proj")
    kinds += ("conv_shortcut", "downsamplers.0.conv", "upsamplers.0.conv")
    found = {}
    for kind in kinds:
        name = next(name for name, _ in denoiser.named_modules() if name.endswith(kind))
        found[name] = denoiser.get_submodule(name)
    return found


@pytest.mark.parametrize(
    ("dtype", "alpha"),
    [
        (torch.float32, None),
        (torch.bfloat16, 3.0),
        (torch.float16, 3.0),
        (torch.float8_e4m3fn, 3.0),
    ],
    ids=["no alpha", "bfloat16", "float16", "float8"],
)
def test_convolutions_ranks_and_number_formats_are_read(tiny_sdxl, dtype, alpha):
    torch.manual_seed(4)
    weights, added = {}, {}
    for rank, (name, layer) in enumerate(linear_and_convolutions(tiny_sdxl.denoiser).items(), 1):
        outside, inside, *kernel = layer.weight.shape
        down = (0.3 * torch.randn(rank, inside, *kernel)).to(dtype)
        up = (0.3 * torch.randn(outside, rank, *[1 for _ in kernel])).to(dtype)
        module = f"lora_unet_{name.replace('.', '_')}"
        weights |= {f"{module}.lora_down.weight": down, f"{module}.lora_up.weight": up}
        if alpha is not None:
            weights[f"{module}.alpha"] = torch.tensor(alpha)
        product = up.float().flatten(1) @ down.float().flatten(1)
        scale = 1 if alpha is None else alpha / rank
        added[layer] = (WEIGHT * scale * product).reshape(layer.weight.shape)
    tiny_sdxl.save("layers", weights)
    changed = tiny_sdxl.draw(LoraUse(name="layers", weight=WEIGHT))
    expected = drawn_with_merged(tiny_sdxl, added)
    assert np.abs(picture(changed) - picture(expected)).max() <= 1
    assert np.abs(picture(changed) - picture(tiny_sdxl.plain)).max() > 1
    assert np.array_equal(picture(tiny_sdxl.draw()), picture(tiny_sdxl.plain))


@pytest.mark.parametrize("axes", [0, 2], ids=["matrices", "kernels"])
def test_projections_are_read_as_matrices_and_as_kernels(tiny_sdxl, axes):
    name = next(n for n, _ in tiny_sdxl.denoiser.named_modules() if n.endswith("proj_in"))
    layer = tiny_sdxl.denoiser.get_submodule(name)
    outside, inside = layer.weight.shape[:2]
    torch.manual_seed(5)
    down, up = torch.randn(RANK, inside), torch.randn(outside, RANK)
    ones = [1] * axes
    module = f"lora_unet_{name.replace('.', '_')}"
    weights = {
        f"{module}.lora_down.weight": down.reshape(RANK, inside, *ones),
        f"{module}.lora_up.weight": up.reshape(outside, RANK, *ones),
    }
    tiny_sdxl.save("projection", weights)
    changed = tiny_sdxl.draw(LoraUse(name="projection", weight=WEIGHT))
    kept = layer.weight.clone()
    with torch.no_grad():
        layer.weight.add_((WEIGHT * up @ down).reshape(layer.weight.shape))
        expected = tiny_sdxl.draw()
        layer.weight.copy_(kept)
    assert np.abs(picture(changed) - picture(expected)).max() <= 1
    assert np.abs(picture(changed) - picture(tiny_sdxl.plain)).max() > 1


def test_kernels_of_another_size_do_not_fit(tiny_sdxl):
    layer = "lora_unet_down_blocks_0_resnets_0_conv1"
    outside, inside, *_ = tiny_sdxl.denoiser.down_blocks[0].resnets[0].conv1.weight.shape
    weights = {
        f"{layer}.lora_down.weight": torch.zeros(RANK, inside, 1, 1),
        f"{layer}.lora_up.weight": torch.zeros(outside, RANK, 1, 1),
    }
    tiny_sdxl.save("kernel", weights)
    with pytest.raises(RequestError, match="does not fit the model: 1 of its 2"):
        tiny_sdxl.draw(LoraUse(name="kernel"))


@pytest.mark.parametrize("place", ["lora_down.weight", "alpha"])
def test_invalid_numbers_are_named(tiny_sdxl, place):
    weights = in_names_of_kohya(tiny_sdxl, pairs_of(tiny_sdxl))
    name = next(each for each in weights if each.endswith(place))
    weights[name] = weights[name] * float("nan")
    tiny_sdxl.save("nan", weights)
    with pytest.raises(BackendError, match='LoRA "nan" contains invalid numbers'):
        tiny_sdxl.draw(LoraUse(name="nan"))
    assert np.array_equal(picture(tiny_sdxl.draw()), picture(tiny_sdxl.plain))
