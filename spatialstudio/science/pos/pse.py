"""PoS-based Evaluation (PSE) of relations and prompts.

Source: Rezaei et al. 2025, arXiv:2506.23418, section 4 and its code: PSE of a prompt with several
relations is their mean; a relation counts as met at PSE of one half. Ours: minimum and product in
addition to the mean, and the best instance as an alternative to the union of all.

All means of PSE, here and in reports, tables and studies, are over all relations of all images,
stated as n; a relation with an undetected object counts 0, and so does every relation of an image
that could not be evaluated.
"""

from collections.abc import Sequence
from enum import Enum
from math import prod
from statistics import mean

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    MentionId,
    Relation,
    RelationId,
    SceneGraph,
)
from spatialstudio.domain.verdict import Evaluation, Mask, Perception
from spatialstudio.science.pos.superiority import pse_from_pos, relation_pos_on_masks

MET_AT = 0.5
"""Minimum PSE at which a relation counts as met."""


class Instances(Enum):
    """The masks of a mention that are used."""

    UNION = "union"
    """The union of all masks above the score threshold: as published."""
    BEST = "best"
    """The mask with the best score."""


@frozen
class RelationPse:
    """PSE of one relation.

    Attributes:
        relation_id: The relation.
        pos: PoS of the relation, [0, 1], ties half; None where it cannot be measured.
        pse: max(0, 2 PoS - 1), [0, 1]; 0 where it cannot be measured.
        missing: The ends without a mask.
    """

    relation_id: RelationId
    pos: float | None
    pse: float
    missing: tuple[MentionId, ...]

    @property
    def is_met(self) -> bool:
        """Whether the relation counts as met."""
        return self.pse >= MET_AT


@frozen
class PromptPse:
    """PSE of all relations of a prompt.

    Attributes:
        relations: At least one, in the scene's order.
    """

    relations: tuple[RelationPse, ...]

    @property
    def mean(self) -> float:
        """Mean PSE, [0, 1]."""
        return mean(relation.pse for relation in self.relations)

    @property
    def least(self) -> float:
        """Minimum PSE, [0, 1]."""
        return min(relation.pse for relation in self.relations)

    @property
    def product(self) -> float:
        """Product of the PSE of all relations, [0, 1]."""
        return prod(relation.pse for relation in self.relations)

    @property
    def is_met(self) -> bool:
        """Whether every relation counts as met."""
        return all(relation.is_met for relation in self.relations)


def prompt_pse(
    scene: SceneGraph,
    perception: Perception,
    instances: Instances = Instances.UNION,
    least_score: float = 0.0,
) -> PromptPse | None:
    """Compute the PSE of every relation of a scene.

    Args:
        scene: The scene graph.
        perception: The perception of the image; depth relations require a depth map.
        instances: The masks of a mention that are used.
        least_score: Minimum score of a mask, [0, 1].

    Returns:
        None when the scene has no relation.
    """
    if not scene.relations:
        return None
    return PromptPse(
        relations=tuple(
            relation_pse(relation, perception, instances, least_score)
            for relation in scene.relations
        )
    )


def pse_of(relation: Relation, evaluation: Evaluation) -> float:
    """Return a relation's PSE as published, [0, 1]; 0 where an object was not detected."""
    least_score = evaluation.checker.detection_score
    return relation_pse(relation, evaluation.perception, least_score=least_score).pse


def relation_pse(
    relation: Relation,
    perception: Perception,
    instances: Instances = Instances.UNION,
    least_score: float = 0.0,
) -> RelationPse:
    """Compute the PSE of one relation; arguments as for ``prompt_pse``."""
    masks = masks_of_ends(relation, perception, least_score, instances)
    pos = relation_pos_on_masks(relation.type, masks, perception.depth)
    return RelationPse(
        relation_id=relation.id,
        pos=pos,
        pse=0.0 if pos is None else pse_from_pos(pos),
        missing=tuple(
            end for end, mask in zip(relation.ends, masks, strict=True) if not mask.any()
        ),
    )


def masks_of_ends(
    relation: Relation,
    perception: Perception,
    least_score: float,
    instances: Instances = Instances.UNION,
) -> list[BoolMask]:
    """Return a mask for each end of a relation, (H, W) bool; all False if it was not detected."""
    size = perception.height, perception.width
    sure_masks = (
        [mask for mask in perception.masks_of(end) if mask.score >= least_score]
        for end in relation.ends
    )
    count = 1 if instances is Instances.BEST else None
    return [_united(masks[:count], size) for masks in sure_masks]


def _united(masks: Sequence[Mask], size: tuple[int, int]) -> BoolMask:
    if len(masks) == 1:
        return masks[0].pixels
    union = np.zeros(size, dtype=np.bool_)
    for mask in masks:
        union |= mask.pixels
    return union
