"""The slightly changed pictures behind a verdict, cut to what was looked at."""

from math import ceil, floor

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.perception import Box
from spatialstudio.domain.ports import Perturber


def perturbed_crops(
    image: RgbImage, evidence: Evidence, perturber: Perturber
) -> tuple[RgbImage, ...]:
    """Change a picture as the checker did, one crop for each of the evidence's answers.

    Args:
        image: (H, W, 3) uint8, the judged picture.
        evidence: Behind one of its verdicts.
        perturber: The checker's.
    """
    return tuple(
        crop_of(perturber.perturb(image, answer.perturbation), answer.crop)
        for answer in evidence.perturbed
    )


def crop_of(image: RgbImage, box: Box) -> RgbImage:
    """Cut a picture, (H, W, 3) uint8, to the whole pixels that a box within it touches."""
    rows = slice(floor(box.top), ceil(box.bottom))
    columns = slice(floor(box.left), ceil(box.right))
    return image[rows, columns]
