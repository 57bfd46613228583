"""Evaluate-and-Refine: the rules of its loop, its attempts, and the state of a loop on disk."""

from enum import Enum

from spatialstudio.domain.assertion import Assertions, DaScore
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest, GuidanceSettings, RequestId

MOST_ROUNDS = 100


class UpdateOrder(Enum):
    """Which assertion's weight rises after a round."""

    FIRST = "first"
    """The first in prompt order below the threshold, as in the authors' code by default."""
    LOWEST = "lowest"
    """The lowest score, as in the paper."""


@frozen
class RefineRules:
    """Rules of the loop of Singh and Zheng 2023, arXiv:2307.04749, section 3.3.

    Attributes:
        preset: Name of the rules in results.
        rounds: Maximum number of pictures, 1 to ``MOST_ROUNDS``.
        enough_mean: The loop stops at a DA-score above this, [0, 1].
        enough_each: It also stops when no assertion scores less than this, [0, 1].
        step: Increase of a weight after a round, > 0.
        order: Which weight is increased.
        objects_first: Whether a relation, count or attribute waits while one of its objects scores
            less than ``enough_each``: its own score is low because the object is missing.
        base: Factor of the prompt weight per step, > 1.
        jumps_first: Whether the first increase counts twice, as "++" does in the authors' prompts.
        joins_parts: Whether the prompt is rebuilt from its weighted parts as in the authors' code,
            which loses the text after the last part and leaves stray brackets between parts.
        sorts_tokens: Whether coefficients are assigned to tokens sorted by position, as in the
            authors' code, instead of the tokens of their entities.
        guides_always: Whether attention is guided in rounds in which every coefficient is 0.
        weighs_prompt: Whether assertions are weighted in the prompt.
        weighs_attention: Whether the attention to their objects is guided.
    """

    preset: str = "recommended"
    rounds: int = 5
    enough_mean: float = 0.85
    enough_each: float = 0.75
    step: float = 1.0
    order: UpdateOrder = UpdateOrder.LOWEST
    objects_first: bool = True
    base: float = 1.1
    jumps_first: bool = False
    joins_parts: bool = False
    sorts_tokens: bool = False
    guides_always: bool = False
    weighs_prompt: bool = True
    weighs_attention: bool = True


REFINE_RECOMMENDED = RefineRules()
"""The paper's rule with the faults of the authors' code corrected."""

REFINE_PUBLISHED = RefineRules(
    preset="published",
    order=UpdateOrder.FIRST,
    objects_first=False,
    jumps_first=True,
    joins_parts=True,
    sorts_tokens=True,
    guides_always=True,
)
"""The authors' code, with its faults."""


REFINE_RULES = {each.preset: each for each in (REFINE_RECOMMENDED, REFINE_PUBLISHED)}
"""The rules by the name of their preset."""


@frozen
class RefineAttempt:
    """One picture of a refinement.

    Attributes:
        request_id: Request of the run.
        weights: Weight of each assertion in this round, in order; 1 is normal.
        score: DA-score of the picture; None if it could not be scored.
        picture: Path of the stored picture; empty if it was not stored.
        problem: Why there is no score; empty with one.
    """

    request_id: RequestId
    weights: tuple[float, ...]
    score: DaScore | None = None
    picture: str = ""
    problem: str = ""


@frozen
class Refinement:
    """A loop and its attempts so far; everything that is needed to continue it.

    Attributes:
        id: Unique.
        request: Request of the first round, without weights of the loop.
        presence: Guidance of the rounds in which attention is weighted, without its weights.
        rules: Rules of the loop.
        assertions: Assertions of the prompt, in the order of its text.
        attempts: The pictures so far, in order.
    """

    id: str
    request: GenerationRequest
    presence: GuidanceSettings
    rules: RefineRules
    assertions: Assertions
    attempts: tuple[RefineAttempt, ...] = ()

    @property
    def pictures(self) -> tuple[RefineAttempt, ...]:
        """The attempts; a stored picture that the loop began with is the first."""
        return self.attempts
