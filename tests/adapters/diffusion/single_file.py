"""Writes a Stable Diffusion pipeline as one file, by the names of the original training code."""

import torch
from safetensors.torch import save_file

RESNET = {
    "norm1": "in_layers.0",
    "conv1": "in_layers.2",
    "norm2": "out_layers.0",
    "conv2": "out_layers.3",
    "time_emb_proj": "emb_layers.1",
    "conv_shortcut": "skip_connection",
}
UNET = {
    "time_embedding.linear_1": "time_embed.0",
    "time_embedding.linear_2": "time_embed.2",
    "conv_in": "input_blocks.0.0",
    "conv_norm_out": "out.0",
    "conv_out": "out.2",
    "mid_block.attentions.0": "middle_block.1",
}
VAE = {
    "conv_shortcut": "nin_shortcut",
    "conv_norm_out": "norm_out",
    "mid_block.attentions.0.": "mid.attn_1.",
}
VAE_ATTENTION = {
    "group_norm": "norm",
    "to_q": "q",
    "to_k": "k",
    "to_v": "v",
    "to_out.0": "proj_out",
}


def save_single_file(pipeline, path):
    """Write UNet, autoencoder and text encoder."""
    unet, vae, text = pipeline.unet, pipeline.vae, pipeline.text_encoder
    weights = {
        f"model.diffusion_model.{unet_name(name, unet)}": weight
        for name, weight in unet.state_dict().items()
    }
    for name, weight in vae.state_dict().items():
        new = vae_name(name, len(vae.config.block_out_channels))
        is_attention = ".attn_1." in new and weight.ndim == 2
        weights[f"first_stage_model.{new}"] = weight[:, :, None, None] if is_attention else weight
    for name, weight in text.state_dict().items():
        own = name if name.startswith("text_model.") else f"text_model.{name}"
        weights[f"cond_stage_model.transformer.{own}"] = weight
    save_file({name: weight.contiguous() for name, weight in weights.items()}, path)


def unet_name(name, unet):
    layers = unet.config.layers_per_block
    renames = dict(UNET)
    for level in range(len(unet.config.block_out_channels)):
        down, up = f"down_blocks.{level}", f"up_blocks.{level}"
        first = (layers + 1) * level
        for layer in range(layers):
            block = f"input_blocks.{first + layer + 1}"
            renames[f"{down}.resnets.{layer}."] = f"{block}.0."
            renames[f"{down}.attentions.{layer}."] = f"{block}.1."
        renames[f"{down}.downsamplers.0.conv"] = f"input_blocks.{first + layers + 1}.0.op"
        for layer in range(layers + 1):
            block = f"output_blocks.{first + layer}"
            renames[f"{up}.resnets.{layer}."] = f"{block}.0."
            renames[f"{up}.attentions.{layer}."] = f"{block}.1."
        renames[f"{up}.upsamplers.0."] = f"output_blocks.{first + layers}.2."
    for number in (0, 1):
        renames[f"mid_block.resnets.{number}."] = f"middle_block.{2 * number}."
    is_resnet = ".resnets." in name
    return renamed(renamed(name, renames), RESNET if is_resnet else {})


def vae_name(name, levels):
    renames = dict(VAE)
    for level in range(levels):
        down, up = f"encoder.down_blocks.{level}", f"decoder.up_blocks.{level}"
        new_up = f"decoder.up.{levels - 1 - level}"
        renames[f"{down}.resnets."] = f"encoder.down.{level}.block."
        renames[f"{down}.downsamplers.0."] = f"encoder.down.{level}.downsample."
        renames[f"{up}.resnets."] = f"{new_up}.block."
        renames[f"{up}.upsamplers.0."] = f"{new_up}.upsample."
    for number in (0, 1):
        renames[f"mid_block.resnets.{number}."] = f"mid.block_{number + 1}."
    is_attention = "attentions" in name
    return renamed(renamed(name, renames), VAE_ATTENTION if is_attention else {})


def renamed(name, renames):
    for old, new in renames.items():
        name = name.replace(old, new)
    return name


def same_weights(one, other):
    mine, theirs = one.state_dict(), other.state_dict()
    return mine.keys() == theirs.keys() and all(
        torch.equal(weight, theirs[name]) for name, weight in mine.items()
    )
