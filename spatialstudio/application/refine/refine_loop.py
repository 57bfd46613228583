"""The loop of Evaluate-and-Refine: requests of its rounds, and its attempts.

Every round has the seed of the first. Each attempt is a run of its own whose ``parent_run_id`` is
the first picture's, and the state is saved after each, so that a loop that ended for any reason is
continued with the attempts so far.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from spatialstudio.application.models.model_lists import choose_guidance
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.assertion import Assertions, DaScore, DaSettings
from spatialstudio.domain.errors import RequestError, StudioError
from spatialstudio.domain.generation import (
    GenerationRequest,
    GuidanceSettings,
    RequestId,
    new_request_id,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.refinement import MOST_ROUNDS, RefineAttempt, Refinement, RefineRules
from spatialstudio.domain.run_settings import Preset, with_values
from spatialstudio.science.questions.da_score import score_again
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID, score_by_perception
from spatialstudio.science.refine.prompt_parts import (
    object_places,
    presence_weights,
    weighted_scene,
)
from spatialstudio.science.refine.update_loop import (
    Replay,
    first_weights,
    replay,
    round_score,
    updated_weights,
)

log = logging.getLogger(__name__)

PRESENCE = "weighted-presence"
"""Guidance method of the cross-attention control."""
NO_EVALUATION = "The picture was not judged."
INTERRUPTED = "The attempt was interrupted."

DrawRound = Callable[[GenerationRequest, Assertions], OpenRun]
"""Generates, evaluates and stores a picture; returns its run in its final state."""

JudgeRound = Callable[[Path, Assertions], OpenRun]
"""Evaluates a stored picture; returns its run."""

FindPicture = Callable[[RequestId, str], Path | None]
"""Returns the whole picture of an attempt, by its request and its known path; None without one."""


def find_pictures(
    stored: Callable[[RequestId], Path | None], read: Callable[[Path], OpenRun]
) -> FindPicture:
    """Return what finds pictures by their path, else in the library; damaged ones are left out.

    Args:
        stored: Returns the image file of a stored request.
        read: Reads a stored run.
    """

    def find(request_id: RequestId, picture: str) -> Path | None:
        path = Path(picture) if picture else stored(request_id)
        if path is None or not path.is_file():
            return None
        try:
            return path if read(path).image is not None else None
        except StudioError as error:
            log.warning("The attempt %s is repeated: %s", path.name, error.message)
            return None

    return find


def no_picture(_request_id: RequestId, _picture: str) -> None:
    """Find no picture, so that an attempt without verdicts is drawn again."""


def new_refinement(
    request: GenerationRequest, model: ModelCard, assertions: Assertions, rules: RefineRules
) -> Refinement:
    """Return a refinement without attempts.

    Args:
        request: Request of the first round.
        model: Its model.
        assertions: Assertions of its prompt, in the prompt's order.
        rules: Rules of the loop.

    Raises:
        RequestError: A rule is out of range, or the prompt has no assertions.
    """
    _check(rules)
    if not assertions.items:
        raise RequestError(
            "The prompt asserts nothing that can be checked.", hint="Name an object in it."
        )
    presence = _presence(model, request.sampling.steps, rules)
    return Refinement(
        id=uuid4().hex, request=request, presence=presence, rules=rules, assertions=assertions
    )


def _check(rules: RefineRules) -> None:
    if not 1 <= rules.rounds <= MOST_ROUNDS or rules.step <= 0:
        raise RequestError(
            f"A refinement has 1 to {MOST_ROUNDS} rounds, not {rules.rounds}.",
            hint="Choose another number of rounds.",
        )


def _presence(model: ModelCard, steps: int, rules: RefineRules) -> GuidanceSettings:
    """Return the settings of the presence loss, as published where they are for the model."""
    wanted = Preset.PUBLISHED if rules.guides_always else Preset.RECOMMENDED
    try:
        return choose_guidance(PRESENCE, model, steps, preset=wanted)
    except RequestError:
        return choose_guidance(PRESENCE, model, steps)


class RefineLoop:
    """Continues a refinement, one picture at a time.

    Args:
        refinement: The refinement; an attempt at its end that has no score is judged again, or
            drawn again without a whole picture.
        save: Stores the refinement before and after each attempt.
        settings: How answers become scores.
        find: Finds the picture of an attempt without a score.

    Attributes:
        refinement: The refinement with its scored attempts.
        unscored: Stored picture of the next round, which was drawn and not scored; else None.
    """

    def __init__(
        self,
        refinement: Refinement,
        save: Callable[[Refinement], None],
        settings: DaSettings,
        find: FindPicture = no_picture,
    ) -> None:
        scored = tuple(each for each in refinement.attempts if each.score is not None)
        self.refinement = replace(refinement, attempts=scored)
        lost = [each for each in refinement.attempts if each.score is None]
        self.unscored = find(lost[-1].request_id, lost[-1].picture) if lost else None
        self._save = save
        self._settings = settings
        self._objects = object_places(refinement.assertions, refinement.request.scene)

    @property
    def decisions(self) -> Replay:
        """What the rules decide on the attempts so far, by the settings of this loop."""
        rounds = [round_score(score) for score in self.scores if score is not None]
        return replay(rounds, self.refinement.rules, self._objects)

    @property
    def scores(self) -> tuple[DaScore | None, ...]:
        """DA-score of each attempt by the settings of this loop."""
        scores = (each.score for each in self.refinement.attempts)
        return tuple(score and score_again(score, self._settings) for score in scores)

    @property
    def is_over(self) -> bool:
        """Whether the loop has ended."""
        return self.decisions.is_ended

    @property
    def best(self) -> RefineAttempt | None:
        """The attempt with the highest score, of equal ones the first; None without a score."""
        best = self.decisions.best
        return None if best is None else self.refinement.attempts[best]

    def next_request(self) -> tuple[GenerationRequest, tuple[float, ...]]:
        """Return the request of the next round, and the weights of its assertions."""
        weights = self._next_weights()
        rules, asserted = self.refinement.rules, self.refinement.assertions
        base = self.refinement.request
        scene = weighted_scene(base.scene, asserted, weights, rules)
        guidance = base.sampling.guidance
        if rules.weighs_attention:
            presence = presence_weights(scene, asserted, weights, rules)
            if rules.guides_always or any(presence.values()):
                guidance = replace(self.refinement.presence, mention_weights=presence)
        attempts = self.refinement.attempts
        request = with_values(
            base,
            id=new_request_id(),
            scene=scene,
            guidance=guidance,
            parent_run_id=run_name(attempts[0].picture) if attempts else base.parent_run_id,
        )
        return request, weights

    def begin(self, request_id: RequestId, weights: tuple[float, ...]) -> None:
        """Save that a round is drawn, so that its picture is found if the program ends.

        Raises:
            StoreError: The state cannot be written.
        """
        begun = RefineAttempt(request_id=request_id, weights=weights, problem=INTERRUPTED)
        attempts = (*self.refinement.attempts, begun)
        self._save(replace(self.refinement, attempts=attempts))

    def take(self, request_id: RequestId, weights: tuple[float, ...], run: OpenRun) -> None:
        """Add the picture of a round, and save the refinement.

        Raises:
            StoreError: The state cannot be written.
        """
        self.unscored = None
        score = score_of(run, self.refinement.assertions)
        failure = run.failure.message if run.failure else NO_EVALUATION
        self._add(
            RefineAttempt(
                request_id=request_id,
                weights=weights,
                score=score,
                picture="" if run.path is None else str(run.path.resolve()),
                problem="" if score is not None else failure,
            )
        )

    def _add(self, attempt: RefineAttempt) -> None:
        attempts = (*self.refinement.attempts, attempt)
        self.refinement = replace(self.refinement, attempts=attempts)
        self._save(self.refinement)

    def _next_weights(self) -> tuple[float, ...]:
        attempts = self.refinement.attempts
        if not attempts:
            return first_weights(len(self.refinement.assertions.items))
        score = self.scores[-1]
        each = tuple(found.probability_yes for found in score.scores) if score else ()
        return updated_weights(attempts[-1].weights, each, self.refinement.rules, self._objects)


def run_loop(
    loop: RefineLoop,
    draw: DrawRound,
    judge: JudgeRound,
    report: Callable[[RefineAttempt], None],
) -> None:
    """Draw rounds until the loop ends, or a picture fails; attempts so far are kept.

    Args:
        loop: The loop.
        draw: Draws a round.
        judge: Judges the stored picture of a round.
        report: Receives each attempt once it is saved.

    Raises:
        StudioError: A picture cannot be requested or judged, or the state cannot be written.
    """
    while not loop.is_over:
        request, weights = loop.next_request()
        if loop.unscored is None:
            loop.begin(request.id, weights)
            run = draw(request, loop.refinement.assertions)
        else:
            run = judge(loop.unscored, loop.refinement.assertions)
        loop.take(run.id, weights, run)
        attempt = loop.refinement.attempts[-1]
        report(attempt)
        if attempt.score is None:
            return


def begun_with(refinement: Refinement, run: OpenRun, answerer_id: str | None) -> Refinement:
    """Return a refinement whose first attempt is a stored run, if its picture can be scored.

    Where it cannot, or the published rules change the prompt, the first round is drawn again.

    Args:
        refinement: A refinement without attempts.
        run: The stored run.
        answerer_id: The chosen question answerer; None for answers from the perception.
    """
    score = score_of(run, refinement.assertions)
    if score is None or run.path is None or refinement.rules.joins_parts:
        return refinement
    if answerer_id is not None and score.source_id == PERCEPTION_ID:
        return refinement
    attempt = RefineAttempt(
        request_id=run.id,
        weights=first_weights(len(refinement.assertions.items)),
        score=score,
        picture=str(run.path.resolve()),
    )
    return replace(refinement, attempts=(attempt,))


def score_of(run: OpenRun, assertions: Assertions) -> DaScore | None:
    """Return the DA-score of these assertions; from the perception if there is no other.

    Args:
        run: A run in its final state.
        assertions: Assertions of its prompt.

    Returns:
        None if the picture was not judged or cannot be scored.
    """
    evaluation = run.evaluation
    if evaluation is None:
        return None
    score = evaluation.da_score
    if score is not None:
        known = {each.assertion.id: each for each in score.scores}
        found = [known.get(each.id) for each in assertions.items]
        if all(
            each is not None and each.assertion.text == wanted.text
            for each, wanted in zip(found, assertions.items, strict=True)
        ):
            return replace(score, scores=tuple(each for each in found if each is not None))
    try:
        seen, instances = evaluation.perception, evaluation.instances
        return score_by_perception(run.scene, seen, run.image, assertions, instances=instances)
    except (StudioError, KeyError, StopIteration):
        return None


def run_name(picture: str) -> str:
    """Return the name of the run of a stored picture; empty if it was not stored."""
    return Path(picture).stem if picture else ""
