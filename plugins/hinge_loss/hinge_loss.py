"""A squared hinge loss on PoS.

The gradient of PSG's squared inverse PoS becomes weak before a relation is reliable, and remains
after it is. The gradient of the hinge is proportional to the distance to the margin, and 0 beyond.
"""

from collections.abc import Sequence

import torch

from spatialstudio.plugin_api import Relation, WordAttention, can_guide, frozen, relation_pos


@frozen
class HingeLoss:
    """A ``GuidanceLoss``.

    Attributes:
        margin: PoS from which the loss of a relation is 0, [0.5, 1].
    """

    margin: float

    reads_whole_text = False

    def __call__(self, relations: Sequence[Relation], attention: WordAttention) -> torch.Tensor:
        """Return the () sum over relations of weight * max(0, margin - PoS)^2."""
        maps = attention.loss_maps()
        total = attention.columns.new_zeros(())
        for relation in relations:
            if can_guide(relation.type):
                pos = relation_pos(relation.type, [maps[end] for end in relation.ends])
                total = total + relation.weight * (self.margin - pos).clamp_min(0).square()
        return total
