"""PSG and presence together: objects in order, and none left out.

Our own method adds to the PSG loss, for every mention, (1 - compactness)^2, where compactness is
the share of a map's mass that lies above its mean: 0 for a flat map, near 1 for a small firm one,
whatever its scale. It needs no competition of words, so it reads the maps that PoS reads. It is for
research: on the sticker model it has gained nothing over PSG alone, and a weight of 1 costs PSE.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.domain.relation import Relation
from spatialstudio.domain.run_settings import Preset
from spatialstudio.science.guidance.method import ANY_FAMILY, GuidanceMethod
from spatialstudio.science.guidance.methods import psg

if TYPE_CHECKING:
    import torch

    from spatialstudio.science.guidance.losses import PsgLoss
    from spatialstudio.science.pos.attention_maps import WordAttention


@frozen(kw_only=False)
class PsgPresenceLoss:
    """PSG and compactness together, a ``GuidanceLoss``.

    Attributes:
        placement: The loss of the relations.
        presence: Weight of what every mention lacks in compactness, >= 0.
    """

    placement: "PsgLoss"
    presence: float = 1.0

    reads_whole_text = False

    def __call__(self, relations: Sequence[Relation], attention: "WordAttention") -> "torch.Tensor":
        """Return () the PSG loss plus ``presence`` times the sum over mentions, each in [0, 1]."""
        import torch

        maps = attention.loss_maps()
        lacks = [(1 - compactness(weights)).square() for weights in maps.values()]
        return self.placement(relations, attention) + self.presence * torch.stack(lacks).sum()


def compactness(weights: "torch.Tensor") -> "torch.Tensor":
    """Compute the share of a map's mass that lies above its mean.

    Args:
        weights: (..., h, w), not negative, some mass.

    Returns:
        (...) in [0, 1): 0 for a flat map, 1 - c for an even one on a share c of the positions.
    """
    flat = weights.flatten(-2)
    above = (flat - flat.mean(-1, keepdim=True)).clamp_min(0)
    return above.sum(-1) / flat.sum(-1)


def _make_loss(settings: GuidanceSettings) -> PsgPresenceLoss:
    presence = float(PRESENCE_WEIGHT.value_in(settings.options))
    return PsgPresenceLoss(placement=psg.make_loss(settings), presence=presence)


PRESENCE_WEIGHT = Option(
    id="presence_weight",
    label="Presence weight",
    help="Weight of the presence term; 0 is PoS guidance alone.",
    kind=OptionKind.FLOAT,
    default=1.0,
    minimum=0,
    step=0.1,
)

METHOD = GuidanceMethod(
    id="psg-presence",
    label="PoS with presence",
    description="PoS guidance that also makes the map of every mention compact.",
    order=2,
    options=(psg.PAPER_LOSS, PRESENCE_WEIGHT),
    presets={
        Preset.RECOMMENDED: {
            ANY_FAMILY: GuidanceSettings(strength=20, options={PRESENCE_WEIGHT.id: 0.1})
        },
    },
    uses_model_strength=True,
    make_loss=_make_loss,
)
