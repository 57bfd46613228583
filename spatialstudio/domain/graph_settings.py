"""Settings of the scene-graph score: every choice that its published description leaves open.

Each setting is described by an option, so that window and terminal offer all of them. The models
that detect, segment and answer are chosen by the judge set, the reader of the prompt by the
extractor.
"""

from dataclasses import field
from enum import Enum
from typing import Any

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.options import Option, OptionKind, described_by, options_of

LARGEST_COST = 100.0


class EdgeGround(Enum):
    """The ground, foreground or background, that a relation counts for."""

    SUBJECT = "subject"
    """That of its subject."""
    BOTH = "both"
    """The foreground only if both its objects are in the foreground."""


class Unjudged(Enum):
    """Treatment of attributes that nothing in the perception can judge, such as "wooden"."""

    LEFT_OUT = "ignored"
    MISSING = "missing"


class AttributeForm(Enum):
    """What an attribute is in a graph."""

    LABEL = "label"
    """Part of its object: a lack costs a share of ``attribute_cost``."""
    NODE = "node"
    """A node with an edge to its object: a lack costs a missing object and a missing relation."""


class ScoreScale(Enum):
    """The function from edit distance to score."""

    TRIVIAL = "trivial"
    """1 - distance / distance of the trivial edit: everything deleted, everything inserted."""
    TARGET = "target"
    """1 - distance / distance of deleting the prompt's graph, at least 0."""
    RECIPROCAL = "reciprocal"
    """1 / (1 + distance); an empty picture scores more than 0."""


class ForegroundWeight(Enum):
    """The weight of the foreground in the weighted score."""

    OBJECTS = "objects"
    """The share of the prompt's objects that are in the foreground."""
    EQUAL = "equal"
    """One half."""
    FOREGROUND = "foreground"
    """One: the background does not count."""


def _number(name: str, label: str, text: str, default: float, most: float = 1.0) -> Any:
    return described_by(
        Option(
            id=name,
            label=label,
            help=text,
            kind=OptionKind.FLOAT,
            default=default,
            minimum=0,
            maximum=most,
            step=0.05,
        )
    )


def _count(name: str, label: str, text: str, default: int, most: int) -> Any:
    return described_by(
        Option(
            id=name,
            label=label,
            help=text,
            kind=OptionKind.INT,
            default=default,
            minimum=0,
            maximum=most,
        )
    )


def _text(name: str, label: str, text: str) -> Any:
    return described_by(Option(id=name, label=label, help=text, kind=OptionKind.TEXT, default=""))


def _switch(name: str, label: str, text: str) -> Any:
    return described_by(
        Option(id=name, label=label, help=text, kind=OptionKind.BOOL, default=False)
    )


def _choice(name: str, label: str, text: str, default: Enum) -> Any:
    option = Option(
        id=name,
        label=label,
        help=text,
        kind=OptionKind.CHOICE,
        default=default.value,
        choices=tuple(each.value for each in type(default)),
    )
    return field(default=default, metadata={"option": option})


@frozen
class GraphSettings:
    """The settings; the help of each option says what it does."""

    least_pse: float = _number(
        "least_pse", "PSE of an order", "PSE from which an order holds in the picture.", 0.5
    )
    near_gap: float = _number(
        "near_gap", "Gap of near", "Largest gap of near boxes, fraction of the diagonal.", 0.1
    )
    far_gap: float = _number(
        "far_gap", "Gap of far", "Smallest gap of far boxes, fraction of the diagonal.", 0.3
    )
    least_colour: float = _number(
        "least_colour", "Share of a colour", "Predominance from which an object has a colour.", 0.5
    )
    least_answer: float = _number(
        "least_answer",
        "Probability of yes",
        "Probability of yes from which an answered attribute holds.",
        0.5,
    )
    background_nouns: str = _text(
        "background_nouns",
        "Background nouns",
        "Classes that are in the background, separated by slashes: sky/grass; empty for the "
        "built-in list, a dash for none.",
    )
    synonyms: str = _text(
        "synonyms",
        "Synonyms",
        "Classes that count as one, joined by slashes, groups separated by semicolons: "
        "cup/mug;sofa/couch.",
    )
    most_objects: int = _count(
        "most_objects", "Largest count", "Most objects that one quantity expands to.", 24, 100
    )
    unjudged: Unjudged = _choice(
        "unjudged",
        "Unjudged attributes",
        "Whether attributes that cannot be judged are ignored or count as missing.",
        Unjudged.LEFT_OUT,
    )
    charges_open_counts: bool = _switch(
        "charges_open_counts",
        "Charge open counts",
        'Whether further objects cost something where the prompt states "dogs" or "at least two '
        'dogs".',
    )
    attribute_form: AttributeForm = _choice(
        "attribute_form",
        "Attributes are",
        "Labels of their object, or nodes with an edge to it, which cost more.",
        AttributeForm.LABEL,
    )
    attribute_cost: float = _number(
        "attribute_cost",
        "Wrong attributes",
        "Cost of a matched object with none of its attributes, as labels.",
        0.5,
        LARGEST_COST,
    )
    missing_object: float = _number(
        "missing_object",
        "Missing object",
        "Cost of an object that the picture lacks.",
        1,
        LARGEST_COST,
    )
    extra_foreground: float = _number(
        "extra_foreground",
        "Extra in the foreground",
        "Cost of a further object in the foreground.",
        0.1,
        LARGEST_COST,
    )
    extra_background: float = _number(
        "extra_background",
        "Extra in the background",
        "Cost of a further object in the background.",
        0,
        LARGEST_COST,
    )
    missing_relation: float = _number(
        "missing_relation",
        "Missing relation",
        "Cost of a relation whose objects are missing or not related.",
        1,
        LARGEST_COST,
    )
    family_cost: float = _number(
        "family_cost",
        "Partly held relation",
        "Cost of a relation of which only some claims hold, such as above for above left of.",
        0.5,
        LARGEST_COST,
    )
    wrong_relation: float = _number(
        "wrong_relation",
        "Wrong relation",
        "Cost of a relation where another or the opposite holds.",
        1,
        LARGEST_COST,
    )
    extra_relation: float = _number(
        "extra_relation", "Extra relation", "Cost of a further relation.", 0, LARGEST_COST
    )
    edge_ground: EdgeGround = _choice(
        "edge_ground",
        "Ground of a relation",
        "Whether a relation counts for the ground of its subject, or for the foreground only with "
        "both its objects.",
        EdgeGround.SUBJECT,
    )
    foreground_weight: ForegroundWeight = _choice(
        "foreground_weight",
        "Weight of the foreground",
        "In the weighted score: by the objects of the prompt, equal to the background, or alone.",
        ForegroundWeight.OBJECTS,
    )
    score_scale: ScoreScale = _choice(
        "score_scale",
        "Score from distance",
        "Relative to the trivial edit, to the prompt's graph, or the reciprocal of 1 + distance.",
        ScoreScale.TRIVIAL,
    )
    exact_objects: int = _count(
        "exact_objects",
        "Exact up to",
        "Most objects of either graph for the exact distance.",
        10,
        14,
    )
    exact_seconds: float = _number(
        "exact_seconds",
        "Time limit",
        "Seconds of the exact search; beyond them the distance is approximate.",
        2.0,
        60.0,
    )

    @property
    def synonym_groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of class names that count as one class, in lower case."""
        return tuple(filter(None, (_names(group) for group in self.synonyms.split(";"))))

    @property
    def background_classes(self) -> frozenset[str] | None:
        """Classes of the background; None for the built-in list."""
        if not self.background_nouns.strip():
            return None
        return frozenset(_names(self.background_nouns)) - {"-"}


GRAPH_OPTIONS = options_of(GraphSettings)
"""An option for each setting, in display order."""


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.lower().split("/") if (name := part.strip()))
