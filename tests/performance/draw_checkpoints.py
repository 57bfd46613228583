"""Draws two steps with full-size single-file checkpoints of random weights, to try their layout.

    python -m tests.performance.draw_checkpoints stable-diffusion-1.5 stable-diffusion-xl

Each file has the names and shapes of the published one, in float16; it is written, drawn with and
deleted in turn. SDXL takes 7 GB of disk and, in bfloat16, about 10 GB of memory.
"""

import argparse
import math
import resource
import sys
import tempfile
import time
from pathlib import Path

import torch

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.adapters.models.model_settings import HEADER_LENGTH_BYTES
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    RequestId,
    SamplingSettings,
)
from tests.adapters.diffusion.true_layouts import SHIPPED, layout_of
from tests.fakes import events_of, scene_of
from tests.sparse_weights import write_sparse

TORCH = {"F16": torch.float16, "F32": torch.float32, "I64": torch.int64}
FOLDERS = ("stable-diffusion-1.5", "stable-diffusion-2.1", "stable-diffusion-xl")


def main():
    options = read_options()
    for name in options.families or FOLDERS:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            file = Path(folder) / f"{name}.safetensors"
            started = time.monotonic()
            write_random(file, layout_of(SHIPPED / name))
            say(f"{name}: wrote {file.stat().st_size / 1e9:.2f} GB, {since(started)}")
            draw(file, options)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", choices=FOLDERS)
    parser.add_argument("--folder", type=Path, help="where files are written (default: /tmp)")
    parser.add_argument("--side", type=int, default=128, help="of the picture, pixels")
    parser.add_argument("--number-format", default="bfloat16")
    parser.add_argument("--unguided", action="store_true")
    return parser.parse_args()


def write_random(file, layout):
    """Write weights that keep the variance of their input, tensor by tensor."""
    generator = torch.Generator().manual_seed(0)
    write_sparse(file, layout)
    with file.open("r+b") as target:
        target.seek(
            HEADER_LENGTH_BYTES + int.from_bytes(target.read(HEADER_LENGTH_BYTES), "little")
        )
        for name, (dtype, shape) in layout.items():
            values = torch.zeros(shape, dtype=TORCH[dtype])
            if len(shape) > 1 and dtype == "F16":
                values.normal_(0, math.prod(shape[1:]) ** -0.5, generator=generator)
            elif name.endswith("weight"):
                values.fill_(1)
            target.write(values.numpy().tobytes())


def draw(file, options):
    (card,) = ModelFolders([file.parent]).cards()
    guidance = GuidanceSettings(method_id="psg", strength=20.0, last_step=0)
    request = GenerationRequest(
        id=RequestId("full-size"),
        scene=scene_of(),
        backend_id="diffusers",
        model=ModelRef(id=card.id),
        sampling=SamplingSettings(
            seed=7,
            steps=2,
            guidance=GuidanceSettings() if options.unguided else guidance,
            dtype=options.number_format,
            prediction_type=card.prediction_type,
        ),
        width=options.side,
        height=options.side,
        capture=CaptureSettings(preview_every=0),
    )
    started = time.monotonic()
    begun, *_, last, finished = events_of(DiffusersBackend(file.parent), request, card)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    say(
        f"  {card.family}, {card.size_bytes / 1e9:.2f} GB, {card.prediction_type}: {last.step + 1} "
        f"steps of {options.side} px, PoS {dict(last.pos)}, picture deviates by "
        f"{finished.image.std():.1f}, {since(started)}; estimated weights "
        f"{begun.memory.weights_bytes / 1e9:.2f} GB, peak {peak / 1e9:.1f} GB"
    )


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def since(started):
    return f"{time.monotonic() - started:.0f} s"


if __name__ == "__main__":
    main()
