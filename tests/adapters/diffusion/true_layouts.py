"""Checkpoints in the layout of their makers: names and shapes of every weight, as one file.

``layout_of`` derives a layout from the shipped configurations on the meta device;
``tests.sparse_weights.write_sparse`` writes it as a file. ``shrink_shipped`` and ``random_parts``
make small checkpoints that draw.
"""

import json
import shutil

import diffusers
import torch
import transformers

from spatialstudio.adapters.models.model_parts import parts_in_use, read_index
from spatialstudio.adapters.models.model_settings import read_settings
from spatialstudio.domain.resources import resources_folder
from tests.adapters.diffusion.single_file import original_weights

SHIPPED = resources_folder() / "checkpoints"


def parts_of(base, device="meta"):
    """Instantiate the models of a folder of configurations, without reading weights."""
    parts = {}
    for name, class_name in parts_in_use(read_index(base)).items():
        if name == "scheduler" or name.startswith("tokenizer"):
            continue
        config = read_settings(base / name / "config.json")
        with torch.device(device):
            if hasattr(diffusers, class_name):
                parts[name] = getattr(diffusers, class_name).from_config(config)
            else:
                config = transformers.CLIPTextConfig(**config)
                parts[name] = getattr(transformers, class_name)(config)
    return parts


def layout_of(base, dtype="F16"):
    """Map the original names of all weights of a shipped family to their dtype and shape."""
    weights = original_weights(parts_of(base))
    layout = {name: (dtype, tuple(weight.shape)) for name, weight in weights.items()}
    layout["alphas_cumprod"] = ("F32", (1000,))
    if any(name.startswith("cond_stage_model.transformer.") for name in layout):
        layout["cond_stage_model.transformer.text_model.embeddings.position_ids"] = ("I64", (1, 77))
    return layout


SMALL = {
    "unet": {"sample_size": 8, "norm_num_groups": 8},
    "vae": {"block_out_channels": [16] * 4, "norm_num_groups": 8, "sample_size": 64},
    "text_encoder": {"num_hidden_layers": 2, "intermediate_size": 64},
    "text_encoder_2": {"num_hidden_layers": 2, "intermediate_size": 64},
}
HEADS = {"stable-diffusion-1.5": 4}


def shrink_shipped(target):
    """Copy the shipped configurations with fewer channels and text layers, and as many blocks.

    Names, numbers of blocks, and widths of the text stay, by which checkpoints are identified.
    """
    shutil.copytree(SHIPPED, target)
    for config in target.glob("*/*/config.json"):
        values = read_settings(config) | SMALL[config.parent.name]
        if config.parent.name == "unet":
            levels = len(values["block_out_channels"])
            values["block_out_channels"] = [32, *[64] * (levels - 1)]
            heads = [2, *[4] * (levels - 1)]
            values["attention_head_dim"] = HEADS.get(config.parent.parent.name, heads)
        config.write_text(json.dumps(values), encoding="utf-8")
    return target


def random_parts(base):
    """Instantiate the models of a folder of configurations with random weights in float16."""
    torch.manual_seed(0)
    parts = parts_of(base, "cpu")
    for part in parts.values():
        part.half()
    return parts
