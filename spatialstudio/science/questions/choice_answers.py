"""Answers to multiple-choice questions from detections, masks and depth, without a language model.

Ours. A question of a known form (``choice_forms``) is answered where the picture is plain: the
objects that it names are found once each, with a sure score, and the best option leads the others
by a margin. Everything else is "cannot tell", with the reason: other forms, orientation, classes
that the detector does not know, objects that are missing or found several times, counts of regions
that may be several objects, and near ties.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

import numpy as np

from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import NONE_LETTER, ChoiceQuestion
from spatialstudio.domain.scene import FAR_FROM, NEAR, Axis, RelationType
from spatialstudio.domain.verdict import Box, box_around
from spatialstudio.science.checker.duplicates import second_lobe
from spatialstudio.science.checker.instances import Region
from spatialstudio.science.checker.measurement import box_gap
from spatialstudio.science.questions.choice_forms import (
    JOIN,
    NOTHING,
    PARTS,
    Form,
    read_place,
    read_stem,
)
from spatialstudio.science.questions.perception_answers import CannotTellError


@frozen
class AnswerMargins:
    """How plain the picture must be; lengths are shares of the side of the picture.

    Attributes:
        score: Least score of an object that is there, [0, 1].
        absent: Score below which an object is not there, [0, 1].
        offset: Least distance of centres along the axis of a position.
        dominance: How many times that along the other axis.
        order: Least distance of centres from left to right.
        middle: Least distance of a centre from the middle lines, for parts of the picture.
        size: How many times larger the largest object is.
        distance: How many times farther away the second closest object is.
        depth: Least difference of depth, as a share of its range.
        apart: Least gap to other objects of one that nothing hides, over the diagonal.
        near: Largest gap of objects that are near each other, over the diagonal.
        far: Least gap of objects that are far from each other.
        colour: How many times more of an object has the colour than the next one.
        lobe: Strength of a second lobe from which a counted region may be two objects that touch,
            [0, 1]; see ``second_lobe``.
    """

    score: float = 0.7
    absent: float = 0.35
    offset: float = 0.1
    dominance: float = 1.3
    order: float = 0.06
    middle: float = 0.04
    size: float = 1.2
    distance: float = 1.15
    depth: float = 0.1
    apart: float = 0.015
    near: float = 0.1
    far: float = 0.3
    colour: float = 1.5
    lobe: float = 0.25


DEFAULT = AnswerMargins()


@frozen(eq=False)
class ShownObjects:
    """What was found in a picture.

    Attributes:
        height: Of the picture, pixels.
        width: Of the picture, pixels.
        regions: The instances of each name, best first; no entry for a name that the detector
            does not know.
        depth: (H, W), larger is farther; None without a depth model.
        colours: Shares of the basic colour terms by name, where they were measured.
    """

    height: int
    width: int
    regions: Mapping[str, Sequence[Region]]
    depth: FloatMap | None = None
    colours: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def names_in(question: ChoiceQuestion) -> frozenset[str]:
    """Return the names of objects that a question needs to find; plurals as written."""
    read = read_stem(question.stem)
    if read is None or read.form is Form.FACING:
        return frozenset()
    options = [text for letter, text in question.options if letter != NONE_LETTER]
    named: list[str] = []
    if read.form in {Form.PRESENT, Form.LARGEST, Form.CLOSEST, Form.NEAREST, Form.HIDING}:
        named = [text for text in options if text != NOTHING]
    elif read.form is Form.ORDER:
        named = [name for text in options for name in text.split(JOIN)]
    return frozenset(" ".join(name.lower().split()) for name in (*read.names, *named))


def coloured_names(question: ChoiceQuestion) -> tuple[str, ...]:
    """Return the names of objects whose colours a question needs."""
    read = read_stem(question.stem)
    return read.names if read is not None and read.form is Form.COLOUR else ()


def needs_depth(question: ChoiceQuestion) -> bool:
    """Return True if a question can only be answered with depth."""
    read = read_stem(question.stem)
    if read is None:
        return False
    places = [read_place(text) for _, text in question.options]
    is_deep = read.form is Form.PLACE and any(each and each.needs_depth for each in places)
    return is_deep or read.form in {Form.NEAREST, Form.HIDING}


def answer(
    question: ChoiceQuestion, shown: ShownObjects, margins: AnswerMargins = DEFAULT
) -> tuple[str, str]:
    """Return the letter of the answer and the reason.

    Raises:
        CannotTellError: The picture does not answer the question plainly; the message says why.
    """
    read = read_stem(question.stem)
    if read is None:
        raise CannotTellError("the question has another form")
    letters = {
        " ".join(text.lower().split()): letter
        for letter, text in question.options
        if letter != NONE_LETTER
    }
    asked = _Asked(shown, margins, read.names, tuple(letters))
    option, reason = _ANSWERS[read.form](asked)
    if option not in letters:
        raise CannotTellError(f"no option says that {reason}")
    return letters[option], reason


class _Asked:
    """A question and what was found."""

    def __init__(
        self,
        shown: ShownObjects,
        margins: AnswerMargins,
        names: tuple[str, ...],
        options: tuple[str, ...],
    ) -> None:
        self.shown, self.margins, self.names, self.options = shown, margins, names, options
        self.height, self.width = shown.height, shown.width

    def regions(self, name: str) -> Sequence[Region]:
        """Return the instances of a name.

        Raises:
            CannotTellError: The detector does not know the name.
        """
        if name not in self.shown.regions:
            raise CannotTellError(f"the detector does not know the {name}")
        return self.shown.regions[name]

    def best(self, name: str) -> float:
        return max((each.score for each in self.regions(name)), default=0.0)

    def single(self, name: str) -> Region:
        """Return the only instance of a name.

        Raises:
            CannotTellError: There is none, or several.
        """
        sure = [each for each in self.regions(name) if each.score >= self.margins.absent]
        if len(sure) != 1 or sure[0].most > 1 or sure[0].score < self.margins.score:
            raise CannotTellError(f"the {name} is not found exactly once")
        return sure[0]

    def box(self, name: str) -> Box:
        return box_around(self.single(name).pixels)

    def center(self, name: str) -> tuple[float, float]:
        x, y = self.box(name).center_xy
        return x / self.width, y / self.height

    def distance(self, first: str, second: str) -> float:
        return float(np.hypot(*np.subtract(self.center(first), self.center(second))))

    def gap(self, first: str, second: str) -> float:
        return box_gap(self.box(first), self.box(second), self.width, self.height)

    def depth(self, name: str) -> float:
        """Return the median depth of an object, as a share of the range of the picture.

        Raises:
            CannotTellError: There is no depth.
        """
        depth = self.shown.depth
        if depth is None:
            raise CannotTellError("there is no depth model")
        reach = float(np.ptp(depth)) or 1.0
        return float(np.median(depth[self.single(name).pixels]) - depth.min()) / reach

    def least(self, values: Mapping[str, float], factor: float, what: str) -> str:
        """Return the name with the least value.

        Raises:
            CannotTellError: It does not lead by a factor.
        """
        first, *others = sorted(values, key=lambda name: values[name])
        if not others or values[others[0]] < factor * values[first]:
            raise CannotTellError(f"no object is plainly the {what}")
        return first


def _present(asked: _Asked) -> tuple[str, str]:
    found = [name for name in asked.options if asked.best(name) >= asked.margins.score]
    unsure = [name for name in asked.options if asked.best(name) >= asked.margins.absent]
    if len(found) != 1 or found != unsure:
        raise CannotTellError("not exactly one of the objects is found")
    return found[0], f"the {found[0]} is found"


def _count(asked: _Asked) -> tuple[str, str]:
    (name,) = asked.names
    regions = [each for each in asked.regions(name) if each.score >= asked.margins.absent]
    if not regions or any(e.most > 1 or e.score < asked.margins.score for e in regions):
        raise CannotTellError(f"the number of {name} is unsure")
    if any(each.has_mask and second_lobe(each.pixels) >= asked.margins.lobe for each in regions):
        raise CannotTellError(f"some of the {name} may be several that touch")
    return str(len(regions)), f"{len(regions)} are found"


def _colour(asked: _Asked) -> tuple[str, str]:
    (name,) = asked.names
    asked.single(name)
    shares = asked.shown.colours.get(name)
    if not shares:
        raise CannotTellError(f"the colour of the {name} is not measured")
    first, *others = sorted(shares, key=lambda term: -shares[term])
    if others and shares[first] < asked.margins.colour * shares[others[0]]:
        raise CannotTellError(f"the {name} has several colours")
    return first, f"{shares[first]:.0%} of its pixels are {first}"


def _place(asked: _Asked) -> tuple[str, str]:
    name, other = asked.names
    places = {option: read_place(option) for option in asked.options}
    known = {option: place for option, place in places.items() if place is not None}
    if len(known) < len(places):
        raise CannotTellError("an option is no place")
    kinds = {_kind(place) for place in known.values()}
    if len(kinds) > 1:
        raise CannotTellError("the options are of different kinds")
    return _PLACES[kinds.pop()](asked, name, other, known)


def _kind(place: RelationType) -> str:
    if place in {NEAR, FAR_FROM}:
        return "distance"
    if len(place.claims) != 1:
        raise CannotTellError(f'"{place.phrase}" cannot be measured')
    return "depth" if place.needs_depth else "sides"


_UNCLEAR_SIDE = "the objects lie diagonally, or level with each other"


def _on_sides(
    asked: _Asked, name: str, other: str, places: Mapping[str, RelationType]
) -> tuple[str, str]:
    x, y = np.subtract(asked.center(name), asked.center(other)).tolist()
    offsets = {Axis.X: x, Axis.Y: y}
    axes = {claim.axis for place in places.values() for claim in place.claims}
    axis = max(axes, key=lambda each: abs(offsets[each]))
    offset, along = offsets[axis], abs(offsets[axis])
    across = min(abs(offsets[each]) for each in axes) if len(axes) > 1 else 0.0
    if along < asked.margins.offset or along < asked.margins.dominance * across:
        raise CannotTellError(_UNCLEAR_SIDE)
    for option, place in places.items():
        (claim,) = place.claims
        if claim.axis is axis and claim.subject_first is (offset < 0):
            return option, f"the {name} is {place.phrase} the {other} by {along:.0%} of the side"
    return "", f"the {name} is on another side of the {other}"


def _in_depth(
    asked: _Asked, name: str, other: str, places: Mapping[str, RelationType]
) -> tuple[str, str]:
    offset = asked.depth(name) - asked.depth(other)
    if abs(offset) < asked.margins.depth:
        raise CannotTellError("both are equally far away")
    for option, place in places.items():
        (claim,) = place.claims
        if claim.subject_first is (offset < 0):
            return option, f"the {name} is {place.phrase} the {other}"
    return "", f"the {name} is at another depth than the {other}"


def _at_distance(
    asked: _Asked, name: str, other: str, places: Mapping[str, RelationType]
) -> tuple[str, str]:
    gap = asked.gap(name, other)
    if asked.margins.near < gap < asked.margins.far:
        raise CannotTellError("they are neither near to nor far from each other")
    wanted = NEAR if gap <= asked.margins.near else FAR_FROM
    option = next((each for each, place in places.items() if place is wanted), "")
    return option, f"the gap is {gap:.0%} of the diagonal"


_PLACES = {"sides": _on_sides, "depth": _in_depth, "distance": _at_distance}


def _facing(_: _Asked) -> tuple[str, str]:
    raise CannotTellError("orientation is not measured")


def _order(asked: _Asked) -> tuple[str, str]:
    names = {name for option in asked.options for name in option.split(JOIN)}
    ordered = sorted(names, key=lambda name: asked.center(name)[0])
    places = [asked.center(name)[0] for name in ordered]
    if min((b - a for a, b in pairwise(places)), default=0) < asked.margins.order:
        raise CannotTellError("two objects are about equally far to the left")
    return JOIN.join(ordered), f"their order is {JOIN.join(ordered)}"


def _part(asked: _Asked) -> tuple[str, str]:
    (name,) = asked.names
    x, y = asked.center(name)
    half = 1 / 2
    if min(abs(x - half), abs(y - half)) < asked.margins.middle:
        raise CannotTellError(f"the {name} is near the middle")
    return PARTS[2 * (y > half) + (x > half)], f"its center is at {x:.0%} and {y:.0%}"


def _largest(asked: _Asked) -> tuple[str, str]:
    shares = {name: 1 / int(asked.single(name).pixels.sum()) for name in asked.options}
    first = asked.least(shares, asked.margins.size, "largest")
    return first, f"the {first} covers the most pixels"


def _closest(asked: _Asked) -> tuple[str, str]:
    (name,) = asked.names
    distances = {option: asked.distance(name, option) for option in asked.options}
    first = asked.least(distances, asked.margins.distance, "closest")
    return first, f"the {first} is closest to the {name}"


def _nearest(asked: _Asked) -> tuple[str, str]:
    depths = {name: asked.depth(name) for name in asked.options}
    first, second = sorted(depths, key=lambda name: depths[name])[:2]
    if depths[second] - depths[first] < asked.margins.depth:
        raise CannotTellError("two objects are about equally near")
    return first, f"the {first} is nearest"


def _hiding(asked: _Asked) -> tuple[str, str]:
    (name,) = asked.names
    others = [option for option in asked.options if option != NOTHING]
    gaps = {other: asked.gap(name, other) for other in others}
    if min(gaps.values()) >= asked.margins.apart:
        return NOTHING, f"nothing touches the {name}"
    touching = [other for other in others if gaps[other] < asked.margins.apart]
    if len(touching) > 1:
        raise CannotTellError(f"several objects touch the {name}")
    if asked.depth(name) - asked.depth(touching[0]) < asked.margins.depth:
        raise CannotTellError(f"it is unsure whether the {touching[0]} is in front")
    return touching[0], f"the {touching[0]} touches the {name} and is nearer"


_ANSWERS: Mapping[Form, Callable[[_Asked], tuple[str, str]]] = {
    Form.PRESENT: _present,
    Form.COUNT: _count,
    Form.COLOUR: _colour,
    Form.PLACE: _place,
    Form.FACING: _facing,
    Form.ORDER: _order,
    Form.PART: _part,
    Form.LARGEST: _largest,
    Form.CLOSEST: _closest,
    Form.NEAREST: _nearest,
    Form.HIDING: _hiding,
}
