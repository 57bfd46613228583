"""Binding of colours to their objects: the attention of a colour word matches that of its noun.

    C = sum_i (J(c_i, n_i) + mean_j (1 - J(c_i, n_j))) / 2

c_i is the map of an object's colour words and n_i that of its noun, each normalized to sum 1; the
second term, over the nouns n_j of objects without this colour, keeps the colour off other objects.
J is the Jensen-Shannon divergence in bits, [0, 1], 0 for equal maps.

Source: SynGen, Rassin et al. 2023, arXiv:2306.08877, which subtracts the symmetric Kullback-Leibler
divergence to unrelated words. Ours: the bounded divergence, so that the term compares with the
probabilities of the other terms, and only the nouns of other objects as unrelated words.
"""

from collections.abc import Sequence

import torch

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import MentionId, Relation
from spatialstudio.science.guidance.losses import GuidanceLoss
from spatialstudio.science.pos.attention_maps import WordAttention, smooth

LEAST_SHARE = 1e-8


@frozen(kw_only=False)
class ColouredLoss:
    """A guidance loss with the binding of colours, a ``GuidanceLoss``.

    Attributes:
        held: Loss of relations and objects.
        weight: Of the binding, > 0.
    """

    held: GuidanceLoss
    weight: float

    @property
    def reads_whole_text(self) -> bool:
        """Whether the loss of relations and objects needs the attention of all words."""
        return self.held.reads_whole_text

    def __call__(self, relations: Sequence[Relation], attention: WordAttention) -> torch.Tensor:
        """Return the () loss of relations and objects plus the weighted binding."""
        return self.held(relations, attention) + self.weight * unbound_colours(attention)


def unbound_colours(attention: WordAttention) -> torch.Tensor:
    """Compute how far the maps of colour words are from those of their nouns.

    Args:
        attention: Its ``colours`` are compared.

    Returns:
        () sum over the coloured objects, each in [0, 1]; 0 without any.
    """
    columns = smooth(attention.columns) if attention.is_smoothed else attention.columns
    nouns = {**attention.places, **{name: each.noun for name, each in attention.colours.items()}}
    maps = {name: _normalized(columns[list(own)].sum(0)) for name, own in nouns.items()}
    terms = []
    for name, each in attention.colours.items():
        colour = _normalized(columns[list(each.words)].sum(0))
        lacks = [1 - divergence(colour, maps[other]) for other in _others(attention, name)]
        own = divergence(colour, maps[name])
        terms.append((own + torch.stack(lacks).mean()) / 2 if lacks else own)
    return torch.stack(terms).sum() if terms else columns.new_zeros(())


def _others(attention: WordAttention, name: MentionId) -> list[MentionId]:
    """Return the objects that do not have a colour of an object."""
    shown = {other: each.terms for other, each in attention.colours.items()}
    return [
        other
        for other in attention.places
        if other != name and shown[name].isdisjoint(shown.get(other, frozenset()))
    ]


def divergence(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Compute the Jensen-Shannon divergence of two maps.

    Args:
        first: (h, w), not negative, sums to 1.
        second: The same.

    Returns:
        () bits, [0, 1].
    """
    middle = (first + second) / 2
    return (_relative_entropy(first, middle) + _relative_entropy(second, middle)) / 2


def _relative_entropy(weights: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    ratio = (weights + LEAST_SHARE) / (other + LEAST_SHARE)
    return (weights * torch.log2(ratio)).sum()


def _normalized(weights: torch.Tensor) -> torch.Tensor:
    return weights / weights.sum().clamp_min(torch.finfo(weights.dtype).tiny)
