"""The sketch term of a guidance loss: soft targets of place and size.

    S = sum_i p |c_i - t_i|^2 + q (s_i - d_i / sqrt(8))^2 - r log sum_x a_i(x) G_i(x)

With the map a_i of an object without its floor, its centroid c_i and spread s_i, the target's
centre t_i and diameter d_i: a disc of diameter d has the spread d / sqrt(8). The first two terms
are the squared transport (Wasserstein) distance to the target, of two isotropic Gaussians. G_i is
a Gaussian around the target: the last term makes an object that is not there yet appear at its
target, where the others only move it. Nothing is a hard box. The term is ours.
"""

from collections.abc import Mapping, Sequence
from math import sqrt

import torch

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import PlaceTarget
from spatialstudio.domain.scene import Axis, Relation
from spatialstudio.science.guidance.losses import GuidanceLoss
from spatialstudio.science.pos.attention_maps import WordAttention
from spatialstudio.science.pos.map_shape import cell_centres, peaks, spread_of
from spatialstudio.science.pos.superiority import marginal

PLACE_WEIGHT = 20.0
SIZE_WEIGHT = 10.0
REACH_WEIGHT = 0.2
ANY_SIZE = 0.35
"""Diameter of the Gaussian of a target of any size."""
LEAST_MASS = 1e-4


@frozen(kw_only=False)
class SketchedLoss:
    """A guidance loss with the sketch term, a ``GuidanceLoss``.

    Attributes:
        held: Loss of the relations; None if there is nothing else to hold.
        targets: Places of objects; those of other scenes' objects are ignored.
        weight: Of the sketch term, (0, 1].
    """

    held: GuidanceLoss | None
    targets: tuple[PlaceTarget, ...]
    weight: float = 1.0

    @property
    def reads_whole_text(self) -> bool:
        """Whether the loss of the relations needs the attention of all words."""
        return self.held is not None and self.held.reads_whole_text

    def __call__(self, relations: Sequence[Relation], attention: WordAttention) -> torch.Tensor:
        """Return the () loss of the relations plus the weighted sketch term."""
        maps = attention.loss_maps()
        offsets = [
            target_offset(maps[target.mention_id], target)
            for target in self.targets
            if target.mention_id in maps
        ]
        losses = [self.weight * offset for offset in offsets]
        if self.held is not None:
            losses.append(self.held(relations, attention))
        return torch.stack(losses).sum()


def target_offset(weights: torch.Tensor, target: PlaceTarget) -> torch.Tensor:
    """Compute how far a map is from a target.

    Args:
        weights: (h, w), not negative, with a positive sum.
        target: The target.

    Returns:
        () term, 0 or more.
    """
    above = peaks(weights)
    spread = spread_of(above)
    place: Mapping[Axis, float] = {Axis.X: target.x, Axis.Y: target.y}
    distances = [(spread.centroid[axis] - place[axis]).square() for axis in place]
    term = PLACE_WEIGHT * torch.stack(distances).sum()
    if target.size is not None:
        radius = (spread.variance + LEAST_MASS).sqrt()
        term = term + SIZE_WEIGHT * (radius - target.size / sqrt(8)).square()
    reached = (above / above.sum() * _gaussian(above, target)).sum()
    return term - REACH_WEIGHT * torch.log(reached.clamp_min(LEAST_MASS))


def _gaussian(weights: torch.Tensor, target: PlaceTarget) -> torch.Tensor:
    """Return the (h, w) Gaussian around a target with the spread of half its diameter; 1 at it."""
    sigma = (target.size or ANY_SIZE) / 2
    across = cell_centres(marginal(torch.ones_like(weights), Axis.X)) - target.x
    down = cell_centres(marginal(torch.ones_like(weights), Axis.Y)) - target.y
    squared = down[:, None].square() + across[None].square()
    return torch.exp(-squared / (2 * sigma**2))
