"""What all detectors have in common that ask a model of transformers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from spatialstudio.adapters.perception.class_names import classes_of
from spatialstudio.adapters.perception.findings import (
    CandidateSettings,
    Finding,
    heads_of,
    seen_in,
)
from spatialstudio.adapters.perception.model_in_use import Loaded, ModelInUse
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.perceivers import PerceptionCard, Seen
from spatialstudio.domain.prompt import ObjectMention

SettingsT = TypeVar("SettingsT", bound=CandidateSettings)

Find = Callable[[Loaded, RgbImage, Sequence[str], SettingsT], list[Finding]]
"""Looks in a picture for heads that are named."""

FindClasses = Callable[[Loaded, RgbImage, Mapping[str, frozenset[int]], SettingsT], list[Finding]]
"""Looks for heads that are given with the numbers of their classes; there is at least one."""

Look = Callable[[Loaded, RgbImage, Sequence[str], SettingsT], tuple[list[Finding], tuple[str, ...]]]
"""Looks for heads; says as well which of them the model does not know."""


def open_vocabulary(find: Find[SettingsT]) -> Look[SettingsT]:
    """Let a model look that knows whatever a text names."""

    def look(
        loaded: Loaded, image: RgbImage, heads: Sequence[str], settings: SettingsT
    ) -> tuple[list[Finding], tuple[str, ...]]:
        return find(loaded, image, heads, settings), ()

    return look


def detector_of_classes(
    card: PerceptionCard, model_class: str, find: FindClasses[SettingsT], settings: SettingsT
) -> "ModelDetector[SettingsT]":
    """Make the detector of a model that knows the classes that it was trained on.

    Args:
        card: Where the model lies.
        model_class: Of transformers.
        find: Asks the model.
        settings: Which findings are kept.
    """
    model = ModelInUse(card, model_class, "AutoImageProcessor")
    return ModelDetector(model, settings, _fixed_classes(find))


def _fixed_classes(find: FindClasses[SettingsT]) -> Look[SettingsT]:
    """Let a model look that knows the classes that it was trained on."""

    def look(
        loaded: Loaded, image: RgbImage, heads: Sequence[str], settings: SettingsT
    ) -> tuple[list[Finding], tuple[str, ...]]:
        known = classes_of(heads, loaded.model.config.id2label)
        findings = find(loaded, image, known, settings) if known else []
        return findings, tuple(head for head in heads if head not in known)

    return look


class ModelDetector(Generic[SettingsT]):
    """Asks a model of a folder; implements ``Detector``.

    Args:
        model: Loaded when it is first needed.
        settings: Which findings are kept.
        look: Asks the model.
    """

    def __init__(self, model: ModelInUse, settings: SettingsT, look: Look[SettingsT]) -> None:
        self.id = model.id
        self._model = model
        self._settings = settings
        self._look = look

    @property
    def signature(self) -> str:
        """All that its answers depend on beside the picture."""
        return self._model.signature(self._settings)

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Find every mention's head; see ``Detector``."""
        heads = heads_of(mentions)
        if not heads:
            return Seen(detections=(), cut=self._settings.cut)
        with self._model.looking() as loaded:
            findings, unknown = self._look(loaded, image, heads, self._settings)
        return seen_in(findings, mentions, self.id, self._settings, unknown)
