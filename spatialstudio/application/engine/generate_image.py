"""Generation of an image, or of several from which the best is kept."""

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature

from spatialstudio.application.evaluate.evaluate_image import JudgeSet, perceive_image
from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    MAX_SEED,
    CandidateJudged,
    CandidateScore,
    GenerationEvent,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ReportEvent,
)
from spatialstudio.domain.ports import (
    CancelToken,
    GenerationBackend,
    ModelCard,
)
from spatialstudio.domain.requirements import requirements_of
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.domain.steering import RatePicture
from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.science.checker.instances import measure_instances
from spatialstudio.science.guidance.noise_search import ranked, score_candidate
from spatialstudio.science.guidance.steering import count_reward, picture_reward


@frozen(eq=False)
class _Drawn:
    score: CandidateScore
    events: tuple[GenerationEvent, ...]
    finished: GenerationFinished


def search_image(
    request: GenerationRequest,
    model: ModelCard,
    backend: GenerationBackend,
    judges: JudgeSet,
    token: CancelToken,
    report: ReportEvent,
) -> GenerationFinished:
    """Generate up to ``request.search.candidates`` images; the events of the best come last.

    Seeds are consecutive. The search ends early at an image that is good enough.

    Args:
        request: The generation request; its guidance applies to every image.
        model: The card of its model.
        backend: Generation backend.
        judges: Judge set; its second detector serves the second verifier.
        token: Checked before each model call.
        report: Receives the events of every image, each followed by ``CandidateJudged``; then those
            of the best image again, unless it was the last.

    Returns:
        The best image, with the ranking.

    Raises:
        BackendError: The model is damaged or does not fit the request.
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    best: _Drawn | None = None
    scores: list[CandidateScore] = []
    seconds = 0.0
    for number in range(request.search.candidates):
        seed = (request.sampling.seed + number) % (MAX_SEED + 1)
        drawn = _draw(with_values(request, seed=seed), model, backend, judges, token, report)
        seconds += drawn.finished.seconds
        scores.append(drawn.score)
        report(_judged(request, number + 1, drawn))
        if ranked(scores)[0] is drawn.score:
            best = drawn
        if drawn.score.pse >= request.search.enough:
            break
    assert best is not None
    if best.score is not scores[-1]:
        for event in best.events:
            if isinstance(event, GenerationStarted):
                report(replace(event, is_repeated=True))
            else:
                report(event)
    return replace(best.finished, seconds=seconds, candidates=ranked(scores))


def draw_image(
    request: GenerationRequest,
    model: ModelCard,
    backend: GenerationBackend,
    judges: JudgeSet | None,
    token: CancelToken,
    report: ReportEvent,
) -> GenerationFinished:
    """Generate one image; the judge set rates the particles of a steered one.

    Backends of plugins may not support steering; they are called without a rater.

    Args:
        request: The generation request; its noise search is ignored.
        model: The card of its model.
        backend: Generation backend.
        judges: None to rate particles by their attention alone.
        token: Checked before each model call.
        report: Receives the events.

    Raises:
        BackendError: The model is damaged or does not fit the request.
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    takes_particles = "rate" in signature(backend.generate).parameters
    if not (request.steering.is_on and takes_particles):
        return backend.generate(request, model, token, report)
    rate = None if judges is None else picture_rater(request.scene, judges, token)
    return backend.generate(request, model, token, report, rate)


def picture_rater(scene: SceneGraph, judges: JudgeSet, token: CancelToken) -> RatePicture:
    """Return the function that rates predicted pictures for steering, by relations and counts.

    It raises as perception does.

    Args:
        scene: Scene of the prompt.
        judges: Its detector, segmenter and depth model are used.
        token: Checked before each model call.
    """
    uncached = replace(judges, store=None)
    has_counts = any(requirements_of(scene, each.id).quantity for each in scene.mentions)

    def rate(image: RgbImage, maps: Mapping[MentionId, FloatMap]) -> float:
        perception = perceive_image(image, scene, uncached, token)
        reward = picture_reward(scene, perception, maps, REPRODUCE.detection_score)
        instances = measure_instances(scene, perception, image) if has_counts else ()
        return reward * count_reward(scene, instances, REPRODUCE.detection_score)

    return rate


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
    judges: JudgeSet,
    token: CancelToken,
    report: ReportEvent,
) -> _Drawn:
    """Generate and evaluate one image."""
    events: list[GenerationEvent] = []

    def note(event: GenerationEvent) -> None:
        events.append(event)
        report(event)

    finished = draw_image(request, model, backend, judges, token, note)
    scene, image = request.scene, finished.image
    seen = perceive_image(image, scene, judges, token)
    second = None
    if judges.with_second_detector is not None:
        second = perceive_image(image, scene, judges.with_second_detector, token)
    score = score_candidate(scene, request.sampling.seed, seen, REPRODUCE, second)
    return _Drawn(score=score, events=tuple(events), finished=finished)
