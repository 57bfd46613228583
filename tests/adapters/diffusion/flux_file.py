"""Writes a FLUX.1 transformer as one file, by the names of its makers."""

import torch
from safetensors.torch import save_file

from tests.adapters.diffusion.single_file import renamed

ENDS = {
    "time_text_embed.timestep_embedder.": "time_in.",
    "time_text_embed.guidance_embedder.": "guidance_in.",
    "time_text_embed.text_embedder.": "vector_in.",
    "linear_1.": "in_layer.",
    "linear_2.": "out_layer.",
    "context_embedder.": "txt_in.",
    "x_embedder.": "img_in.",
    "norm_out.linear.": "final_layer.adaLN_modulation.1.",
}
DOUBLE = {
    "norm1.linear.": "img_mod.lin.",
    "norm1_context.linear.": "txt_mod.lin.",
    "attn.norm_q.weight": "img_attn.norm.query_norm.scale",
    "attn.norm_k.weight": "img_attn.norm.key_norm.scale",
    "attn.norm_added_q.weight": "txt_attn.norm.query_norm.scale",
    "attn.norm_added_k.weight": "txt_attn.norm.key_norm.scale",
    "attn.to_out.0.": "img_attn.proj.",
    "attn.to_add_out.": "txt_attn.proj.",
    "ff.net.0.proj.": "img_mlp.0.",
    "ff.net.2.": "img_mlp.2.",
    "ff_context.net.0.proj.": "txt_mlp.0.",
    "ff_context.net.2.": "txt_mlp.2.",
}
SINGLE = {
    "norm.linear.": "modulation.lin.",
    "attn.norm_q.weight": "norm.query_norm.scale",
    "attn.norm_k.weight": "norm.key_norm.scale",
    "proj_out.": "linear2.",
}
JOINED = {
    "double_blocks.{}.img_attn.qkv": ("attn.to_q", "attn.to_k", "attn.to_v"),
    "double_blocks.{}.txt_attn.qkv": ("attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj"),
    "single_blocks.{}.linear1": ("attn.to_q", "attn.to_k", "attn.to_v", "proj_mlp"),
}
BLOCKS = {"double": "transformer_blocks", "single": "single_transformer_blocks"}


def save_flux_file(transformer, path):
    """Write the weights; the makers keep queries, keys and values in one matrix."""
    left = dict(transformer.state_dict())
    weights = {}
    for joined, parts in JOINED.items():
        blocks = BLOCKS[joined.split("_")[0]]
        for number in range(len(transformer.get_submodule(blocks))):
            for kind in ("weight", "bias"):
                own = [left.pop(f"{blocks}.{number}.{part}.{kind}") for part in parts]
                weights[f"{joined.format(number)}.{kind}"] = torch.cat(own)
    for name, weight in left.items():
        turned = name.startswith("norm_out.")
        weights[makers_name(name)] = halves_swapped(weight) if turned else weight
    save_file({name: weight.contiguous() for name, weight in weights.items()}, path)


def makers_name(name):
    for makers, ours in BLOCKS.items():
        if name.startswith(f"{ours}."):
            renames = DOUBLE if makers == "double" else SINGLE
            return renamed(name, renames).replace(ours, f"{makers}_blocks")
    return "final_layer.linear." + name[9:] if name.startswith("proj_out.") else renamed(name, ENDS)


def halves_swapped(weight):
    shift, scale = weight.chunk(2)
    return torch.cat([scale, shift])
