"""What a prompt asserts, one atomic statement at a time, and how far a picture shows it."""

from dataclasses import field
from enum import Enum
from typing import NewType

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import RelationId

AssertionId = NewType("AssertionId", str)


class AssertionKind(Enum):
    """What an assertion is about."""

    THING = "thing"
    ATTRIBUTE = "attribute"
    RELATION = "relation"
    OTHER = "other"
    """Something that no mention and no relation of the scene stands for."""


@frozen
class Assertion:
    """One atomic statement of a prompt.

    Attributes:
        id: Unique in its prompt.
        text: "the dog is to the left of the car".
        question: The same, to be answered yes or no: "is the dog to the left of the car?".
        mention_id: The thing it says something about; None for a statement about something else.
        relation_id: The relation it states; None for any other statement.
        attribute: The property it states; empty for any other statement.
        weight: Its share in the score, not negative.
    """

    id: AssertionId
    text: str
    question: str
    mention_id: MentionId | None = None
    relation_id: RelationId | None = None
    attribute: str = ""
    weight: float = 1.0

    @property
    def kind(self) -> AssertionKind:
        """What it is about."""
        if self.mention_id is None:
            return AssertionKind.OTHER
        if self.relation_id is not None:
            return AssertionKind.RELATION
        return AssertionKind.ATTRIBUTE if self.attribute else AssertionKind.THING


@frozen
class Assertions:
    """A prompt taken apart.

    Attributes:
        items: In the order in which they are told.
        source_id: Who took it apart.
        notes: What went wrong, in sentences.
    """

    items: tuple[Assertion, ...]
    source_id: str
    notes: tuple[str, ...] = ()


@frozen
class YesNoChances:
    """How likely a model finds "yes" and "no" among all answers it could give.

    Attributes:
        log_yes: Natural logarithm of the probability of "yes", at most 0.
        log_no: Likewise of "no".
    """

    log_yes: float
    log_no: float


@frozen
class QuestionAnswer:
    """What somebody answered to one question.

    Attributes:
        chances: None when there is no answer.
        note: Why there is none; empty when there is.
    """

    chances: YesNoChances | None
    note: str = ""


class YesRule(Enum):
    """What the probability of "yes" is taken of."""

    AMONG_ALL = "yes among all answers"
    """As in the published code."""
    AGAINST_NO = "yes against no"
    """As in the published paper."""


@frozen
class DaSettings:
    """How answers become a score.

    Attributes:
        preset: What the settings are called in results.
        rule: What the probability of "yes" is taken of.
        temperature: Above 0; larger is less sure. Of yes against no only.
        thing_weight: Weight of "there is a dog", not negative.
        attribute_weight: Likewise of "the dog is red".
        relation_weight: Likewise of "the dog is to the left of the car".
        other_weight: Likewise of anything else.
    """

    preset: str = "recommended"
    rule: YesRule = YesRule.AGAINST_NO
    temperature: float = 1.0
    thing_weight: float = 1.0
    attribute_weight: float = 1.0
    relation_weight: float = 1.0
    other_weight: float = 1.0


DA_RECOMMENDED = DaSettings()
DA_REPRODUCE = DaSettings(preset="reproduce", rule=YesRule.AMONG_ALL)
DA_PRESETS = {settings.preset: settings for settings in (DA_REPRODUCE, DA_RECOMMENDED)}


@frozen
class AssertionScore:
    """The answer to one assertion's question.

    Attributes:
        assertion: The statement.
        probability_yes: [0, 1]; None when the source of answers cannot tell.
        chances: What the probability was made of; None when it was measured.
        note: Why nobody can tell; empty when it was answered.
    """

    assertion: Assertion
    probability_yes: float | None
    chances: YesNoChances | None = None
    note: str = ""


@frozen
class DaScore:
    """Decompositional alignment of a picture with its prompt.

    Attributes:
        value: Weighted mean over what could be answered, [0, 1]; None when nothing could.
        scores: One for each assertion, in the prompt's order.
        source_id: Who answered.
        asserted_by: Who took the prompt apart.
        settings: How the answers were weighed.
        notes: What went wrong on the way, in sentences.
    """

    value: float | None
    scores: tuple[AssertionScore, ...]
    source_id: str
    asserted_by: str = "scene"
    settings: DaSettings = field(default_factory=DaSettings)
    notes: tuple[str, ...] = ()
