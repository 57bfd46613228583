"""Atomic assertions of a prompt, and their DA-score."""

from dataclasses import field
from enum import Enum
from typing import NewType

from spatialstudio.domain.frozen import SPARSE, frozen
from spatialstudio.domain.scene import MentionId, RelationId

AssertionId = NewType("AssertionId", str)


class AssertionKind(Enum):
    """Kinds of assertions."""

    THING = "thing"
    COUNT = "count"
    ATTRIBUTE = "attribute"
    RELATION = "relation"
    OTHER = "other"
    """Not covered by a mention or relation of the scene."""


@frozen
class Assertion:
    """One atomic statement of a prompt.

    Attributes:
        id: Unique in its prompt.
        text: "the dog is to the left of the car".
        question: The same as a yes-no question: "is the dog to the left of the car?".
        mention_id: The object that it describes; None for other statements.
        relation_id: The relation that it states; None for other statements.
        attribute: The attribute that it states; empty for other statements.
        count: The number that it states, in words; empty for other statements.
        weight: Its weight in the score, not negative.
    """

    id: AssertionId
    text: str
    question: str
    mention_id: MentionId | None = None
    relation_id: RelationId | None = None
    attribute: str = ""
    count: str = field(default="", metadata=SPARSE)
    weight: float = 1.0

    @property
    def kind(self) -> AssertionKind:
        """Kind of the assertion."""
        if self.mention_id is None:
            return AssertionKind.OTHER
        if self.relation_id is not None:
            return AssertionKind.RELATION
        if self.count:
            return AssertionKind.COUNT
        return AssertionKind.ATTRIBUTE if self.attribute else AssertionKind.THING


@frozen
class Assertions:
    """The assertions of a prompt.

    Attributes:
        items: In display order.
        source_id: The assertion reader that created them.
        notes: Problems, one sentence each.
        prompt: The prompt that they belong to; empty if they may be asked about any.
    """

    items: tuple[Assertion, ...]
    source_id: str
    notes: tuple[str, ...] = ()
    prompt: str = field(default="", metadata=SPARSE)


@frozen
class YesNoChances:
    """A model's log-probabilities of "yes" and "no".

    Attributes:
        log_yes: Natural logarithm of the probability of "yes", at most 0.
        log_no: Natural logarithm of the probability of "no", at most 0.
    """

    log_yes: float
    log_no: float


@frozen
class QuestionAnswer:
    """The answer to one question.

    Attributes:
        chances: None when there is no answer.
        note: Why there is no answer; empty when there is one.
    """

    chances: YesNoChances | None
    note: str = ""


class YesRule(Enum):
    """Normalisation of the probability of "yes"."""

    AMONG_ALL = "yes among all answers"
    """As in the authors' code."""
    AGAINST_NO = "yes against no"
    """As in the paper."""


@frozen
class DaSettings:
    """How answers become a score.

    Attributes:
        preset: Name of the settings in results.
        rule: Normalisation of the probability of "yes".
        temperature: Above 0; larger is less confident. Used for yes against no only.
        thing_weight: Weight of "there is a dog", not negative.
        attribute_weight: Weight of "the dog is red", not negative.
        relation_weight: Weight of "the dog is to the left of the car", not negative.
        other_weight: Weight of any other assertion, not negative.
        count_weight: Weight of "there are two dogs", not negative.
    """

    preset: str = "recommended"
    rule: YesRule = YesRule.AGAINST_NO
    temperature: float = 1.0
    thing_weight: float = 1.0
    attribute_weight: float = 1.0
    relation_weight: float = 1.0
    other_weight: float = 1.0
    count_weight: float = field(default=1.0, metadata=SPARSE)


DA_RECOMMENDED = DaSettings()
DA_REPRODUCE = DaSettings(preset="reproduce", rule=YesRule.AMONG_ALL)
DA_PRESETS = {settings.preset: settings for settings in (DA_REPRODUCE, DA_RECOMMENDED)}


@frozen
class AssertionScore:
    """The answer to one assertion's question.

    Attributes:
        assertion: The statement.
        probability_yes: [0, 1]; None without an answer.
        chances: The log-probabilities behind it; None when it was measured instead.
        note: Why there is no answer; empty when there is one.
    """

    assertion: Assertion
    probability_yes: float | None
    chances: YesNoChances | None = None
    note: str = ""


@frozen
class DaScore:
    """Decompositional alignment of an image with its prompt.

    Attributes:
        value: Weighted mean over the answered assertions, [0, 1]; None when none was answered.
        scores: One per assertion, in the prompt's order.
        source_id: The question answerer.
        asserted_by: The assertion reader.
        settings: How the answers were combined.
        notes: Problems, one sentence each.
    """

    value: float | None
    scores: tuple[AssertionScore, ...]
    source_id: str
    asserted_by: str = "scene"
    settings: DaSettings = field(default_factory=DaSettings)
    notes: tuple[str, ...] = ()
