"""Selection of the judge set by id, among registered and installed models.

Without a selection the default depends on the image's origin. The sticker models recognise the
sticker world only, so they are the default for images of sticker models; other images have none.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from spatialstudio.application.evaluate.evaluate_image import JudgeSet
from spatialstudio.application.registry import Registry
from spatialstudio.domain.errors import NoDetectorChosen
from spatialstudio.domain.judge_choice import (
    STICKER_DETECTOR_ID,
    JudgeSetChoice,
)
from spatialstudio.domain.ports import ModelCard, PerceptionRole
from spatialstudio.domain.verdict import Evaluation, Perception

STICKER_MODEL_ID = "stickers"
"""Id of the embedded model, also recognised where it is not installed."""

PERTURBER_ID = "pillow"
PERCEPTION_STORE_ID = "files"
PERCEPTION_CATALOG_ID = "folders"


def judges_by_origin(choice: JudgeSetChoice, *, is_sticker_picture: bool) -> JudgeSetChoice:
    """Fill in a missing detector from the origin of the image.

    Args:
        choice: The user's choice. Without a first detector, the second takes its place.
        is_sticker_picture: Whether a sticker model generated it; see ``JudgeDefaults``.

    Returns:
        The choice with a detector, or without one if none is chosen and no default applies.
    """
    if choice.detector_id is not None:
        return choice
    if is_sticker_picture:
        return replace(choice, detector_id=STICKER_DETECTOR_ID)
    return replace(choice, detector_id=choice.second_id, second_id=None)


def has_unfit_detector(perception: Perception, *, is_sticker_picture: bool) -> bool:
    """Return True if the sticker models evaluated, by default, an image of another model.

    Records that name their detector are valid: such images already needed an explicit choice. In
    older records the detections name the detector; without detections it was the default of that
    time, the sticker models.
    """
    if is_sticker_picture or perception.detector_id:
        return False
    return {each.detector_id for each in perception.detections} <= {STICKER_DETECTOR_ID}


def no_detector_chosen() -> NoDetectorChosen:
    """Return the error for an image without a chosen detector."""
    return NoDetectorChosen(
        "There is no verdict: this is not a sticker picture, and no detector is selected.",
        hint="Select a detector for photographs, or the sticker-segmenter if it shows stickers.",
    )


class JudgeDefaults:
    """The judge set for a model's images: the user's choice, else the default by origin.

    Args:
        models: Returns the installed models.
        choice: Returns the user's choice.
    """

    def __init__(
        self, models: Callable[[], Iterable[ModelCard]], choice: Callable[[], JudgeSetChoice]
    ) -> None:
        self._models = models
        self._choice = choice

    def draws_stickers(self, model_id: str) -> bool:
        """Return True for sticker models: the embedded one, or one with a list of known objects.

        Args:
            model_id: Id in a request or in an image's metadata; empty if unknown.
        """
        return model_id == STICKER_MODEL_ID or any(
            card.id == model_id for card in self._models() if card.known_objects
        )

    def judges_of(self, model_id: str) -> JudgeSetChoice:
        """Return the judge set for a model's images; without a detector if no default applies."""
        is_sticker_picture = self.draws_stickers(model_id)
        return judges_by_origin(self._choice(), is_sticker_picture=is_sticker_picture)

    def fitting(self, evaluation: Evaluation | None, model_id: str) -> Evaluation | None:
        """Return a stored evaluation; None if its detector does not suit the model's images."""
        is_sticker_picture = self.draws_stickers(model_id)
        if evaluation is None or has_unfit_detector(
            evaluation.perception, is_sticker_picture=is_sticker_picture
        ):
            return None
        return evaluation


def judge_set_names(registry: Registry, choice: JudgeSetChoice) -> Mapping[str, str]:
    """Return the names of the chosen models by role, for results.

    Third-party models are named with revision and weight hash.

    Raises:
        ModelNotFound: A model is not installed, or has another role.
    """
    chosen = {
        "detector": (PerceptionRole.DETECTOR, choice.detector_id),
        "second_detector": (PerceptionRole.DETECTOR, choice.second_id),
        "segmenter": (PerceptionRole.SEGMENTER, choice.segmenter_id),
        "depth": (PerceptionRole.DEPTH, choice.depth_or_sticker_id),
    }
    names = {
        task: _exact_name(registry, model_id, role)
        for task, (role, model_id) in chosen.items()
        if model_id is not None
    }
    return names if choice.cut is None else {**names, "cut": str(choice.cut)}


def make_judge_set(registry: Registry, choice: JudgeSetChoice) -> JudgeSet:
    """Create the chosen judge set; weights are loaded on first use.

    Raises:
        ModelNotFound: A model is not installed, or has another role.
        NoDetectorChosen: The choice has no detector.
    """
    if choice.detector_id is None:
        raise no_detector_chosen()
    second, segmenter = choice.second_id, choice.segmenter_id
    depth = choice.depth_or_sticker_id
    return JudgeSet(
        detector=registry.detector(choice.detector_id),
        second=registry.detector(second) if second else None,
        segmenter=registry.segmenter(segmenter) if segmenter else None,
        depth=registry.depth(depth) if depth else None,
        perturber=registry.perturber(PERTURBER_ID),
        cut=choice.cut,
        store=registry.perception_store(PERCEPTION_STORE_ID),
    )


def _exact_name(registry: Registry, model_id: str, role: PerceptionRole) -> str:
    if model_id in registry.ids(role.value):
        return model_id
    ref = registry.perception_catalog(PERCEPTION_CATALOG_ID).ref(model_id, role)
    return " ".join(part for part in (ref.id, ref.revision, ref.sha256) if part)
