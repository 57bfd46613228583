"""Multiple-choice questions on pictures, as those of SpatialGenEval, and their votes."""

from enum import Enum

from spatialstudio.domain.frozen import frozen

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
    """The ten questions of one picture, one per sub-domain.

    Attributes:
        id: Unique in the data: "000001".
        scene: Kind of scene: "Library".
        prompt: The prompt of the picture; never part of a question.
        questions: In the order of ``SUB_DOMAINS``.
    """

    id: str
    scene: str
    prompt: str
    questions: tuple[ChoiceQuestion, ...]


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
    """

    id: str
    answers: tuple[tuple[str, ...], ...]
    chosen: tuple[str, ...]
    is_right: tuple[bool | None, ...]
    attempts: int

    @property
    def is_answered(self) -> bool:
        """Whether the picture has enough valid rollouts."""
        return bool(self.answers)


@frozen
class ChoiceFigures:
    """Accuracies over many pictures, each rounded to three places as published.

    Attributes:
        sub_domains: By sub-domain; None where no question counts.
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
