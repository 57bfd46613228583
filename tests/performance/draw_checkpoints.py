"""Draws two steps with full-size models of random weights, to try their layout.

    python -m tests.performance.draw_checkpoints stable-diffusion-1.5 stable-diffusion-xl
    python -m tests.performance.draw_checkpoints pixart-sigma flux.1-dev

Names and shapes are those of the published models: single files in float16, folders in bfloat16.
A model is written, drawn with in a process of its own and deleted in turn. Folders above
``--most-gb`` are listed with sparse weights of full size, and a copy of the same widths with two
layers is drawn.

Two steps of 256 pixels on one core of a shared machine, 23 November 2026: size in GB, loss of the
guided first step, standard deviation of the picture (0 to 255), time, peak with mapped files in GB:

    sana             drawn whole    9.06   loss 0.301   86   145 s   peak  8.6
    pixart-sigma     drawn whole   10.91   loss 0.280   68   184 s   peak 11.8
    lumina-2         drawn whole   10.62   loss 0.278   63   327 s   peak 11.5
    sd-3.5-medium    drawn whole    6.74   loss 0.281   62   214 s   peak  7.4   without T5
    sd-3.5-medium-t5 listed        16.27   reduced  2.35   loss 0.289   62
    flux.1-dev       listed        33.74   reduced  3.36   loss 0.276   62
    z-image          listed        20.52   reduced  3.53   loss 0.285   62
    flux.2-klein-4b  listed        15.96   reduced  3.62   loss 0.281   65
    sd-3.5-large     listed        27.62   reduced  2.47   loss 0.289   61
    qwen-image       listed        57.70   reduced  4.98   loss 0.279   35
"""

import argparse
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.domain.generation import (
    CaptureSettings,
    GuidanceSettings,
    SamplingSettings,
    StepEvent,
)
from tests.adapters.diffusion.full_families import (
    FULL_FAMILIES,
    build_full,
    size_in_bytes,
    write_full_folder,
)
from tests.adapters.diffusion.true_layouts import SHIPPED, layout_of
from tests.fakes import diffusers_request, events_of
from tests.sparse_weights import header_of

TORCH = {"F16": torch.float16, "BF16": torch.bfloat16, "F32": torch.float32, "I64": torch.int64}
SINGLE_FILES = ("stable-diffusion-1.5", "stable-diffusion-2.1", "stable-diffusion-xl")
ONES = ("weight", "running_var")
KEPT_SHAPE_NUMBERS = 2**27


def main():
    options = read_options()
    if options.draw is not None:
        draw(options.draw, options)
        return
    for name in options.families or (*SINGLE_FILES, *FULL_FAMILIES):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            started = time.monotonic()
            model = write_model(name, Path(folder), options)
            size = sum(file.stat().st_size for file in sorted(Path(folder).rglob("*.safetensors")))
            say(f"{name}: wrote {size / 1e9:.2f} GB, {since(started)}")
            arguments = [*sys.argv[1:], "--draw", str(model)]
            subprocess.run([sys.executable, "-m", __spec__.name, *arguments], check=False)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", choices=(*SINGLE_FILES, *FULL_FAMILIES), default=[])
    parser.add_argument("--folder", type=Path, help="where models are written (default: /tmp)")
    parser.add_argument("--side", type=int, default=128, help="of the picture, pixels")
    parser.add_argument("--number-format", default="bfloat16")
    parser.add_argument("--most-gb", type=float, default=12, help="largest folder that is drawn")
    parser.add_argument("--unguided", action="store_true")
    parser.add_argument("--draw", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def write_model(name, folder, options):
    """Write a model of random weights; one that is too large is listed, and reduced."""
    if name in SINGLE_FILES:
        file = folder / f"{name}.safetensors"
        write_random(file, layout_of(SHIPPED / name))
        return file
    family = FULL_FAMILIES[name]
    parts = build_full(family)
    if size_in_bytes(parts) > options.most_gb * 1e9:
        with tempfile.TemporaryDirectory(dir=options.folder) as other:
            write_full_folder(Path(other) / name, family.pipeline_class, parts)
            (card,) = ModelFolders([Path(other)]).cards()
            say(f"{name}: listed as {card.pipeline_class}, {card.size_bytes / 1e9:.2f} GB, sparse")
        parts = build_full(family, is_reduced=True)
    write_full_folder(folder / name, family.pipeline_class, parts, write_random)
    return folder / name


def write_random(file, layout):
    """Write weights that keep the variance of their input; tensors of one shape are equal."""
    generator = torch.Generator().manual_seed(0)
    known = {}
    with file.open("wb") as target:
        target.write(header_of(layout))
        for name, (dtype, shape) in layout.items():
            is_one = len(shape) < 2 and name.endswith(ONES)
            if (dtype, shape, is_one) not in known:
                known = {} if sum(map(len, known.values())) > KEPT_SHAPE_NUMBERS else known
                known[dtype, shape, is_one] = random_bytes(dtype, shape, is_one, generator)
            target.write(known[dtype, shape, is_one])


def random_bytes(dtype, shape, is_one, generator):
    values = torch.full(shape, int(is_one), dtype=TORCH[dtype])
    if len(shape) > 1 and dtype in ("F16", "BF16"):
        values.normal_(0, math.prod(shape[1:]) ** -0.5, generator=generator)
    return values.flatten().view(torch.uint8).numpy()


def draw(model, options):
    cards = {card.folder: card for card in ModelFolders([model.parent]).cards()}
    card = cards[model]
    guidance = GuidanceSettings(method_id="psg", strength=20.0, last_step=0)
    sampling = SamplingSettings(
        seed=7,
        steps=2,
        guidance=GuidanceSettings() if options.unguided else guidance,
        dtype=options.number_format,
        prediction_type=card.prediction_type,
    )
    capture, side = CaptureSettings(preview_every=0), options.side
    request = diffusers_request(card, sampling, width=side, height=side, capture=capture)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as archives:
        begun, *events, finished = events_of(DiffusersBackend(Path(archives)), request, card)
    first, last = [event for event in events if isinstance(event, StepEvent)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    pos = ", ".join(f"{value:.3f}" for value in last.pos.values())
    loss = "no guidance" if first.guidance_loss is None else f"loss {first.guidance_loss:.4f}"
    say(
        f"  {card.family or card.pipeline_class}, {card.size_bytes / 1e9:.2f} GB: {last.step + 1} "
        f"steps of {request.width} px, PoS {pos}, {loss}, picture deviates by "
        f"{finished.image.std():.1f}, {since(started)}; estimated weights "
        f"{begun.memory.weights_bytes / 1e9:.2f} GB, peak {peak / 1e9:.1f} GB with mapped files"
    )


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def since(started):
    return f"{time.monotonic() - started:.0f} s"


if __name__ == "__main__":
    main()
