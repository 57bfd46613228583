"""An engine that does only what the test says, and a studio around it."""

import re
from pathlib import Path

import numpy as np

from spatialstudio.application.jobs.messages import (
    DevicesListed,
    LayersListed,
    ListLayers,
    Phase,
    PhaseChanged,
    PictureJudged,
    ReadTokens,
    TokensRead,
)
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.registry import (
    BUILT_IN_MANIFEST,
    Registry,
    read_manifest,
)
from spatialstudio.application.studio import Studio
from spatialstudio.domain.arrays import hash_of_picture
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.generation import GenerationFinished, GenerationStarted, StepEvent
from spatialstudio.domain.ports import ModelCard, Surroundings
from spatialstudio.domain.samplers import alternative_samplers
from spatialstudio.domain.scene import TextSpan, TokenReading
from spatialstudio.domain.verdict import (
    ConfidenceComponents,
    Evaluation,
    Measurement,
    Outcome,
    Perception,
    Verdict,
)
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from tests.fakes import FakeDetector

PICTURE_SIDE = 128
MAP_SIDE = 16
STEPS = 6
PROMPT = "a photo of a dog to the left of a car"

STICKERS = ModelCard(
    id="stickers",
    title="Stickers (embedded)",
    backend_id="diffusers",
    folder=Path("stickers"),
    size_bytes=1,
    licence="MIT",
    native_size=PICTURE_SIDE,
    steps=STEPS,
    guidance_scale=4.0,
    strength=5.0,
    known_objects={},
    samplers=alternative_samplers("DDPMScheduler"),
)


class OneShelf:
    """A shelf with one model on it."""

    def cards(self):
        return (STICKERS,)

    def damaged(self):
        return {}


class WindowRegistry(Registry):
    """The built-in adapters, but for the models: those stand on one small shelf."""

    def model_catalog(self, adapter_id):
        return OneShelf()


class ScriptedEngine:
    """Takes jobs and does nothing; the test reports what happens.

    Attributes:
        questions: What was asked beside the jobs.
        jobs: What was submitted.
        cancelled: Ids of the jobs that were cancelled.
        is_started: Whether it runs.
    """

    def __init__(self):
        self.jobs = []
        self.cancelled = []
        self.questions = []
        self.is_started = False
        self._report = None

    def start(self, report):
        self.is_started = True
        self._report = report

    def submit(self, job):
        self.jobs.append(job)

    def ask(self, question):
        self.questions.append(question)

    def answer(self, limit=100):
        """Answer the newest question about tokens: one a word, as many read as the limit says."""
        asked = [each for each in self.questions if isinstance(each, ReadTokens)][-1]
        words = [word.span() for word in re.finditer(r"[^\s,]+|,", asked.prompt)]
        spans = tuple(TextSpan(start=start, stop=stop) for start, stop in words)
        read = min(len(spans), limit)
        reading = TokenReading(encoder_id="text_encoder", tokens=spans, read=read, limit=limit)
        told = TokensRead(prompt=asked.prompt, model_id=asked.model.id, readings=(reading,))
        self.report(told)

    def list_devices(self, *devices):
        """Answer a question about devices; the fastest first."""
        self.report(DevicesListed(devices=devices))

    def list_layers(self, layers):
        """Answer the newest question about a model's layers."""
        asked = [each for each in self.questions if isinstance(each, ListLayers)][-1]
        self.report(LayersListed(model_id=asked.model.id, layers=layers))

    def cancel(self, job_id):
        self.cancelled.append(job_id)

    def close(self):
        self.is_started = False

    def report(self, *events):
        for event in events:
            self._report(event)

    def play(self, job, steps=None):
        """Report the steps of a generation, to its end and judged unless ``steps`` stops it."""
        request = job.request
        self.report(
            PhaseChanged(request_id=request.id, phase=Phase.LOADING),
            GenerationStarted(
                request_id=request.id,
                total_steps=request.sampling.steps,
                token_spans=(),
                device="cpu",
            ),
            PhaseChanged(request_id=request.id, phase=Phase.DENOISING),
        )
        self.report(*(step_of(request, step) for step in range(steps or request.sampling.steps)))
        if steps is None:
            self.finish(job)

    def finish(self, job, candidates=()):
        picture = picture_of(job.request.sampling.seed)
        self.report(
            GenerationFinished(
                request_id=job.request.id,
                image=picture,
                seconds=2.5,
                peak_memory_bytes=1,
                candidates=candidates,
            ),
            PhaseChanged(request_id=job.request.id, phase=Phase.JUDGING),
            PictureJudged(
                request_id=job.request.id, evaluation=evaluation_of(job.request.scene, picture)
            ),
        )


def blob(x, y, spread=3.0):
    """Return a map, (MAP_SIDE, MAP_SIDE), with a soft spot at (x, y) in shares of the side."""
    rows, columns = np.mgrid[:MAP_SIDE, :MAP_SIDE] / MAP_SIDE
    distance = (columns - x) ** 2 + (rows - y) ** 2
    return np.exp(-distance * MAP_SIDE**2 / (2 * spread**2)).astype(np.float32)


def picture_of(seed):
    """Return a picture with a shade of its own."""
    picture = np.full((PICTURE_SIDE, PICTURE_SIDE, 3), 200, np.uint8)
    picture[:, :, seed % 3] = np.linspace(90, 240, PICTURE_SIDE).astype(np.uint8)
    return picture


def step_of(request, step):
    """Return a step in which guidance pulls the first thing to the left of the second."""
    share = (step + 1) / request.sampling.steps
    guidance = request.sampling.guidance
    is_guided = guidance.strength > 0
    drift = 0.35 * share if is_guided else 0.0
    mentions = request.scene.mentions
    maps = {
        mention.id: blob(0.55 + drift * (place / max(len(mentions) - 1, 1) * 2 - 1), 0.5)
        for place, mention in enumerate(mentions)
    }
    attention = AttentionSnapshot(maps=maps, layers=("fake",))
    pos = {relation.id: 0.4 + drift for relation in request.scene.relations}
    has_updates = is_guided and GuidanceSchedule(guidance, request.sampling.steps).guides(step)
    return StepEvent(
        request_id=request.id,
        step=step,
        total_steps=request.sampling.steps,
        timestep=1000 * (1 - share),
        pos=pos,
        step_size=request.sampling.guidance.strength if has_updates else None,
        pos_after=pos if has_updates else {},
        guiding_passes=request.sampling.guidance.inner_updates if has_updates else 0,
        attention=attention,
        attention_after=attention if has_updates else None,
        preview=picture_of(request.sampling.seed + step),
    )


def evaluation_of(scene, picture, outcome=Outcome.PASS, reason=None):
    """Return what a judge says who sees the first thing left and the second right."""
    seen = FakeDetector().detect(picture, scene.mentions)
    measurement = Measurement(delta=-0.5, margin=0.1, overlap=0.0, pos=1.0, pse=1.0)
    components = ConfidenceComponents(detection=0.9, geometry=0.8, stability=1.0, agreement=1.0)
    verdicts = tuple(
        Verdict(
            relation_id=relation.id,
            outcome=outcome,
            confidence=0.87,
            components=components,
            measurement=measurement,
            reason=reason,
        )
        for relation in scene.relations
    )
    perception = Perception(
        image_sha256=hash_of_picture(picture),
        height=picture.shape[0],
        width=picture.shape[1],
        detections=seen.detections,
        masks=seen.masks,
    )
    return Evaluation(perception=perception, verdicts=verdicts)


def studio_around(engine, home):
    """Return a studio that reads prompts for real and draws with this engine."""
    paths = StudioPaths.within(home)
    surroundings = Surroundings(resources=paths.resources, model_folders=())
    return Studio(WindowRegistry(read_manifest(BUILT_IN_MANIFEST), surroundings), engine, paths)
