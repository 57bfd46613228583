"""Weighted presence: raises the attention to every mention by its weight.

The loss is the sum over mentions of c (1 - max A), with a weight c for each mention, where A is
the softmax over words.

Source: Singh and Zheng 2023, arXiv:2307.04749, cross-attention control. Ours: the mean over the
tokens of a mention, where they use one token, and weights by mention, where they use w - 1 of an
assertion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import MentionId, Relation
from spatialstudio.science.guidance.method import ANY_FAMILY, STABLE_DIFFUSION, GuidanceMethod

if TYPE_CHECKING:
    import torch

    from spatialstudio.science.pos.attention_maps import WordAttention

ORDINARY = 1.0
"""Default weight of a mention."""


@frozen(kw_only=False)
class WeightedPresenceLoss:
    """Cross-attention control of Evaluate-and-Refine, a ``GuidanceLoss``.

    Attributes:
        weights: Weight of each mention's presence; 1 for mentions not listed.
    """

    weights: Mapping[MentionId, float] = field(default_factory=dict)

    reads_whole_text = True

    def __call__(
        self, _relations: Sequence[Relation], attention: "WordAttention"
    ) -> "torch.Tensor":
        """Return the () sum over mentions of terms in [0, 1] times their weights."""
        import torch

        maps = attention.excited_maps()
        lacks = [
            self.weights.get(m, ORDINARY) * (1 - weights.amax()) for m, weights in maps.items()
        ]
        return torch.stack(lacks).sum()


METHOD = GuidanceMethod(
    id="weighted-presence",
    label="Weighted presence",
    description="Increases the attention to every object by its weight.",
    order=4,
    presets={
        Preset.RECOMMENDED: {ANY_FAMILY: GuidanceSettings(strength=2)},
        Preset.PUBLISHED: {STABLE_DIFFUSION: GuidanceSettings(strength=2, last_step=19)},
    },
    needs_relations=False,
    make_loss=lambda settings: WeightedPresenceLoss(weights=settings.mention_weights),
)
