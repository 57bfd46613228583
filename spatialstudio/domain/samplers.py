"""Samplers by their diffusers class names, and the guidance scale that is off."""

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
"""diffusers class names to display names of interchangeable samplers."""


HEUN = "HeunDiscreteScheduler"
"""Averages the slopes at both ends of a step."""

SCALE_OFF = 1.0
"""The guidance scale without classifier-free guidance, which halves the cost of a prediction."""

TWO_CALLS = frozenset({HEUN, "KDPM2DiscreteScheduler", "KDPM2AncestralDiscreteScheduler"})
"""Samplers that call the model twice per step."""


def alternative_samplers(own: str, *, begins_in_noise: bool = False) -> tuple[str, ...]:
    """Return the samplers that a model supports, its default first; empty without a default.

    Args:
        own: diffusers class name of the model's default sampler. Models that predict noise, sample
            or velocity support all of ``SAMPLERS``; flow models support only their default.
        begins_in_noise: Whether the model starts at near-zero signal-to-noise ratio, where the
            first step spans noise levels so far apart that averaging slopes fails.
    """
    if own not in SAMPLERS:
        return (own,) if own else ()
    left_out = {own, HEUN} if begins_in_noise else {own}
    return (own, *(name for name in SAMPLERS if name not in left_out))


def sampler_title(name: str) -> str:
    """Return the display name: "DDIM", or "LCM" for the unknown "LCMScheduler"."""
    return SAMPLERS.get(name, name.removesuffix("Scheduler"))


def sampler_named(name: str) -> str:
    """Return the diffusers class name of a sampler given by class name or display name."""
    spoken = {title.casefold(): known for known, title in SAMPLERS.items()}
    return spoken.get(name.casefold(), name)
