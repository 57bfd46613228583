"""Losses that keep objects from being left out: every object word shall hold some place firmly.

Attend-and-Excite lowers max over mentions of (1 - max over positions of A), so it lifts the word
that is seen worst. Weighted presence adds up c (1 - max A) with a weight c for each mention. A are
the maps of words that compete.

Our own method adds to the PSG loss, for every mention, (1 - compactness)^2, where compactness is
the share of a map's mass that lies above its mean: 0 for a flat map, near 1 for a small firm one,
whatever its scale. It needs no competition, so it reads the maps that PoS reads. It is for
research: on the sticker model it has gained nothing over PSG alone, and a weight of 1 costs PSE.

Source: Chefer et al. 2023, arXiv:2301.13826, equation 1, in the form of the diffusers pipeline;
Singh and Zheng 2023, arXiv:2307.04749, cross-attention control. Ours: the mean over the tokens of a
mention where they take one token, and weights by mention where they use w - 1 of an assertion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field

import torch

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import Relation
from spatialstudio.science.guidance.losses import PsgLoss
from spatialstudio.science.pos.attention_maps import WordAttention

ORDINARY = 1.0
"""How much a mention's presence counts when nothing is said of it."""


@frozen(kw_only=False)
class AttendExciteLoss:
    """Attend-and-Excite, a ``GuidanceLoss``; relations play no part."""

    reads_whole_text = True

    def __call__(self, _relations: Sequence[Relation], attention: WordAttention) -> torch.Tensor:
        """Return () what the mention seen worst lacks, [0, 1]."""
        maps = attention.excited_maps()
        return torch.stack([1 - weights.amax() for weights in maps.values()]).amax().clamp_min(0)


@frozen(kw_only=False)
class WeightedPresenceLoss:
    """Cross-attention control of Evaluate-and-Refine, a ``GuidanceLoss``.

    Attributes:
        weights: How much each mention's presence counts; 1 for those left out.
    """

    weights: Mapping[MentionId, float] = field(default_factory=dict)

    reads_whole_text = True

    def __call__(self, _relations: Sequence[Relation], attention: WordAttention) -> torch.Tensor:
        """Return () the sum of what the mentions lack, each in [0, 1] times its weight."""
        maps = attention.excited_maps()
        lacks = [
            self.weights.get(m, ORDINARY) * (1 - weights.amax()) for m, weights in maps.items()
        ]
        return torch.stack(lacks).sum()


@frozen(kw_only=False)
class PsgPresenceLoss:
    """PSG and compactness together, a ``GuidanceLoss``.

    Attributes:
        placement: The loss of the relations.
        presence: Weight of what every mention lacks in compactness, >= 0.
    """

    placement: PsgLoss = field(default_factory=PsgLoss)
    presence: float = 1.0

    reads_whole_text = False

    def __call__(self, relations: Sequence[Relation], attention: WordAttention) -> torch.Tensor:
        """Return () the PSG loss plus ``presence`` times the sum over mentions, each in [0, 1]."""
        maps = attention.loss_maps()
        lacks = [(1 - compactness(weights)).square() for weights in maps.values()]
        return self.placement(relations, attention) + self.presence * torch.stack(lacks).sum()


def compactness(weights: torch.Tensor) -> torch.Tensor:
    """Compute the share of a map's mass that lies above its mean.

    Args:
        weights: (..., h, w), not negative, some mass.

    Returns:
        (...) in [0, 1): 0 for a flat map, 1 - c for an even one on a share c of the positions.
    """
    flat = weights.flatten(-2)
    above = (flat - flat.mean(-1, keepdim=True)).clamp_min(0)
    return above.sum(-1) / flat.sum(-1)
