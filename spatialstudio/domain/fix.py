"""Fix it: why a picture failed, the remedies to try, and the attempts so far."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from spatialstudio.domain.assertion import DaScore
from spatialstudio.domain.frozen import SPARSE, frozen
from spatialstudio.domain.generation import (
    GenerationRequest,
    GuidanceSettings,
    PlaceTarget,
    RequestId,
)
from spatialstudio.domain.repair import LocalRepair
from spatialstudio.domain.scene import MentionId
from spatialstudio.domain.verdict import Outcome, joint_outcome

BUDGET = 6
"""Most pictures of a fix, by default."""
MOST_BUDGET = 50


class FixReason(Enum):
    """Why a picture is not right, the most fundamental reason first."""

    MISSING = "missing"
    MERGED = "merged"
    DUPLICATED = "duplicated"
    COUNT = "count"
    COLOUR = "colour"
    PLACE = "place"
    DISTANCE = "distance"
    DEPTH = "depth"
    UNSURE = "unsure"
    STYLE = "style"

    @property
    def sentence(self) -> str:
        """What is wrong with the picture."""
        return _SENTENCES[self]


_SENTENCES: Mapping[FixReason, str] = {
    FixReason.MISSING: "An object is missing.",
    FixReason.MERGED: "Two objects are merged.",
    FixReason.DUPLICATED: "An object appears more than once.",
    FixReason.COUNT: "The number of objects is wrong.",
    FixReason.COLOUR: "An object has the wrong colour.",
    FixReason.PLACE: "An object is in the wrong place.",
    FixReason.DISTANCE: "The distance between two objects is wrong.",
    FixReason.DEPTH: "Two objects are in the wrong order in depth.",
    FixReason.UNSURE: "The verdict changes under small changes of the picture.",
    FixReason.STYLE: "Guidance changed the style of the picture.",
}


@frozen
class FoundReason:
    """A reason, with the objects that it concerns."""

    reason: FixReason
    about: tuple[MentionId, ...]


class Remedy(Enum):
    """A change of the settings that may make a picture right."""

    REDRAW = "redraw"
    PRESENCE = "presence"
    HOLD = "hold"
    SKETCH = "sketch"
    SEPARATION = "separation"
    UNITY = "unity"
    STEERING = "steering"
    COLOUR = "colour"
    NOISE = "noise"
    WEAKER = "weaker"

    @property
    def label(self) -> str:
        """Name in the window and the terminal."""
        return _CARDS[self][0]

    @property
    def sentence(self) -> str:
        """What it changes."""
        return _CARDS[self][1]


_CARDS: Mapping[Remedy, tuple[str, str]] = {
    Remedy.REDRAW: ("Local repair", "Redraws only the object that failed and keeps the rest."),
    Remedy.PRESENCE: (
        "Presence and weight",
        "Weights the words of the missing object, and gives every object its own place.",
    ),
    Remedy.HOLD: ("Stronger hold", "Guides from the first step, with a larger margin."),
    Remedy.SKETCH: ("Sketch", "Guides every object to a place where the relations hold."),
    Remedy.SEPARATION: ("Separation", "Keeps the attention of the objects apart."),
    Remedy.UNITY: ("Unity", "Keeps the attention of each object in one place."),
    Remedy.STEERING: (
        "Steering",
        "Denoises several particles and continues the one whose prediction fits best.",
    ),
    Remedy.COLOUR: ("Colour binding", "Binds colours more strongly to their objects."),
    Remedy.NOISE: ("Other noise", "Begins with the noise of another seed."),
    Remedy.WEAKER: ("Weaker hold", "Halves the strength of the guidance."),
}


@frozen
class FixStep:
    """One planned attempt.

    Attributes:
        remedy: What changes.
        other_noise: Whether the seed changes as well.
        tried: Development pictures of the same reason on which it was tried; 0 if never measured.
        repaired: How many of these it repaired.
        reason: What it should repair; None for that of the fix.
        about: The objects that the reason concerns; empty for those of the fix.
    """

    remedy: Remedy
    other_noise: bool = False
    tried: int = 0
    repaired: int = 0
    reason: FixReason | None = field(default=None, metadata=SPARSE)
    about: tuple[MentionId, ...] = field(default=(), metadata=SPARSE)

    @property
    def adds_noise(self) -> bool:
        """Whether the seed changes in addition to what the remedy itself changes."""
        return self.other_noise and self.remedy is not Remedy.NOISE


@frozen
class FixAttempt:
    """A picture of a fix.

    Attributes:
        request_id: Request of the run.
        step: What was changed; None for the picture to be fixed.
        outcomes: Verdicts on the relations, then on counts and colours; empty if not judged.
        score: What each assertion says; None if it could not be scored.
        picture: Path of the stored picture; empty if it was not stored.
        problem: Why it was not judged; empty otherwise.
    """

    request_id: RequestId
    step: FixStep | None = None
    outcomes: tuple[Outcome, ...] = ()
    score: DaScore | None = None
    picture: str = ""
    problem: str = ""

    @property
    def outcome(self) -> Outcome | None:
        """Joint outcome; None if it was not judged."""
        return joint_outcome(self.outcomes)

    @property
    def rank(self) -> tuple[float, ...]:
        """Sorts attempts: verdicts that pass, verdicts that do not fail, then the DA-score."""
        passed, failed = (self.outcomes.count(each) for each in (Outcome.PASS, Outcome.FAIL))
        value = self.score.value if self.score else None
        return passed, -failed, value or 0.0


@frozen
class Fix:
    """A picture to be fixed, the plan, and the attempts so far.

    Attributes:
        id: Unique.
        start: The picture to be fixed.
        request: Its request.
        reason: Why it is not right.
        about: The objects that the reason concerns.
        steps: The planned attempts, in order; their number is the budget.
        layout: Recommended layout guidance of the model, on which remedies build.
        places: Places where the relations hold, for the sketch.
        repair: What a local repair redraws; None if no single object can be redrawn.
        redrawn: Where the redrawn object should appear; None without a local repair.
        attempts: The attempts so far, in the order of the steps.
    """

    id: str
    start: FixAttempt
    request: GenerationRequest
    reason: FixReason
    about: tuple[MentionId, ...]
    steps: tuple[FixStep, ...]
    layout: GuidanceSettings
    places: tuple[PlaceTarget, ...] = ()
    repair: LocalRepair | None = None
    redrawn: PlaceTarget | None = None
    attempts: tuple[FixAttempt, ...] = ()

    @property
    def pictures(self) -> tuple[FixAttempt, ...]:
        """The picture to be fixed, then the attempts."""
        return self.start, *self.attempts

    @property
    def judged_attempts(self) -> tuple[FixAttempt, ...]:
        """The attempts with verdicts; one that failed or was interrupted has none."""
        return tuple(each for each in self.attempts if each.outcomes)

    @property
    def is_fixed(self) -> bool:
        """Whether an attempt passes."""
        return any(each.outcome is Outcome.PASS for each in self.attempts)

    @property
    def is_over(self) -> bool:
        """Whether an attempt passes, or the budget is spent."""
        return self.is_fixed or len(self.judged_attempts) >= len(self.steps)

    @property
    def best(self) -> FixAttempt:
        """The best judged one; of equal ones the first, so it is never worse than the start."""
        return max((self.start, *self.judged_attempts), key=lambda each: each.rank)
