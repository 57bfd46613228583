"""Makes the slightly changed pictures behind a verdict in a thread, while the window goes on."""

from collections.abc import Callable
from threading import Thread

from spatialstudio.application.cancellation import CancelFlag
from spatialstudio.application.flow.crop_evidence import crop_of, perturbed_crops
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import Perturber


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


class CropMaker:
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
        self._flag = CancelFlag()

    def make(self, image: RgbImage, evidence: Evidence) -> None:
        """Start to make the crops; returns at once.

        Args:
            image: (H, W, 3) uint8, the judged picture.
            evidence: Behind one of its verdicts.
        """
        self.cancel()
        self._flag = CancelFlag()
        Thread(target=self._make, args=(image, evidence, self._flag), daemon=True).start()

    def cancel(self) -> None:
        """Let what still comes be."""
        self._flag.cancel()

    def _make(self, image: RgbImage, evidence: Evidence, flag: CancelFlag) -> None:
        crops = perturbed_crops(image, evidence, self._perturber())
        unchanged = None if evidence.crop is None else crop_of(image, evidence.crop)
        if not flag.is_cancelled:
            self._publish(CropsMade(evidence=evidence, unchanged=unchanged, crops=crops))
