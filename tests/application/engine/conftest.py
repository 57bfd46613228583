import pytest

from spatialstudio.application.jobs.messages import GenerateJob, Phase, PictureJudged
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    PromptEncoded,
    RequestId,
    SamplingSettings,
    StepEvent,
)
from spatialstudio.domain.ports import ModelCard
from tests.fakes import scene_of


@pytest.fixture
def model(tmp_path):
    return ModelCard(
        id="fake",
        title="Fake",
        backend_id="fake",
        folder=tmp_path,
        size_bytes=0,
        licence="MIT",
        native_size=16,
        steps=3,
        guidance_scale=4.0,
        strength=5.0,
        known_objects={},
    )


@pytest.fixture
def make_job(model):
    def make(name="job", judge=True, seed=0, steps=3):
        request = GenerationRequest(
            id=RequestId(name),
            scene=scene_of(),
            backend_id="fake",
            model=ModelRef(id="fake"),
            sampling=SamplingSettings(seed=seed, steps=steps),
        )
        return GenerateJob(request=request, model=model, judge=judge)

    return make


@pytest.fixture
def job(make_job):
    return make_job()


@pytest.fixture
def report_order():
    """Phases and report types of a job of three steps, in order."""
    return [
        Phase.LOADING,
        GenerationStarted,
        Phase.ENCODING,
        PromptEncoded,
        Phase.DENOISING,
        StepEvent,
        StepEvent,
        StepEvent,
        Phase.DECODING,
        GenerationFinished,
        Phase.LOOKING,
        Phase.JUDGING,
        PictureJudged,
    ]
