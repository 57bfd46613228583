"""Stage 2, several times over: draw a scene from several first noises and keep the best picture."""

from collections.abc import Generator, Iterator
from dataclasses import replace

from spatialstudio.application.flow.generate_image import generate_image
from spatialstudio.application.flow.perceive_image import Judges, perceive_image
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    MAX_SEED,
    CandidateJudged,
    CandidateScore,
    GenerationEvent,
    GenerationFinished,
    GenerationRequest,
)
from spatialstudio.domain.ports import CancelToken, GenerationBackend, ModelCard
from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.science.noise_search import ranked, score_candidate


@frozen(eq=False)
class _Drawn:
    score: CandidateScore
    events: tuple[GenerationEvent, ...]
    finished: GenerationFinished


def search_image(
    request: GenerationRequest,
    model: ModelCard,
    backend: GenerationBackend,
    judges: Judges,
    token: CancelToken,
) -> Iterator[GenerationEvent]:
    """Draw up to ``request.search.candidates`` pictures; the events of the best stand last.

    Seeds follow each other. The search ends early with a picture that is good enough.

    Args:
        request: What to draw; its guidance holds for every picture.
        model: The card of its model.
        backend: Draws.
        judges: Who looks; a second detector lends its eyes to the second verifier.
        token: Asked before each model call.

    Yields:
        The events of every picture, but ``CandidateJudged`` in place of ``GenerationFinished``;
        those of the best picture again unless it was the last; ``GenerationFinished`` with the
        ranking.

    Raises:
        RequestError: The scene has no relation to go by, more attention shall be kept than one
            picture's, or a number is out of its range.
        BackendError: The model is damaged or does not fit the request.
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    best: _Drawn | None = None
    scores: list[CandidateScore] = []
    seconds = 0.0
    for number in range(request.search.candidates):
        seed = (request.seed + number) % (MAX_SEED + 1)
        drawn = yield from _draw(replace(request, seed=seed), model, backend, judges, token)
        seconds += drawn.finished.seconds
        scores.append(drawn.score)
        yield _judged(request, number + 1, drawn)
        if ranked(scores)[0] is drawn.score:
            best = drawn
        if drawn.score.pse >= request.search.enough:
            break
    assert best is not None
    if best.score is not scores[-1]:
        yield from best.events
    yield replace(best.finished, seconds=seconds, candidates=ranked(scores))


def _judged(request: GenerationRequest, number: int, drawn: _Drawn) -> CandidateJudged:
    return CandidateJudged(
        request_id=request.id,
        number=number,
        candidates=request.search.candidates,
        score=drawn.score,
        image=drawn.finished.image,
    )


def _draw(
    request: GenerationRequest,
    model: ModelCard,
    backend: GenerationBackend,
    judges: Judges,
    token: CancelToken,
) -> Generator[GenerationEvent, None, _Drawn]:
    """Draw and judge one picture; its events pass through, all but the last."""
    events: list[GenerationEvent] = []
    for event in generate_image(request, model, backend, token):
        if isinstance(event, GenerationFinished):
            finished = event
        else:
            events.append(event)
            yield event
    scene, image = request.scene, finished.image
    seen = perceive_image(image, scene, judges, token)
    second = None
    if judges.seconded is not None:
        second = perceive_image(image, scene, judges.seconded, token)
    score = score_candidate(scene, request.seed, seen, REPRODUCE, second)
    return _Drawn(score=score, events=tuple(events), finished=finished)
