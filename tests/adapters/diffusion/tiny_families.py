"""A pipeline of every family with a few thousand random weights; the same weights every time."""

from dataclasses import dataclass

import diffusers
import torch
import transformers
from diffusers import (
    AutoencoderDC,
    AutoencoderKL,
    AutoencoderKLFlux2,
    AutoencoderKLQwenImage,
    DDIMScheduler,
    DPMSolverMultistepScheduler,
    EulerDiscreteScheduler,
    FlowMatchEulerDiscreteScheduler,
)

from spatialstudio.adapters.models.pipeline_classes import import_pipeline
from tests.adapters.diffusion.tiny_tokenizers import (
    MAX_TOKENS,
    tiny_clip_tokenizer,
    tiny_gemma_tokenizer,
    tiny_qwen_tokenizer,
    tiny_t5_tokenizer,
)

WIDTH = 32
HALF = 16
HEADS = {"num_attention_heads": 2, "attention_head_dim": HALF}
LOUDER = ("to_q.weight", "to_k.weight", "norm_q.weight", "norm_k.weight")
LOUDER_IN_QWEN = ("to_out.0.weight", "add_v_proj.weight", "img_mod.1.weight")
LEVELS_OF_8 = (8, 8, 8, 8)


@dataclass(frozen=True)
class TinyFamily:
    """How to build a pipeline, and pictures that it can draw."""

    pipeline_class: str
    build: object
    size: tuple[int, int]
    wide: tuple[int, int]


def save_tiny_family(family, folder):
    """Write the pipeline as a real diffusers folder."""
    build_tiny_family(family).save_pretrained(folder)


def build_tiny_family(family):
    torch.manual_seed(0)
    parts = family.build()
    denoiser = parts.get("transformer") or parts["unet"]
    with torch.no_grad():
        for name, weights in denoiser.named_parameters():
            weights.add_(torch.randn_like(weights) * 0.02)  # some begin as zero
            if name.endswith(LOUDER):
                weights.mul_(3)
    return import_pipeline(family.pipeline_class)(**parts)


def clip(tokenizer, kind="CLIPTextModel"):
    config = transformers.CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=HALF,
        intermediate_size=HALF,
        projection_dim=HALF,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=MAX_TOKENS,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    encoder = getattr(transformers, kind)(config)
    with torch.no_grad():
        for name, weights in encoder.named_parameters():
            weights.mul_(0.1 if name.endswith("out_proj.weight") else 1)  # words stay themselves
    return encoder


def t5(tokenizer):
    return transformers.T5EncoderModel(
        transformers.T5Config(
            vocab_size=len(tokenizer), d_model=WIDTH, d_kv=8, d_ff=WIDTH, num_layers=1, num_heads=2
        )
    )


SMALL_DECODER = {
    "hidden_size": HALF,
    "intermediate_size": HALF,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
}


def gemma(tokenizer):
    return transformers.Gemma2Model(
        transformers.Gemma2Config(vocab_size=len(tokenizer), num_hidden_layers=2, **SMALL_DECODER)
    )


def qwen3(tokenizer, kind="Qwen3Model", layers=2):
    config = transformers.Qwen3Config(
        vocab_size=len(tokenizer), num_hidden_layers=layers, **SMALL_DECODER
    )
    return getattr(transformers, kind)(config)


def qwen_vl(tokenizer):
    text = {
        "vocab_size": len(tokenizer),
        "num_hidden_layers": 1,
        "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2]},
        **SMALL_DECODER,
    }
    vision = {"depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2}
    config = transformers.Qwen2_5_VLConfig(
        text_config=text, vision_config={**vision, "out_hidden_size": HALF}
    )
    return transformers.Qwen2_5_VLForConditionalGeneration(config)


def autoencoder(levels=(8, 8), **settings):
    return AutoencoderKL(
        block_out_channels=levels,
        down_block_types=("DownEncoderBlock2D",) * len(levels),
        up_block_types=("UpDecoderBlock2D",) * len(levels),
        norm_num_groups=4,
        latent_channels=4,
        **settings,
    )


def unet(**settings):
    return diffusers.UNet2DConditionModel(
        sample_size=16,
        block_out_channels=(16, 32),
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        layers_per_block=1,
        attention_head_dim=2,
        norm_num_groups=8,
        **settings,
    )


def sd_scheduler(kind=DDIMScheduler, **settings):
    betas = {"beta_schedule": "scaled_linear", "beta_start": 0.00085, "beta_end": 0.012}
    return kind(**betas, **settings)


def shifting_scheduler():
    """Make one whose noise depends on the picture's size."""
    return FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True, shift=3.0)


def stable_diffusion():
    tokenizer = tiny_clip_tokenizer()
    return {
        "vae": autoencoder(),
        "text_encoder": clip(tokenizer),
        "tokenizer": tokenizer,
        "unet": unet(cross_attention_dim=HALF),
        "scheduler": sd_scheduler(clip_sample=False, steps_offset=1),
        "safety_checker": None,
        "feature_extractor": None,
        "requires_safety_checker": False,
    }


def gligen():
    return stable_diffusion() | {"unet": unet(cross_attention_dim=HALF, attention_type="gated")}


def sdxl():
    tokenizer = tiny_clip_tokenizer()
    return {
        "vae": autoencoder(),
        "text_encoder": clip(tokenizer),
        "text_encoder_2": clip(tokenizer, "CLIPTextModelWithProjection"),
        "tokenizer": tokenizer,
        "tokenizer_2": tiny_clip_tokenizer(),
        "unet": unet(
            cross_attention_dim=2 * HALF,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=6 * 8 + HALF,
        ),
        "scheduler": sd_scheduler(EulerDiscreteScheduler, timestep_spacing="leading"),
    }


def pixart():
    tokenizer = tiny_t5_tokenizer()
    return {
        "vae": autoencoder(),
        "text_encoder": t5(tokenizer),
        "tokenizer": tokenizer,
        "transformer": diffusers.PixArtTransformer2DModel(
            **HEADS,
            num_layers=2,
            cross_attention_dim=WIDTH,
            caption_channels=WIDTH,
            sample_size=32,
        ),
        "scheduler": DPMSolverMultistepScheduler(),
    }


def sd3():
    tokenizer, t5_tokenizer = tiny_clip_tokenizer(), tiny_t5_tokenizer()
    return {
        "vae": autoencoder(shift_factor=0.1),
        "text_encoder": clip(tokenizer, "CLIPTextModelWithProjection"),
        "text_encoder_2": clip(tokenizer, "CLIPTextModelWithProjection"),
        "text_encoder_3": t5(t5_tokenizer),
        "tokenizer": tokenizer,
        "tokenizer_2": tiny_clip_tokenizer(),
        "tokenizer_3": t5_tokenizer,
        "transformer": diffusers.SD3Transformer2DModel(
            **HEADS,
            sample_size=32,
            in_channels=4,
            out_channels=4,
            num_layers=3,
            joint_attention_dim=WIDTH,
            caption_projection_dim=2 * HALF,
            pooled_projection_dim=2 * HALF,
            pos_embed_max_size=32,
            dual_attention_layers=(0, 1),
            qk_norm="rms_norm",
        ),
        "scheduler": FlowMatchEulerDiscreteScheduler(shift=3.0),
    }


def flux():
    tokenizer, t5_tokenizer = tiny_clip_tokenizer(), tiny_t5_tokenizer()
    return {
        "vae": autoencoder(shift_factor=0.1),
        "text_encoder": clip(tokenizer),
        "text_encoder_2": t5(t5_tokenizer),
        "tokenizer": tokenizer,
        "tokenizer_2": t5_tokenizer,
        "transformer": diffusers.FluxTransformer2DModel(
            **HEADS,
            in_channels=16,
            num_layers=1,
            num_single_layers=2,
            joint_attention_dim=WIDTH,
            pooled_projection_dim=HALF,
            axes_dims_rope=(4, 6, 6),
            guidance_embeds=True,
        ),
        "scheduler": shifting_scheduler(),
    }


def sana():
    tokenizer = tiny_gemma_tokenizer()
    channels = {"block_out_channels": (8, 8, 8), "layers_per_block": (1, 1, 1)}
    halves = ("encoder", "decoder")
    return {
        "vae": AutoencoderDC(
            latent_channels=4,
            attention_head_dim=4,
            upsample_block_type="interpolate",
            **{f"{half}_{name}": value for half in halves for name, value in channels.items()},
            **{f"{half}_qkv_multiscales": ((), (), ()) for half in halves},
        ),
        "text_encoder": gemma(tokenizer),
        "tokenizer": tokenizer,
        "transformer": diffusers.SanaTransformer2DModel(
            **HEADS,
            in_channels=4,
            out_channels=4,
            num_layers=2,
            num_cross_attention_heads=2,
            cross_attention_head_dim=HALF,
            cross_attention_dim=WIDTH,
            caption_channels=HALF,
            sample_size=16,
        ),
        "scheduler": DPMSolverMultistepScheduler(
            use_flow_sigmas=True, prediction_type="flow_prediction", flow_shift=3.0
        ),
    }


def qwen_image():
    tokenizer = tiny_qwen_tokenizer()
    transformer = diffusers.QwenImageTransformer2DModel(
        **HEADS,
        in_channels=16,
        out_channels=4,
        num_layers=3,
        joint_attention_dim=HALF,
        axes_dims_rope=(4, 6, 6),
    )
    with torch.no_grad():
        for name, weights in transformer.named_parameters():
            weights.mul_(10 if name.endswith(LOUDER_IN_QWEN) else 1)  # the text moves the picture
    return {
        "vae": AutoencoderKLQwenImage(
            base_dim=8,
            z_dim=4,
            dim_mult=[1, 1],
            num_res_blocks=1,
            temperal_downsample=[False],
            latents_mean=[0.1, 0.0, -0.1, 0.2],
            latents_std=[1.0, 1.5, 2.0, 1.0],
        ),
        "text_encoder": qwen_vl(tokenizer),
        "tokenizer": tokenizer,
        "transformer": transformer,
        "scheduler": shifting_scheduler(),
    }


def z_image():
    tokenizer = tiny_qwen_tokenizer()
    return {
        "vae": autoencoder(shift_factor=0.1),
        "text_encoder": qwen3(tokenizer),
        "tokenizer": tokenizer,
        "transformer": diffusers.ZImageTransformer2DModel(
            in_channels=4,
            dim=WIDTH,
            n_layers=3,
            n_refiner_layers=1,
            n_heads=2,
            n_kv_heads=2,
            cap_feat_dim=HALF,
            axes_dims=[4, 6, 6],
        ),
        "scheduler": FlowMatchEulerDiscreteScheduler(shift=3.0),
    }


def lumina2():
    tokenizer = tiny_gemma_tokenizer()
    return {
        "vae": autoencoder(LEVELS_OF_8, shift_factor=0.1),  # the pipeline takes 8 pixels a latent
        "text_encoder": gemma(tokenizer),
        "tokenizer": tokenizer,
        "transformer": diffusers.Lumina2Transformer2DModel(
            sample_size=16,
            in_channels=4,
            hidden_size=WIDTH,
            num_layers=3,
            num_refiner_layers=1,
            num_attention_heads=2,
            num_kv_heads=1,
            multiple_of=8,
            axes_dim_rope=(4, 6, 6),
            cap_feat_dim=HALF,
        ),
        "scheduler": FlowMatchEulerDiscreteScheduler(shift=6.0),
    }


def flux2_klein(layers=4):
    """Make one whose encoder is shallow; the layers that the pipeline reads by default need 28."""
    tokenizer = tiny_qwen_tokenizer()
    return {
        "vae": AutoencoderKLFlux2(
            block_out_channels=(8, 8),
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            layers_per_block=1,
            norm_num_groups=4,
            latent_channels=4,
        ),
        "text_encoder": qwen3(tokenizer, "Qwen3ForCausalLM", layers),
        "tokenizer": tokenizer,
        "transformer": diffusers.Flux2Transformer2DModel(
            **HEADS,
            in_channels=16,
            num_layers=1,
            num_single_layers=2,
            joint_attention_dim=3 * HALF,
            axes_dims_rope=(4, 4, 4, 4),
            guidance_embeds=False,
        ),
        "scheduler": shifting_scheduler(),
    }


TINY_FAMILIES = (
    TinyFamily("StableDiffusionPipeline", stable_diffusion, (32, 32), (24, 48)),
    TinyFamily("StableDiffusionGLIGENPipeline", gligen, (32, 32), (24, 48)),
    TinyFamily("StableDiffusionXLPipeline", sdxl, (32, 32), (24, 48)),
    TinyFamily("PixArtAlphaPipeline", pixart, (64, 64), (48, 80)),
    TinyFamily("PixArtSigmaPipeline", pixart, (64, 64), (48, 80)),
    TinyFamily("StableDiffusion3Pipeline", sd3, (64, 64), (48, 80)),
    TinyFamily("FluxPipeline", flux, (64, 64), (48, 80)),
    TinyFamily("SanaPipeline", sana, (64, 64), (32, 96)),
    TinyFamily("QwenImagePipeline", qwen_image, (64, 64), (48, 80)),
    TinyFamily("ZImagePipeline", z_image, (64, 64), (40, 72)),
    TinyFamily("Lumina2Pipeline", lumina2, (256, 256), (192, 320)),
    TinyFamily("Flux2KleinPipeline", flux2_klein, (64, 64), (48, 80)),
)
