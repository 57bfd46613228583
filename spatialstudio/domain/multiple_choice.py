"""Multiple-choice questions on pictures, as those of SpatialGenEval, their answers and votes."""

from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from enum import Enum

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import MentionId

LETTERS = "ABCDE"
NONE_LETTER = "E"
"""Letter of the option that the picture does not answer the question."""
SUB_DOMAINS = (
    *("Object", "Attribute", "Position", "Orientation", "Layout"),
    *("Comparison", "Proximity", "Occlusion", "Motion", "Causal"),
)
DOMAINS = {
    "Foundations": SUB_DOMAINS[:2],
    "Perception": SUB_DOMAINS[2:5],
    "Reasoning": SUB_DOMAINS[5:8],
    "Interaction": SUB_DOMAINS[8:],
}

ATTEMPTS_PER_ROLLOUT = 5
"""Most attempts for each valid rollout that a picture needs, as published."""
MOST_ROLLOUTS = 200

COUNTING = "Counting"
"""Sub-domain of questions on numbers of objects, which the published data does not have."""


class QuestionDefect(Enum):
    """A fault of a question in the data."""

    KEY_WITHOUT_OPTION = "the key is not an option"
    OTHER_NONE = "the last option is not exactly None"
    REPEATED_OPTION = "two options have the same text"


@frozen
class ChoiceQuestion:
    """A multiple-choice question.

    Attributes:
        stem: The question without its options.
        options: Letter and text of each option, in order.
        key: Letter of the right answer.
        defects: Its faults.
    """

    stem: str
    options: tuple[tuple[str, str], ...]
    key: str
    defects: tuple[QuestionDefect, ...] = ()

    @property
    def text(self) -> str:
        """The question with its options in one line, as in the data."""
        listed = ", ".join(f"{letter}: {option}" for letter, option in self.options)
        return f"{self.stem} Options: {listed}"


@frozen
class QuestionSet:
    """The questions of one picture; the published data has one per sub-domain.

    Attributes:
        id: Unique in the data: "000001".
        scene: Kind of scene: "Library".
        prompt: The prompt of the picture; never part of a question.
        questions: In the order of ``types``.
        types: Sub-domain of each question.
    """

    id: str
    scene: str
    prompt: str
    questions: tuple[ChoiceQuestion, ...]
    types: tuple[str, ...] = SUB_DOMAINS


@frozen
class VoteRules:
    """How rollouts become an answer; the defaults are ours.

    Attributes:
        rollouts: Valid rollouts that a picture needs.
        attempts: Most attempts to get them.
        votes: Fewest rollouts with the right answer.
        drops_incomplete: Whether a picture without enough valid rollouts leaves the denominator.
        reads_first_character: Whether the answer is the first character of its line, whatever it
            is; else "1. a)" reads as A.
        leaves_out_defects: Whether questions with a defect are left out.
    """

    rollouts: int = 5
    attempts: int = 25
    votes: int = 4
    drops_incomplete: bool = False
    reads_first_character: bool = False
    leaves_out_defects: bool = False


PUBLISHED_RULES = VoteRules(drops_incomplete=True, reads_first_character=True)


@frozen
class VotedSet:
    """The votes on the questions of one picture.

    Attributes:
        id: Id of the question set.
        answers: For each question the letter of each valid rollout; empty without enough.
        chosen: For each question the letters with enough votes, else the most frequent one.
        is_right: For each question whether the key has enough votes; None if it is left out.
        attempts: Number of attempts used.
        types: Sub-domain of each question.
    """

    id: str
    answers: tuple[tuple[str, ...], ...]
    chosen: tuple[str, ...]
    is_right: tuple[bool | None, ...]
    attempts: int
    types: tuple[str, ...] = SUB_DOMAINS

    @property
    def is_answered(self) -> bool:
        """Whether the picture has enough valid rollouts."""
        return bool(self.answers)


@frozen
class ChoiceFigures:
    """Accuracies over many pictures, each rounded to three places as published.

    Attributes:
        sub_domains: By sub-domain of the questions; None where no question counts.
        domains: Mean of the sub-domains of each domain.
        overall: Mean of all sub-domains.
        basic: Mean of the first two.
        spatial: Mean of the others.
        pictures: Pictures in the denominator.
        unanswered: Pictures without enough valid rollouts.
    """

    sub_domains: dict[str, float | None]
    domains: dict[str, float | None]
    overall: float | None
    basic: float | None
    spatial: float | None
    pictures: int
    unanswered: int


@frozen
class AnswerBiases:
    """Biases of the answers of all valid rollouts, in the letters as asked.

    Attributes:
        answers: Number of answers.
        chosen: Share of answers with each letter, [0, 1].
        keys: Share of keys with each letter, [0, 1].
        right_by_key: Share of right answers where each letter is the key, [0, 1].
        excess: Share of the answers other than None that would have to move for both to be equal,
            [0, 1]; 0 without a preference for a letter.
        longest: Share of the answers other than None that are a longest option; None without.
        longest_keys: The same of their keys.
        abstained: Share of answers None, [0, 1].
        right_chosen: Share of right answers among those other than None, [0, 1]; None without.
        agreement: Share of pairs of rollouts with the same answer, [0, 1]; None without pairs.
    """

    answers: int
    chosen: Mapping[str, float]
    keys: Mapping[str, float]
    right_by_key: Mapping[str, float]
    excess: float
    longest: float | None
    longest_keys: float | None
    abstained: float
    right_chosen: float | None
    agreement: float | None


@frozen
class Sampling:
    """How an answerer samples one reply.

    Attributes:
        temperature: 0 for the most likely reply.
        seed: Seed of the random numbers.
        is_structured: Whether to request JSON, where the answerer supports it.
    """

    temperature: float = 1.0
    seed: int = 0
    is_structured: bool = False


@frozen
class ChoiceReply:
    """One message of an answerer, whether it is a valid rollout or not.

    Attributes:
        text: A line per question, each a letter and a reason.
        tokens_in: Tokens of message and picture; 0 if unknown.
        tokens_out: Tokens of the reply; 0 if unknown.
        seconds: Time taken, waits and retries included.
        chances: Probabilities of the letters of a single question, [0, 1]; empty if unknown.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    chances: Mapping[str, float] = field(default_factory=dict)


@frozen
class AskSettings:
    """How pictures are asked; the defaults are ours.

    Attributes:
        rules: How replies are read and counted.
        shuffles: Whether options are in another order in each rollout, None last.
        is_single: Whether each question is a message of its own.
        is_blind: Whether the picture is withheld, as a baseline.
        temperature: Sampling temperature.
        seed: Seed of orders and replies.
        is_structured: Whether replies are requested as JSON where the answerer supports it.
    """

    rules: VoteRules = field(default_factory=VoteRules)
    shuffles: bool = True
    is_single: bool = False
    is_blind: bool = False
    temperature: float = 1.0
    seed: int = 0
    is_structured: bool = True

    def sampling(self, attempt: int) -> Sampling:
        """Return how to sample an attempt, counted from 0."""
        structured = self.is_structured and not self.is_single  # the letter must be the first token
        return Sampling(
            temperature=self.temperature, seed=self.seed + attempt, is_structured=structured
        )

    @property
    def text(self) -> str:
        """How pictures are asked and counted, for reports."""
        rules = self.rules
        parts = [
            "each question alone" if self.is_single else "all questions at once",
            "options shuffled" if self.shuffles else "options as listed",
            *(["without the picture"] if self.is_blind else []),
            f"right with {rules.votes} of {rules.rollouts} valid rollouts",
            f"pictures with fewer {'are left out' if rules.drops_incomplete else 'count as wrong'}",
            *(["questions with a defect are left out"] if rules.leaves_out_defects else []),
        ]
        return ", ".join(parts)


PUBLISHED_ASKING = AskSettings(rules=PUBLISHED_RULES, shuffles=False, is_structured=False)
SHUFFLED = "shuffled"
PROTOCOLS = {
    SHUFFLED: AskSettings(),
    "published": PUBLISHED_ASKING,
    "single": AskSettings(is_single=True),
    "blind": AskSettings(is_blind=True),
}
"""Ways to ask the questions of a benchmark, by their names in plans."""


@frozen
class Price:
    """Price of an answerer's tokens.

    Attributes:
        per_million_in: Per million tokens of messages and pictures.
        per_million_out: Per million tokens of replies.
        currency: Its code.
    """

    per_million_in: float
    per_million_out: float
    currency: str = "USD"


@frozen
class AnswerCost:
    """What replies cost.

    Attributes:
        replies: Number of replies, invalid ones included.
        tokens_in: Tokens of messages and pictures, those of failed requests included.
        tokens_out: Tokens of replies, those that cannot be read included.
        seconds: Time of the answerer.
        cached: Replies that were taken from the cache, at no cost.
        failures: Requests without a reply; a server may charge for them without saying so.
    """

    replies: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    cached: int = 0
    failures: int = 0

    def money(self, price: Price) -> float:
        """Return the cost in the price's currency."""
        million = 1e6
        return (
            self.tokens_in * price.per_million_in + self.tokens_out * price.per_million_out
        ) / million


def total_cost(costs: Iterable[AnswerCost]) -> AnswerCost:
    """Return the sum of costs."""
    listed = tuple(costs)
    return AnswerCost(
        **{each.name: sum(getattr(own, each.name) for own in listed) for each in fields(AnswerCost)}
    )


class QuestionState(Enum):
    """What the scene graph of a prompt says on a question."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    OPEN = "not checked"


@frozen
class QuestionCheck:
    """A question compared with the scene graph of its prompt.

    Attributes:
        state: The result.
        reason: Why; empty if it agrees.
    """

    state: QuestionState
    reason: str = ""


@frozen
class WrittenQuestions:
    """Questions on a prompt.

    Attributes:
        questions: The questions.
        mentions: For each question the ids of the mentions that it is about.
        source_id: Who wrote them.
        notes: Problems, one sentence each.
    """

    questions: QuestionSet
    mentions: tuple[tuple[MentionId, ...], ...]
    source_id: str
    notes: tuple[str, ...] = ()
