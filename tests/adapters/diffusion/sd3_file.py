"""Writes Stable Diffusion 3 as one file, by the names of its makers."""

import torch
from safetensors.torch import save_file

from tests.adapters.diffusion.flux_file import halves_swapped
from tests.adapters.diffusion.single_file import renamed

PREFIX = "model.diffusion_model."
ENDS = {
    "pos_embed.pos_embed": "pos_embed",
    "pos_embed.proj.": "x_embedder.proj.",
    "time_text_embed.timestep_embedder.": "t_embedder.",
    "time_text_embed.text_embedder.": "y_embedder.",
    "linear_1.": "mlp.0.",
    "linear_2.": "mlp.2.",
    "norm_out.linear.": "final_layer.adaLN_modulation.1.",
}
BLOCK = {
    "transformer_blocks": "joint_blocks",
    "norm1.linear.": "x_block.adaLN_modulation.1.",
    "norm1_context.linear.": "context_block.adaLN_modulation.1.",
    ".attn.norm_added_": ".context_block.attn.ln_",
    ".attn.to_add_out.": ".context_block.attn.proj.",
    ".attn.norm_": ".x_block.attn.ln_",
    ".attn.to_out.0.": ".x_block.attn.proj.",
    ".attn2.norm_": ".x_block.attn2.ln_",
    ".attn2.to_out.0.": ".x_block.attn2.proj.",
    "ff.net.0.proj.": "x_block.mlp.fc1.",
    "ff.net.2.": "x_block.mlp.fc2.",
    "ff_context.net.0.proj.": "context_block.mlp.fc1.",
    "ff_context.net.2.": "context_block.mlp.fc2.",
}
JOINED = {
    "x_block.attn.qkv": ("attn.to_q", "attn.to_k", "attn.to_v"),
    "context_block.attn.qkv": ("attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj"),
    "x_block.attn2.qkv": ("attn2.to_q", "attn2.to_k", "attn2.to_v"),
}


def save_sd3_file(transformer, path, encoders):
    """Write the transformer, and text encoders by the names that the makers give them."""
    left = dict(transformer.state_dict())
    count = len(transformer.transformer_blocks)
    weights = {}
    for number in range(count):
        for joined, parts in JOINED.items():
            for kind in ("weight", "bias"):
                names = [f"transformer_blocks.{number}.{part}.{kind}" for part in parts]
                if names[0] in left:
                    own = torch.cat([left.pop(name) for name in names])
                    weights[f"joint_blocks.{number}.{joined}.{kind}"] = own
    turned = ("norm_out.", f"transformer_blocks.{count - 1}.norm1_context.")
    for name, weight in left.items():
        weights[makers_name(name)] = halves_swapped(weight) if name.startswith(turned) else weight
    weights = {PREFIX + name: weight for name, weight in weights.items()}
    for encoder_id, encoder in encoders.items():
        prefix = f"text_encoders.{encoder_id}.transformer."
        own = dict(encoder.named_parameters())  # tied ones once
        weights |= {prefix + name: weight.detach() for name, weight in own.items()}
    save_file({name: weight.contiguous() for name, weight in weights.items()}, path)


def makers_name(name):
    if name.startswith("transformer_blocks."):
        return renamed(name, BLOCK)
    return "final_layer.linear." + name[9:] if name.startswith("proj_out.") else renamed(name, ENDS)
