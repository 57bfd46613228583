"""The estimate of memory beside what tensors take, for every family, tiny and of published size."""

from dataclasses import replace
from types import SimpleNamespace

import diffusers
import pytest
import torch
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode

from spatialstudio.adapters.diffusion.attention_reader import AttentionReader
from spatialstudio.adapters.diffusion.families import FAMILIES
from spatialstudio.adapters.diffusion.guidance_hook import Guidance, GuidanceHook
from spatialstudio.adapters.diffusion.load_pipeline import LoadedPipeline, load_pipeline
from spatialstudio.adapters.diffusion.memory_estimate import encoding_bytes, estimate_memory
from spatialstudio.adapters.diffusion.pipeline_arguments import pipeline_arguments
from spatialstudio.adapters.diffusion.token_spans import in_denoiser, token_spans
from spatialstudio.domain.generation import CaptureSettings, GuidanceSettings
from spatialstudio.domain.run_settings import with_values
from spatialstudio.science.guidance.losses import PsgLoss
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from tests.adapters.diffusion.drawn_families import card_of
from tests.adapters.diffusion.held_tensors import HeldTensors, held_bytes
from tests.fakes import CountingToken

pytestmark = pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning")

SIDE = 128
LOWEST, HIGHEST = 0.8, 1.5
GUIDED = GuidanceSettings(method_id="psg", strength=1.0)
SILENT = CaptureSettings(attention_every=0, preview_every=0)


@pytest.fixture(scope="module", params=FAMILIES)
def model(request, tiny_folder):
    return load_pipeline(card_of(tiny_folder(request.param)), torch.device("cpu"))


def taken_bytes(loaded, request):
    """Count the most that the tensors of a whole run hold beside the weights."""
    scene, streams = request.scene, loaded.streams
    spans = in_denoiser(streams, token_spans(streams, scene.prompt.text, scene.mentions))
    reader = AttentionReader(
        loaded.guiding_layers, spans, scene.relations, smooths_maps=loaded.family.smooths_maps
    )
    schedule = GuidanceSchedule(request.sampling.guidance, request.sampling.steps)
    is_guided = request.sampling.guidance is GUIDED
    guidance = Guidance(loss=PsgLoss(), schedule=schedule) if is_guided else None
    hook = GuidanceHook(reader if is_guided else None, guidance, CountingToken(), lambda *_: None)
    loaded.set_scheduler("")
    arguments = pipeline_arguments(loaded, request)
    weights = [each for part in loaded.modules for each in (*part.parameters(), *part.buffers())]
    attached = hook.attached(loaded.denoiser, loaded.pipeline.scheduler, loaded.family.calls)
    with attached, HeldTensors(weights) as held:
        loaded.pipeline(**arguments)
    return held.most


@pytest.mark.parametrize("guidance", [GuidanceSettings(), GUIDED], ids=["plain", "guided"])
def test_what_is_told_of_a_tiny_model_is_near_what_it_takes(model, tiny_request, guidance):
    request = with_values(
        tiny_request, steps=1, width=SIDE, height=SIDE, guidance=guidance, capture=SILENT
    )
    told = estimate_memory(model, request)
    share = (told.peak_bytes - told.weights_bytes) / taken_bytes(model, request)
    assert LOWEST < share < HIGHEST


def test_an_autoencoder_that_decodes_in_full_precision_is_told_so(model, tiny_request):
    told = {
        dtype: estimate_memory(model, with_values(tiny_request, dtype=dtype)).decoding_bytes
        for dtype in ("float32", "bfloat16", "float16")
    }
    is_upcast = model.family.pipeline_class == "StableDiffusionXLPipeline"
    assert told["bfloat16"] < told["float32"]
    assert told["float16"] == told["float32" if is_upcast else "bfloat16"]


def t5():
    config = {"d_model": 4096, "d_kv": 64, "d_ff": 10240, "num_heads": 64, "num_layers": 6}
    return transformers.T5EncoderModel(
        transformers.T5Config(feed_forward_proj="gated-gelu", **config)
    )


def gemma():
    return transformers.Gemma2Model(transformers.Gemma2Config(num_hidden_layers=6))


def qwen():
    config = {"hidden_size": 2560, "intermediate_size": 9728, "num_key_value_heads": 8}
    return transformers.Qwen3ForCausalLM(transformers.Qwen3Config(num_hidden_layers=6, **config))


@pytest.mark.parametrize(
    ("make", "words", "settings"),
    [
        (t5, 120, {}),
        (t5, 512, {}),
        (gemma, 600, {}),
        (gemma, 256, {"output_hidden_states": True}),
        (qwen, 512, {"output_hidden_states": True}),
    ],
    ids=["T5, 120 words", "T5, 512 words", "Gemma", "Gemma, all layers", "Qwen"],
)
def test_what_is_told_of_a_published_text_encoder_is_near_what_it_takes(make, words, settings):
    stream = SimpleNamespace(encoder_id="encoder", limit=words, keeps_layers=bool(settings))
    with FakeTensorMode():
        encoder = make().eval()
        ids = torch.ones(1, words, dtype=torch.long)
        taken = held_bytes(encoder, ids, attention_mask=torch.ones_like(ids), **settings)
    loaded = SimpleNamespace(pipeline=SimpleNamespace(encoder=encoder), streams=[stream])
    assert LOWEST < encoding_bytes(loaded, 4) / taken < HIGHEST


ROWS = 2
LATENT = 64
PATCHES = (LATENT // 2) ** 2
TEXT = 256


def words_of(rows, width):
    return torch.empty(rows, TEXT, width)


def pixart():
    sizes = {"num_attention_heads": 16, "attention_head_dim": 72, "cross_attention_dim": 1152}
    denoiser = diffusers.PixArtTransformer2DModel(
        **sizes, num_layers=3, caption_channels=4096, use_additional_conditions=False
    )
    return denoiser, {
        "hidden_states": torch.empty(ROWS, 4, LATENT, LATENT),
        "encoder_hidden_states": words_of(ROWS, 4096),
        "timestep": torch.zeros(ROWS),
        "added_cond_kwargs": {"resolution": None, "aspect_ratio": None},
    }


def sd3():
    sizes = {"num_attention_heads": 24, "caption_projection_dim": 1536}
    denoiser = diffusers.SD3Transformer2DModel(
        **sizes, num_layers=3, joint_attention_dim=4096, pos_embed_max_size=96
    )
    return denoiser, {
        "hidden_states": torch.empty(ROWS, 16, LATENT, LATENT),
        "encoder_hidden_states": words_of(ROWS, 4096),
        "pooled_projections": torch.empty(ROWS, 2048),
        "timestep": torch.zeros(ROWS),
    }


def flux():
    denoiser = diffusers.FluxTransformer2DModel(num_layers=2, num_single_layers=2)
    return denoiser, {
        "hidden_states": torch.empty(1, PATCHES, 64),
        "encoder_hidden_states": words_of(1, 4096),
        "pooled_projections": torch.empty(1, 768),
        "timestep": torch.zeros(1),
        "img_ids": torch.zeros(PATCHES, 3),
        "txt_ids": torch.zeros(TEXT, 3),
    }


def sana():
    denoiser = diffusers.SanaTransformer2DModel(num_layers=3)
    return denoiser, {
        "hidden_states": torch.empty(ROWS, 32, LATENT // 2, LATENT // 2),
        "encoder_hidden_states": words_of(ROWS, 2304),
        "timestep": torch.zeros(ROWS),
    }


def qwen_image():
    side = LATENT // 2
    return diffusers.QwenImageTransformer2DModel(num_layers=3), {
        "hidden_states": torch.empty(1, PATCHES, 64),
        "encoder_hidden_states": words_of(1, 3584),
        "encoder_hidden_states_mask": torch.ones(1, TEXT, dtype=torch.bool),
        "timestep": torch.zeros(1),
        "img_shapes": [[(1, side, side)]],
    }


def z_image():
    return diffusers.ZImageTransformer2DModel(n_layers=3), {
        "x": [torch.empty(16, 1, LATENT, LATENT)] * ROWS,
        "t": torch.zeros(ROWS),
        "cap_feats": [torch.empty(TEXT, 2560)] * ROWS,
    }


class WholeText:
    """A mask over text of which all counts; fake tensors could not say how much that is."""

    shape = (1, TEXT)

    def sum(self, dim):
        return SimpleNamespace(tolist=lambda: [TEXT])

    def bool(self):
        return torch.ones(self.shape, dtype=torch.bool)


def lumina2():
    denoiser = diffusers.Lumina2Transformer2DModel(num_layers=3, cap_feat_dim=2304)
    return denoiser, {
        "hidden_states": torch.empty(1, 16, LATENT, LATENT),
        "encoder_hidden_states": words_of(1, 2304),
        "encoder_attention_mask": WholeText(),
        "timestep": torch.zeros(1),
    }


def flux2_klein():
    sizes = {"num_attention_heads": 24, "attention_head_dim": 128, "joint_attention_dim": 7680}
    denoiser = diffusers.Flux2Transformer2DModel(
        **sizes, num_layers=2, num_single_layers=2, guidance_embeds=False
    )
    return denoiser, {
        "hidden_states": torch.empty(1, PATCHES, 128),
        "encoder_hidden_states": words_of(1, 7680),
        "timestep": torch.zeros(1),
        "img_ids": torch.zeros(PATCHES, 4),
        "txt_ids": torch.zeros(TEXT, 4),
    }


LARGE = {
    "PixArtSigmaPipeline": (pixart, 8),
    "StableDiffusion3Pipeline": (sd3, 8),
    "FluxPipeline": (flux, 8),
    "SanaPipeline": (sana, 16),
    "QwenImagePipeline": (qwen_image, 8),
    "ZImagePipeline": (z_image, 8),
    "Lumina2Pipeline": (lumina2, 8),
    "Flux2KleinPipeline": (flux2_klein, 8),
}


NOTHING_TO_READ = SimpleNamespace(
    config=transformers.CLIPTextConfig(), get_output_embeddings=lambda: None
)


class Published(LoadedPipeline):
    """A model of which there is but the denoiser."""

    @property
    def part_sizes(self):
        return (0,)

    @property
    def streams(self):
        settings = {"encoder_id": "text_encoder", "limit": TEXT, "keeps_layers": False}
        return (SimpleNamespace(first=0, length=lambda _: TEXT, **settings),)


@pytest.mark.parametrize("name", LARGE)
def test_what_is_told_of_a_published_denoiser_is_near_what_a_pass_takes(name, tiny_request):
    make, pixels = LARGE[name]
    with FakeTensorMode(allow_non_fake_inputs=True):
        denoiser, arguments = make()
        taken = held_bytes(denoiser.requires_grad_(False).eval(), **arguments)
    pipeline = SimpleNamespace(
        transformer=denoiser,
        text_encoder=NOTHING_TO_READ,
        vae=SimpleNamespace(decoder=torch.nn.Identity()),
        vae_scale_factor=pixels,
    )
    loaded = Published(pipeline, FAMILIES[name], None, torch.device("cpu"), None, None)
    side = 8 * LATENT
    request = replace(tiny_request, width=side, height=side, capture=SILENT)
    assert LOWEST < estimate_memory(loaded, request).denoising_bytes / taken < HIGHEST
