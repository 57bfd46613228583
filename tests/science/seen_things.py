"""Small perceptions for the tests of the checker: squares in a picture of 100 x 100 pixels."""

import numpy as np

from spatialstudio.domain.scene import (
    BETWEEN,
    LEFT_OF,
    Relation,
)
from spatialstudio.domain.verdict import (
    Box,
    Detection,
    Mask,
    Perception,
)

SIDE = 100
LABELS = {"m1": "dog", "m2": "car"}
"""What a detector calls the things of ``tests.fakes.scene_of``."""


def box_at(x, y, size=20):
    """A square centred at x, y."""
    half = size / 2
    return Box(left=x - half, top=y - half, right=x + half, bottom=y + half)


def seen(mention, x, y, score=0.9, size=20):
    """A square detection centred at x, y."""
    return Detection(
        mention_id=mention,
        label=LABELS.get(mention, mention),
        score=score,
        box=box_at(x, y, size),
        detector_id="fake",
    )


def masked(mention, x, y, score=0.9, half=10):
    """The mask of a square centred at x, y."""
    pixels = np.zeros((SIDE, SIDE), dtype=bool)
    pixels[y - half : y + half, x - half : x + half] = True
    return Mask(mention_id=mention, pixels=pixels, score=score, source_id="fake")


def perception(*detections, masks=(), depth=None, missing_classes=(), cut=0.0):
    """What was seen in a picture."""
    return Perception(
        image_sha256="",
        height=SIDE,
        width=SIDE,
        detections=detections,
        masks=masks,
        depth=depth,
        missing_classes=missing_classes,
        cut=cut,
    )


def relation(relation_type=LEFT_OF, subject="dog", other="car", relation_id="r"):
    """A relation of a dog and a car, and of a cup where it takes three."""
    flank = "cup" if relation_type is BETWEEN else None
    return Relation(
        id=relation_id,
        type=relation_type,
        subject=subject,
        object=other,
        second_object=flank,
    )
