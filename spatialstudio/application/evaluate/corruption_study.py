"""How much PSE minds when masks are spoilt: the published study, on any judged pictures."""

from collections.abc import Sequence
from statistics import mean

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import Perception
from spatialstudio.domain.relation import Relation, SceneGraph
from spatialstudio.science.pos.mask_corruption import Corruption, published_corruptions
from spatialstudio.science.pos.pse import masks_of_ends
from spatialstudio.science.pos.relation_rules import relation_pos_on_masks
from spatialstudio.science.pos.superiority import pse_from_pos

UNSPOILT = Corruption(name="none", level=0.0, spoil=lambda mask, _: mask)


@frozen
class StudiedPicture:
    """A picture of the study.

    Attributes:
        scene: What its prompt claims.
        perception: What was seen, masks included.
    """

    scene: SceneGraph
    perception: Perception


@frozen
class CorruptionRow:
    """One line of the study.

    Attributes:
        name: Of the corruption; "none" for the masks as they are.
        level: Its strength as published: share of pixels, or pixels of distance or iterations in
            pictures of 1024 x 1024; others are spoilt in proportion.
        relations: How many the mean is over, the n of all pictures.
        mean_pse: Over all relations, [0, 1]; what cannot be measured counts 0.
    """

    name: str
    level: float
    relations: int
    mean_pse: float


def study_corruption(
    pictures: Sequence[StudiedPicture], least_score: float, seed: int = 0
) -> tuple[CorruptionRow, ...]:
    """Spoil the masks of pictures in every published way, and measure PSE each time.

    Args:
        pictures: Judged pictures.
        least_score: Least score of a mask that counts, [0, 1].
        seed: Of the corruptions' randomness.

    Returns:
        The unspoilt masks first, then a row for each corruption.

    Raises:
        EmptyMapError: No picture claims a relation.
    """
    cases = [
        (relation, picture.perception, masks_of_ends(relation, picture.perception, least_score))
        for picture in pictures
        for relation in picture.scene.relations
    ]
    if not cases:
        raise EmptyMapError(
            "There is no relation to study.", hint="Choose runs whose prompts state relations."
        )
    return tuple(
        CorruptionRow(
            name=corruption.name,
            level=corruption.level,
            relations=len(cases),
            mean_pse=_mean_pse(cases, corruption, np.random.default_rng(seed)),
        )
        for corruption in (UNSPOILT, *published_corruptions())
    )


def _mean_pse(
    cases: Sequence[tuple[Relation, Perception, Sequence[BoolMask]]],
    corruption: Corruption,
    chance: np.random.Generator,
) -> float:
    scores = []
    for relation, perception, masks in cases:
        spoilt = [corruption.spoil(mask, chance) for mask in masks]
        pos = relation_pos_on_masks(relation.type, spoilt, perception.depth)
        scores.append(0.0 if pos is None else pse_from_pos(pos))
    return mean(scores)
