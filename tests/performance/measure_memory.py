"""What a run was told to take, and what it took: ``python -m tests.performance.measure_memory``.

Models of random weights draw a picture on the processor: without guidance, guided, and guided with
checkpointing; a first picture like it makes the libraries ready. Memory is the highest resident set
above that of the loaded model (Linux only), where the C library gives large blocks back at once:
left to itself it may keep as much again. Beside it stands the estimate, weights left out.
"""

import ctypes
import gc
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import torch

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.domain.derived_requests import with_savings
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationRequest,
    GuidanceSettings,
    SamplingSettings,
)
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES, TinyFamily, save_tiny_family
from tests.fakes import diffusers_request, events_of
from tests.performance.measure_guided_step import memory

SIDES = {"StableDiffusionPipeline": 160, "PixArtAlphaPipeline": 160, "FluxPipeline": 160}
GUIDED = GuidanceSettings(method_id="psg", strength=1.0, last_step=1)
MEBIBYTE = 2**20
MMAP_THRESHOLD = -3
LARGE_BYTES = 2**16
FORGET_PEAK = Path("/proc/self/clear_refs")
RUNS: Mapping[str, tuple[GuidanceSettings, tuple[Saving, ...]]] = {
    "plain": (GuidanceSettings(), ()),
    "guided": (GUIDED, ()),
    "checkpointed": (GUIDED, (Saving.CHECKPOINTING,)),
}


def main() -> int:
    torch.set_num_threads(1)
    ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, LARGE_BYTES)
    for tiny in TINY_FAMILIES:
        if tiny.pipeline_class not in SIDES:
            continue
        with tempfile.TemporaryDirectory() as folder:
            save_tiny_family(tiny, Path(folder) / "tiny")
            measured = Measurement(tiny, Path(folder))
            for run in RUNS:
                told, taken = measured.bytes(run)
                show(
                    f"{tiny.pipeline_class:26}{run:14}told {told / MEBIBYTE:8.1f} MiB   "
                    f"taken {taken / MEBIBYTE:8.1f} MiB   told : taken {told / taken:.2f}"
                )
    return 0


class Measurement:
    """Runs of one model."""

    def __init__(self, tiny: TinyFamily, folder: Path) -> None:
        self._backend = DiffusersBackend(folder)
        self._card = read_card(folder / "tiny")
        side = SIDES[tiny.pipeline_class]
        capture = CaptureSettings(attention_every=0, preview_every=0)
        self._request = diffusers_request(
            self._card, SamplingSettings(steps=2), height=side, width=side, capture=capture
        )

    def bytes(self, run: str) -> tuple[int, int]:
        """Return what the estimate tells beside the weights, and what was taken."""
        guidance, savings = RUNS[run]
        request = with_savings(with_values(self._request, guidance=guidance, savings=savings))
        self._draw(request)
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        FORGET_PEAK.write_text("5")
        before = memory("VmRSS")
        told = self._draw(request)
        return told, memory("VmHWM") - before

    def _draw(self, request: GenerationRequest) -> int:
        started, *_ = events_of(self._backend, request, self._card)
        return started.memory.peak_bytes - started.memory.weights_bytes


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
