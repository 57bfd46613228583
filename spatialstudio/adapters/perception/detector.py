"""What all detectors have in common that ask a model of transformers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from spatialstudio.adapters.perception.instances import (
    CandidateSettings,
    Finding,
    heads_of,
    seen_in,
)
from spatialstudio.adapters.perception.lazy_model import Loaded, ModelInUse
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.judge_ports import PerceptionCard, Seen
from spatialstudio.domain.prompt import ObjectMention

SYNONYMS: Sequence[Sequence[str]] = (
    ("person", "man", "woman", "boy", "girl", "child", "human"),
    ("motorcycle", "motorbike"),
    ("airplane", "aeroplane", "plane"),
    ("tv", "tvmonitor", "television", "tv monitor"),
    ("couch", "sofa"),
    ("potted plant", "pottedplant", "plant", "houseplant"),
    ("dining table", "diningtable", "table"),
    ("cell phone", "mobile phone", "phone", "smartphone"),
    ("hair drier", "hair dryer", "hairdryer"),
    ("refrigerator", "fridge"),
    ("donut", "doughnut"),
    ("bicycle", "bike"),
    ("teddy bear", "teddy"),
    ("wine glass", "wineglass"),
)
"""Words for one COCO class: its two published names first (Everingham et al. 2010 call some
otherwise), then what people write. T2I-CompBench counts men, women and children as persons."""

STUFF_ENDINGS = ("-merged", "-other", "-stuff")
"""What COCO's panoptic names say beside the thing: "sky-other-merged"."""


def classes_of(heads: Sequence[str], names: Mapping[int, str]) -> Mapping[str, frozenset[int]]:
    """Find the classes that each head stands for.

    Args:
        heads: What is asked for, singular.
        names: The model's classes by number.

    Returns:
        By head, numbers of classes; a head that the model does not know is left out.
    """
    by_word: dict[str, set[int]] = {}
    for number, name in names.items():
        by_word.setdefault(_plain(name), set()).add(number)
    known = {head: frozenset(_numbers(_plain(head), by_word)) for head in heads}
    return {head: numbers for head, numbers in known.items() if numbers}


def _numbers(word: str, by_word: Mapping[str, set[int]]) -> set[int]:
    if word in by_word:
        return by_word[word]
    alike = next((group for group in SYNONYMS if word in group), ())
    return next((by_word[other] for other in alike if other in by_word), set())


def _plain(name: str) -> str:
    word = name.lower()
    for ending in STUFF_ENDINGS:
        word = word.removesuffix(ending)
    for ending in STUFF_ENDINGS:
        word = word.removesuffix(ending)
    return word.replace("_", " ").strip()


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
        instances = find(loaded, image, known, settings) if known else []
        return instances, tuple(head for head in heads if head not in known)

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
            instances, unknown = self._look(loaded, image, heads, self._settings)
        return seen_in(instances, mentions, self.id, self._settings, unknown)
