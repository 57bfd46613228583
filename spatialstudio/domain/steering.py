"""Settings of steering by resampling, and what happens to the particles of a run."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeAlias

from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import MentionId

RatePicture: TypeAlias = Callable[[RgbImage, Mapping[MentionId, FloatMap]], float]
"""Rates a predicted picture, (H, W, 3) uint8, in [0, 1]; also gets the attention of the mentions,
(h, w) each, for objects that are not detected. Called on the model's thread."""


class Potential(Enum):
    """How rewards become weights of particles, as in Feynman-Kac steering."""

    DIFFERENCE = "difference"
    """The increase since the last reward."""
    MAXIMUM = "maximum"
    """The highest reward so far."""
    SUM = "sum"
    """The sum of the rewards so far."""


class StepReward(Enum):
    """What particles are rated by while they are denoised."""

    ATTENTION = "attention"
    """PoS and presence of every word on the attention maps."""
    PICTURE = "picture"
    """PoS, also in depth, on the predicted clean picture, as the judge set perceives it."""


@frozen
class Steering:
    """Settings of steering: denoise several particles side by side and resample them by reward.

    Attributes:
        particles: Number of initial noises, >= 1; 1 disables steering.
        keep: Fraction of the particles that continue after each resampling, (0, 1]; 1 keeps their
            number, as published.
        start: Fraction of the steps before the first resampling, [0, 1].
        stop: Fraction of the steps after which nothing is resampled, [0, 1].
        every: Interval between resamplings, fraction of the steps, (0, 1].
        potential: How rewards become weights.
        strength: Lambda, the factor of the rewards in the exponent of the weights, >= 0.
        rewards: What particles are rated by; of several, the lowest counts.
    """

    particles: int = 1
    keep: float = 1.0
    start: float = 0.2
    stop: float = 0.8
    every: float = 0.2
    potential: Potential = Potential.DIFFERENCE
    strength: float = 10.0
    rewards: tuple[StepReward, ...] = (StepReward.ATTENTION, StepReward.PICTURE)

    @property
    def is_on(self) -> bool:
        """Whether there is more than one particle."""
        return self.particles > 1


ONE_PARTICLE = Steering()
"""No steering."""


@frozen
class ParticleStep:
    """What happened to the particles of a steered run on one step.

    Attributes:
        passes: Number of particles that were denoised on this step.
        rewards: Reward of each of them, [0, 1]; empty on steps without rewards.
        weights: Weight of each before the resampling; sums to 1; empty without rewards.
        parents: For each particle of the next step, the particle of this step that it continues;
            empty where all continue as they are.
        shown: The particle of this step that the event describes.
    """

    passes: int
    rewards: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()
    parents: tuple[int, ...] = ()
    shown: int = 0
