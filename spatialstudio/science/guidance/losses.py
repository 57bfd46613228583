"""Guidance losses on attention maps: the loss protocol and the PSG loss.

PSG loss of a claim "A before B", from the projected maps of A and B:

    code:  P(u >= v)^2    0 when the claim holds, 1 when it is reversed; large gradient when wrong
    paper: -P(u <= v)^2   gradient also when the claim holds

Ties count in full in both. A diagonal sums its two claims, and relations are summed. Far is
-PoS^dist and near is +PoS^dist. "Between" sums "flank before subject" and "subject before other
flank", minimised over axes and orders (ours).

Source: Rezaei et al. 2025, arXiv:2506.23418: section 3 for the paper's form, and the authors' code,
which differs and is the default here. Ours: each relation's loss times its weight.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

import torch

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    Axis,
    AxisClaim,
    MentionId,
    Relation,
    RelationType,
    Shape,
)
from spatialstudio.science.pos.attention_maps import WordAttention
from spatialstudio.science.pos.superiority import (
    PICTURE_AXES,
    Ties,
    can_guide,
    distance_pos,
    marginal,
    probability_of_superiority,
    projected_pos,
)


class GuidanceLoss(Protocol):
    """A loss of attention maps against a scene's relations."""

    @property
    def reads_whole_text(self) -> bool:
        """Whether it needs the attention of all words, not only of the mentions."""

    def __call__(self, relations: Sequence[Relation], attention: WordAttention, /) -> torch.Tensor:
        """Compute the loss of one prediction.

        Args:
            relations: The target relations; depth relations are ignored.
            attention: Cross-attention of the pass, with gradients.

        Returns:
            () loss; guidance descends its gradient.

        Raises:
            EmptyMapError: A map sums to 0.
        """


RefinedLoss: TypeAlias = Callable[[Sequence[Relation], WordAttention], torch.Tensor]
"""The () loss that refinement compares with its thresholds and minimises."""


@frozen(kw_only=False)
class PsgLoss:
    """PoS-based Generation, a ``GuidanceLoss``.

    Attributes:
        paper_form: Whether to use the paper's loss instead of the code's.
    """

    paper_form: bool = False

    reads_whole_text = False

    def __call__(self, relations: Sequence[Relation], attention: WordAttention) -> torch.Tensor:
        """Return the () sum of the PSG losses, each times its relation's weight."""
        return scene_loss(relations, attention.loss_maps(), self.paper_form)


def scene_loss(
    relations: Iterable[Relation],
    maps: Mapping[MentionId, torch.Tensor],
    paper_form: bool = False,
) -> torch.Tensor:
    """Compute the weighted sum of the PSG losses of all relations except depth relations.

    Args:
        relations: At least one that ``can_guide``.
        maps: Mention id to (h, w), not negative.
        paper_form: Whether to use the paper's loss instead of the code's.

    Returns:
        () loss.

    Raises:
        EmptyMapError: A map sums to 0.
        ValueError: No relation can be guided.
    """
    guided = [relation for relation in relations if can_guide(relation.type)]
    if not guided:
        raise ValueError("No relation of the scene can be guided.")
    orders = [relation for relation in guided if relation.type.shape is Shape.ORDER]
    losses = [_orders_loss(axis, orders, maps, paper_form) for axis in PICTURE_AXES]
    losses += [
        relation.weight * psg_loss(relation.type, [maps[end] for end in relation.ends], paper_form)
        for relation in guided
        if relation.type.shape is not Shape.ORDER
    ]
    return torch.stack([loss for loss in losses if loss is not None]).sum()


def psg_loss(
    relation_type: RelationType, maps: Sequence[torch.Tensor], paper_form: bool = False
) -> torch.Tensor:
    """Compute the PSG loss of one relation.

    Args:
        relation_type: A type that ``can_guide``.
        maps: (..., h, w) each, not negative: subject, object and, for "between", second object.
        paper_form: Whether to use the paper's loss instead of the code's; near and far have one
            form only.

    Returns:
        () loss, summed over leading dimensions.

    Raises:
        EmptyMapError: A map sums to 0.
    """
    match relation_type.shape:
        case Shape.ORDER:
            subject, other = maps
            losses = [
                _claim_loss(claim, subject, other, paper_form) for claim in relation_type.claims
            ]
            return torch.stack(losses).sum()
        case Shape.NEAR:
            return distance_pos(*maps).sum()
        case Shape.FAR:
            return -distance_pos(*maps).sum()
        case Shape.BETWEEN:
            return _between_loss(maps, paper_form).sum()


def _orders_loss(
    axis: Axis,
    relations: Sequence[Relation],
    maps: Mapping[MentionId, torch.Tensor],
    paper_form: bool,
) -> torch.Tensor | None:
    """Compute the loss of all claims along one axis in one batch; None without claims."""
    claims = [
        (relation.weight, relation.ends if claim.subject_first else relation.ends[::-1])
        for relation in relations
        for claim in relation.type.claims
        if claim.axis is axis
    ]
    if not claims:
        return None
    profiles = {end: marginal(maps[end], axis) for _, ends in claims for end in ends}
    firsts = torch.stack([profiles[first] for _, (first, _) in claims])
    seconds = torch.stack([profiles[second] for _, (_, second) in claims])
    weights = firsts.new_tensor([weight for weight, _ in claims])
    if paper_form:
        met = probability_of_superiority(firsts, seconds, Ties.INCLUSIVE)
        return -(weights * met.square()).sum()
    reversed_ = probability_of_superiority(seconds, firsts, Ties.INCLUSIVE)
    return (weights * reversed_.square()).sum()


def _claim_loss(
    claim: AxisClaim, subject: torch.Tensor, other: torch.Tensor, paper_form: bool
) -> torch.Tensor:
    first, second = (subject, other) if claim.subject_first else (other, subject)
    return _order_loss(first, second, claim.axis, paper_form)


def _between_loss(maps: Sequence[torch.Tensor], paper_form: bool) -> torch.Tensor:
    subject, one, other = maps
    arrangements = [
        _order_loss(before, subject, axis, paper_form)
        + _order_loss(subject, after, axis, paper_form)
        for axis in PICTURE_AXES
        for before, after in ((one, other), (other, one))
    ]
    return torch.stack(arrangements).amin(0)


def _order_loss(
    first: torch.Tensor, second: torch.Tensor, axis: Axis, paper_form: bool
) -> torch.Tensor:
    if paper_form:
        return -projected_pos(first, second, axis, Ties.INCLUSIVE).square()
    return projected_pos(second, first, axis, Ties.INCLUSIVE).square()
