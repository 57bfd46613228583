"""Families that are too large to be drawn here: full layouts are listed, with their memory."""

import json

import diffusers
import pytest
import torch
import transformers

from spatialstudio.adapters.diffusion.families import FAMILIES
from spatialstudio.adapters.diffusion.load_pipeline import LoadedPipeline
from spatialstudio.adapters.diffusion.memory_estimate import estimate_memory
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.adapters.models.pipeline_classes import import_pipeline
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.tiny_tokenizers import tiny_clip_tokenizer, tiny_t5_tokenizer
from tests.sparse_weights import write_sparse

CLIP_L = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12}
CLIP_G = {"hidden_size": 1280, "intermediate_size": 5120, "num_attention_heads": 20}
T5_XXL = {"d_model": 4096, "d_ff": 10240, "num_layers": 24, "num_heads": 64, "d_kv": 64}


def clip(kind, layers, **sizes):
    config = transformers.CLIPTextConfig(vocab_size=49408, num_hidden_layers=layers, **sizes)
    return getattr(transformers, kind)(config)


def t5():
    config = transformers.T5Config(
        vocab_size=32128, feed_forward_proj="gated-gelu", tie_word_embeddings=False, **T5_XXL
    )
    return transformers.T5EncoderModel(config)


def autoencoder():
    return diffusers.AutoencoderKL(
        latent_channels=16,
        block_out_channels=(128, 256, 512, 512),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=2,
        shift_factor=0.1,
        use_quant_conv=False,
        use_post_quant_conv=False,
    )


def flux():
    return {
        "transformer": diffusers.FluxTransformer2DModel(guidance_embeds=True),
        "vae": autoencoder(),
        "text_encoder": clip("CLIPTextModel", 12, **CLIP_L),
        "text_encoder_2": t5(),
    }, {"tokenizer": tiny_clip_tokenizer(), "tokenizer_2": tiny_t5_tokenizer()}


def sd35_large():
    transformer = diffusers.SD3Transformer2DModel(
        sample_size=128,
        in_channels=16,
        num_layers=38,
        num_attention_heads=38,
        attention_head_dim=64,
        caption_projection_dim=2432,
        joint_attention_dim=4096,
        pooled_projection_dim=2048,
        pos_embed_max_size=192,
        qk_norm="rms_norm",
    )
    projected = "CLIPTextModelWithProjection"
    clips = {name: tiny_clip_tokenizer() for name in ("tokenizer", "tokenizer_2")}
    return {
        "transformer": transformer,
        "vae": autoencoder(),
        "text_encoder": clip(projected, 12, projection_dim=768, **CLIP_L),
        "text_encoder_2": clip(projected, 32, projection_dim=1280, **CLIP_G),
        "text_encoder_3": t5(),
    }, clips | {"tokenizer_3": tiny_t5_tokenizer()}


PUBLISHED_SIZES = {"FluxPipeline": 11_901_408_320, "StableDiffusion3Pipeline": 8_056_627_520}
"""Parameters of the transformers of FLUX.1 dev and Stable Diffusion 3.5 Large."""


@pytest.mark.parametrize(
    ("pipeline_class", "build"),
    [("FluxPipeline", flux), ("StableDiffusion3Pipeline", sd35_large)],
    ids=["FLUX.1", "SD 3.5 Large"],
)
def test_a_full_layout_is_listed_with_the_memory_that_it_needs(
    pipeline_class, build, tmp_path, tiny_request
):
    with torch.device("meta"):
        parts, tokenizers = build()
    for part in parts.values():
        part.to(torch.bfloat16)
    write_folder(tmp_path / "large", pipeline_class, parts)
    card = read_card(tmp_path / "large")
    assert sum(weight.numel() for weight in parts["transformer"].parameters()) == pytest.approx(
        PUBLISHED_SIZES[pipeline_class], rel=0.02
    )
    scheduler = diffusers.FlowMatchEulerDiscreteScheduler()
    pipeline = import_pipeline(pipeline_class)(**parts, **tokenizers, scheduler=scheduler)
    loaded = LoadedPipeline(
        pipeline, FAMILIES[pipeline_class], card.folder, torch.device("cuda"), scheduler, None
    )
    request = with_values(tiny_request, height=1024, width=1024, dtype="bfloat16")
    estimate = estimate_memory(loaded, request)
    assert (card.pipeline_class, card.native_size) == (pipeline_class, 1024)
    assert estimate.weights_bytes == pytest.approx(card.size_bytes, rel=0.01)
    waiting = estimate_memory(loaded, with_values(request, savings=(Saving.OFFLOAD,)))
    assert waiting.weights_bytes == max(loaded.part_sizes)
    assert sum(file.stat().st_blocks for file in tmp_path.rglob("*.safetensors")) < 10_000


def write_folder(folder, pipeline_class, parts):
    index = {"_class_name": pipeline_class}
    for name, part in parts.items():
        (folder / name).mkdir(parents=True)
        is_diffusers = isinstance(part, diffusers.ModelMixin)
        (part.save_config if is_diffusers else part.config.save_pretrained)(folder / name)
        layout = {
            key: ("BF16", tuple(weight.shape))
            for key, weight in part.state_dict().items()
            if key != "encoder.embed_tokens.weight"  # T5 stores it once, as shared.weight
        }
        write_sparse(folder / name / "model.safetensors", layout)
        index[name] = [type(part).__module__.split(".")[0], type(part).__name__]
    (folder / "model_index.json").write_text(json.dumps(index), encoding="utf-8")
