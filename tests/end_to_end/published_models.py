"""The repositories of the README with the files that their makers publish, and tiny weights."""

import json
from pathlib import Path

import torch
import transformers
from diffusers import EulerDiscreteScheduler, StableDiffusionXLPipeline, UNet2DConditionModel

from tests.adapters.diffusion.tiny_families import HALF, autoencoder, clip, sd_scheduler
from tests.adapters.diffusion.tiny_tokenizers import tiny_clip_tokenizer
from tests.adapters.perception.tiny_models import write_model

SDXL = "stabilityai/stable-diffusion-xl-base-1.0"
OTHER_FILES_OF_SDXL = (
    *("LICENSE.md", "README.md", "01.png", "sd_xl_base_1.0.safetensors"),
    *("sd_xl_base_1.0_0.9vae.safetensors", "sd_xl_offset_example-lora_1.0.safetensors"),
    *("text_encoder/model.onnx", "text_encoder/flax_model.msgpack", "unet/model.onnx_data"),
    *("vae_1_0/config.json", "vae_1_0/diffusion_pytorch_model.safetensors"),
    *("vae_1_0/diffusion_pytorch_model.fp16.safetensors", "vae_decoder/config.json"),
    *("vae_decoder/model.onnx", "vae_encoder/config.json", "vae_encoder/model.onnx"),
)
"""Files beside those of the pipeline; none of them is to be fetched."""


PARTS_OF_SAM2 = ("vision_config", "prompt_encoder_config", "mask_decoder_config")


def write_repositories(folder: Path) -> dict[str, Path]:
    """Write the repositories below a folder; return their folders by id on the hub."""
    writers = {
        SDXL: write_sdxl,
        "IDEA-Research/grounding-dino-tiny": lambda place: write_model("grounding-dino", place),
        "facebook/sam2.1-hiera-tiny": write_sam2_video,
        "depth-anything/Depth-Anything-V2-Small-hf": lambda place: write_model(
            "depth-anything", place
        ),
    }
    for repository, write in writers.items():
        (folder / repository).mkdir(parents=True)
        write(folder / repository)
    return {repository: folder / repository for repository in writers}


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the files of a repository by name."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def write_sdxl(folder: Path) -> None:
    """Write SDXL's repository: three levels, two encoders, weights in 32 and in 16 bits."""
    torch.manual_seed(0)
    tokenizer = tiny_clip_tokenizer()
    pipeline = StableDiffusionXLPipeline(
        vae=autoencoder((8, 8, 8, 8), scaling_factor=0.13025, force_upcast=True),
        text_encoder=clip(tokenizer),
        text_encoder_2=clip(tokenizer, "CLIPTextModelWithProjection"),
        tokenizer=tokenizer,
        tokenizer_2=tiny_clip_tokenizer(),
        unet=UNet2DConditionModel(
            sample_size=16,
            block_out_channels=(16, 32, 32),
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
            transformer_layers_per_block=(1, 1, 2),
            layers_per_block=2,
            attention_head_dim=(2, 4, 4),
            norm_num_groups=8,
            use_linear_projection=True,
            cross_attention_dim=2 * HALF,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=6 * 8 + HALF,
        ),
        scheduler=sd_scheduler(EulerDiscreteScheduler, timestep_spacing="leading", steps_offset=1),
    )
    pipeline.save_pretrained(folder)
    pipeline.to(torch.float16).save_pretrained(folder, variant="fp16")
    for name in OTHER_FILES_OF_SDXL:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"not to be fetched")


def write_sam2_video(folder: Path) -> None:
    """Write SAM 2.1's repository, whose model also follows objects through a film."""
    torch.manual_seed(0)
    write_model("sam2", folder)
    image = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config = transformers.Sam2VideoConfig(
        **{name: image[name] for name in PARTS_OF_SAM2},
        image_size=64,
        memory_attention_hidden_size=16,
        memory_attention_num_layers=1,
        memory_attention_feed_forward_hidden_size=16,
        memory_attention_rope_feat_sizes=[4, 4],
        memory_encoder_hidden_size=16,
        memory_encoder_output_channels=8,
        mask_downsampler_embed_dim=16,
        memory_fuser_embed_dim=16,
        memory_fuser_intermediate_dim=16,
    )
    transformers.Sam2VideoModel(config).save_pretrained(folder)
    for name in ("README.md", "sam2.1_hiera_tiny.pt", "sam2.1_hiera_t.yaml"):
        (folder / name).write_bytes(b"not to be fetched")
