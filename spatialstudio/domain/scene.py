"""Prompts, object mentions, registered relation types, relations and scene graphs.

The only module that defines relation ids. Directions are those of the image: x grows right, y
grows down, depth grows away from the viewer.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from enum import Enum
from itertools import count
from typing import NewType

from spatialstudio.domain.frozen import SPARSE, frozen
from spatialstudio.domain.registrations import Registrations

ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
CARDINALS = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
OTHER_COUNTS = frozenset(
    {
        *("single", "sole", "lone", "twin", "both", "couple", "pair", "dozen"),
        *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        *("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
        *("hundred", "thousand", "few", "several", "many", "multiple", "numerous", "countless"),
    }
)


def is_count(word: str) -> bool:
    """Return True if a word is a quantity: "three", "12", "several", "twenty-one"."""
    parts = re.split(r"[-,.]", word.lower())
    return all(part.isdecimal() or part in CARDINALS or part in OTHER_COUNTS for part in parts)


MentionId = NewType("MentionId", str)

NUMBERED = "m"
"""Prefix of mention ids: "m1" has the first mention colour."""

MOST_CHARACTERS = 20_000
"""Maximum length of a prompt; far beyond the limit of any text encoder."""


@frozen
class TextSpan:
    """A range of characters, half-open: ``text[start:stop]``."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise ValueError(f"A span needs 0 <= start < stop, not {self.start}, {self.stop}.")

    def of(self, text: str) -> str:
        """Return the characters of ``text`` in the span."""
        return text[self.start : self.stop]

    def overlaps(self, other: "TextSpan") -> bool:
        """Return True if both spans share a character."""
        return self.start < other.stop and other.start < self.stop


@frozen
class SpanWeight:
    """The weight of words in a prompt: 1 is normal, more emphasises.

    Attributes:
        span: The words.
        weight: In [-10, 10], not 1.
    """

    span: TextSpan
    weight: float


@frozen
class LoraUse:
    """A LoRA and how strongly it changes the model.

    Attributes:
        name: File name without its ending, as in "<lora:name:0.8>".
        weight: Factor of its change to the weights; 0 is no change.
    """

    name: str
    weight: float = 1.0


@frozen
class Prompt:
    """A text prompt.

    Attributes:
        text: The prompt; of a request, the text that the image model reads.
        negative: The negative prompt; empty for none.
        language: BCP 47 code of ``text``.
        weights: Weights on spans of ``text``, in order.
        negative_weights: Weights on spans of ``negative``, in order.
        typed: The prompt with its syntax, such as "(cat:1.3)"; empty if it is ``text``.
        typed_negative: The same for ``negative``.
        template: The prompt before its choices were made, such as "{cat|dog}"; empty for none.
    """

    text: str
    negative: str = ""
    language: str = "en"
    weights: tuple[SpanWeight, ...] = field(default=(), metadata=SPARSE)
    negative_weights: tuple[SpanWeight, ...] = field(default=(), metadata=SPARSE)
    typed: str = field(default="", metadata=SPARSE)
    typed_negative: str = field(default="", metadata=SPARSE)
    template: str = field(default="", metadata=SPARSE)

    @property
    def as_typed(self) -> str:
        """The prompt with its syntax, choices made."""
        return self.typed or self.text

    @property
    def negative_as_typed(self) -> str:
        """The negative prompt with its syntax."""
        return self.typed_negative or self.negative


@frozen
class ObjectMention:
    """An object named in a prompt.

    Attributes:
        id: Unique in its scene.
        phrase: As written, without the article: "red cup".
        head: The singular noun passed to detectors: "cup".
        attributes: Words before the head: ("red",).
        is_plural: Whether it is plural: "two cats", "sheep" after "three".
        span: Position of the phrase in the prompt.
        named_again: Positions of later references to it: the second "the cup".
    """

    id: MentionId
    phrase: str
    head: str
    attributes: tuple[str, ...] = ()
    is_plural: bool = False
    span: TextSpan
    named_again: tuple[TextSpan, ...] = ()

    @property
    def count(self) -> str:
        """The quantity as written: "three", "12"; empty without one."""
        own = self.head.split()
        words = (word for word in self.phrase.split()[:-1] if word not in own)
        return " ".join(word for word in words if is_count(word))


def is_text(text: str) -> bool:
    """Return True if a string can be encoded as UTF-8, that is, contains no lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def free_mention_id(taken: Collection[MentionId]) -> MentionId:
    """Return the first unused mention id."""
    return next(name for n in count(1) if (name := MentionId(f"{NUMBERED}{n}")) not in taken)


def hues_of(mentions: Iterable[ObjectMention]) -> Mapping[MentionId, int]:
    """Return the index of each mention's colour, from 0.

    The index follows from the number in the id, so that an object keeps its colour when the order
    changes; ids without a number get the unused indices.
    """
    names = [mention.id for mention in mentions]
    hues = {name: int(name[1:]) - 1 for name in names if _is_numbered(name)}
    taken = set(hues.values())
    left = (hue for hue in count() if hue not in taken)
    return {name: hues[name] if name in hues else next(left) for name in names}


def _is_numbered(name: MentionId) -> bool:
    return name.startswith(NUMBERED) and name[1:].isdecimal() and int(name[1:]) > 0


@frozen
class TokenSpan:
    """Token positions of a mention. Created by a backend with the model's tokenizer.

    Attributes:
        mention_id: The mention.
        encoder_id: The text encoder, "text_encoder" or "text_encoder_2".
        indices: Positions in the sequence, start token included; never empty.
    """

    mention_id: MentionId
    encoder_id: str
    indices: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.indices:
            raise ValueError("A token span holds at least one position.")


@frozen
class TokenReading:
    """Tokenization of a prompt by one text encoder. Created by a backend; may cross threads.

    Attributes:
        encoder_id: The text encoder.
        tokens: Characters of each token of the prompt, without special tokens, in order.
        read: Number of tokens that are encoded; the rest are truncated.
        limit: Maximum number of tokens, start and end tokens not included.
    """

    encoder_id: str
    tokens: tuple[TextSpan, ...]
    read: int
    limit: int


@frozen
class Note:
    """A message of an extractor about text that it did not understand.

    Attributes:
        message: One sentence for the user.
        span: The words concerned; None for the whole prompt.
    """

    message: str
    span: TextSpan | None = None


RelationId = NewType("RelationId", str)


class Axis(Enum):
    """A direction along which positions are compared."""

    X = "x"
    Y = "y"
    DEPTH = "depth"


@frozen(kw_only=False)
class AxisClaim:
    """An order comparison along one axis.

    Attributes:
        axis: X, Y or DEPTH.
        subject_first: True when the subject has the smaller coordinate: left, above, in front.
    """

    axis: Axis
    subject_first: bool


class Shape(Enum):
    """The kind of comparison that a relation makes."""

    ORDER = "order"
    """Order along one axis, or along two at once (diagonals)."""
    NEAR = "near"
    FAR = "far"
    BETWEEN = "between"


@frozen(kw_only=False)
class RelationType:
    """A kind of relation. New kinds are registered, never subclassed.

    Registering a type is sufficient: the grammar parses its phrases, prompts are generated with
    them, the relation wheel and the instructions to a language model include it, and its claims
    are used for guidance, evaluation and layout. Phrases of several types may overlap: the longest
    match wins ("directly above and to the left of" over "directly above"); at equal length, a
    registered phrase wins over the grammar, then the type registered first.

    Attributes:
        id: Stable name in files.
        phrase: As written between subject and object: "to the left of".
        shape: Kind of comparison.
        claims: Comparisons that must all hold; empty unless the shape is ORDER.
        inverse_id: The relation of the object to the subject; its own id for a symmetric type.
        words: Further phrases that prompts may use between subject and object, in any case;
            a space also matches a hyphen, and adverbs such as "slightly" may precede. Phrases of
            the built-in types are in ``phrases.lark``, as they depend on the context.

    Raises:
        ValueError: A phrase is empty, or the claims do not fit the shape.
    """

    id: str
    phrase: str
    shape: Shape
    claims: tuple[AxisClaim, ...]
    inverse_id: str
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(any(map(str.isalnum, each)) for each in self.phrases):
            raise ValueError(f"A phrase of the relation type {self.id} is empty.")
        if bool(self.claims) != (self.shape is Shape.ORDER):
            raise ValueError("Exactly the types that compare an order have claims.")

    @property
    def phrases(self) -> tuple[str, ...]:
        """All phrases recognised in a prompt, the one used for writing first."""
        return (self.phrase, *self.words)

    @property
    def axis(self) -> Axis | None:
        """The one axis compared; None when there are two or none."""
        return self.claims[0].axis if len(self.claims) == 1 else None

    @property
    def needs_depth(self) -> bool:
        """Whether a depth map is needed to evaluate it."""
        return any(claim.axis is Axis.DEPTH for claim in self.claims)

    @property
    def is_order_in_plane(self) -> bool:
        """Whether it compares order in the image plane only."""
        return self.shape is Shape.ORDER and not self.needs_depth

    @property
    def is_symmetric(self) -> bool:
        """Whether swapping subject and object changes nothing."""
        return self.inverse_id == self.id


class RelationTypes(Registrations[RelationType]):
    """The registered relation types."""

    def __init__(self, types: Iterable[RelationType]) -> None:
        super().__init__("relation type", types)

    def inverse(self, relation_type: RelationType) -> RelationType:
        """Return the relation of the object to the subject."""
        return self[relation_type.inverse_id]


_BEFORE_X, _AFTER_X = AxisClaim(Axis.X, True), AxisClaim(Axis.X, False)
_BEFORE_Y, _AFTER_Y = AxisClaim(Axis.Y, True), AxisClaim(Axis.Y, False)
_BEFORE_Z, _AFTER_Z = AxisClaim(Axis.DEPTH, True), AxisClaim(Axis.DEPTH, False)

LEFT_OF = RelationType("left_of", "to the left of", Shape.ORDER, (_BEFORE_X,), "right_of")
RIGHT_OF = RelationType("right_of", "to the right of", Shape.ORDER, (_AFTER_X,), "left_of")
ABOVE = RelationType("above", "above", Shape.ORDER, (_BEFORE_Y,), "below")
BELOW = RelationType("below", "below", Shape.ORDER, (_AFTER_Y,), "above")
IN_FRONT_OF = RelationType("in_front_of", "in front of", Shape.ORDER, (_BEFORE_Z,), "behind")
BEHIND = RelationType("behind", "behind", Shape.ORDER, (_AFTER_Z,), "in_front_of")
ABOVE_LEFT_OF = RelationType(
    "above_left_of",
    "above and to the left of",
    Shape.ORDER,
    (_BEFORE_X, _BEFORE_Y),
    "below_right_of",
)
ABOVE_RIGHT_OF = RelationType(
    "above_right_of",
    "above and to the right of",
    Shape.ORDER,
    (_AFTER_X, _BEFORE_Y),
    "below_left_of",
)
BELOW_LEFT_OF = RelationType(
    "below_left_of",
    "below and to the left of",
    Shape.ORDER,
    (_BEFORE_X, _AFTER_Y),
    "above_right_of",
)
BELOW_RIGHT_OF = RelationType(
    "below_right_of",
    "below and to the right of",
    Shape.ORDER,
    (_AFTER_X, _AFTER_Y),
    "above_left_of",
)
NEAR = RelationType("near", "near", Shape.NEAR, (), "near")
FAR_FROM = RelationType("far_from", "far from", Shape.FAR, (), "far_from")
BETWEEN = RelationType("between", "between", Shape.BETWEEN, (), "between")

BUILT_IN_TYPES = (
    LEFT_OF,
    RIGHT_OF,
    ABOVE,
    BELOW,
    IN_FRONT_OF,
    BEHIND,
    ABOVE_LEFT_OF,
    ABOVE_RIGHT_OF,
    BELOW_LEFT_OF,
    BELOW_RIGHT_OF,
    NEAR,
    FAR_FROM,
    BETWEEN,
)

relation_types = RelationTypes(BUILT_IN_TYPES)

FLANKS = 2
"""Number of objects of "between"."""


BY_HAND = "hand"
"""Source of a relation set by the user."""

LIGHTEST, HEAVIEST = 0.25, 4.0


class Basis(Enum):
    """How the prompt supports a relation."""

    STATED = "stated"
    """The prompt states it."""
    IMPLIED = "implied"
    """It follows from the prompt."""
    UNCONFIRMED = "unconfirmed"
    """An extractor quotes words for it that the grammar does not parse as this relation."""
    UNSAID = "unsaid"
    """Nothing in the prompt: an extractor invented it, or it is not in the text yet."""


@frozen
class Relation:
    """One claim of one prompt: *subject* is ``type.phrase`` *object*.

    Attributes:
        id: Unique in its scene.
        type: The relation type.
        subject: Mention of the subject.
        object: Mention of the object.
        second_object: The other flank of "between"; None for every other shape.
        span: The words that state it; None if no words do.
        weight: Weight in the guidance, ``LIGHTEST`` to ``HEAVIEST``; 1 by default.
        is_muted: Whether guidance ignores it; it is still shown, measured and evaluated.
        source: An extractor's id or ``BY_HAND``; empty for the scene's extractor.
        is_implied: Whether the prompt only implies it.
        is_unconfirmed: Whether the grammar does not parse the words at ``span`` as this relation.
    """

    id: RelationId
    type: RelationType
    subject: MentionId
    object: MentionId
    second_object: MentionId | None = None
    span: TextSpan | None = None
    weight: float = 1.0
    is_muted: bool = False
    source: str = ""
    is_implied: bool = False
    is_unconfirmed: bool = False

    def __post_init__(self) -> None:
        if (self.second_object is not None) != (self.type.shape is Shape.BETWEEN):
            raise ValueError("Exactly the relation between takes a second object.")
        if not LIGHTEST <= self.weight <= HEAVIEST:
            raise ValueError(f"A weight is {LIGHTEST} to {HEAVIEST}, not {self.weight}.")

    @property
    def ends(self) -> tuple[MentionId, ...]:
        """All mentions of the relation, subject first."""
        flank = () if self.second_object is None else (self.second_object,)
        return (self.subject, self.object, *flank)

    @property
    def is_guided(self) -> bool:
        """Whether guidance acts on it by PoS; attention maps contain no depth."""
        return not (self.is_muted or self.type.needs_depth)

    @property
    def basis(self) -> Basis:
        """How the prompt supports it."""
        if self.is_implied:
            return Basis.IMPLIED
        if self.span is None:
            return Basis.UNSAID
        return Basis.UNCONFIRMED if self.is_unconfirmed else Basis.STATED


@frozen
class SceneGraph:
    """The mentions and relations of a prompt. Created by an extractor, or by the user.

    Attributes:
        prompt: The prompt it was extracted from.
        mentions: In order of the text.
        relations: In order of priority.
        extractor_id: The extractor.
        notes: Messages about text that was not understood.
        disputed: Relations from a language model that contradict the prompt: offered to the user,
            never guided or evaluated.
    """

    prompt: Prompt
    mentions: tuple[ObjectMention, ...]
    relations: tuple[Relation, ...]
    extractor_id: str
    notes: tuple[Note, ...] = ()
    disputed: tuple[Relation, ...] = ()

    def __post_init__(self) -> None:
        known = {mention.id for mention in self.mentions}
        for relation in (*self.relations, *self.disputed):
            if not known.issuperset(relation.ends):
                raise ValueError(
                    f"Relation {relation.id} names a mention that is not in the scene."
                )

    @property
    def hues(self) -> Mapping[MentionId, int]:
        """Index of each mention's colour; see ``hues_of``."""
        return hues_of(self.mentions)

    @property
    def relation_hues(self) -> Mapping[RelationId, int]:
        """Index of the mention colour of each relation's curve.

        The subject's colour; if an earlier relation uses it, the first unused colour of an object.
        """
        hues, chosen, taken = self.hues, dict[RelationId, int](), set[int]()
        for relation in self.relations:
            ends = [hues[end] for end in relation.ends]
            chosen[relation.id] = next((hue for hue in ends if hue not in taken), ends[0])
            taken.add(chosen[relation.id])
        return chosen

    def mention(self, mention_id: MentionId) -> ObjectMention:
        """Return the mention with this id.

        Raises:
            KeyError: The scene has no such mention.
        """
        for mention in self.mentions:
            if mention.id == mention_id:
                return mention
        raise KeyError(mention_id)

    def source_of(self, relation: Relation) -> str:
        """Return the source of a relation: an extractor's id, or ``BY_HAND``."""
        return relation.source or self.extractor_id

    def contested_by(self, claim: Relation) -> tuple[Relation, ...]:
        """Return the relations with the same mentions as a claim, or with overlapping words."""
        return tuple(
            each
            for each in self.relations
            if set(each.ends) == set(claim.ends)
            or (each.span and claim.span and each.span.overlaps(claim.span))
        )

    def name(self, mention_id: MentionId) -> str:
        """Return an unambiguous name of a mention: "dog", or "second dog" for equal phrases.

        Raises:
            KeyError: The scene has no such mention.
        """
        own = self.mention(mention_id)
        row = [each.id for each in self.mentions if each.phrase.lower() == own.phrase.lower()]
        place = row.index(mention_id)
        if len(row) == 1:
            return own.phrase
        if place < len(ORDINALS):
            return f"{ORDINALS[place]} {own.phrase}"
        return f"{own.phrase} {place + 1}"

    def detected_name(self, mention_id: MentionId) -> str:
        """Return the name of a mention as detected: "car" for "blue car", made unambiguous.

        Raises:
            KeyError: The scene has no such mention.
        """
        own = self.mention(mention_id)
        is_alone = all(each.head != own.head or each.id == own.id for each in self.mentions)
        return own.head if is_alone else self.name(mention_id)

    def sentence(self, relation: Relation) -> str:
        """Return a relation in words with unambiguous names: "cat to the left of second dog"."""
        return _said(relation, self.name)

    def plain_sentence(self, relation: Relation) -> str:
        """Return a relation in the prompt's words, as in image metadata: "cat above dog"."""
        return _said(relation, lambda mention_id: self.mention(mention_id).phrase)


def _said(relation: Relation, name: Callable[[MentionId], str]) -> str:
    objects = map(name, dict.fromkeys(relation.ends[1:]))
    return " ".join([name(relation.subject), relation.type.phrase, " and ".join(objects)])
