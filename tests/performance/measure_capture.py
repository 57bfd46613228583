"""Measures what recording costs a run: ``python -m tests.performance.measure_capture``.

Plain and recorded runs take turns in one process, in one thread (threads that wait for each other
count as busy), and the processor time of this process is counted, so that other programs disturb
little. Prints the median of the ratios of neighbours.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import torch
from diffusers import UNet2DConditionModel

from spatialstudio.adapters.backends.attention_layers import (
    AttentionLayer,
    guiding_layers,
    unet_text_layers,
)
from spatialstudio.adapters.backends.attention_tap import tapped
from spatialstudio.adapters.backends.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.backends.layer_attention import MeanAttention
from spatialstudio.adapters.model_files import read_card
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationRequest,
    ModelRef,
    RequestId,
)
from tests.fakes import CountingToken, scene_of

PLAIN = CaptureSettings(attention_every=0, preview_every=0)
RECORDED = {
    "relation words": CaptureSettings(attention_every=1, preview_every=0),
    "relation words, previews": CaptureSettings(attention_every=1, preview_every=1),
    "every word": CaptureSettings(
        attention_every=1, preview_every=0, detail=AttentionDetail.EVERY_WORD
    ),
}


ROWS = 2
LATENT_SIDE = 32
TOKENS = 77
WORDS = (5, 9)


def main() -> None:
    """Print one line for every way of recording."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=resources_folder() / "models" / "stickers")
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--large", action="store_true", help="passes of SD 1.4's UNet")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.large:
        more = 100 * large_overhead(options.pairs)
        sys.stdout.write(f"relation words, passes of a large UNet: {more:.1f} % more\n")
        return
    with tempfile.TemporaryDirectory() as archives:
        measure = Measurement(options.model, options.steps, Path(archives))
        measure.seconds(PLAIN)  # loads the model
        for name, capture in RECORDED.items():
            more = 100 * measure.overhead(capture, options.pairs)
            sys.stdout.write(f"{name}: {more:.1f} % more\n")
            sys.stdout.flush()


def large_overhead(pairs: int) -> float:
    """Return the same share for single passes of a UNet as large as that of Stable Diffusion 1.4.

    Its weights are zeros and its pictures small, 256 pixels, to keep the measurement short.
    """
    with torch.device("meta"):
        unet = UNet2DConditionModel(sample_size=64, cross_attention_dim=768)
    unet = unet.to_empty(device="cpu").requires_grad_(False)
    for weights in unet.parameters():
        weights.zero_()
    layers = guiding_layers(unet_text_layers(unet), unet.config.sample_size)
    sample = torch.randn(ROWS, 4, LATENT_SIDE, LATENT_SIDE)
    text = torch.randn(ROWS, TOKENS, 768)

    def seconds(watch: AbstractContextManager[object]) -> float:
        started = time.process_time()
        with torch.no_grad(), watch:
            unet(sample, torch.tensor(500), text)
        return time.process_time() - started

    seconds(nullcontext())
    ratios = [seconds(recorded(layers)) / seconds(nullcontext()) for _ in range(pairs)]
    return statistics.median(ratios) - 1


@contextmanager
def recorded(layers: Sequence[AttentionLayer]) -> Iterator[None]:
    mean = MeanAttention(WORDS)
    with tapped(layers, mean.take):
        yield
    mean.mean()


class Measurement:
    """Runs of one model."""

    def __init__(self, folder: Path, steps: int, archives: Path) -> None:
        self._backend = DiffusersBackend(archives)
        self._card = read_card(folder)
        self._request = GenerationRequest(
            id=RequestId("measured"),
            scene=scene_of("dog", "car"),
            backend_id="diffusers",
            model=ModelRef(id=self._card.id),
            steps=steps,
        )

    def overhead(self, capture: CaptureSettings, pairs: int) -> float:
        """Return the share of processor time that recording adds, the median of ``pairs``."""
        ratios = [self.seconds(capture) / self.seconds(PLAIN) for _ in range(pairs)]
        return statistics.median(ratios) - 1

    def seconds(self, capture: CaptureSettings) -> float:
        """Return the processor time of one run."""
        started = time.process_time()
        request = replace(self._request, capture=capture)
        for _ in self._backend.generate(request, self._card, CountingToken()):
            pass
        return time.process_time() - started


if __name__ == "__main__":
    main()
