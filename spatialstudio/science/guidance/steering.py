"""Feynman-Kac steering: weights, resampling and rewards of particles denoised side by side.

Each particle is one picture that is being denoised. On some steps each gets a reward r, weights
grow by potentials G of the rewards so far, and particles are resampled by weight. With the rewards
r_1, r_2, ... of a particle and its ancestors, in order of time, the potentials are

    difference  G_t = exp(lambda (r_t - r_{t-1})), r_0 = 0
    maximum     G_t = exp(lambda max(r_1, ..., r_t))
    sum         G_t = exp(lambda (r_1 + ... + r_t))

and the last one is exp(lambda r_T) divided by the product of the earlier ones. So the product of
all is exp(lambda r_T), and the weighted particles follow p(x) exp(lambda r(x)).

Source: Singhal et al. 2025, arXiv:2501.06848, section 3 and their code. Ours: systematic instead of
multinomial resampling, which adds less variance (Kitagawa 1996); an optional decline of the number
of particles, so that many noises are tried at little cost, as in successive halving (Jamieson and
Talwalkar 2016, arXiv:1502.07943); and rewards by PoS and presence.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import BoolMask, FloatMap
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import SamplingSettings
from spatialstudio.domain.requirements import requirements_of
from spatialstudio.domain.scene import MentionId, Relation, SceneGraph
from spatialstudio.domain.steering import ONE_PARTICLE, Potential, Steering, StepReward
from spatialstudio.domain.verdict import DepthMap, Instance, Perception
from spatialstudio.science.arrays import FloatArray
from spatialstudio.science.guidance.methods import guides_depth
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from spatialstudio.science.pos.superiority import (
    cumulative,
    relation_pos,
    relation_pos_on_masks,
)

IntArray = npt.NDArray[np.int64]

ENOUGH_PARTICLES = 0.5
"""Share of the particles below which the effective sample size leads to a resampling."""

MANY_SEEDS = 2**32

DEPTH_STEERING = Steering(
    particles=12,
    keep=0.25,
    start=0.15,
    stop=0.3,
    every=0.1,
    strength=30.0,
    rewards=(StepReward.PICTURE,),
)
"""Chosen on development prompts of the sticker model; see ``recommended_steering``."""

LATEST = 0.25
"""Fraction of the steps after which one of two guided particles is dropped at the latest."""

ROUNDING = 1e-9

REGION_SHARE = 0.1
ABSENT = 0.5
"""Factor of the reward for each object that is not detected."""


def log_potential(potential: Potential, strength: float, rewards: FloatArray) -> FloatArray:
    """Compute the logarithm of the newest potential.

    Args:
        potential: How rewards become weights.
        strength: Lambda, >= 0.
        rewards: (times, particles) of each particle and its ancestors, at least one time, in order.

    Returns:
        (particles,).
    """
    match potential:
        case Potential.DIFFERENCE:
            before = rewards[-2] if len(rewards) > 1 else 0.0
            return strength * (rewards[-1] - before)
        case Potential.MAXIMUM:
            return strength * rewards.max(0)
        case Potential.SUM:
            return strength * rewards.sum(0)


def normalized(log_weights: FloatArray) -> FloatArray:
    """Convert log-weights to weights without overflow.

    Args:
        log_weights: (particles,), finite.

    Returns:
        (particles,), sums to 1.
    """
    weights: FloatArray = np.exp(log_weights - log_weights.max())
    return weights / weights.sum()


def effective_size(weights: FloatArray) -> float:
    """Compute the effective sample size (sum w)^2 / sum w^2, 1 to the number of particles."""
    return float(weights.sum() ** 2 / np.square(weights).sum())


def systematic(weights: FloatArray, count: int, offset: float) -> IntArray:
    """Resample: take every particle about as often as ``count`` times its weight.

    Args:
        weights: (particles,), sums to 1.
        count: Number of particles to draw, >= 1.
        offset: Uniform random number, [0, 1).

    Returns:
        (count,) indices of the particles that continue, ascending; each occurs either the floor or
        the ceiling of ``count * weight`` times.
    """
    places = (offset + np.arange(count)) / count
    last = np.flatnonzero(weights)[-1]
    found: IntArray = np.searchsorted(cumulative(weights), places, side="right")
    return found.clip(max=last)


@frozen(eq=False)
class Population:
    """Rewards and weights of the particles of a run.

    Attributes:
        rewards: (times, particles), those of each particle's ancestors.
        log_weights: (particles,) since the last resampling.
        log_product: (particles,) logarithm of the product of all potentials of the ancestors.
    """

    rewards: FloatArray
    log_weights: FloatArray
    log_product: FloatArray

    @property
    def weights(self) -> FloatArray:
        """The weights, (particles,), sum to 1."""
        return normalized(self.log_weights)

    def rated(self, settings: Steering, rewards: Sequence[float], *, is_last: bool) -> "Population":
        """Return the population after a reward of each particle.

        Args:
            settings: Potential and lambda.
            rewards: One per particle, [0, 1].
            is_last: Whether these are the rewards of the finished pictures.
        """
        seen = np.vstack([self.rewards, np.asarray(rewards, dtype=np.float64)])
        added = log_potential(settings.potential, settings.strength, seen)
        if is_last:
            added = settings.strength * seen[-1] - self.log_product
        return Population(
            rewards=seen,
            log_weights=self.log_weights + added,
            log_product=self.log_product + added,
        )

    def resampled(self, parents: Sequence[int]) -> "Population":
        """Return the population that continues the given particles, with equal weights."""
        kept = list(parents)
        return Population(
            rewards=self.rewards[:, kept],
            log_weights=np.zeros(len(kept)),
            log_product=self.log_product[kept],
        )

    def parents(self, settings: Steering, offset: float) -> tuple[int, ...]:
        """Return the particles that continue, the heaviest first; empty for no resampling.

        All continue while their number need not decline and the effective sample size is at least
        half of it.

        Args:
            settings: The fraction of the particles that continue.
            offset: Uniform random number, [0, 1).
        """
        weights = self.weights
        count, wanted = len(weights), next_count(len(weights), settings.keep)
        if wanted == count and effective_size(weights) >= ENOUGH_PARTICLES * count:
            return ()
        chosen = systematic(weights, wanted, offset)
        return tuple(sorted(chosen.tolist(), key=lambda each: (-weights[each], each)))


def initial_population(count: int) -> Population:
    """Return a population without rewards."""
    return Population(
        rewards=np.zeros((0, count)), log_weights=np.zeros(count), log_product=np.zeros(count)
    )


def next_count(count: int, keep: float) -> int:
    """Return the number of particles after a resampling, >= 1."""
    return max(1, ceil(count * keep - ROUNDING))


def resampling_steps(settings: Steering, steps: int) -> tuple[int, ...]:
    """Return the indices, from 0, of the steps after which particles are resampled.

    Args:
        settings: Start, stop and interval.
        steps: Number of denoising steps.
    """
    first = max(ceil(settings.start * steps - ROUNDING), 1) - 1
    last = min(floor(settings.stop * steps + ROUNDING), steps - 1) - 1
    return tuple(range(first, last + 1, max(1, round(settings.every * steps))))


def particle_counts(settings: Steering, steps: int) -> tuple[int, ...]:
    """Return the number of particles that are denoised on each step; their sum is the cost.

    Args:
        settings: The steering.
        steps: Number of denoising steps.
    """
    due, count = set(resampling_steps(settings, steps)), settings.particles
    counts = []
    for step in range(steps):
        counts.append(count)
        if step in due:
            count = next_count(count, settings.keep)
    return tuple(counts)


MOST_COST = 3
"""Cost of the recommended steering, in passes of a plain picture."""


def recommended_steering(scene: SceneGraph, sampling: SamplingSettings) -> Steering:
    """Return the steering of scenes with relations in depth; off for others.

    Many noises are tried until the arrangement can be seen, of which a quarter and then one
    continue. Guidance that acts on depth arranges most noises by itself and is the costlier part,
    so two are enough. The number of particles, or of steps before one is dropped, is as large as
    the cost allows, guiding passes included.

    Args:
        scene: Muted relations are left out.
        sampling: Its steps and guidance.
    """
    if not any(each.type.needs_depth and not each.is_muted for each in scene.relations):
        return ONE_PARTICLE
    steps, passes = sampling.steps, planned_passes(scene, sampling)
    choices = _late_choices(steps) if guides_depth(sampling.guidance) else large_choices()
    for steering in choices:
        counts = particle_counts(steering, steps)
        cost = sum(count * each for count, each in zip(counts, passes, strict=True))
        if cost <= MOST_COST * steps:
            return steering
    return ONE_PARTICLE


def large_choices() -> Iterator[Steering]:
    """Yield the steering of depth with fewer and fewer particles."""
    for count in range(DEPTH_STEERING.particles, 1, -1):
        yield replace(DEPTH_STEERING, particles=count)


def _late_choices(steps: int) -> Iterator[Steering]:
    """Yield two particles of which one is dropped earlier and earlier."""
    for taken in range(floor(LATEST * steps + ROUNDING), 0, -1):
        share = taken / steps
        yield replace(DEPTH_STEERING, particles=2, keep=0.5, start=share, stop=share)


def planned_passes(scene: SceneGraph, sampling: SamplingSettings) -> tuple[int, ...]:
    """Return the passes of one particle on each step, without those of refinement.

    Args:
        scene: Its relations may take turns.
        sampling: Its steps and guidance.
    """
    guidance = sampling.guidance
    turns = sum(relation.is_guided for relation in scene.relations) if guidance.one_by_one else 1
    updates = guidance.inner_updates * max(turns, 1) if guidance.is_on else 0
    guides = GuidanceSchedule(guidance, sampling.steps).guides
    return tuple(1 + updates * guides(step) for step in range(sampling.steps))


def particle_seeds(seed: int, count: int) -> tuple[int, ...]:
    """Return the seeds of the particles' noise: that of the run, then seeds derived from it."""
    others = np.random.SeedSequence(seed).generate_state(max(count - 1, 1), np.uint32)
    return (seed, *(int(other) % MANY_SEEDS for other in others))[:count]


def step_randomness(seed: int, step: int) -> np.random.Generator:
    """Return the random numbers of a step's resampling, the same whenever the run is repeated."""
    return np.random.default_rng([seed, step])


def attention_reward(scene: SceneGraph, maps: Mapping[MentionId, FloatMap]) -> float:
    """Compute the reward of attention maps: lowest PoS of the relations times lowest presence.

    Args:
        scene: Its relations; those that are muted or in depth are left out.
        maps: Mention id to (h, w), not negative; may be empty.

    Returns:
        [0, 1]; 0 where a map is empty or holds NaN or infinite values.
    """
    if not all(np.isfinite(each).all() and each.any() for each in maps.values()):
        return 0.0
    chances = [
        float(relation_pos(each.type, [maps[end] for end in each.ends]))
        for each in scene.relations
        if each.is_guided and all(end in maps for end in each.ends)
    ]
    return min(chances, default=1.0) * presence(maps)


def picture_reward(
    scene: SceneGraph,
    perception: Perception,
    maps: Mapping[MentionId, FloatMap],
    least_score: float,
) -> float:
    """Compute the reward of a predicted picture from the PoS of its relations.

    The lowest PoS is taken twice, on the masks of the objects and on the regions where their words
    attend, and averaged: early predictions are blurred, and attention is then the surer of the two.
    An object that is not detected halves the first PoS, with its region in place of a mask.

    Args:
        scene: Muted relations are left out; without any the reward is the presence alone.
        perception: Perception of the picture; depth relations require a depth map.
        maps: Attention of the mentions, (h, w), not negative; may be empty.
        least_score: Minimum score of a mask, [0, 1].

    Returns:
        [0, 1].
    """
    size = perception.height, perception.width
    regions = {mention: region_of(weights, size) for mention, weights in maps.items()}
    masks: dict[MentionId, BoolMask] = {}
    for mention in scene.mentions:
        sure = [m.pixels for m in perception.masks_of(mention.id) if m.score >= least_score]
        if sure:
            masks[mention.id] = np.logical_or.reduce(sure)
    absent = len(scene.mentions) - len(masks)
    on_masks = _lowest_pos(scene, regions | masks, perception.depth) * ABSENT**absent
    on_regions = _lowest_pos(scene, regions, perception.depth) if regions else on_masks
    return (on_masks + on_regions) / 2


def count_reward(scene: SceneGraph, instances: Sequence[Instance], least_score: float) -> float:
    """Compute the reward of required counts: one over one plus the number too many or missing.

    Args:
        scene: The scene; mentions without a required count are left out.
        instances: Measured instances of the mentions.
        least_score: Minimum score of an instance, [0, 1].

    Returns:
        (0, 1], the lowest of the mentions; 1 without counts.
    """
    rewards = [1.0]
    for mention in scene.mentions:
        quantity = requirements_of(scene, mention.id).quantity
        if quantity is not None:
            own = [each for each in instances if each.mention_id == mention.id]
            count = sum(each.score >= least_score for each in own)
            nearest = max(quantity.least, min(count, quantity.most or count))
            rewards.append(1 / (1 + abs(count - nearest)))
    return min(rewards)


def _lowest_pos(
    scene: SceneGraph, regions: Mapping[MentionId, BoolMask], depth: DepthMap | None
) -> float:
    """Return the lowest PoS of the relations; 0 where one cannot be measured, 1 without any."""
    asked = (relation for relation in scene.relations if not relation.is_muted)
    return min((_pos(relation, regions, depth) for relation in asked), default=1.0)


def _pos(
    relation: Relation, regions: Mapping[MentionId, BoolMask], depth: DepthMap | None
) -> float:
    own = [regions[end] for end in relation.ends if end in regions]
    if len(own) < len(relation.ends):
        return 0.0
    return relation_pos_on_masks(relation.type, own, depth) or 0.0


def region_of(weights: FloatMap, size: tuple[int, int]) -> BoolMask:
    """Return the region of an attention map's highest weights, at most a tenth of the picture.

    All of them are above the middle of the range of weights.

    Args:
        weights: (h, w), not negative.
        size: (H, W) of the picture, pixels.

    Returns:
        (H, W); empty if the map holds NaN or infinite values.
    """
    (height, width), (rows, columns) = weights.shape, size
    middle = (weights.min() + weights.max()) / 2
    is_high = weights >= max(np.quantile(weights, 1 - REGION_SHARE), middle)
    down = np.arange(rows) * height // rows
    across = np.arange(columns) * width // columns
    region: BoolMask = is_high[down[:, None], across]
    return region


def presence(maps: Mapping[MentionId, FloatMap]) -> float:
    """Compute the lowest presence of the mentions, [0, 1].

    The presence of a mention is the mass of its map, relative to the largest, times the map's
    concentration.
    """
    masses = {mention: float(each.sum()) for mention, each in maps.items()}
    most = max(masses.values(), default=1.0)
    return min((masses[m] / most * concentration(each) for m, each in maps.items()), default=1.0)


def concentration(weights: FloatMap) -> float:
    """Compute the fraction of a map's mass above its mean, [0, 1); see ``compactness``.

    Args:
        weights: (h, w), not negative, with a positive sum.
    """
    return float(np.maximum(weights - weights.mean(), 0).sum() / weights.sum())
