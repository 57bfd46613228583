"""Computation of one map per mention from attention probabilities.

Unweighted means over all heads of all layers, taken at capture, then over the tokens of a mention,
with an optional 3 x 3 smoothing in between.

Source: Rezaei et al. 2025, arXiv:2506.23418, and their code. The kernel, called Gaussian with sigma
0.5 there, is exp(-d^2), a Gaussian with sigma 0.707; we keep its weights. They use one token per
object; we average all tokens of the mention. ``excited_maps`` are those of Chefer et al. 2023,
arXiv:2301.13826.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import exp

import torch
from torch.nn import functional

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import MentionId
from spatialstudio.science.arrays import ArrayT

EXCITEMENT = 100
"""Factor of the probabilities before the softmax over words."""

MentionMaps = Mapping[MentionId, torch.Tensor]
"""Mention id to (h, w), not negative."""


@frozen
class ColourPlaces:
    """The tokens of a coloured object.

    Attributes:
        words: Indices of the tokens of its colour words.
        noun: Indices of the tokens of its noun.
        terms: Basic colour terms that the words name.
    """

    words: tuple[int, ...]
    noun: tuple[int, ...]
    terms: frozenset[str]


@frozen(eq=False, kw_only=False)
class WordAttention:
    """Cross-attention of one forward pass, with gradients if the pass has them.

    Attributes:
        columns: (tokens, h, w) float32 probabilities, mean over heads and layers.
        places: Mention id to the indices of its tokens in ``columns``; never empty.
        is_smoothed: Whether PoS losses use smoothed maps.
        plurals: Mentions of more than one object.
        decoder: Like ``columns``, by decoder level, coarse to fine; empty if the loss does not use
            levels or the denoiser has none.
        colours: Mention id to the tokens of its colours in ``columns``; empty if no colour is
            bound.
    """

    columns: torch.Tensor
    places: Mapping[MentionId, Sequence[int]]
    is_smoothed: bool = False
    plurals: frozenset[MentionId] = frozenset()
    decoder: tuple[torch.Tensor, ...] = ()
    colours: Mapping[MentionId, ColourPlaces] = field(default_factory=dict)

    def maps(self) -> MentionMaps:
        """Return the unsmoothed maps, for display."""
        return mention_maps(self.columns, self.places)

    def loss_maps(self) -> MentionMaps:
        """Return the maps for PoS losses."""
        return mention_maps(smooth(self.columns), self.places) if self.is_smoothed else self.maps()

    def decoder_maps(self) -> tuple[MentionMaps, ...]:
        """Return the maps by decoder level, coarse to fine; ``maps`` as the only level if none."""
        levels = self.decoder or (self.columns,)
        return tuple(mention_maps(columns, self.places) for columns in levels)

    def excited_maps(self) -> MentionMaps:
        """Return smoothed maps after a softmax over words, as in Attend-and-Excite and BoxDiff.

        The columns must be those of the whole text, without start and end tokens.
        """
        own = sorted({place for places in self.places.values() for place in places})
        competed = (EXCITEMENT * self.columns).softmax(0)[own]
        places = {m: [own.index(place) for place in ps] for m, ps in self.places.items()}
        return mention_maps(smooth(competed), places)


def smooth(maps: torch.Tensor) -> torch.Tensor:
    """Smooth maps with the authors' 3 x 3 kernel and reflection padding.

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
    """Average the maps of each mention's tokens; the result shares no memory with the input.

    Args:
        maps: (tokens, h, w).
        positions: Mention id to the indices of its tokens in ``maps``; never empty.

    Returns:
        Mention id to (h, w).
    """
    return {
        mention: sum((maps[place] for place in own[1:]), start=maps[own[0]]) / len(own)
        for mention, own in positions.items()
    }
