"""PSG with a presence term, so that no object is neglected.

Our method adds (1 - compactness)^2 for every mention to the PSG loss, where compactness is the
fraction of a map's mass above its mean: 0 for a constant map, near 1 for a small, concentrated
one, independent of scale. It needs no softmax over words, so it uses the same maps as PoS. It is
for research: on the sticker model it does not improve on PSG, and a weight of 1 lowers PSE.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import Relation
from spatialstudio.science.guidance.method import ANY_FAMILY, GuidanceMethod
from spatialstudio.science.guidance.methods import psg

if TYPE_CHECKING:
    import torch

    from spatialstudio.science.guidance.losses import PsgLoss
    from spatialstudio.science.pos.attention_maps import WordAttention


@frozen(kw_only=False)
class PsgPresenceLoss:
    """PSG with compactness, a ``GuidanceLoss``.

    Attributes:
        placement: The PSG loss.
        presence: Weight of the presence term, >= 0.
    """

    placement: "PsgLoss"
    presence: float = 1.0

    reads_whole_text = False

    def __call__(self, relations: Sequence[Relation], attention: "WordAttention") -> "torch.Tensor":
        """Return the () PSG loss plus ``presence`` times the sum over mentions, each in [0, 1]."""
        import torch

        from spatialstudio.science.pos.map_shape import compactness

        maps = attention.loss_maps()
        lacks = [(1 - compactness(weights)).square() for weights in maps.values()]
        return self.placement(relations, attention) + self.presence * torch.stack(lacks).sum()


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
    description="PoS guidance that also makes the map of every object compact.",
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
