"""Generation of an image, or of several from which the best is kept."""

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

from spatialstudio.application.evaluate.evaluate_image import JudgeSet, perceive_image
from spatialstudio.application.jobs.messages import GenerateJob
from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.errors import RequestError
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
    job: GenerateJob,
    backend: GenerationBackend,
    judges: JudgeSet,
    token: CancelToken,
    report: ReportEvent,
) -> GenerationFinished:
    """Generate up to ``request.search.candidates`` images; the events of the best come last.

    Seeds are consecutive. The search ends early at an image that is good enough.

    Args:
        job: The job; the guidance of its request applies to every image.
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
    request = job.request
    best: _Drawn | None = None
    scores: list[CandidateScore] = []
    seconds = 0.0
    for number in range(request.search.candidates):
        seed = (request.sampling.seed + number) % (MAX_SEED + 1)
        seeded = replace(job, request=with_values(request, seed=seed))
        drawn = _draw(seeded, backend, judges, token, report)
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
    job: GenerateJob,
    backend: GenerationBackend,
    judges: JudgeSet | None,
    token: CancelToken,
    report: ReportEvent,
) -> GenerationFinished:
    """Generate one image; the judge set rates the particles of a steered one.

    Backends of plugins may not support steering; they are called without a rater.

    Args:
        job: The job; the noise search of its request is ignored.
        backend: Generation backend.
        judges: None to rate particles by their attention alone.
        token: Checked before each model call.
        report: Receives the events.

    Raises:
        BackendError: The model is damaged or does not fit the request.
        RequestError: The backend does not support local repair.
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    request = job.request
    more: dict[str, Any] = {}
    known = signature(backend.generate).parameters
    if request.repair is not None:
        if "start" not in known:
            raise RequestError(
                "This model's backend does not support local repair.", hint="Choose another model."
            )
        more["start"] = job.start
    if request.steering.is_on and judges is not None and "rate" in known:
        more["rate"] = picture_rater(request.scene, judges, token)
    return backend.generate(request, job.model, token, report, **more)


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
    job: GenerateJob,
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

    finished = draw_image(job, backend, judges, token, note)
    scene, image = job.request.scene, finished.image
    seen = perceive_image(image, scene, judges, token)
    second = None
    if judges.with_second_detector is not None:
        second = perceive_image(image, scene, judges.with_second_detector, token)
    score = score_candidate(scene, job.request.sampling.seed, seen, REPRODUCE, second)
    return _Drawn(score=score, events=tuple(events), finished=finished)
