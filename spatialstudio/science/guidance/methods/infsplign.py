"""InfSplign: ordered centroids, and small, equal variances.

    spatial:  GELU(alpha (m - delta)), delta the signed difference of centroids along the claim
    presence: sum of the variances;    balance: |variance of A - variance of B|

Centroids and variances are those of the maps on coordinates in [0, 1]. The gradient corrects the
noise prediction at every step instead of updating the latents.

Presence uses the decoder's coarsest maps, balance the next finer ones.

Source: Rastegar et al. 2025, arXiv:2512.17851; implemented from the formulas. Ours: centroids use
the coarsest maps too; denoisers without levels use the same maps for all terms; far and "between",
which they do not define; relations are summed, each times its weight.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import (
    AxisClaim,
    Relation,
    Shape,
)
from spatialstudio.science.guidance.method import (
    ANY_FAMILY,
    EVERY_STEP,
    STABLE_DIFFUSION,
    GuidanceMethod,
)
from spatialstudio.science.pos.superiority import PICTURE_AXES, can_guide

if TYPE_CHECKING:
    import torch

    from spatialstudio.science.pos.attention_maps import WordAttention
    from spatialstudio.science.pos.map_shape import Spread, Spreads


@frozen(kw_only=False)
class InfSplignLoss:
    """InfSplign, a ``GuidanceLoss``.

    Attributes:
        slope: alpha.
        margin: m, fraction of the image side.
        presence: Weight of the presence term.
        balance: Weight of the balance term.
    """

    slope: float = 0.75
    margin: float = 0.25
    presence: float = 1.0
    balance: float = 1.0

    reads_whole_text = False

    def __call__(self, relations: Sequence[Relation], attention: "WordAttention") -> "torch.Tensor":
        """Return the () sum of the three terms over all relations except depth relations."""
        from spatialstudio.science.pos.map_shape import spread_of

        levels = [
            {mention: spread_of(weights) for mention, weights in maps.items()}
            for maps in attention.decoder_maps()
        ]
        guided = [relation for relation in relations if can_guide(relation.type)]
        return _stack([self._of(each, levels[0], levels[-1]) for each in guided]).sum()

    def _of(self, relation: Relation, coarse: "Spreads", fine: "Spreads") -> "torch.Tensor":
        ends = [coarse[end] for end in relation.ends]
        variances = _stack([end.variance for end in ends])
        subject, *others = (fine[end].variance for end in relation.ends)
        unlike = _stack([(subject - other).abs() for other in others])
        spatial = self._spatial(relation, ends)
        lack = spatial + self.presence * variances.sum() + self.balance * unlike.sum()
        return relation.weight * lack

    def _spatial(self, relation: Relation, ends: "Sequence[Spread]") -> "torch.Tensor":
        subject, other, *flank = ends
        apart = [(subject.centroid[axis] - other.centroid[axis]).abs() for axis in PICTURE_AXES]
        match relation.type.shape:
            case Shape.ORDER:
                claims = relation.type.claims
                return _stack([self._claim(claim, subject, other) for claim in claims]).sum()
            case Shape.NEAR:
                return _stack([self._lacking(-distance) for distance in apart]).sum()
            case Shape.FAR:
                return self._lacking(_stack(apart).amax())
            case Shape.BETWEEN:
                return self._between(subject, other, flank[0])

    def _between(self, subject: "Spread", one: "Spread", other: "Spread") -> "torch.Tensor":
        arrangements = [
            self._claim(AxisClaim(axis, is_first), subject, one)
            + self._claim(AxisClaim(axis, not is_first), subject, other)
            for axis in PICTURE_AXES
            for is_first in (True, False)
        ]
        return _stack(arrangements).amin()

    def _claim(self, claim: AxisClaim, subject: "Spread", other: "Spread") -> "torch.Tensor":
        ahead = other.centroid[claim.axis] - subject.centroid[claim.axis]
        return self._lacking(ahead if claim.subject_first else -ahead)

    def _lacking(self, delta: "torch.Tensor") -> "torch.Tensor":
        from torch.nn.functional import gelu

        return gelu(self.slope * (self.margin - delta))


def _stack(values: "Sequence[torch.Tensor]") -> "torch.Tensor":
    import torch

    return torch.stack(tuple(values))


_PUBLISHED = GuidanceSettings(strength=1000, decay=1, last_step=EVERY_STEP)

METHOD = GuidanceMethod(
    id="infsplign",
    label="InfSplign",
    description="Corrects the noise prediction using the order and spread of the objects' maps.",
    order=6,
    presets={
        Preset.RECOMMENDED: {ANY_FAMILY: _PUBLISHED},
        Preset.PUBLISHED: {STABLE_DIFFUSION: _PUBLISHED},
    },
    corrects_prediction=True,
    reads_decoder=True,
    make_loss=lambda _: InfSplignLoss(),
)
