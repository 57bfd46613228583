"""Measures what recording costs a run: ``python -m tests.performance.measure_capture``.

A plain and a recorded run of the same picture go on in turns, event by event, in one process and
with one thread for the maths (threads that wait for each other count as busy). Processor time is
counted. What else runs on the machine slows neighbours alike, and the median over the runs, event
by event, leaves out what met only one of them. Prints what the sum of the medians has more, and the
middle 95 % of resampled runs.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import Semaphore, Thread

import numpy as np
import torch
from diffusers import UNet2DConditionModel

from spatialstudio.adapters.diffusion.attention_layers import (
    AttentionLayer,
    guiding_layers,
    unet_text_layers,
)
from spatialstudio.adapters.diffusion.attention_tap import MeanAttention, tapped
from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationEvent,
    SamplingSettings,
)
from tests.fakes import CountingToken, diffusers_request
from tests.performance.intervals import RESAMPLES, Figure, Floats

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
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--large", action="store_true", help="passes of SD 1.4's UNet")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.large:
        more = large_overhead(options.pairs)
        sys.stdout.write(f"relation words, passes of a large UNet: {more.percent} % more\n")
        return
    with tempfile.TemporaryDirectory() as archives:
        measure = Measurement(options.model, options.steps, Path(archives))
        for name, capture in RECORDED.items():
            more = measure.overhead(capture, options.pairs)
            sys.stdout.write(f"{name}: {more.percent} % more\n")
            sys.stdout.flush()


def overhead(recorded: Sequence[Sequence[float]], plain: Sequence[Sequence[float]]) -> Figure:
    """Return the share that recording adds.

    Args:
        recorded: A row for each run, its parts in order.
        plain: Likewise.
    """
    own, rest = np.asarray(recorded), np.asarray(plain)
    rng = np.random.default_rng(0)
    picks = [rng.integers(len(own), size=len(own)) for _ in range(RESAMPLES)]
    low, high = np.percentile([share_added(own[pick], rest[pick]) for pick in picks], [2.5, 97.5])
    return Figure(share_added(own, rest), float(low), float(high))


def share_added(recorded: Floats, plain: Floats) -> float:
    return float(np.median(recorded, 0).sum() / np.median(plain, 0).sum() - 1)


def large_overhead(pairs: int) -> Figure:
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
    turns = [(seconds(recorded(layers)), seconds(nullcontext())) for _ in range(pairs)]
    return overhead(*zip(*[([own], [rest]) for own, rest in turns], strict=True))


@contextmanager
def recorded(layers: Sequence[AttentionLayer]) -> Iterator[None]:
    mean = MeanAttention(WORDS)
    with tapped(layers, mean.take):
        yield
    mean.mean()


class Measurement:
    """Runs of one model, which is loaded twice."""

    def __init__(self, folder: Path, steps: int, archives: Path) -> None:
        self._backends = DiffusersBackend(archives), DiffusersBackend(archives)
        self._card = read_card(folder)
        self._request = diffusers_request(self._card, SamplingSettings(steps=steps))
        self.both(PLAIN, 0)  # loads the models

    def overhead(self, capture: CaptureSettings, pairs: int) -> Figure:
        """Return the share of processor time that recording adds."""
        recorded, plain = zip(*[self.both(capture, turn) for turn in range(pairs)], strict=True)
        return overhead(recorded, plain)

    def both(self, capture: CaptureSettings, turn: int) -> tuple[list[float], list[float]]:
        """Make a recorded and a plain run side by side.

        Args:
            capture: Of the recorded one.
            turn: Even or odd: which model makes which, and which run goes first.

        Returns:
            The processor time of every part of both.
        """
        first, second = self._backends if turn % 2 else self._backends[::-1]
        runs = self._events(first, capture), self._events(second, PLAIN)
        times: tuple[list[float], list[float]] = [], []
        is_going = True
        while is_going:
            swaps = (len(times[0]) + turn // 2) % 2
            for which in (1, 0) if swaps else (0, 1):
                started = time.process_time()
                is_going = next(runs[which], None) is not None
                times[which].append(time.process_time() - started)
        return times

    def _events(
        self, backend: DiffusersBackend, capture: CaptureSettings
    ) -> Iterator[GenerationEvent]:
        request, events = replace(self._request, capture=capture), SimpleQueue()
        may_go_on = Semaphore(0)

        def report(event: GenerationEvent) -> None:
            events.put(event)
            may_go_on.acquire()

        def draw() -> None:
            may_go_on.acquire()
            try:
                report(backend.generate(request, self._card, CountingToken(), report))
            finally:
                events.put(None)

        Thread(target=draw).start()
        while True:
            may_go_on.release()
            if (event := events.get()) is None:
                return
            yield event


if __name__ == "__main__":
    main()
