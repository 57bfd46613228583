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

import torch
from torch.nn import functional

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
