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
    "add_embedding.linear_1": "label_emb.0.0",
    "add_embedding.linear_2": "label_emb.0.2",
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


OPEN_CLIP = {
    "embeddings.token_embedding": "token_embedding",
    "embeddings.position_embedding.weight": "positional_embedding",
    "encoder.layers": "transformer.resblocks",
    "final_layer_norm": "ln_final",
    "layer_norm1": "ln_1",
    "layer_norm2": "ln_2",
    "self_attn.out_proj": "attn.out_proj",
    "mlp.fc1": "mlp.c_fc",
    "mlp.fc2": "mlp.c_proj",
    "text_projection.weight": "text_projection",
}


def save_single_file(pipeline, path, metadata=None):
    """Write denoiser, autoencoder and text encoders."""
    parts = {
        name: part
        for name, part in pipeline.components.items()
        if isinstance(part, torch.nn.Module)
    }
    weights = original_weights(parts)
    save_file({name: weight.contiguous() for name, weight in weights.items()}, path, metadata)


def original_weights(parts):
    """Map the original names of weights to tensors, from the models of a pipeline by name.

    Text encoders of width 1024 and second ones have the names of open_clip, as in Stable
    Diffusion 2.1 and SDXL.
    """
    unet, vae = parts["unet"], parts["vae"]
    weights = {
        f"model.diffusion_model.{unet_name(name, unet)}": weight
        for name, weight in unet.state_dict().items()
    }
    for name, weight in vae.state_dict().items():
        new = vae_name(name, len(vae.config.block_out_channels))
        is_attention = ".attn_1." in new and weight.ndim == 2
        weights[f"first_stage_model.{new}"] = weight[:, :, None, None] if is_attention else weight
    first, second = parts["text_encoder"], parts.get("text_encoder_2")
    if first.config.hidden_size == 1024:
        return weights | open_clip_weights(first, "cond_stage_model.model.", spare_layer=True)
    place = "cond_stage_model." if second is None else "conditioner.embedders.0."
    for name, weight in first.state_dict().items():
        own = name if name.startswith("text_model.") else f"text_model.{name}"
        weights[f"{place}transformer.{own}"] = weight
    if second is not None:
        weights |= open_clip_weights(second, "conditioner.embedders.1.model.")
    return weights


def open_clip_weights(encoder, prefix, *, spare_layer=False):
    """Map the names of open_clip to the weights of a text encoder.

    A spare layer repeats the last one: Stable Diffusion 2.1 stores one that it does not use.
    """
    state = {name.removeprefix("text_model."): each for name, each in encoder.state_dict().items()}
    count = encoder.config.num_hidden_layers
    if spare_layer:
        last = f"encoder.layers.{count - 1}."
        repeated = {
            name.replace(last, f"encoder.layers.{count}."): weight.clone()
            for name, weight in state.items()
            if name.startswith(last)
        }
        width = encoder.config.hidden_size
        state |= {
            **repeated,
            "text_projection.weight": state["final_layer_norm.bias"].expand(width, -1),
        }
    weights = {}
    for name, weight in state.items():
        if "q_proj" in name:
            parts = [state[name.replace("q_proj", f"{each}_proj")] for each in "qkv"]
            own = name.replace("self_attn.q_proj.", "attn.in_proj_")
            weights[prefix + renamed(own, OPEN_CLIP)] = torch.cat(parts)
        elif "k_proj" not in name and "v_proj" not in name:
            is_turned = name == "text_projection.weight"
            weights[prefix + renamed(name, OPEN_CLIP)] = weight.T if is_turned else weight
    weights[f"{prefix}logit_scale"] = state["final_layer_norm.bias"][0].clone()
    return weights


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
        has_attention = "CrossAttn" in unet.config.up_block_types[level]
        place = 2 if has_attention else 1
        renames[f"{up}.upsamplers.0."] = f"output_blocks.{first + layers}.{place}."
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
