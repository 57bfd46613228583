"""How things stand to each other: relation types as registered values, relations, scene graphs.

The only module that spells relation ids. Directions are those of the picture: x grows right, y
grows down, depth grows away from the viewer.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import NewType

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import (
    ORDINALS,
    MentionId,
    Note,
    ObjectMention,
    Prompt,
    TextSpan,
    hues_of,
)
from spatialstudio.domain.registrations import Registrations

RelationId = NewType("RelationId", str)


class Axis(Enum):
    """A direction along which positions are compared."""

    X = "x"
    Y = "y"
    DEPTH = "depth"


@frozen(kw_only=False)
class AxisClaim:
    """One comparison along one axis.

    Attributes:
        axis: X, Y or DEPTH.
        subject_first: True when the subject has the smaller coordinate: left, above, in front.
    """

    axis: Axis
    subject_first: bool


class Shape(Enum):
    """What a relation compares."""

    ORDER = "order"
    """Order along one axis, or along two at once (diagonals)."""
    NEAR = "near"
    FAR = "far"
    BETWEEN = "between"


@frozen(kw_only=False)
class RelationType:
    """A kind of relation. New kinds are registered, never subclassed.

    A registered type is all that the program needs: the grammar reads its phrases, the prompt is
    written with them, the relation wheel and the instruction to a language model offer it, and its
    claims are guided, judged and laid out. Phrases of several types may overlap: the longest phrase
    in the prompt wins ("directly above and to the left of" over "directly above"), of equal ones a
    registered phrase over the grammar's own, then the type that was registered first.

    Attributes:
        id: Stable name in files.
        phrase: As written between subject and object: "to the left of".
        shape: What is compared.
        claims: Comparisons that must all hold; empty unless the shape is ORDER.
        inverse_id: The relation of the object to the subject; a symmetric type names itself.
        words: Further phrases that prompts may use between subject and object, in any case;
            a space stands for a hyphen as well, and adverbs such as "slightly" may come before.
            Those of the built-in types are in ``phrases.lark``, as they depend on the context.

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
        """All phrases that it can have in a prompt, the one that is written first."""
        return (self.phrase, *self.words)

    @property
    def axis(self) -> Axis | None:
        """The one axis compared; None when there are two or none."""
        return self.claims[0].axis if len(self.claims) == 1 else None

    @property
    def needs_depth(self) -> bool:
        """Whether a depth map is needed to judge it."""
        return any(claim.axis is Axis.DEPTH for claim in self.claims)

    @property
    def is_order_in_plane(self) -> bool:
        """Whether it compares positions in the picture alone."""
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
"""How many things stand on the sides of what is "between"."""


BY_HAND = "hand"
"""Source of a relation that the user set."""

LIGHTEST, HEAVIEST = 0.25, 4.0


class Basis(Enum):
    """What a relation rests on in the prompt."""

    STATED = "stated"
    """Words of the prompt say it."""
    IMPLIED = "implied"
    """It follows from what the prompt says."""
    UNCONFIRMED = "unconfirmed"
    """A reader quotes words for it, which the grammar does not read so."""
    UNSAID = "unsaid"
    """Nothing in the prompt: a reader made it up, or it is not written down yet."""


@frozen
class Relation:
    """One claim of one prompt: *subject* is ``type.phrase`` *object*.

    Attributes:
        id: Unique in its scene.
        type: The kind of claim.
        subject: Mention of the thing placed.
        object: Mention it is placed against.
        second_object: The other flank of "between"; None for every other shape.
        span: The words that claim it; None where no words do.
        weight: How much guidance cares for it, ``LIGHTEST`` to ``HEAVIEST``; 1 is usual.
        is_muted: Whether guidance passes it over; it is still said, measured and judged.
        source: Who claims it, an extractor's id or ``BY_HAND``; empty for the scene's extractor.
        is_implied: Whether the prompt only implies it.
        is_unconfirmed: Whether the grammar cannot read this claim in the words at ``span``, or
            reads another one there.
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
        """The mentions that take part, subject first."""
        flank = () if self.second_object is None else (self.second_object,)
        return (self.subject, self.object, *flank)

    @property
    def is_guided(self) -> bool:
        """Whether guidance may act on it: flat maps hold nothing of depth."""
        return not (self.is_muted or self.type.needs_depth)

    @property
    def basis(self) -> Basis:
        """What it rests on in the prompt."""
        if self.is_implied:
            return Basis.IMPLIED
        if self.span is None:
            return Basis.UNSAID
        return Basis.UNCONFIRMED if self.is_unconfirmed else Basis.STATED


@frozen
class SceneGraph:
    """What the prompt claims. Made by an extractor, or by hand in the window.

    Attributes:
        prompt: The text it was read from.
        mentions: In order of the text.
        relations: In order of priority.
        extractor_id: Who read it.
        notes: What was not understood.
        disputed: Claims of a language model that the words of the prompt speak against: offered,
            never guided or judged.
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
        """Which of the mentions' colours each thing has, the same everywhere; see ``hues_of``."""
        return hues_of(self.mentions)

    @property
    def relation_hues(self) -> Mapping[RelationId, int]:
        """Which of the mentions' colours each relation's curve has, the same everywhere.

        Its subject's; where an earlier relation has that, an object's that is free.
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
        """Return who claims a relation: an extractor's id, or ``BY_HAND``."""
        return relation.source or self.extractor_id

    def contested_by(self, claim: Relation) -> tuple[Relation, ...]:
        """Return the relations between a claim's things, or in the words that it stands on."""
        return tuple(
            each
            for each in self.relations
            if set(each.ends) == set(claim.ends)
            or (each.span and claim.span and each.span.overlaps(claim.span))
        )

    def name(self, mention_id: MentionId) -> str:
        """Say which thing is meant: "dog", or "second dog" where others are called the same.

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
        """Say what a detector is asked for: "car" for "blue car"; others alike are told apart.

        Raises:
            KeyError: The scene has no such mention.
        """
        own = self.mention(mention_id)
        is_alone = all(each.head != own.head or each.id == own.id for each in self.mentions)
        return own.head if is_alone else self.name(mention_id)

    def sentence(self, relation: Relation) -> str:
        """Say a relation in words, alike things told apart: "cat to the left of second dog"."""
        return _said(relation, self.name)

    def plain_sentence(self, relation: Relation) -> str:
        """Say a relation in the prompt's own words, as pictures tell it: "cat above dog"."""
        return _said(relation, lambda mention_id: self.mention(mention_id).phrase)


def _said(relation: Relation, name: Callable[[MentionId], str]) -> str:
    objects = map(name, dict.fromkeys(relation.ends[1:]))
    return " ".join([name(relation.subject), relation.type.phrase, " and ".join(objects)])
