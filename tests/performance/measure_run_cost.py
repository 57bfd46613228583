"""What guidance adds to the arithmetic of a run, Stable Diffusion 1.x as published.

    python -m tests.performance.measure_run_cost [--prompts N] [--rows FILE]

The arithmetic of a plain pass, of a guiding pass and of its gradient is counted on a UNet of the
size of Stable Diffusion 1.4 at 512 pixels, without weights. Of the published 50 steps 25 are
guided, each by one pass; how many of them guidance makes that rests while every PoS is above 0.95
is counted on runs of the embedded model, which end with the last step that may be guided. One line
a run goes to FILE as soon as it is counted; a second start goes on from there. The published
sampler makes 51 calls of 50 steps. A pass whose prediction is reused runs to its end and stands in
for the half of the step that has the prompt, so only its gradient is added.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from diffusers import UNet2DConditionModel
from torch.utils.flop_counter import FlopCounterMode

from spatialstudio.adapters.diffusion.attention_layers import guiding_layers, unet_text_layers
from spatialstudio.adapters.diffusion.attention_tap import MeanAttention, tapped
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import Cancelled
from spatialstudio.domain.generation import (
    PSG,
    CaptureSettings,
    GenerationEvent,
    GuidanceSettings,
    StepEvent,
)
from spatialstudio.domain.run_settings import Preset, with_values
from spatialstudio.science.guidance.method import STABLE_DIFFUSION
from spatialstudio.science.guidance.methods import guidance_preset
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from tests.performance.intervals import Figure, bootstrap, ratio
from tests.performance.prompt_lists import spatialbench_prompts

LATENT_SIDE, TOKENS, WIDTH = 64, 77, 768
WORDS = (5, 9)
STEPS, CALLS = 50, 51
GOAL = 0.95
NOTHING_CAPTURED = CaptureSettings(attention_every=0, preview_every=0)
TARGETS = {"guided": 0.26, "resting": 0.15}


@dataclass(frozen=True, slots=True)
class PassCost:
    """Floating point operations of a pass of one picture."""

    whole: int
    guiding: int
    gradient: int

    def overhead(self, passes: float, steps: int = CALLS) -> float:
        """Return what guiding passes add to a run of doubled passes."""
        return passes * (self.guiding + self.gradient) / (2 * steps * self.whole)

    def overhead_of_reusing(self, passes: float) -> float:
        """Return what passes add whose prediction the steps take."""
        return passes * self.gradient / (2 * CALLS * self.whole)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=10, help="spread over 200 of two objects")
    parser.add_argument("--rows", type=Path, help="JSON lines, one a prompt")
    options = parser.parse_args()
    torch.set_num_threads(1)  # waiting for each other takes most of the time on a busy machine
    published = guidance_preset(PSG, STABLE_DIFFUSION, Preset.PUBLISHED)
    cost = count_pass()
    show(f"a plain pass takes {cost.whole / 1e9:.0f} GFLOP; a guiding one {share(cost):.3f} of it")
    guided = sum(map(GuidanceSchedule(published, STEPS).guides, range(STEPS)))
    tell("guided", cost, Figure(guided, guided, guided))
    passes = []
    for number, made in resting_passes(published, options.prompts, options.rows):
        passes.append((made, 1))
        show(f"prompt {number}: {made} guiding passes")
    tell("resting", cost, bootstrap(ratio, passes))
    return 0


def tell(name: str, cost: PassCost, passes: Figure) -> None:
    added = Figure(*map(cost.overhead, (passes.value, passes.low, passes.high)))
    show(
        f"{name:8} {passes.value:.1f} guiding passes: {added.percent} % over the plain run, "
        f"target {TARGETS[name]:.0%}; "
        f"{cost.overhead_of_reusing(passes.value):.1%} where their predictions are reused"
    )


def share(cost: PassCost) -> float:
    return (cost.guiding + cost.gradient) / cost.whole


def count_pass() -> PassCost:
    with torch.device("meta"):
        unet = UNet2DConditionModel(sample_size=LATENT_SIDE, cross_attention_dim=WIDTH)
        sample = torch.empty(1, 4, LATENT_SIDE, LATENT_SIDE)
        rest = torch.empty(1), torch.empty(1, TOKENS, WIDTH)
    unet.requires_grad_(False)
    layers = guiding_layers(unet_text_layers(unet), LATENT_SIDE)
    with FlopCounterMode(display=False) as whole:
        unet(sample, *rest)
    sample.requires_grad_()
    mean = MeanAttention(WORDS)
    with (
        FlopCounterMode(display=False) as guiding,
        tapped(layers, mean.take, stops_early=True),
    ):
        unet(sample, *rest)
    total = mean.mean().sum()
    with FlopCounterMode(display=False) as gradient:
        torch.autograd.grad(total, sample)
    return PassCost(*(one.get_total_flops() for one in (whole, guiding, gradient)))


def resting_passes(
    published: GuidanceSettings, prompts: int, rows: Path | None
) -> Iterator[tuple[int, int]]:
    """Count the guiding passes of every prompt's run, or read what was counted before."""
    known = dict(json.loads(row) for row in rows.open()) if rows and rows.exists() else {}
    studio = Studio.open("inline")
    listed = spatialbench_prompts()
    for order in range(prompts):
        number = order * len(listed) // prompts
        if number not in known:
            known[number] = passes_of_run(studio, listed[number].text, number, published)
            if rows:
                with rows.open("a") as file:
                    file.write(json.dumps([number, known[number]]) + "\n")
        yield number, known[number]


def passes_of_run(studio: Studio, text: str, seed: int, published: GuidanceSettings) -> int:
    card = studio.model()
    studio.use_scene(studio.parse_for_model(text))
    settings = replace(published, strength=card.strength, goal=GOAL)
    request = with_values(
        studio.new_request(seed=seed, steps=STEPS), guidance=settings, capture=NOTHING_CAPTURED
    )
    passes, token = 0, CancelFlag()

    def count(event: GenerationEvent) -> None:
        nonlocal passes
        if isinstance(event, StepEvent):
            passes += event.guiding_passes
            if event.step == GuidanceSchedule(settings, STEPS).last_step:
                token.cancel()

    with suppress(Cancelled):
        studio.registry.backend(card.backend_id).generate(request, card, token, count)
    return passes


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
