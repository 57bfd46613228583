"""Which models look at a picture: chosen by id, among the registered and those on this machine.

What nobody chose depends on who drew the picture. The sticker models know the sticker world only,
so they are the default for pictures of sticker models alone; for all others there is none.
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
from spatialstudio.domain.judge_ports import PerceptionRole
from spatialstudio.domain.perception import Perception
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.verdict import Evaluation

STICKER_MODEL_ID = "stickers"
"""Of the embedded model, known as such even where it is not installed."""

PERTURBER_ID = "pillow"
PERCEPTION_STORE_ID = "files"
PERCEPTION_CATALOG_ID = "folders"


def judges_by_origin(choice: JudgeSetChoice, *, is_sticker_picture: bool) -> JudgeSetChoice:
    """Fill in the detector that nobody chose, by who drew the picture.

    Args:
        choice: Of the user. A second detector is the only one where there is no first.
        is_sticker_picture: Whether a sticker model drew it; see ``JudgeDefaults``.

    Returns:
        The same with a detector; without one where none is chosen and no default fits.
    """
    if choice.detector_id is not None:
        return choice
    if is_sticker_picture:
        return replace(choice, detector_id=STICKER_DETECTOR_ID)
    return replace(choice, detector_id=choice.second_id, second_id=None)


def has_unfit_detector(perception: Perception, *, is_sticker_picture: bool) -> bool:
    """Say whether the sticker models judged a picture by default that no sticker model drew.

    A record that names its detector was made when such a picture needed one chosen by hand. Older
    records do not; then the detections name it, and without any the default of that time looked,
    which was the sticker models'.
    """
    if is_sticker_picture or perception.detector_id:
        return False
    return {each.detector_id for each in perception.detections} <= {STICKER_DETECTOR_ID}


def no_detector_chosen() -> NoDetectorChosen:
    """Make the error of a picture for which no detector is chosen."""
    return NoDetectorChosen(
        "There is no verdict: this is not a sticker picture, and no detector is selected.",
        hint="Select a detector for photographs, or the sticker-segmenter if it shows stickers.",
    )


class JudgeDefaults:
    """Who judges the pictures of a model: the user's choice, else the default by their origin.

    Args:
        models: Returns the models on this machine.
        choice: Returns the user's choice.
    """

    def __init__(
        self, models: Callable[[], Iterable[ModelCard]], choice: Callable[[], JudgeSetChoice]
    ) -> None:
        self._models = models
        self._choice = choice

    def draws_stickers(self, model_id: str) -> bool:
        """Say whether a model draws the sticker world: the embedded one, or one of listed objects.

        Args:
            model_id: As a request or a picture's own record names it; empty where neither does.
        """
        return model_id == STICKER_MODEL_ID or any(
            card.id == model_id for card in self._models() if card.known_objects
        )

    def judges_of(self, model_id: str) -> JudgeSetChoice:
        """Return who judges the pictures of a model; without a detector where none fits."""
        is_sticker_picture = self.draws_stickers(model_id)
        return judges_by_origin(self._choice(), is_sticker_picture=is_sticker_picture)

    def fitting(self, evaluation: Evaluation | None, model_id: str) -> Evaluation | None:
        """Return a stored evaluation; None where nobody looked who knows a model's pictures."""
        is_sticker_picture = self.draws_stickers(model_id)
        if evaluation is None or has_unfit_detector(
            evaluation.perception, is_sticker_picture=is_sticker_picture
        ):
            return None
        return evaluation


def judge_set_names(registry: Registry, choice: JudgeSetChoice) -> Mapping[str, str]:
    """Name those who were chosen, for results: what they do to who they are.

    A model of others is named with its revision and the hash of its weights.

    Raises:
        ModelNotFound: One of them is not on this machine, or has another role.
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
    """Make those who were chosen; their weights are loaded on first use.

    Raises:
        ModelNotFound: One of them is not on this machine, or has another role.
        NoDetectorChosen: There is no detector among them.
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
