"""What a prompt asserts, one atomic statement at a time, and how far a picture shows it."""

from dataclasses import dataclass
from typing import NewType

from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import RelationId

AssertionId = NewType("AssertionId", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One atomic statement of a prompt.

    Attributes:
        id: Unique in its prompt.
        text: "the dog is to the left of the car".
        question: The same, to be answered yes or no: "is the dog to the left of the car?".
        mention_id: The thing it says something about.
        relation_id: The relation it states; None for any other statement.
        attribute: The property it states; empty for any other statement.
        weight: Its share in the score, not negative.
    """

    id: AssertionId
    text: str
    question: str
    mention_id: MentionId
    relation_id: RelationId | None = None
    attribute: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionScore:
    """The answer to one assertion's question.

    Attributes:
        assertion: The statement.
        probability_yes: [0, 1]; None when the source of answers cannot tell.
    """

    assertion: Assertion
    probability_yes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DaScore:
    """Decompositional alignment of a picture with its prompt.

    Attributes:
        value: Weighted mean over what could be answered, [0, 1]; None when nothing could.
        scores: One for each assertion, in the prompt's order.
        source_id: Who answered.
    """

    value: float | None
    scores: tuple[AssertionScore, ...]
    source_id: str
