"""Checkpoints in the layout of their makers: names and shapes of every weight, as one file.

``layout_of`` derives a layout from the shipped configurations on the meta device; ``write_sparse``
writes it as a sparse file of zeros, which takes no space; ``single_file.save_single_file`` writes
the weights of a pipeline.
"""

import json
import math

import diffusers
import torch
import transformers

from spatialstudio.adapters.models.model_parts import parts_in_use, read_index
from spatialstudio.adapters.models.model_settings import read_settings
from spatialstudio.domain.resources import resources_folder
from tests.adapters.diffusion.single_file import original_weights

SHIPPED = resources_folder() / "checkpoints"
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "F8_E4M3": 1, "U8": 1, "I8": 1}


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


def write_sparse(file, layout, metadata=None, *, cut=0):
    """Write a safetensors file of zeros; ``cut`` leaves out bytes at its end."""
    header, end = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape) in layout.items():
        start, end = end, end + SIZES[dtype] * math.prod(shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    content = json.dumps(header).encode()
    with file.open("wb") as target:
        target.write(len(content).to_bytes(8, "little") + content)
        target.truncate(8 + len(content) + end - cut)
    return file
