"""What guidance adds to the arithmetic of a run, Stable Diffusion 1.x as published.

    python -m tests.performance.measure_run_cost [--prompts N]

The arithmetic of a plain pass, of a guiding pass and of its gradient is counted on a UNet of the
size of Stable Diffusion 1.4 at 512 pixels, without weights. How many guiding passes a run makes is
counted on runs of the embedded model with the published 50 steps, of which 25 are guided: all of
them, and with guidance that rests while every PoS is above 0.95. The published sampler makes 51
calls of 50 steps. A pass whose prediction is reused runs to its end and stands in for the prompt's
half of the step, so only its gradient is added.
"""

import argparse
import sys
from dataclasses import dataclass, replace
from statistics import mean

import torch
from diffusers import UNet2DConditionModel
from torch.utils.flop_counter import FlopCounterMode

from spatialstudio.adapters.backends.attention_layers import guiding_layers, unet_text_layers
from spatialstudio.adapters.backends.attention_tap import tapped
from spatialstudio.adapters.backends.layer_attention import MeanAttention
from spatialstudio.application.cancellation import CancelFlag
from spatialstudio.application.studio import Studio
from spatialstudio.domain.generation import PSG, CaptureSettings, StepEvent
from spatialstudio.domain.run_settings import Preset
from spatialstudio.science.guidance_presets import STABLE_DIFFUSION, guidance_preset
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
    options = parser.parse_args()
    cost = count_pass()
    show(f"a plain pass takes {cost.whole / 1e9:.0f} GFLOP; a guiding one {share(cost):.3f} of it")
    for name, goal in (("guided", 1.0), ("resting", GOAL)):
        passes = passes_of_runs(goal, options.prompts)
        show(
            f"{name:8} {mean(passes):5.1f} guiding passes ({sorted(passes)}): "
            f"{cost.overhead(mean(passes)):6.1%} over the plain run, target {TARGETS[name]:.0%}; "
            f"{cost.overhead_of_reusing(mean(passes)):.1%} where their predictions are reused"
        )
    return 0


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


def passes_of_runs(goal: float, prompts: int) -> list[int]:
    studio = Studio.open("inline")
    card = studio.model()
    backend = studio._registry.backend(card.backend_id)
    published = guidance_preset(PSG, STABLE_DIFFUSION, Preset.PUBLISHED)
    listed = spatialbench_prompts()
    found = []
    for number in range(prompts):
        text = listed[number * len(listed) // prompts].text
        studio.edit_scene(studio.scene_of(text))
        request = replace(
            studio.new_request(seed=number, steps=STEPS),
            guidance=replace(published, strength=card.strength, goal=goal),
            capture=NOTHING_CAPTURED,
        )
        events = backend.generate(request, card, CancelFlag())
        found.append(sum(e.guiding_passes for e in events if isinstance(e, StepEvent)))
    return found


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
