"""Questions on scenes whose content is known, in the form of SpatialGenEval, with their keys.

A question is asked only where its answer is plain: offsets, sizes, distances and hidden parts
differ by a margin, and the objects that it names are the only ones of their kind. Keys are equally
likely to be any letter. Motion and causes are not asked about, as a still of stickers shows none.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations

import numpy as np

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.known_scene import KnownObject, KnownScene
from spatialstudio.domain.multiple_choice import NONE_LETTER, ChoiceQuestion, QuestionSet
from spatialstudio.domain.scene import ABOVE, BELOW, LEFT_OF, RIGHT_OF
from spatialstudio.domain.verdict import Box, box_around
from spatialstudio.science.checker.measurement import box_gap
from spatialstudio.science.questions.choice_forms import (
    JOIN,
    NOTHING,
    NUMBERS,
    PARTS,
    SIDES,
    SUB_DOMAIN_OF,
    Form,
    place_option,
    stem,
)

LETTERS = "ABCD"
MOST_OPTIONS = len(LETTERS)


@frozen
class Margins:
    """How plain an answer must be; lengths are shares of the side of the picture.

    Attributes:
        offset: Least distance of centres along the axis of a position.
        dominance: How many times that along the other axis.
        order: Least distance of centres from left to right.
        middle: Least distance of a centre from the middle lines, for parts of the picture.
        size: How many times larger the largest object is.
        distance: How many times farther away the second closest object is.
        depth: Least difference of depth.
        hidden: Least hidden share of an object.
        apart: Least gap to other objects of one that nothing hides, over the diagonal.
        visible: Least visible share of every object that is asked about.
    """

    offset: float = 0.18
    dominance: float = 1.8
    order: float = 0.12
    middle: float = 0.1
    size: float = 1.5
    distance: float = 1.35
    depth: float = 0.15
    hidden: float = 0.1
    apart: float = 0.03
    visible: float = 0.5


@frozen(eq=False)
class Draft:
    """A question without letters.

    Attributes:
        form: Its form.
        names: The names in its stem.
        right: The right option.
        wrong: Wrong options.
    """

    form: Form
    names: tuple[str, ...]
    right: str
    wrong: tuple[str, ...]


def questions_of_scene(
    scene: KnownScene,
    set_id: str,
    vocabulary: Sequence[str],
    rng: np.random.Generator,
    margins: Margins | None = None,
) -> QuestionSet:
    """Return all questions that a scene answers plainly, at most one of each sub-domain.

    Args:
        scene: The scene.
        set_id: Id of the questions.
        vocabulary: Names of objects, for wrong options.
        rng: Chooses objects, wrong options and letters.
        margins: How plain an answer must be; None for the defaults.
    """
    content = _Content(scene, vocabulary, rng, margins or Margins())
    drafts: dict[str, Draft] = {}
    for write in _WRITERS:
        draft = write(content)
        if draft is not None:
            drafts.setdefault(SUB_DOMAIN_OF[draft.form], draft)
    return QuestionSet(
        id=set_id,
        scene=scene.kind,
        prompt=scene.prompt,
        questions=tuple(lettered(draft, rng) for draft in drafts.values()),
        types=tuple(drafts),
    )


def lettered(draft: Draft, rng: np.random.Generator) -> ChoiceQuestion:
    """Return a question with its options in random order, None last."""
    wrong = [draft.wrong[place] for place in rng.permutation(len(draft.wrong))][: MOST_OPTIONS - 1]
    texts = [draft.right, *wrong]
    order = rng.permutation(len(texts)).tolist()
    options = tuple((letter, texts[place]) for letter, place in zip(LETTERS, order, strict=False))
    return ChoiceQuestion(
        stem=stem(draft.form, *draft.names),
        options=(*options, (NONE_LETTER, "None")),
        key=LETTERS[order.index(0)],
    )


class _Content:
    """What is in a scene, as far as questions need it."""

    def __init__(
        self,
        scene: KnownScene,
        vocabulary: Sequence[str],
        rng: np.random.Generator,
        margins: Margins,
    ) -> None:
        self.rng, self.margins = rng, margins
        self.height, self.width = scene.image.shape[:2]
        self.objects = scene.objects
        self.counts = Counter(each.name for each in scene.objects)
        self.absent = [name for name in vocabulary if name not in self.counts]
        shown = [each for each in scene.objects if hidden_share(each) <= 1 - margins.visible]
        self.single = [each for each in shown if self.counts[each.name] == 1]
        self.is_shown = len(shown) == len(scene.objects)

    def pick(self, things: Sequence[KnownObject]) -> KnownObject:
        return things[int(self.rng.integers(len(things)))]

    def center(self, thing: KnownObject) -> tuple[float, float]:
        """Return the center of the visible part, x and y as shares of the sides."""
        x, y = self.box(thing).center_xy
        return x / self.width, y / self.height

    def box(self, thing: KnownObject) -> Box:
        return box_around(thing.visible)

    def gap(self, first: KnownObject, second: KnownObject) -> float:
        return box_gap(self.box(first), self.box(second), self.width, self.height)

    def distance(self, first: KnownObject, second: KnownObject) -> float:
        return float(np.hypot(*np.subtract(self.center(first), self.center(second))))

    def pairs(self) -> Iterator[tuple[KnownObject, KnownObject]]:
        pairs = list(permutations(self.single, 2))
        yield from (pairs[place] for place in self.rng.permutation(len(pairs)))


def hidden_share(thing: KnownObject) -> float:
    """Return the share of an object that nearer ones hide, [0, 1]."""
    return 1 - float(thing.visible.sum() / thing.whole.sum())


def _present(content: _Content) -> Draft:
    right = content.pick(content.objects).name
    wrong = content.rng.choice(content.absent, MOST_OPTIONS - 1, replace=False).tolist()
    return Draft(form=Form.PRESENT, names=(), right=right, wrong=tuple(wrong))


def _count(content: _Content) -> Draft | None:
    most = content.counts.most_common(1)[0][0]
    thing = next(each for each in content.objects if each.name == most)
    right = str(content.counts[most])
    if right not in NUMBERS or not content.is_shown:
        return None
    wrong = tuple(number for number in NUMBERS if number != right)
    return Draft(form=Form.COUNT, names=(thing.plural,), right=right, wrong=wrong)


def _place(content: _Content) -> Draft | None:
    margins = content.margins
    for thing, other in content.pairs():
        x, y = np.subtract(content.center(thing), content.center(other)).tolist()
        along, across = max(abs(x), abs(y)), min(abs(x), abs(y))
        if along < margins.offset or along < margins.dominance * across:
            continue
        sides = {LEFT_OF: -x, RIGHT_OF: x, ABOVE: -y, BELOW: y}
        right = max(sides, key=lambda side: sides[side])
        return Draft(
            form=Form.PLACE,
            names=(thing.name, other.name),
            right=place_option(right),
            wrong=tuple(place_option(side) for side in sides if side != right),
        )
    return None


def _facing(content: _Content) -> Draft | None:
    known = [each for each in content.single if each.faces_left is not None]
    if not known:
        return None
    thing = content.pick(known)
    right = SIDES[0] if thing.faces_left else SIDES[1]
    wrong = tuple(side for side in SIDES if side != right)
    return Draft(form=Form.FACING, names=(thing.name,), right=right, wrong=wrong)


def _order(content: _Content) -> Draft | None:
    things = sorted(content.single, key=content.center)
    if len(things) < len("ABC"):
        return None
    centers = [content.center(each)[0] for each in things]
    if min(after - before for before, after in pairwise(centers)) < content.margins.order:
        return None
    names = tuple(each.name for each in things)
    wrong = [JOIN.join(order) for order in permutations(names) if order != names]
    chosen = [wrong[place] for place in content.rng.permutation(len(wrong))]
    return Draft(
        form=Form.ORDER, names=(), right=JOIN.join(names), wrong=tuple(chosen[: MOST_OPTIONS - 1])
    )


def _part(content: _Content) -> Draft | None:
    half, middle = 1 / 2, content.margins.middle
    plain = [
        each
        for each in content.single
        if all(abs(place - half) >= middle for place in content.center(each))
    ]
    if not plain:
        return None
    thing = content.pick(plain)
    x, y = content.center(thing)
    right = PARTS[2 * (y > half) + (x > half)]
    wrong = tuple(part for part in PARTS if part != right)
    return Draft(form=Form.PART, names=(thing.name,), right=right, wrong=wrong)


def _largest(content: _Content) -> Draft | None:
    areas = {each.name: int(each.visible.sum()) for each in content.single}
    first, *others = sorted(areas, key=lambda name: -areas[name]) or [""]
    if not others or areas[first] < content.margins.size * areas[others[0]]:
        return None
    return Draft(form=Form.LARGEST, names=(), right=first, wrong=tuple(others))


def _closest(content: _Content) -> Draft | None:
    for thing in content.single:
        others = [each for each in content.single if each is not thing]
        if len(others) < 2:  # noqa: PLR2004 - the closest of at least two
            return None
        ordered = sorted(others, key=lambda other: content.distance(thing, other))
        nearest, second = ordered[:2]
        is_plain = content.distance(thing, second) >= content.margins.distance * content.distance(
            thing, nearest
        )
        gaps = [content.gap(thing, other) for other in ordered]
        if is_plain and gaps[0] == min(gaps):
            wrong = tuple(each.name for each in ordered[1:])
            return Draft(form=Form.CLOSEST, names=(thing.name,), right=nearest.name, wrong=wrong)
    return None


def _nearest(content: _Content) -> Draft | None:
    deep = sorted(
        ((each.depth, each.name) for each in content.single if each.depth is not None),
    )
    if len(deep) < 2 or deep[1][0] - deep[0][0] < content.margins.depth:  # noqa: PLR2004 - two objects
        return None
    return Draft(
        form=Form.NEAREST, names=(), right=deep[0][1], wrong=tuple(name for _, name in deep[1:])
    )


def _hiding(content: _Content) -> Draft | None:
    if len(content.single) < len(content.objects) or len(content.objects) == 1:
        return None
    names = [each.name for each in content.objects]
    order = content.rng.permutation(len(names)).tolist()
    for place in order:
        thing = content.objects[place]
        others = [name for name in names if name != thing.name]
        hiding = [
            each.name for each in content.objects[place + 1 :] if (each.whole & thing.whole).any()
        ]
        share = hidden_share(thing)
        apart = min(content.gap(thing, o) for o in content.objects if o is not thing)
        if share >= content.margins.hidden and len(hiding) == 1:
            right = hiding[0]
        elif share == 0 and apart >= content.margins.apart:
            right = NOTHING
        else:
            continue
        wrong = tuple(name for name in (*others, NOTHING) if name != right)
        return Draft(form=Form.HIDING, names=(thing.name,), right=right, wrong=wrong)
    return None


_WRITERS: tuple[Callable[[_Content], Draft | None], ...] = (
    *(_present, _count, _place, _facing, _order, _part),
    *(_largest, _closest, _nearest, _hiding),
)
