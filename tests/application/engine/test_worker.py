import os

import numpy as np
import pytest

from spatialstudio.application.engine.worker import WAITING_VARIABLE, InlineEngine
from spatialstudio.application.jobs.messages import (
    DevicesListed,
    EstimateMemory,
    EvaluateJob,
    JobFailed,
    LayersListed,
    ListDevices,
    ListLayers,
    Phase,
    PhaseChanged,
    PictureJudged,
    ReadTokens,
    TokensRead,
)
from spatialstudio.domain.errors import BackendError, DetectorError
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFailed,
    GenerationFinished,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.verdict import Outcome
from tests.fakes import PROCESSOR, FakeBackend, FakeDetector, FakeEngineRegistry, scene_of


@pytest.fixture
def registry():
    return FakeEngineRegistry()


@pytest.fixture
def reports():
    return []


@pytest.fixture
def engine(registry, reports):
    engine = InlineEngine(lambda: registry)
    engine.start(reports.append)
    yield engine
    engine.close()


def test_a_job_reports_its_phases_its_events_and_its_verdict_in_order(
    engine, reports, job, report_order
):
    engine.submit(job)
    assert [getattr(report, "phase", type(report)) for report in reports] == report_order
    assert {report.request_id for report in reports} == {"job"}
    assert reports[-1].evaluation.verdicts[0].outcome is Outcome.PASS


def test_a_picture_is_judged_only_on_request(engine, reports, make_job):
    engine.submit(make_job(judge=False))
    assert isinstance(reports[-1], GenerationFinished)


def test_any_picture_can_be_judged(engine, reports):
    picture = np.zeros((8, 8, 3), np.uint8)
    engine.submit(EvaluateJob(job_id=RequestId("look"), image=picture, scene=scene_of()))
    assert reports[0] == PhaseChanged(request_id=RequestId("look"), phase=Phase.LOOKING)
    assert isinstance(reports[-1], PictureJudged)


def test_a_failure_is_reported_with_its_message_and_the_next_job_works(
    engine, reports, registry, job
):
    registry.made_backend.error = BackendError("The model is tired.", hint="Let it rest.")
    engine.submit(job)
    assert isinstance(reports[-1], GenerationFailed)
    assert reports[-1].error.message == "The model is tired."
    assert reports[-1].error.hint == "Let it rest."
    registry.made_backend.error = None
    engine.submit(job)
    assert isinstance(reports[-1], PictureJudged)


def test_an_unexpected_failure_is_reported_too(engine, reports, registry, job):
    registry.made_backend.error = ZeroDivisionError("oops")
    engine.submit(job)
    assert isinstance(reports[-1], GenerationFailed)
    assert "ZeroDivisionError" in reports[-1].error.details


def test_a_picture_that_cannot_be_judged_is_kept(engine, reports, registry, job):
    registry.made_detector = FakeDetector(error=DetectorError("The detector is blind."))
    engine.submit(job)
    assert [type(report) for report in reports[-3:]] == [
        GenerationFinished,
        PhaseChanged,
        JobFailed,
    ]


def test_a_service_that_cannot_be_built_fails_only_the_job(reports, job):
    def build():
        raise BackendError("The registry is lost.")

    engine = InlineEngine(build)
    engine.start(reports.append)
    engine.submit(job)
    assert isinstance(reports[-1], GenerationFailed)
    engine.close()


def test_cancelling_stops_before_the_next_step(registry, job):
    reports = []

    def cancel_after_first_step(report):
        reports.append(report)
        if isinstance(report, StepEvent):
            engine.cancel(report.request_id)

    engine = InlineEngine(lambda: registry)
    engine.start(cancel_after_first_step)
    engine.submit(job)
    assert reports[-1] == GenerationCancelled(request_id=RequestId("job"), at_step=1)
    assert sum(isinstance(report, StepEvent) for report in reports) == 1


def test_cancelling_while_the_picture_is_judged_stops_the_judging(registry, job):
    reports = []

    def cancel_when_judging(report):
        reports.append(report)
        if getattr(report, "phase", None) is Phase.LOOKING:
            engine.cancel(report.request_id)

    engine = InlineEngine(lambda: registry)
    engine.start(cancel_when_judging)
    engine.submit(job)
    assert reports[-1] == GenerationCancelled(request_id=RequestId("job"), at_step=3)


def test_cancelling_a_job_that_has_ended_does_nothing(engine, reports, job):
    engine.submit(job)
    before = list(reports)
    engine.cancel(job.job_id)
    assert reports == before


def test_a_closed_engine_rejects_jobs(engine, job):
    engine.close()
    with pytest.raises(RuntimeError, match="between start and close"):
        engine.submit(job)


def test_models_are_reused_by_the_next_job(job):
    built = []

    def build():
        built.append(FakeEngineRegistry(FakeBackend()))
        return built[-1]

    engine = InlineEngine(build)
    engine.start(lambda _: None)
    engine.submit(job)
    engine.submit(job)
    assert len(built) == 1


@pytest.fixture
def waiting_policy(monkeypatch):
    """Give back after the test what the environment says now."""
    monkeypatch.setenv(WAITING_VARIABLE, "ACTIVE")
    return monkeypatch


def test_idle_threads_sleep(engine, job, waiting_policy):
    waiting_policy.delenv(WAITING_VARIABLE)
    engine.submit(job)
    assert os.environ[WAITING_VARIABLE] == "PASSIVE"


def test_the_users_setting_for_spinning_threads_is_kept(engine, job, waiting_policy):
    engine.submit(job)
    assert os.environ[WAITING_VARIABLE] == "ACTIVE"


class LostModels(FakeBackend):
    """Has no tokenizers."""

    def read_tokens(self, prompt, model):
        raise BackendError("The model is gone.", hint="Install it again.")


def test_the_cost_of_a_request_is_estimated(engine, reports, job):
    engine.ask(EstimateMemory(request=job.request, model=job.model))
    (told,) = reports
    assert (told.request, told.memory.peak_bytes) == (job.request, 5)


def test_a_query_is_answered(engine, reports, job):
    engine.ask(ReadTokens(prompt="a dog", model=job.model))
    (told,) = reports
    assert isinstance(told, TokensRead)
    assert [token.of("a dog") for token in told.readings[0].tokens] == ["a", "dog"]


def test_the_layers_of_a_model_are_listed(engine, reports, job):
    engine.ask(ListLayers(model=job.model, height=64, width=128))
    (told,) = reports
    assert isinstance(told, LayersListed)
    assert told.model_id == job.model.id
    assert [layer.shape for layer in told.layers.layers] == [(8, 16)]


def test_the_devices_are_listed(engine, reports):
    engine.ask(ListDevices())
    assert reports == [DevicesListed(devices=(PROCESSOR,))]


def test_a_failing_query_is_dropped(engine, registry, reports, job):
    registry.made_backend = LostModels()
    engine.ask(ReadTokens(prompt="a dog", model=job.model))
    assert reports == []


def test_a_query_after_the_end_is_dropped(engine, reports, job):
    engine.close()
    engine.ask(ReadTokens(prompt="a dog", model=job.model))
    assert reports == []
