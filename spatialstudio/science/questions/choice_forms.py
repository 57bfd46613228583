"""Forms of multiple-choice questions: the words in which they are written and read."""

import re
from collections.abc import Mapping
from enum import Enum

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import COUNTING
from spatialstudio.domain.scene import RelationType, relation_types

NUMBERS = ("1", "2", "3", "4")
SIDES = ("to the left", "to the right", "towards the viewer", "away from the viewer")
PARTS = ("in the upper left", "in the upper right", "in the lower left", "in the lower right")
NOTHING = "no object"
"""Option of questions on what hides an object."""
JOIN = ", "
"""Between the objects of an order."""
MOST_STEM_LETTERS = 400
"""Longest stem that is read; longer ones have another form."""
_OTHER = " it"


class Form(Enum):
    """A form of question; its value is the stem, whose numbers stand for names."""

    PRESENT = "Which of these objects is in the picture?"
    COUNT = "How many {0} are in the picture?"
    COLOUR = "Which colour is the {0}?"
    PLACE = "Where is the {0} in relation to the {1}?"
    FACING = "Which way does the {0} face?"
    ORDER = "In which order are these objects from left to right?"
    PART = "In which part of the picture is the {0}?"
    LARGEST = "Which of these objects takes up the most space in the picture?"
    CLOSEST = "Which of these objects is closest to the {0}?"
    NEAREST = "Which of these objects is nearest to the viewer?"
    HIDING = "Which of these objects partly hides the {0}?"


SUB_DOMAIN_OF: Mapping[Form, str] = {
    Form.PRESENT: "Object",
    Form.COUNT: COUNTING,
    Form.COLOUR: "Attribute",
    Form.PLACE: "Position",
    Form.FACING: "Orientation",
    Form.ORDER: "Layout",
    Form.PART: "Layout",
    Form.LARGEST: "Comparison",
    Form.CLOSEST: "Proximity",
    Form.NEAREST: "Proximity",
    Form.HIDING: "Occlusion",
}
"""Sub-domain of each form."""


@frozen
class ReadStem:
    """A stem of a known form.

    Attributes:
        form: The form.
        names: The names in it, in order.
    """

    form: Form
    names: tuple[str, ...]


def stem(form: Form, *names: str) -> str:
    """Return the stem of a question."""
    return form.value.format(*names)


def read_stem(text: str) -> ReadStem | None:
    """Read a stem; None if it has another form."""
    if len(text) > MOST_STEM_LETTERS:
        return None
    for form, pattern in _PATTERNS.items():
        if found := pattern.fullmatch(" ".join(text.split())):
            return ReadStem(form=form, names=tuple(name.lower() for name in found.groups()))
    return None


def place_option(relation: RelationType) -> str:
    """Return the option of a relation: "to the left of it"."""
    return f"{relation.phrase}{_OTHER}"


def read_place(option: str) -> RelationType | None:
    """Return the relation of an option; None if it is none."""
    phrase = option.strip().lower().removesuffix(_OTHER)
    return next((each for each in relation_types if each.phrase == phrase), None)


_PATTERNS = {
    form: re.compile(
        re.escape(form.value).replace(r"\{0\}", "(.+?)").replace(r"\{1\}", "(.+?)"), re.IGNORECASE
    )
    for form in Form
}
