"""A Stable Diffusion pipeline of a few thousand random weights, saved as a real folder."""

from pathlib import Path

import torch
from diffusers import AutoencoderTiny, DDIMScheduler, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

from spatialstudio.adapters.models.pipeline_classes import import_pipeline

WORDS = ("a", "photo", "of", "dog", "car", "to", "the", "left", "above", "tea")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
MAX_TOKENS = 24
WIDTH = 32


def save_tiny_pipeline(folder: Path, *, uses_safetensors: bool = True) -> None:
    """Write the folder; the same weights every time."""
    torch.manual_seed(0)
    tokenizer = tiny_tokenizer()
    pipeline = import_pipeline("StableDiffusionPipeline")(
        vae=AutoencoderTiny(
            encoder_block_out_channels=(8, 8, 8, 8),
            decoder_block_out_channels=(8, 8, 8, 8),
            num_encoder_blocks=(1, 1, 1, 1),
            num_decoder_blocks=(1, 1, 1, 1),
            latent_channels=4,
        ),
        text_encoder=CLIPTextModel(
            CLIPTextConfig(
                vocab_size=len(tokenizer),
                hidden_size=WIDTH,
                intermediate_size=WIDTH,
                num_hidden_layers=1,
                num_attention_heads=2,
                max_position_embeddings=MAX_TOKENS,
                bos_token_id=tokenizer.bos_token_id,
                eos_token_id=tokenizer.eos_token_id,
                pad_token_id=tokenizer.pad_token_id,
            )
        ),
        tokenizer=tokenizer,
        unet=tiny_unet(),
        scheduler=DDIMScheduler(
            beta_schedule="scaled_linear",
            beta_start=0.00085,
            beta_end=0.012,
            clip_sample=False,
            steps_offset=1,
        ),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.save_pretrained(folder, safe_serialization=uses_safetensors)


def tiny_unet() -> UNet2DConditionModel:
    """Make a UNet of two levels whose queries and keys are large enough to attend somewhere."""
    unet = UNet2DConditionModel(
        sample_size=16,
        block_out_channels=(16, 32),
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        layers_per_block=1,
        attention_head_dim=2,
        cross_attention_dim=WIDTH,
        norm_num_groups=8,
    )
    with torch.no_grad():
        for name, weights in unet.named_parameters():
            if name.endswith(("attn2.to_q.weight", "attn2.to_k.weight")):
                weights.mul_(4)
    return unet


def tiny_tokenizer() -> CLIPTokenizer:
    """Make a tokenizer that knows a few words whole and spells all others."""
    vocabulary = [*LETTERS, *(f"{letter}</w>" for letter in LETTERS)]
    merges = []
    for word in WORDS:
        pieces = [*word[:-1], f"{word[-1]}</w>"]
        while len(pieces) > 1:
            pair, pieces = (pieces[0], pieces[1]), [pieces[0] + pieces[1], *pieces[2:]]
            merges.append(pair)
            vocabulary.append(pieces[0])
    vocabulary += ["<|startoftext|>", "<|endoftext|>"]
    numbers = {piece: number for number, piece in enumerate(dict.fromkeys(vocabulary))}
    return CLIPTokenizer(
        vocab=numbers, merges=list(dict.fromkeys(merges)), model_max_length=MAX_TOKENS
    )
