"""From attention probabilities to one map per mention.

Plain means: over all heads of all layers, then over the tokens of a mention; in between, if
wanted, a 3 x 3 smoothing.

Source: Rezaei et al. 2025, arXiv:2506.23418, and their code. The kernel, named Gaussian with sigma
0.5 there, is exp(-d^2), a Gaussian with sigma 0.707; we keep its weights. They use one token per
object; we average all tokens of the mention.
"""

from collections.abc import Mapping, Sequence
from math import exp

import torch
from torch.nn import functional

from spatialstudio.domain.prompt import MentionId


def mean_attention(layers: Sequence[torch.Tensor], height: int, width: int) -> torch.Tensor:
    """Average attention over all heads of all layers.

    Args:
        layers: (heads, height * width, tokens) probabilities each, rows of the picture first.
        height: Of the map.
        width: Of the map.

    Returns:
        (tokens, height, width) float32.
    """
    mean = torch.cat([layer.float() for layer in layers]).mean(0)
    return mean.T.reshape(-1, height, width)


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
    maps: torch.Tensor, positions: Mapping[MentionId, Sequence[int]]
) -> dict[MentionId, torch.Tensor]:
    """Average the maps of each mention's tokens.

    Args:
        maps: (tokens, h, w).
        positions: Mention id to the places of its tokens in ``maps``; never empty.

    Returns:
        Mention id to (h, w).
    """
    return {mention: maps[list(own)].mean(0) for mention, own in positions.items()}
