"""Crops of the perturbed images behind a verdict, computed in a background thread."""

from collections.abc import Callable
from math import ceil, floor

from spatialstudio.application.jobs.background_jobs import CancellableJob
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import Perturber
from spatialstudio.domain.verdict import Box


def perturbed_crops(
    image: RgbImage, evidence: Evidence, perturber: Perturber
) -> tuple[RgbImage, ...]:
    """Perturb an image as the checker did, and return one crop for each perturbed answer.

    Args:
        image: (H, W, 3) uint8, the evaluated image.
        evidence: Evidence of one of its verdicts.
        perturber: The checker's perturber.
    """
    return tuple(
        crop_of(perturber.perturb(image, answer.perturbation), answer.crop)
        for answer in evidence.perturbed
    )


def crop_of(image: RgbImage, box: Box) -> RgbImage:
    """Crop an image, (H, W, 3) uint8, to the whole pixels that a box covers, also in part."""
    rows = slice(floor(box.top), ceil(box.bottom))
    columns = slice(floor(box.left), ceil(box.right))
    return image[rows, columns]


@frozen(eq=False)
class CropsMade:
    """The crops of one verdict. Published by ``CropMaker``; may cross threads.

    Attributes:
        evidence: Evidence of the verdict.
        unchanged: Crop of the original image, (h, w, 3) uint8; None without a chosen instance.
        crops: Crops of the perturbed images, one for each perturbed answer.
    """

    evidence: Evidence
    unchanged: RgbImage | None
    crops: tuple[RgbImage, ...]


class CropMaker(CancellableJob):
    """Computes the crops of one verdict at a time; a new request cancels the previous one.

    Args:
        perturber: Creates or returns the perturber; called in the thread only.
        publish: Receives ``CropsMade``, in the thread.
    """

    def __init__(
        self, perturber: Callable[[], Perturber], publish: Callable[[object], None]
    ) -> None:
        self._perturber = perturber
        self._publish = publish

    def make(self, image: RgbImage, evidence: Evidence) -> None:
        """Start to compute the crops; returns at once.

        Args:
            image: (H, W, 3) uint8, the evaluated image.
            evidence: Evidence of one of its verdicts.
        """
        self._start(lambda flag: self._make(image, evidence, flag))

    def _make(self, image: RgbImage, evidence: Evidence, flag: CancelFlag) -> None:
        crops = perturbed_crops(image, evidence, self._perturber())
        unchanged = None if evidence.crop is None else crop_of(image, evidence.crop)
        flag.raise_if_cancelled()
        self._publish(CropsMade(evidence=evidence, unchanged=unchanged, crops=crops))
