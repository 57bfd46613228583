"""Shape of attention maps with gradients: peaks, spread, compactness, exclusivity and unity.

Exclusivity tells whether a word has places of its own. With the maps A_i of all mentions,

    X_i = sum_x p_i(x) s_i(x),   p_i = A_i / sum_x A_i,   s_i = A_i / sum_j A_j

is the share of the attention that word i has at the places it attends to: 1 where no other word
attends, 1 / k where k words attend alike, near 0 for a faint map under another word's map. Like
PoS it is independent of the scale of attention.

Unity tells whether a word has one place. With the peaks q of its map, which sum to 1,

    U = max_x sum_y q(y) exp(-|x - y|^2 / (2 s^2))

is the share of them within a spread s around the densest place: 1 for one narrow peak, 1 / k for k
distant ones alike. Its gradient strengthens the densest place at the cost of the others. Both
measures are ours.
"""

from collections.abc import Mapping, Sequence

import torch

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Axis, MentionId
from spatialstudio.science.pos.superiority import PICTURE_AXES, marginal


@frozen(kw_only=False)
class Spread:
    """Centroid and variance of a map.

    Attributes:
        centroid: Axis to () coordinate in [0, 1].
        variance: () mean squared distance from the centroid, both axes.
    """

    centroid: Mapping[Axis, torch.Tensor]
    variance: torch.Tensor


Spreads = Mapping[MentionId, Spread]


def spread_of(weights: torch.Tensor) -> Spread:
    """Compute centroid and variance of a map.

    Args:
        weights: (h, w), not negative.

    Raises:
        EmptyMapError: The map sums to 0.
    """
    centroid, variance = {}, weights.new_zeros(())
    for axis in PICTURE_AXES:
        profile = marginal(weights, axis)
        places = cell_centres(profile)
        centroid[axis] = (profile * places).sum()
        variance = variance + (profile * (places - centroid[axis]).square()).sum()
    return Spread(centroid, variance)


def cell_centres(profile: torch.Tensor) -> torch.Tensor:
    """Return the coordinates of the cells of a profile, (bins,) in (0, 1)."""
    bins = profile.shape[-1]
    return (torch.arange(bins).to(profile) + 0.5) / bins


def peaks(weights: torch.Tensor) -> torch.Tensor:
    """Return a map without its floor: what exceeds its mean; a constant map as it is.

    Attention has a floor all over the picture, which pulls centroids to the middle.

    Args:
        weights: (..., h, w), not negative.
    """
    above = (weights - weights.mean((-2, -1), keepdim=True)).clamp_min(0)
    return torch.where(above.sum((-2, -1), keepdim=True) > 0, above, weights)


def compactness(weights: torch.Tensor) -> torch.Tensor:
    """Compute the fraction of a map's mass above its mean.

    Args:
        weights: (..., h, w), not negative, with a positive sum.

    Returns:
        (...) in [0, 1): 0 for a constant map, 1 - c for one constant on a fraction c of positions.
    """
    flat = weights.flatten(-2)
    above = (flat - flat.mean(-1, keepdim=True)).clamp_min(0)
    return above.sum(-1) / flat.sum(-1)


def exclusivity(maps: Sequence[torch.Tensor]) -> torch.Tensor:
    """Compute the share of the attention that each word has at the places it attends to.

    Args:
        maps: (h, w) each, not negative, at least one.

    Returns:
        (words,) X in [0, 1]; 0 for an empty map.
    """
    stacked = torch.stack(tuple(maps))
    least = torch.finfo(stacked.dtype).tiny
    share = stacked / stacked.sum(0).clamp_min(least)
    places = stacked / stacked.sum((-2, -1), keepdim=True).clamp_min(least)
    return (places * share).sum((-2, -1))


def unity(weights: torch.Tensor, spread: float) -> torch.Tensor:
    """Compute the share of a word's peaks that lies around the densest place.

    Args:
        weights: (h, w), not negative, with a positive sum.
        spread: Of one object, s, fraction of the sides, > 0.

    Returns:
        () U in (0, 1].
    """
    above = peaks(weights)
    around_y, around_x = (_kernel(marginal(above, axis), spread) for axis in (Axis.Y, Axis.X))
    return (around_y @ (above / above.sum()) @ around_x).amax()


def _kernel(profile: torch.Tensor, spread: float) -> torch.Tensor:
    """Return the (bins, bins) Gaussian of the distances between the cells of a profile."""
    places = cell_centres(profile)
    return torch.exp(-(places[:, None] - places).square() / (2 * spread**2))
