"""From attention probabilities to one map per mention.

Plain means: over all heads of all layers, which was done where they were read, then over the tokens
of a mention; in between, if wanted, a 3 x 3 smoothing.

Source: Rezaei et al. 2025, arXiv:2506.23418, and their code. The kernel, named Gaussian with sigma
0.5 there, is exp(-d^2), a Gaussian with sigma 0.707; we keep its weights. They use one token per
object; we average all tokens of the mention. ``excited_maps`` are those of Chefer et al. 2023,
arXiv:2301.13826.
"""

from collections.abc import Mapping, Sequence
from math import exp

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import MentionId
from spatialstudio.science.arrays import ArrayT

EXCITEMENT = 100
"""What probabilities are multiplied by before the words of a text compete for each position."""

MentionMaps = Mapping[MentionId, torch.Tensor]
"""Mention id to (h, w), not negative."""


@frozen(eq=False, kw_only=False)
class WordAttention:
    """What one pass attended to; gradients flow where there are any.

    Attributes:
        columns: (tokens, h, w) float32 probabilities, mean over heads and layers.
        places: Mention id to the places of its tokens in ``columns``; never empty.
        is_smoothed: Whether losses of PoS read smoothed maps.
        decoder: The same columns in levels of the decoder, coarse to fine; empty where no loss
            reads them, or the denoiser has no such levels.
    """

    columns: torch.Tensor
    places: Mapping[MentionId, Sequence[int]]
    is_smoothed: bool = False
    decoder: tuple[torch.Tensor, ...] = ()

    def maps(self) -> MentionMaps:
        """Return the maps as they are, for people."""
        return mention_maps(self.columns, self.places)

    def loss_maps(self) -> MentionMaps:
        """Return the maps that losses of PoS read."""
        return mention_maps(smooth(self.columns), self.places) if self.is_smoothed else self.maps()

    def decoder_maps(self) -> tuple[MentionMaps, ...]:
        """Return the maps of the decoder's levels, coarse to fine; at least those of ``maps``."""
        levels = self.decoder or (self.columns,)
        return tuple(mention_maps(columns, self.places) for columns in levels)

    def excited_maps(self) -> MentionMaps:
        """Return the maps of words that compete, smoothed: of Attend-and-Excite, BoxDiff and heirs.

        The columns must be those of the whole text, without its start and end.
        """
        own = sorted({place for places in self.places.values() for place in places})
        competed = (EXCITEMENT * self.columns).softmax(0)[own]
        places = {m: [own.index(place) for place in ps] for m, ps in self.places.items()}
        return mention_maps(smooth(competed), places)


def smooth(maps: torch.Tensor) -> torch.Tensor:
    """Smooth maps with the authors' 3 x 3 kernel, borders reflected.

    Args:
        maps: (tokens, h, w), sides of at least 2.

    Returns:
        (tokens, h, w).
    """
    padded = functional.pad(maps, (1, 1, 1, 1), mode="reflect")
    return functional.conv2d(padded[:, None], smoothing_kernel().to(maps)[None, None])[:, 0]


def smoothing_kernel() -> torch.Tensor:
    """Return the (3, 3) weights exp(-d^2), which sum to 1."""
    profile = torch.tensor([exp(-1), 1, exp(-1)])
    return torch.outer(profile, profile) / profile.sum() ** 2


def mention_maps(
    maps: ArrayT, positions: Mapping[MentionId, Sequence[int]]
) -> dict[MentionId, ArrayT]:
    """Average the maps of each mention's tokens; the result shares no memory with them.

    Args:
        maps: (tokens, h, w).
        positions: Mention id to the places of its tokens in ``maps``; never empty.

    Returns:
        Mention id to (h, w).
    """
    return {
        mention: sum((maps[place] for place in own[1:]), start=maps[own[0]]) / len(own)
        for mention, own in positions.items()
    }


Maps = npt.NDArray[np.float32]
"""(..., h, w), not negative."""


def mean_of_layers(layers: Sequence[Maps]) -> Maps:
    """Average maps of several layers.

    Args:
        layers: (..., h, w) each, alike but for h and w; at least one.

    Returns:
        (..., H, W) of the finest.
    """
    height = max(layer.shape[-2] for layer in layers)
    width = max(layer.shape[-1] for layer in layers)
    total = sum(enlarged(layer, height, width) for layer in layers)
    return np.asarray(total / len(layers), np.float32)


def enlarged(maps: Maps, height: int, width: int) -> Maps:
    """Interpolate maps, (..., h, w), to (..., height, width)."""
    if maps.shape[-2:] == (height, width):
        return maps
    down = _interpolation(maps.shape[-2], height)
    across = _interpolation(maps.shape[-1], width)
    return np.asarray(down @ maps @ across.T, np.float32)


def _interpolation(count: int, wanted: int) -> Maps:
    """Return (wanted, count) weights, each row summing to 1."""
    places = np.clip((np.arange(wanted) + 0.5) * count / wanted - 0.5, 0, count - 1)
    below = np.floor(places).astype(np.intp)
    above = np.minimum(below + 1, count - 1)
    weights = np.zeros((wanted, count), np.float32)
    rows = np.arange(wanted)
    np.add.at(weights, (rows, below), 1 - (places - below))
    np.add.at(weights, (rows, above), places - below)
    return weights


Shares = npt.NDArray[np.float64]


@frozen
class MapNumbers:
    """One map in numbers.

    Attributes:
        entropy: In bits, 0 for one cell to log2(h * w) for all alike.
        centre_xy: Mean position, [0, 1] each.
        spread: Root of the mean squared distance from the centre, >= 0.
    """

    entropy: float
    centre_xy: tuple[float, float]
    spread: float


def map_numbers(weights: FloatMap) -> MapNumbers | None:
    """Measure a map.

    Args:
        weights: (h, w), not negative.

    Returns:
        None where the map is empty.
    """
    shares = _shares(weights)
    if shares is None:
        return None
    height, width = shares.shape
    xs, ys = (np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height
    along_x, along_y = shares.sum(0), shares.sum(1)
    x, y = float(along_x @ xs), float(along_y @ ys)
    variance = float(along_x @ (xs - x) ** 2 + along_y @ (ys - y) ** 2)
    held = shares[shares > 0]
    entropy = max(-float(held @ np.log2(held)), 0.0)
    return MapNumbers(entropy=entropy, centre_xy=(x, y), spread=variance**0.5)


def map_overlap(first: FloatMap, second: FloatMap) -> float | None:
    """Return how much two maps share, [0, 1]: 0 stand apart, 1 are the same distribution.

    Args:
        first: (h, w), not negative.
        second: (h, w) likewise.

    Returns:
        None where one is empty, or they differ in shape.
    """
    one, other = _shares(first), _shares(second)
    if one is None or other is None or one.shape != other.shape:
        return None
    return float(np.minimum(one, other).sum())


def _shares(weights: FloatMap) -> Shares | None:
    total = float(weights.sum(dtype=np.float64))
    return weights.astype(np.float64) / total if total > 0 else None
