"""The classes of closed-vocabulary detectors that a noun stands for."""

from collections.abc import Mapping, Sequence

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
"""Synonyms of COCO classes: the two published names first (Everingham et al. 2010 differ for some),
then common words. T2I-CompBench counts men, women and children as persons."""

STUFF_ENDINGS = ("-merged", "-other", "-stuff")
"""Suffixes of COCO's panoptic class names: "sky-other-merged"."""


def classes_of(heads: Sequence[str], names: Mapping[int, str]) -> Mapping[str, frozenset[int]]:
    """Map heads to the classes of a model.

    Args:
        heads: The requested heads, singular.
        names: The model's classes by index.

    Returns:
        Class indices by head; a head that the model does not know is left out.
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
