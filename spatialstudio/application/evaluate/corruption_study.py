"""The published study of PSE under mask corruption, on any evaluated images."""

from collections.abc import Sequence
from statistics import mean

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Relation, SceneGraph
from spatialstudio.domain.verdict import Perception
from spatialstudio.science.pos.mask_corruption import Corruption, published_corruptions
from spatialstudio.science.pos.pse import masks_of_ends
from spatialstudio.science.pos.relation_rules import relation_pos_on_masks
from spatialstudio.science.pos.superiority import pse_from_pos

UNSPOILT = Corruption(name="none", level=0.0, spoil=lambda mask, _: mask)


@frozen
class StudiedPicture:
    """An image of the study.

    Attributes:
        scene: Scene of its prompt.
        perception: Its perception, with masks.
    """

    scene: SceneGraph
    perception: Perception


@frozen
class CorruptionRow:
    """One row of the study.

    Attributes:
        name: Name of the corruption; "none" for the original masks.
        level: Strength as published: share of pixels, or pixels of distance or iterations at
            1024 x 1024; scaled in proportion for other sizes.
        relations: Number of relations in the mean, the n of all images.
        mean_pse: Mean over all relations, [0, 1]; a relation that cannot be measured counts 0.
    """

    name: str
    level: float
    relations: int
    mean_pse: float


def study_corruption(
    pictures: Sequence[StudiedPicture], least_score: float, seed: int = 0
) -> tuple[CorruptionRow, ...]:
    """Apply every published corruption to the masks, and measure PSE after each.

    Args:
        pictures: Evaluated images.
        least_score: Minimum score of a mask, [0, 1].
        seed: Random seed of the corruptions.

    Returns:
        A row for the original masks, then one row per corruption.

    Raises:
        EmptyMapError: No image has a relation.
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
