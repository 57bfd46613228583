"""Stage 1, a dozen layouts to start from: a prompt each, and where its things stand."""

from collections.abc import Sequence

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.science.articles import indefinite_article

USUAL_THINGS = ("dog", "car", "clock")


@frozen(kw_only=False)
class Spot:
    """Where a thing stands in a layout's small picture.

    Attributes:
        x: Its middle, share of the width, [0, 1].
        y: Its middle, share of the height, [0, 1].
        size: Its diameter, share of the side, (0, 1].
    """

    x: float
    y: float
    size: float = 0.34


@frozen(kw_only=False)
class LayoutTemplate:
    """A layout to start from.

    Attributes:
        name: A few words.
        text: The prompt; ``{a0}`` stands for the first thing with its article, ``{0}`` without.
        spots: One for each thing, in the order of the text.
    """

    name: str
    text: str
    spots: tuple[Spot, ...]

    def prompt(self, things: Sequence[str] = ()) -> str:
        """Return the prompt for these things; the usual ones stand in for those that lack."""
        missing = [thing for thing in USUAL_THINGS if thing not in things]
        names = [*things, *missing][: len(self.spots)]
        articles = {f"a{place}": _with_article(name) for place, name in enumerate(names)}
        return self.text.format(*names, **articles)


LEFT, RIGHT, TOP, BOTTOM, MIDDLE = 0.26, 0.74, 0.27, 0.73, 0.5

LAYOUTS = (
    LayoutTemplate(
        "Left of", "{a0} to the left of {a1}", (Spot(LEFT, MIDDLE), Spot(RIGHT, MIDDLE))
    ),
    LayoutTemplate(
        "Right of", "{a0} to the right of {a1}", (Spot(RIGHT, MIDDLE), Spot(LEFT, MIDDLE))
    ),
    LayoutTemplate("Above", "{a0} above {a1}", (Spot(MIDDLE, TOP), Spot(MIDDLE, BOTTOM))),
    LayoutTemplate("Below", "{a0} below {a1}", (Spot(MIDDLE, BOTTOM), Spot(MIDDLE, TOP))),
    LayoutTemplate(
        "In front", "{a0} in front of {a1}", (Spot(0.4, 0.62, 0.4), Spot(0.62, 0.4, 0.3))
    ),
    LayoutTemplate("Behind", "{a0} behind {a1}", (Spot(0.62, 0.4, 0.3), Spot(0.4, 0.62, 0.4))),
    LayoutTemplate("Near", "{a0} near {a1}", (Spot(0.36, 0.5, 0.28), Spot(0.64, 0.5, 0.28))),
    LayoutTemplate(
        "Far apart", "{a0} far from {a1}", (Spot(0.17, 0.3, 0.22), Spot(0.83, 0.7, 0.22))
    ),
    LayoutTemplate(
        "Between",
        "{a0} between {a1} and {a2}",
        (Spot(MIDDLE, MIDDLE, 0.26), Spot(0.18, MIDDLE, 0.26), Spot(0.82, MIDDLE, 0.26)),
    ),
    LayoutTemplate(
        "Row of three",
        "{a0} to the left of {a1}, and {a2} to the right of the {1}",
        (Spot(0.18, MIDDLE, 0.26), Spot(MIDDLE, MIDDLE, 0.26), Spot(0.82, MIDDLE, 0.26)),
    ),
    LayoutTemplate(
        "Stack of three",
        "{a0} above {a1}, and {a2} below the {1}",
        (Spot(MIDDLE, 0.18, 0.26), Spot(MIDDLE, MIDDLE, 0.26), Spot(MIDDLE, 0.82, 0.26)),
    ),
    LayoutTemplate(
        "Corner",
        "{a0} above {a1}, and {a2} to the right of the {1}",
        (Spot(LEFT, TOP, 0.3), Spot(LEFT, BOTTOM, 0.3), Spot(RIGHT, BOTTOM, 0.3)),
    ),
)


def things_of(scene: SceneGraph | None) -> tuple[str, ...]:
    """Return what a scene names, each thing once, to be laid out anew."""
    if scene is None:
        return ()
    return tuple(dict.fromkeys(mention.phrase for mention in scene.mentions))


def _with_article(name: str) -> str:
    return f"{indefinite_article(name)} {name}"
