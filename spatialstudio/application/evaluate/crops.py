"""Makes the slightly changed pictures behind a verdict in a thread, while the window goes on."""

from collections.abc import Callable
from math import ceil, floor

from spatialstudio.application.jobs.background_jobs import CancellableJob
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.frozen import frozen
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


@frozen(eq=False)
class CropsMade:
    """The crops of one verdict. Made by ``CropMaker``; may cross threads.

    Attributes:
        evidence: That they were made for.
        unchanged: Of the picture as it is, (h, w, 3) uint8; None where nothing was chosen.
        crops: Of the changed pictures, one for each of the evidence's answers.
    """

    evidence: Evidence
    unchanged: RgbImage | None
    crops: tuple[RgbImage, ...]


class CropMaker(CancellableJob):
    """Makes the crops of one verdict at a time; what is asked for later stops what came before.

    Args:
        perturber: Makes or returns who changes pictures; called in the thread only.
        publish: Takes ``CropsMade``, in the thread.
    """

    def __init__(
        self, perturber: Callable[[], Perturber], publish: Callable[[object], None]
    ) -> None:
        self._perturber = perturber
        self._publish = publish

    def make(self, image: RgbImage, evidence: Evidence) -> None:
        """Start to make the crops; returns at once.

        Args:
            image: (H, W, 3) uint8, the judged picture.
            evidence: Behind one of its verdicts.
        """
        self._start(lambda flag: self._make(image, evidence, flag))

    def _make(self, image: RgbImage, evidence: Evidence, flag: CancelFlag) -> None:
        crops = perturbed_crops(image, evidence, self._perturber())
        unchanged = None if evidence.crop is None else crop_of(image, evidence.crop)
        flag.raise_if_cancelled()
        self._publish(CropsMade(evidence=evidence, unchanged=unchanged, crops=crops))
