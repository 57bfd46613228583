"""What guidance lowers: attention maps in, loss out.

PSG loss of a claim "A before B", from the projected maps of A and B:

    code:  P(u >= v)^2    0 when the claim is met, 1 when it is reversed; strong while wrong
    paper: -P(u <= v)^2   never rests

Ties count in full in both. A diagonal adds its two claims; several relations add up. Far is
-PoS^dist and near is +PoS^dist. "Between" adds "flank before subject" and "subject before other
flank", for the axis and order that come closest (ours).

Source: Rezaei et al. 2025, arXiv:2506.23418: section 3 for the paper's form, and the authors' code,
which differs and is the default here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import Axis, AxisClaim, Relation, RelationType, Shape
from spatialstudio.science.distance_superiority import distance_pos
from spatialstudio.science.relation_rules import PICTURE_AXES, can_guide
from spatialstudio.science.superiority import Ties, projected_pos


class GuidanceLoss(Protocol):
    """Says how badly attention maps meet the relations of a scene."""

    def __call__(
        self, relations: Iterable[Relation], maps: Mapping[MentionId, torch.Tensor]
    ) -> torch.Tensor:
        """Compute the loss of one prediction.

        Args:
            relations: What shall hold; those of depth are passed over.
            maps: Mention id to (h, w) float32, not negative, with gradients.

        Returns:
            () loss; the latents move against its gradient.

        Raises:
            EmptyMapError: A map holds no mass.
        """
        ...


@dataclass(frozen=True, slots=True)
class PsgLoss:
    """PoS-based Generation, a ``GuidanceLoss``.

    Attributes:
        paper_form: The paper's loss instead of the code's.
    """

    paper_form: bool = False

    def __call__(
        self, relations: Iterable[Relation], maps: Mapping[MentionId, torch.Tensor]
    ) -> torch.Tensor:
        """Add up the PSG losses of the relations."""
        return scene_loss(relations, maps, self.paper_form)


def scene_loss(
    relations: Iterable[Relation],
    maps: Mapping[MentionId, torch.Tensor],
    paper_form: bool = False,
) -> torch.Tensor:
    """Add up the PSG losses of all relations that flat maps can hold.

    Args:
        relations: At least one that ``can_guide``.
        maps: Mention id to (h, w), not negative.
        paper_form: The paper's loss instead of the code's.

    Returns:
        () loss.

    Raises:
        EmptyMapError: A map holds no mass.
        ValueError: No relation can guide.
    """
    losses = [
        psg_loss(relation.type, [maps[end] for end in relation.ends], paper_form)
        for relation in relations
        if can_guide(relation.type)
    ]
    if not losses:
        raise ValueError("No relation of the scene can be guided.")
    return torch.stack(losses).sum()


def psg_loss(
    relation_type: RelationType, maps: Sequence[torch.Tensor], paper_form: bool = False
) -> torch.Tensor:
    """Compute the PSG loss of one relation.

    Args:
        relation_type: One that ``can_guide``.
        maps: (..., h, w) each, not negative: subject, object and, for "between", second object.
        paper_form: The paper's loss instead of the code's; distances have one form only.

    Returns:
        () loss, summed over leading dimensions.

    Raises:
        EmptyMapError: A map holds no mass.
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
