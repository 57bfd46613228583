"""What a prompt requires of an object besides its relations: count, colours, other attributes.

Read from the mention and from the prompt's words around it, so that every extractor gives the same
result: "a pair of dogs", "four or five cups", "a red and white bus", "the car is dark blue".
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    CARDINALS,
    MentionId,
    ObjectMention,
    SceneGraph,
    TextSpan,
    is_count,
)


class RequirementKind(Enum):
    """Kinds of requirements on an object."""

    COUNT = "count"
    COLOUR = "colour"
    ATTRIBUTE = "attribute"


JUDGED_KINDS = (RequirementKind.COUNT.value, RequirementKind.COLOUR.value)
"""Kinds of requirements that are judged; listed and filtered like relation types."""


@frozen
class Quantity:
    """A required number of instances.

    Attributes:
        words: As written: "three", "a pair of", "at least two"; ``SEVERAL`` for a bare plural.
        least: Fewest instances that satisfy it, >= 1.
        most: Most instances that satisfy it; None for no upper bound.
    """

    words: str
    least: int
    most: int | None

    def allows(self, count: int) -> bool:
        """Return True if a number of instances satisfies it."""
        return self.least <= count and (self.most is None or count <= self.most)


@frozen
class Colour:
    """A required colour.

    Attributes:
        words: As written: "blue", "dark blue", "light-blue".
        terms: Basic colour terms of which any satisfies it: ("blue",), turquoise ("blue", "green").
    """

    words: str
    terms: tuple[str, ...]


@frozen
class Requirements:
    """The requirements on one mention.

    Attributes:
        mention_id: The mention.
        quantity: The required number; None when any number satisfies the prompt.
        colours: Required colours, all of them: two for "black-and-white".
        others: Other attributes, as written: ("wooden",).
    """

    mention_id: MentionId
    quantity: Quantity | None = None
    colours: tuple[Colour, ...] = ()
    others: tuple[str, ...] = ()


@frozen
class ColourWords:
    """Where a prompt names an object and its colours.

    Attributes:
        words: The colour words, without shades.
        noun: The noun.
        terms: Basic colour terms that the words name.
    """

    words: tuple[TextSpan, ...]
    noun: TextSpan
    terms: frozenset[str]


BASIC_COLOURS = (
    *("black", "white", "grey", "red", "orange", "yellow"),
    *("green", "blue", "purple", "pink", "brown"),
)
"""The basic colour terms of English (Berlin and Kay 1969)."""

COLOUR_TERMS: Mapping[str, tuple[str, ...]] = {
    **{term: (term,) for term in BASIC_COLOURS},
    "gray": ("grey",),
    "silver": ("grey", "white"),
    "gold": ("yellow", "orange", "brown"),
    "golden": ("yellow", "orange", "brown"),
    "crimson": ("red",),
    "scarlet": ("red",),
    "maroon": ("red", "brown"),
    "violet": ("purple",),
    "lilac": ("purple", "pink"),
    "lavender": ("purple",),
    "magenta": ("pink", "purple"),
    "navy": ("blue",),
    "indigo": ("blue", "purple"),
    "cyan": ("blue",),
    "turquoise": ("blue", "green"),
    "teal": ("blue", "green"),
    "beige": ("brown", "white", "yellow"),
    "tan": ("brown", "orange"),
}
"""Colour words, each with the basic terms that satisfy it, nearest first."""

SHADES = frozenset(
    {
        *("light", "dark", "pale", "bright", "deep", "vivid", "pastel", "neon", "hot", "soft"),
        *("sky", "navy", "royal", "baby", "powder", "lime", "forest", "olive", "mint", "emerald"),
        *("ruby", "brick", "cherry", "blood", "lemon", "metallic", "snow", "pitch", "jet", "off"),
    }
)
"""Words that only make the following colour more precise; they are not judged."""

SEVERAL = "more than one"
_TENS = dict(
    zip(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
        range(20, 100, 10),
        strict=True,
    )
)
_TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_NUMBERS: Mapping[str, int] = {
    **{word: number for number, word in enumerate((*CARDINALS, *_TEENS), 1)},
    **_TENS,
    **dict.fromkeys(("a", "an", "single", "sole", "lone"), 1),
    **dict.fromkeys(("pair", "couple", "duo", "twin", "both"), 2),
    "trio": 3,
    "quartet": 4,
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
}
_UNITS = ("dozen", "hundred", "thousand")
_VAGUE: Mapping[str, int] = {
    **dict.fromkeys(("few", "multiple"), 2),
    **dict.fromkeys(("several", "many", "numerous", "countless"), 3),
}
"""Fewest instances of quantities without an upper bound; "several" is more than two."""

_NUMBER = r"(?:[\w-]+)"
_GROUP = re.compile(
    rf"(?P<words>(?:(?P<times>{_NUMBER})\s+)?(?P<unit>pair|couple|duo|trio|quartet)s?\s+of)"
    r"(?:\s+the)?$"
)
_FACTOR = re.compile(rf"(?P<words>half\s+an?|(?P<times>{_NUMBER}))$")
_RANGE = re.compile(rf"(?P<low>{_NUMBER})\s+(?:or|to)$")
_ALONE = re.compile(r"\b(?P<words>one|both|exactly\s+one|only\s+one|just\s+one)(?:\s+the)?$")
_AT_LEAST = re.compile(r"\b(?:at\s+least|no\s+fewer\s+than|no\s+less\s+than|minimum\s+of)$")
_AT_MOST = re.compile(r"\b(?:at\s+most|up\s+to|no\s+more\s+than|maximum\s+of)$")
_MORE = re.compile(r"\b(?:more\s+than|over)$")
_FEWER = re.compile(r"\b(?:fewer\s+than|less\s+than|under)$")
_ABOUT = re.compile(r"\b(?:about|around|roughly|approximately|nearly|almost|some)$")


def requirements_of(scene: SceneGraph, mention_id: MentionId) -> Requirements:
    """Return the requirements on a mention.

    Raises:
        KeyError: The scene has no such mention.
    """
    mention = scene.mention(mention_id)
    text = scene.prompt.text.lower()
    before = text[: mention.span.start].rstrip()
    colours, others = _read_attributes(mention)
    count = mention.count.lower()
    if colours and (joined := _joined_before(mention, before)):
        before = before.removesuffix(joined.rstrip()).rstrip()
        colours = (*_listed(joined), *colours)
        last = before.split()[-1:]
        count = count or next((word for word in last if is_count(word)), "")
    inside = _INSIDE.search(mention.phrase.lower())
    stated = (*_listed(inside[1] if inside else ""), *colours, *_after(mention, text))
    return Requirements(
        mention_id=mention_id,
        quantity=_quantity(mention, count, before),
        colours=tuple({each.words: each for each in stated}.values()),
        others=others,
    )


def colour_words(scene: SceneGraph, mention_id: MentionId) -> ColourWords | None:
    """Return where the prompt names an object and its colours; None if it states no colour.

    Raises:
        KeyError: The scene has no such mention.
    """
    mention, text = scene.mention(mention_id), scene.prompt.text.lower()
    noun = _noun_span(mention, text)
    parts = [(mention.span.start, noun.start)]
    before = text[: mention.span.start].rstrip()
    if joined := _joined_before(mention, before):
        parts.insert(0, (len(before) + 1 - len(joined), mention.span.start))
    for span in (mention.span, *mention.named_again):
        if stated := _STATED.match(text, span.stop):
            parts.append(stated.span(1))
    found = [each for start, stop in parts for each in _WORD.finditer(text, start, stop)]
    if not found:
        return None
    return ColourWords(
        words=tuple(TextSpan(start=each.start(), stop=each.end()) for each in found),
        noun=noun,
        terms=frozenset(term for each in found for term in COLOUR_TERMS[each[0]]),
    )


def _noun_span(mention: ObjectMention, text: str) -> TextSpan:
    """Return the last words of a mention, as many as its head has."""
    words = list(re.finditer(r"\S+", mention.span.of(text)))
    start = words[-min(len(mention.head.split()), len(words))].start() if words else 0
    return TextSpan(start=mention.span.start + start, stop=mention.span.stop)


def is_judged(scene: SceneGraph) -> bool:
    """Return True if a scene states anything that is judged: a relation, a count or a colour."""
    required = (requirements_of(scene, mention.id) for mention in scene.mentions)
    return bool(scene.relations) or any(each.quantity or each.colours for each in required)


def is_member(mention: ObjectMention) -> bool:
    """Return True for a part of an earlier plural: "one" and "the other" of "two cats".

    In "a red and a blue car", "red" is a car of its own.
    """
    head = mention.head.lower().split()[-1]
    words = mention.phrase.lower().split()
    is_elliptic = len(words) == len(mention.attributes)
    is_named = mention.is_plural or is_elliptic
    return not is_named and all(word[:2] != head[:2] for word in words)


def colour_named(word: str) -> str | None:
    """Return the nearest basic colour term of a word; None when it is not a colour."""
    terms = COLOUR_TERMS.get(word.lower())
    return terms[0] if terms else None


def _quantity(mention: ObjectMention, count: str, before: str) -> Quantity | None:
    is_unit = _is_plural_in_form(mention)  # "scissors", of which a pair is one
    if group := _GROUP.search(before):
        times = _value(group["times"].split()) if group["times"] else 1
        size = 1 if is_unit and group["unit"] == "pair" else _NUMBERS[group["unit"]]
        return _exactly(group["words"], (times or 1) * size)
    if not count:
        alone = _ALONE.search(before)
        if alone and (alone["words"] == "both") is mention.is_plural:
            return _exactly(alone["words"], _NUMBERS[alone["words"].split()[-1]])
        is_several = mention.is_plural and not is_unit
        return Quantity(words=SEVERAL, least=2, most=None) if is_several else None
    counted = _counted(count, before)
    is_of_thing = mention.is_plural or mention.phrase.lower().endswith(f"{count} {mention.head}")
    is_one = counted is not None and counted.most == 1
    return counted if is_of_thing or is_one else None  # not the 3 of "a 3 legged chair"


def _counted(count: str, before: str) -> Quantity | None:
    """Return the quantity of number words in a phrase, with the words before it."""
    words = count.split()
    if words[-1] in _VAGUE:
        return Quantity(words=count, least=_VAGUE[words[-1]], most=None)
    if words[-1] in _UNITS and len(words) == 1 and (factor := _FACTOR.search(before)):
        number = _number(factor["times"]) if factor["times"] else None
        if factor["words"].startswith("half"):
            return _exactly(f"{factor['words']} {count}", _NUMBERS[words[-1]] // 2)
        if number is not None:
            words = [factor["times"], *words]
    ends = [_number(part) for part in re.split(r"[-\u2013]", words[0])] if len(words) == 1 else []
    if len(ends) > 1 and all(part.isdecimal() for part in re.split(r"[-\u2013]", words[0])):
        low, high = ends[0] or 1, ends[-1] or 1
        return Quantity(words=count, least=max(low, 1), most=max(low, high))
    value = _value(words)
    if value is None or _ABOUT.search(before):
        return None
    return _bounded(" ".join(words), value, before)


def _bounded(words: str, value: int, before: str) -> Quantity:
    if (lower := _RANGE.search(before)) and (low := _number(lower["low"])) and low <= value:
        return Quantity(words=f"{lower[0]} {words}", least=low, most=value)
    if at_least := _AT_LEAST.search(before):
        return Quantity(words=f"{at_least[0]} {words}", least=value, most=None)
    if at_most := _AT_MOST.search(before):
        return Quantity(words=f"{at_most[0]} {words}", least=1, most=value)
    if more := _MORE.search(before):
        return Quantity(words=f"{more[0]} {words}", least=value + 1, most=None)
    if fewer := _FEWER.search(before):
        return Quantity(words=f"{fewer[0]} {words}", least=1, most=max(value - 1, 1))
    return _exactly(words, value)


def _exactly(words: str, value: int) -> Quantity:
    return Quantity(words=words, least=value, most=value)


def _value(words: Sequence[str]) -> int | None:
    """Return the number that words state: "two dozen", "twenty-one", "12"; None if none."""
    total = 1
    for word in words:
        number = _number(word)
        if number is None:
            return None
        total *= number
    return total if total >= 1 else None


def _number(word: str) -> int | None:
    if word.replace(",", "").isdecimal():
        return int(word.replace(",", "")[:9])
    tens, _, ones = word.partition("-")
    if tens in _TENS and ones in CARDINALS:
        return _TENS[tens] + CARDINALS.index(ones) + 1
    return _NUMBERS.get(word)


def _is_plural_in_form(mention: ObjectMention) -> bool:
    return mention.phrase.lower().split()[-1] == mention.head.lower().split()[-1]


_COLOUR = "|".join(COLOUR_TERMS)
_WORD = re.compile(rf"\b(?:{_COLOUR})\b")
_SHADED = rf"(?:(?:{'|'.join(sorted(SHADES))})[\s-]+)*(?:{_COLOUR})"
_LIST = rf"((?:{_SHADED}(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*))+)"
_JOINED = re.compile(rf"{_LIST}$")
_INSIDE = re.compile(rf"\b{_LIST}(?={_SHADED}\b)")
_STATED = re.compile(
    rf"\s*,?\s*(?:(?:that|which)\s+)?(?:is|are)\s+((?:{_SHADED})(?:\s+and\s+{_SHADED})*)"
    r"(?=\s*(?:$|[.,;:!?]|(?:and|but|while|with|to|on|in|at|next|left|right|above|below|behind|"
    r"beneath|near|under|over|between|beside|far)\b))"
)
_PARTS = re.compile(_SHADED)
_MADE = re.compile(r"-(?:coloured|colored|hued|toned)$")


def _read_attributes(mention: ObjectMention) -> tuple[tuple[Colour, ...], tuple[str, ...]]:
    """Return the colours and the other attributes among the words before the head."""
    colours, others, shades = list[Colour](), list[str](), list[str]()
    for word in (each for each in mention.attributes if not is_count(each)):
        found = tuple(_colours_in(word.lower()))
        if found and word.lower() in SHADES and _is_before_colour(word, mention):
            shades.append(word.lower())
        elif found:
            first = found[0]
            words = " ".join([*shades, first.words])
            colours += [Colour(words=words, terms=first.terms), *found[1:]]
            shades = []
        elif word.lower() in SHADES:
            shades.append(word.lower())
        else:
            others += [*shades, word]
            shades = []
    return tuple(colours), (*others, *shades)


def _is_before_colour(word: str, mention: ObjectMention) -> bool:
    """Return True for the "navy" of "navy blue"."""
    _, _, after = mention.phrase.lower().partition(word.lower())
    return (after.split() or [""])[0] in COLOUR_TERMS


def _colours_in(word: str) -> Iterator[Colour]:
    """Yield the colours of one word: "light-blue", "blue-green", both of "black-and-white"."""
    plain = _MADE.sub("", word)
    *first, last = plain.split("-")
    if last not in COLOUR_TERMS:
        return
    if "and" in first:
        for part in re.split("-and-", plain):
            yield from _colours_in(part)
        return
    own = [part for part in (*first, last) if part in COLOUR_TERMS and part not in SHADES]
    terms = dict.fromkeys(term for part in (*own, last) for term in COLOUR_TERMS[part])
    yield Colour(words=word, terms=tuple(terms))


def _joined_before(mention: ObjectMention, before: str) -> str:
    """Return the colours joined to the phrase's first word: "red and" before "white bus"."""
    first = mention.phrase.lower().split()[0]
    joined = _JOINED.search(f"{before} ")
    return joined[1] if joined and (first in COLOUR_TERMS or first in SHADES) else ""


def _after(mention: ObjectMention, text: str) -> Iterator[Colour]:
    """Yield the colours stated of the object: "the car is blue", "a car that is dark red"."""
    for span in (mention.span, *mention.named_again):
        stated = _STATED.match(text, span.stop)
        yield from _listed(stated[1] if stated else "")


def _listed(words: str) -> Iterator[Colour]:
    for part in _PARTS.findall(words):
        own = re.split(r"[\s-]+", part)[-1]
        yield Colour(words=part, terms=COLOUR_TERMS[own])
