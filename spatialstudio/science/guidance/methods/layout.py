"""Layout guidance: holds the relations and keeps every object.

    L = sum_r w_r L_r + e sum_i (1 - X_i)^2 - u sum_i log U_i

with exclusivity X_i and unity U_i of each word's map (``science/pos/map_shape.py``). X_i falls when
an object is lost or merges with another, U_i when it is drawn twice. Words in the plural and
objects that the sketch places have no unity term. The losses of the relations:

    order, between   (1 - P(u + g < v))^2, the PSG loss with a margin of g
    near             4 max(0, d - k r)^2 + 4 max(0, t r - d)^2
    far              8 max(0, t r + f - d)^2
    in front, behind the order of the heights: the nearer object stands lower in the picture

with the distance d of the centroids and the sum r of the spreads; discs touch at t r.

Colours are bound to their objects by a further term (``science/guidance/colours.py``).

Near does not pull two maps onto each other, unlike +PoS^dist, but to where the objects touch.
Height in the picture is a depth cue of every scene on a ground (Sedgwick 1973); a pair that is also
ordered vertically, or placed by the sketch, is left to steering and search.

Updates leave the mean of each latent channel, which decides the colours of the background: a
picture keeps its style when an object of its sketch is moved. Steps are long and gradients are
clipped: on the first steps, which decide the layout, the gradient of PoS is too small to change
anything with the strength that PSG uses.

A picture that is right by itself stays as it is: it is begun without guidance, and begun again with
guidance if the loss is not low after 30 % of the steps. Sketched pictures are always guided.

Source: PSG, Rezaei et al. 2025, arXiv:2506.23418, for the order; all else is ours.
"""

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import LAYOUT, GuidanceSettings
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import Axis, AxisClaim, MentionId, Relation, Shape
from spatialstudio.science.guidance.method import ANY_FAMILY, GuidanceMethod, Trial
from spatialstudio.science.pos.superiority import PICTURE_AXES, marginal, pos_beyond

if TYPE_CHECKING:
    import torch

    from spatialstudio.science.pos.attention_maps import MentionMaps, WordAttention

TOUCHING, REACH = 1.4, 1.6
"""Distances t, k between which near objects lie, in spreads of their maps; discs touch at 1.41."""
FAR = 0.8
"""Gap f between far objects, fraction of the side."""
NEAR_WEIGHT, FAR_WEIGHT = 4.0, 8.0
"""Weights of squared distances, so that they compare with squared probabilities."""
ALONE = 0.25
"""Spread of an object that has the picture to itself; k objects share its area."""
ENOUGH = 0.1
"""Loss of a picture that needs no guidance: 94 % of such pictures of the sticker model pass."""


@frozen(kw_only=False)
class LayoutLoss:
    """Layout guidance, a ``GuidanceLoss``.

    Attributes:
        exclusivity: Weight of the exclusivity term, e, >= 0.
        unity: Weight of the unity term, u, >= 0.
        margin: g, fraction of the side by which ordered objects are apart, >= 0.
        placed: Objects that the sketch places.
    """

    exclusivity: float = 0.5
    unity: float = 0.1
    margin: float = 0.05
    placed: frozenset[MentionId] = frozenset()

    reads_whole_text = False

    def __call__(self, relations: Sequence[Relation], attention: "WordAttention") -> "torch.Tensor":
        """Return the () weighted sum of the terms, each >= 0."""
        import torch

        from spatialstudio.science.pos.map_shape import exclusivity, unity

        maps = attention.loss_maps()
        losses = [
            relation.weight * self._loss(relation, maps)
            for relation in relations
            if not relation.type.needs_depth or self._has_free_height(relation, relations)
        ]
        lacks = (1 - exclusivity(tuple(maps.values()))).square()
        losses.append(self.exclusivity * lacks.sum())
        spread = ALONE / sqrt(len(maps))
        losses += [
            -self.unity * unity(weights, spread).log()
            for mention_id, weights in maps.items()
            if mention_id not in attention.plurals | self.placed
        ]
        return torch.stack(losses).sum()

    def _has_free_height(self, relation: Relation, relations: Sequence[Relation]) -> bool:
        """Return True if neither another relation of the pair nor the sketch sets its heights."""
        ends = set(relation.ends)
        is_ordered = any(
            ends <= set(other.ends) and any(claim.axis is Axis.Y for claim in other.type.claims)
            for other in relations
        )
        return not (is_ordered or ends <= self.placed)

    def _loss(self, relation: Relation, maps: "MentionMaps") -> "torch.Tensor":
        ends = [maps[end] for end in relation.ends]
        match relation.type.shape:
            case Shape.ORDER:
                return _sum([self._claim(claim, *ends) for claim in relation.type.claims])
            case Shape.NEAR:
                distance, reach = _distance(*ends)
                outside = (distance - REACH * reach).clamp_min(0)
                inside = (TOUCHING * reach - distance).clamp_min(0)
                return NEAR_WEIGHT * (outside.square() + inside.square())
            case Shape.FAR:
                distance, reach = _distance(*ends)
                return FAR_WEIGHT * (TOUCHING * reach + FAR - distance).clamp_min(0).square()
            case Shape.BETWEEN:
                return self._between(*ends)

    def _claim(
        self, claim: AxisClaim, subject: "torch.Tensor", other: "torch.Tensor"
    ) -> "torch.Tensor":
        first, second = (subject, other) if claim.subject_first else (other, subject)
        if claim.axis is Axis.DEPTH:
            return _disorder(second, first, Axis.Y, self.margin)  # what is nearer stands lower
        return _disorder(first, second, claim.axis, self.margin)

    def _between(
        self, subject: "torch.Tensor", one: "torch.Tensor", other: "torch.Tensor"
    ) -> "torch.Tensor":
        import torch

        arrangements = [
            _disorder(before, subject, axis, self.margin)
            + _disorder(subject, after, axis, self.margin)
            for axis in PICTURE_AXES
            for before, after in ((one, other), (other, one))
        ]
        return torch.stack(arrangements).amin()


def _disorder(
    first: "torch.Tensor", second: "torch.Tensor", axis: Axis, margin: float
) -> "torch.Tensor":
    """Return the () squared probability that ``first`` is not ``margin`` before ``second``."""
    before, after = marginal(first, axis), marginal(second, axis)
    gap = margin * before.shape[-1]
    whole = int(gap)
    part = gap - whole
    clear = (1 - part) * pos_beyond(before, after, whole)
    if part:
        clear = clear + part * pos_beyond(before, after, whole + 1)
    return (1 - clear).square()


def _distance(first: "torch.Tensor", second: "torch.Tensor") -> "tuple[torch.Tensor, torch.Tensor]":
    """Return the () distance of two centroids and the () sum of the spreads, without gradient."""
    from spatialstudio.science.pos.map_shape import peaks, spread_of

    one, other = spread_of(peaks(first)), spread_of(peaks(second))
    squared = _sum([(one.centroid[axis] - other.centroid[axis]).square() for axis in PICTURE_AXES])
    reach = one.variance.detach().sqrt() + other.variance.detach().sqrt()
    return (squared + 1e-6).sqrt(), reach


def _sum(values: "Sequence[torch.Tensor]") -> "torch.Tensor":
    import torch

    return torch.stack(tuple(values)).sum()


EXCLUSIVITY_WEIGHT = Option(
    id="exclusivity_weight",
    label="Exclusivity weight",
    help="Weight of the term that gives every object places of its own; 0 holds relations only.",
    kind=OptionKind.FLOAT,
    default=0.5,
    minimum=0,
    step=0.1,
)
UNITY_WEIGHT = Option(
    id="unity_weight",
    label="Unity weight",
    help="Weight of the term that draws every object once; 0 allows duplicates.",
    kind=OptionKind.FLOAT,
    default=0.1,
    minimum=0,
    step=0.05,
)
ORDER_MARGIN = Option(
    id="order_margin",
    label="Order margin",
    help="How far apart ordered objects should be, as a fraction of the side.",
    kind=OptionKind.FLOAT,
    default=0.05,
    minimum=0,
    maximum=0.5,
    step=0.01,
)


COLOUR_WEIGHT = Option(
    id="colour_weight",
    label="Colour weight",
    help="Weight of the term that binds colours to their objects, on models that know colours.",
    kind=OptionKind.FLOAT,
    default=0.5,
    minimum=0,
    step=0.1,
)


TRIAL_SHARE = Option(
    id="trial_share",
    label="Trial without guidance",
    help="Fraction of the steps after which a picture that is right by itself stays unguided; "
    "0 always guides.",
    kind=OptionKind.FLOAT,
    default=0.3,
    minimum=0,
    maximum=0.9,
    step=0.1,
)


def _make_trial(settings: GuidanceSettings) -> Trial | None:
    share = float(TRIAL_SHARE.value_in(settings.options))
    return Trial(share, ENOUGH) if share > 0 and not settings.is_sketched else None


def _make_loss(settings: GuidanceSettings) -> LayoutLoss:
    placed = frozenset(target.mention_id for target in settings.targets)
    return LayoutLoss(
        exclusivity=float(EXCLUSIVITY_WEIGHT.value_in(settings.options)),
        unity=float(UNITY_WEIGHT.value_in(settings.options)),
        margin=float(ORDER_MARGIN.value_in(settings.options)),
        placed=placed if settings.is_sketched else frozenset(),
    )


METHOD = GuidanceMethod(
    id=LAYOUT,
    label="Layout guidance",
    description="Holds relations, depth and sketched places, and keeps every object.",
    order=0,
    options=(EXCLUSIVITY_WEIGHT, UNITY_WEIGHT, ORDER_MARGIN, COLOUR_WEIGHT, TRIAL_SHARE),
    presets={
        Preset.RECOMMENDED: {
            ANY_FAMILY: GuidanceSettings(strength=100, gradient_limit=0.001, inner_updates=5)
        },
    },
    needs_relations=False,
    least_mentions=2,
    guided_share=0.2,
    guides_depth=True,
    keeps_colours=True,
    make_loss=_make_loss,
    make_trial=_make_trial,
)
