"""Samplers: how a model's predictions become the next, less noisy latents."""

from collections.abc import Mapping

SAMPLERS: Mapping[str, str] = {
    "DDIMScheduler": "DDIM",
    "DDPMScheduler": "DDPM",
    "DEISMultistepScheduler": "DEIS",
    "DPMSolverMultistepScheduler": "DPM++ 2M",
    "EulerDiscreteScheduler": "Euler",
    "EulerAncestralDiscreteScheduler": "Euler ancestral",
    "HeunDiscreteScheduler": "Heun",
    "PNDMScheduler": "PNDM",
    "UniPCMultistepScheduler": "UniPC",
}
"""Names in diffusers to names for people, of those that stand in for each other."""


HEUN = "HeunDiscreteScheduler"
"""Takes the mean of the slopes at both ends of a step."""

SCALE_OFF = 1.0
"""The guidance scale that leaves classifier-free guidance out: half of every prediction."""

TWO_CALLS = frozenset({HEUN, "KDPM2DiscreteScheduler", "KDPM2AncestralDiscreteScheduler"})
"""Those that call the model twice a step."""


def samplers_beside(own: str, *, begins_in_noise: bool = False) -> tuple[str, ...]:
    """Return the samplers that a model can be drawn with, its own first; empty without one.

    Args:
        own: Name in diffusers of the one that came with a model that learnt to predict noise, the
            picture or their velocity; models of flows know their own alone.
        begins_in_noise: Whether hardly any signal is left at the model's first step, which then
            spans noise levels so far apart that a mean of slopes leads nowhere.
    """
    if own not in SAMPLERS:
        return (own,) if own else ()
    left_out = {own, HEUN} if begins_in_noise else {own}
    return (own, *(name for name in SAMPLERS if name not in left_out))


def sampler_title(name: str) -> str:
    """Return the name for people: "DDIM", or "LCM" of the unknown "LCMScheduler"."""
    return SAMPLERS.get(name, name.removesuffix("Scheduler"))


def sampler_named(name: str) -> str:
    """Return the name in diffusers of a sampler, whichever of its names somebody typed."""
    spoken = {title.casefold(): known for known, title in SAMPLERS.items()}
    return spoken.get(name.casefold(), name)
