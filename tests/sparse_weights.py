"""Weight files of zeros with real headers; sparse, so that they take no space. Imports no torch."""

import json
import math

from spatialstudio.adapters.models.identify_file import DECODER, DEEPEST, ENCODERS, INPUT, WIDTHS

SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "F8_E4M3": 1, "U8": 1, "I8": 1}


def write_sparse(file, layout, metadata=None, *, cut=0):
    """Write a safetensors file of zeros.

    Args:
        file: Its path.
        layout: Dtype and shape by name.
        metadata: Text entries.
        cut: Bytes that are left out at its end.
    """
    header = header_of(layout, metadata)
    size = sum(SIZES[dtype] * math.prod(shape) for dtype, shape in layout.values())
    with file.open("wb") as target:
        target.write(header)
        target.truncate(len(header) + size - cut)
    return file


def header_of(layout, metadata=None):
    """Return the first bytes of a safetensors file, up to the weights."""
    header, end = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape) in layout.items():
        start, end = end, end + SIZES[dtype] * math.prod(shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    content = json.dumps(header).encode()
    return len(content).to_bytes(8, "little") + content


def signs_of(family):
    """Return a layout with only the weights by which a checkpoint is identified, and some bulk."""
    width = next(width for width, name in WIDTHS.items() if name == family)
    return {
        INPUT: ("F16", (320, 4, 3, 3)),
        "model.diffusion_model.output_blocks.3.1.transformer_blocks.0.attn2.to_k.weight": (
            "F16",
            (640, width),
        ),
        DEEPEST[family]: ("F16", (1280,)),
        DECODER: ("F16", (512, 4, 3, 3)),
        **dict.fromkeys(ENCODERS[family], ("F16", (49408, 1024))),
    }
