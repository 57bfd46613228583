"""Models of the published sizes on the meta device, written with sparse or with random weights.

A reduced copy has the widths of the published model and few layers, and draws on any machine.
"""

import json
import math
from dataclasses import dataclass

import diffusers
import torch
import transformers

from tests.adapters.diffusion.tiny_tokenizers import (
    tiny_clip_tokenizer,
    tiny_gemma_tokenizer,
    tiny_qwen_tokenizer,
    tiny_t5_tokenizer,
)
from tests.sparse_weights import write_sparse

REDUCED = 2
"""Layers of each stack in a reduced copy."""

FLUX2_LEAST = 4
"""Layers of a text encoder of which FLUX.2 reads three."""


@dataclass(frozen=True)
class FullFamily:
    """A published model: ``build`` takes the largest number of layers of each stack."""

    pipeline_class: str
    billions: float
    """Parameters of the denoiser as its makers state them."""
    build: object


def clip(kind, layers, **sizes):
    config = transformers.CLIPTextConfig(vocab_size=49408, num_hidden_layers=layers, **sizes)
    return getattr(transformers, kind)(config)


def clips(most, kind="CLIPTextModelWithProjection"):
    large = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12}
    big = {"hidden_size": 1280, "intermediate_size": 5120, "num_attention_heads": 20}
    return {
        "tokenizer": tiny_clip_tokenizer(),
        "tokenizer_2": tiny_clip_tokenizer(),
        "text_encoder": clip(kind, min(12, most), projection_dim=768, **large),
        "text_encoder_2": clip(kind, min(32, most), projection_dim=1280, **big),
    }


def t5(most):
    sizes = {"d_model": 4096, "d_ff": 10240, "num_heads": 64, "d_kv": 64}
    config = transformers.T5Config(
        vocab_size=32128,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        num_layers=min(24, most),
        **sizes,
    )
    return transformers.T5EncoderModel(config)


def gemma(most):
    config = transformers.Gemma2Config(num_hidden_layers=min(26, most))
    return {"tokenizer": tiny_gemma_tokenizer(), "text_encoder": transformers.Gemma2Model(config)}


def qwen3(most, kind):
    config = transformers.Qwen3Config(
        hidden_size=2560,
        intermediate_size=9728,
        num_hidden_layers=min(36, most),
        num_key_value_heads=8,
        tie_word_embeddings=True,
    )
    encoder = getattr(transformers, kind)(config)
    return {"tokenizer": tiny_qwen_tokenizer(), "text_encoder": encoder}


def qwen_vl(most):
    text = {
        "vocab_size": 152064,
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_hidden_layers": min(28, most),
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
    }
    vision = {"depth": min(32, most), "hidden_size": 1280, "out_hidden_size": 3584}
    config = transformers.Qwen2_5_VLConfig(text_config=text, vision_config=vision)
    encoder = transformers.Qwen2_5_VLForConditionalGeneration(config)
    return {"tokenizer": tiny_qwen_tokenizer(), "text_encoder": encoder}


def autoencoder(channels=16, **settings):
    usual = {"shift_factor": 0.1, "use_quant_conv": False, "use_post_quant_conv": False}
    return diffusers.AutoencoderKL(
        latent_channels=channels,
        block_out_channels=(128, 256, 512, 512),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=2,
        **(usual if channels > 4 else {}) | settings,
    )


def scheduler(kind=diffusers.FlowMatchEulerDiscreteScheduler, **settings):
    with torch.device("cpu"):
        return kind(**settings)


def flow_scheduler(**settings):
    return scheduler(shift=3.0, **settings)


def pixart(most):
    return {
        "transformer": diffusers.PixArtTransformer2DModel(
            caption_channels=4096, num_layers=min(28, most), use_additional_conditions=False
        ),
        "vae": autoencoder(4, scaling_factor=0.13025),
        "text_encoder": t5(most),
        "tokenizer": tiny_t5_tokenizer(),
        "scheduler": scheduler(diffusers.DPMSolverMultistepScheduler),
    }


def sana(most):
    levels = ("ResBlock",) * 3 + ("EfficientViTBlock",) * 3
    return {
        "transformer": diffusers.SanaTransformer2DModel(num_layers=min(20, most)),
        "vae": diffusers.AutoencoderDC(
            encoder_block_types=levels,
            decoder_block_types=levels,
            upsample_block_type="interpolate",
            downsample_block_type="conv",
            scaling_factor=0.41407,
        ),
        **gemma(most),
        "scheduler": scheduler(
            diffusers.DPMSolverMultistepScheduler,
            use_flow_sigmas=True,
            prediction_type="flow_prediction",
            flow_shift=3.0,
        ),
    }


def lumina2(most):
    return {
        "transformer": diffusers.Lumina2Transformer2DModel(
            num_layers=min(26, most), cap_feat_dim=2304
        ),
        "vae": autoencoder(),
        **gemma(most),
        "scheduler": flow_scheduler(),
    }


def sd3(most, layers, heads, **settings):
    return {
        "transformer": diffusers.SD3Transformer2DModel(
            num_layers=min(layers, most),
            num_attention_heads=heads,
            caption_projection_dim=64 * heads,
            qk_norm="rms_norm",
            **settings,
        ),
        "vae": autoencoder(),
        **clips(most),
        "text_encoder_3": None,
        "tokenizer_3": None,
        "scheduler": flow_scheduler(),
    }


def sd35_medium(most):
    dual = tuple(range(min(13, most)))
    return sd3(most, 24, 24, dual_attention_layers=dual, pos_embed_max_size=384)


def sd35_medium_with_t5(most):
    return sd35_medium(most) | {"text_encoder_3": t5(most), "tokenizer_3": tiny_t5_tokenizer()}


def sd35_large(most):
    parts = sd3(most, 38, 38, pos_embed_max_size=192)
    return parts | {"text_encoder_3": t5(most), "tokenizer_3": tiny_t5_tokenizer()}


def flux(most):
    first = clips(most, "CLIPTextModel")
    return {
        "transformer": diffusers.FluxTransformer2DModel(
            num_layers=min(19, most), num_single_layers=min(38, most), guidance_embeds=True
        ),
        "vae": autoencoder(),
        "text_encoder": first["text_encoder"],
        "tokenizer": first["tokenizer"],
        "text_encoder_2": t5(most),
        "tokenizer_2": tiny_t5_tokenizer(),
        "scheduler": flow_scheduler(use_dynamic_shifting=True),
    }


def flux2_klein(most):
    return {
        "transformer": diffusers.Flux2Transformer2DModel(
            num_layers=min(5, most),
            num_single_layers=min(20, most),
            num_attention_heads=24,
            joint_attention_dim=7680,
            guidance_embeds=False,
        ),
        "vae": diffusers.AutoencoderKLFlux2(
            down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4
        ),
        **qwen3(max(most, FLUX2_LEAST), "Qwen3ForCausalLM"),
        "scheduler": flow_scheduler(use_dynamic_shifting=True),
    }


def z_image(most):
    return {
        "transformer": diffusers.ZImageTransformer2DModel(n_layers=min(30, most)),
        "vae": autoencoder(),
        **qwen3(most, "Qwen3Model"),
        "scheduler": flow_scheduler(),
    }


def qwen_image(most):
    return {
        "transformer": diffusers.QwenImageTransformer2DModel(num_layers=min(60, most)),
        "vae": diffusers.AutoencoderKLQwenImage(),
        **qwen_vl(most),
        "scheduler": flow_scheduler(use_dynamic_shifting=True),
    }


FULL_FAMILIES = {
    "pixart-alpha": FullFamily("PixArtAlphaPipeline", 0.6, pixart),
    "pixart-sigma": FullFamily("PixArtSigmaPipeline", 0.6, pixart),
    "sana": FullFamily("SanaPipeline", 1.6, sana),
    "lumina-2": FullFamily("Lumina2Pipeline", 2.6, lumina2),
    "sd-3.5-medium": FullFamily("StableDiffusion3Pipeline", 2.5, sd35_medium),
    "sd-3.5-medium-t5": FullFamily("StableDiffusion3Pipeline", 2.5, sd35_medium_with_t5),
    "flux.2-klein-4b": FullFamily("Flux2KleinPipeline", 4, flux2_klein),
    "z-image": FullFamily("ZImagePipeline", 6, z_image),
    "sd-3.5-large": FullFamily("StableDiffusion3Pipeline", 8.1, sd35_large),
    "flux.1-dev": FullFamily("FluxPipeline", 12, flux),
    "qwen-image": FullFamily("QwenImagePipeline", 20, qwen_image),
}
"""The families beyond those of single files, by size of their denoisers."""


def build_full(family, *, is_reduced=False):
    """Return the parts of a model by name; modules lie on the meta device in bfloat16."""
    with torch.device("meta"):
        parts = family.build(REDUCED if is_reduced else 1000)
    for part in modules_of(parts).values():
        torch.nn.Module.to(part, torch.bfloat16)
    return parts


def modules_of(parts):
    return {name: part for name, part in parts.items() if isinstance(part, torch.nn.Module)}


def parameters_of(module):
    return sum(weight.numel() for weight in module.parameters())


def weights_layout(module):
    """Return dtype and shape of each stored weight by name; tied weights are stored once."""
    own = {name for name, _ in (*module.named_parameters(), *module.named_buffers())}
    return {
        name: ("I64" if weight.dtype == torch.int64 else "BF16", tuple(weight.shape))
        for name, weight in module.state_dict().items()
        if name in own
    }


def write_full_folder(folder, pipeline_class, parts, write=write_sparse):
    """Write a model folder as diffusers does.

    Args:
        folder: A new folder.
        pipeline_class: Class of the pipeline.
        parts: From ``build_full``.
        write: Writes the weights of a layout to a file.
    """
    index = {"_class_name": pipeline_class}
    for name, part in parts.items():
        if part is None:
            index[name] = [None, None]
            continue
        (folder / name).mkdir(parents=True)
        is_diffusers = isinstance(part, diffusers.ModelMixin)
        if isinstance(part, torch.nn.Module):
            (part.save_config if is_diffusers else part.config.save_pretrained)(folder / name)
            stem = "diffusion_pytorch_model" if is_diffusers else "model"
            write(folder / name / f"{stem}.safetensors", weights_layout(part))
        else:
            part.save_pretrained(folder / name)
        library = "diffusers" if type(part).__module__.startswith("diffusers") else "transformers"
        index[name] = [library, type(part).__name__]
    (folder / "model_index.json").write_text(json.dumps(index), encoding="utf-8")


def size_in_bytes(parts):
    layouts = map(weights_layout, modules_of(parts).values())
    return sum(2 * math.prod(shape) for layout in layouts for _, shape in layout.values())
