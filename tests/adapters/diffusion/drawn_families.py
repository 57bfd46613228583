"""Families of diffusion models with tiny weights, drawn by the program and by a user's pipeline."""

from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

import diffusers
import pytest
import torch

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.pipeline_arguments import pipeline_arguments
from spatialstudio.domain.generation import (
    CaptureSettings,
    GuidanceSettings,
    PlaceTarget,
    StepEvent,
)
from spatialstudio.domain.ports import ModelCard
from tests.fakes import CountingToken, events_of, scene_of

FAMILY_WARNINGS = [
    pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning"),  # diffusers 0.42, numpy 2
    pytest.mark.filterwarnings("ignore:`clean_caption"),
    pytest.mark.filterwarnings("ignore:`upcast_vae"),  # which its own pipeline calls
]
NINE_SAMPLERS = (
    "DDIMScheduler",
    "DDPMScheduler",
    "DEISMultistepScheduler",
    "DPMSolverMultistepScheduler",
    "EulerAncestralDiscreteScheduler",
    "EulerDiscreteScheduler",
    "HeunDiscreteScheduler",
    "PNDMScheduler",
    "UniPCMultistepScheduler",
)
STEPS = 2
SCENE = scene_of()
PROMPT = SCENE.prompt.text
SILENT = CaptureSettings(attention_every=0, preview_every=0)
CAPTURED = CaptureSettings(attention_every=1, preview_every=1)
LEFT_EDGE = PlaceTarget(mention_id="m1", x=0.1, y=0.5, size=0.3)
IDLE = GuidanceSettings(method_id="layout", strength=0.0, last_step=1, targets=(LEFT_EDGE,))
STRONG = GuidanceSettings(method_id="psg", strength=2000.0, last_step=1)


class Run(NamedTuple):
    """The events of a run, and what its denoiser, autoencoder and token were given."""

    events: list
    sample: torch.Tensor
    latents: torch.Tensor
    calls: int
    checks: int

    @property
    def image(self):
        return self.events[-1].image


class Drawn:
    """A family whose model is loaded, and what the denoiser was given in the last run."""

    def __init__(self, tiny, folder, archives):
        self.tiny = tiny
        self.card = card_of(folder)
        self.archives = archives
        self.backend = DiffusersBackend(self.archives)
        self.inputs = []
        self._runs = {}

    @property
    def loaded(self):
        return self.backend._loaded

    @cached_property
    def own_pipeline(self):
        """The same model as a user loads it, without the program."""
        kind = getattr(diffusers, self.tiny.pipeline_class)
        pipeline = kind.from_pretrained(self.card.folder, dtype=torch.float32)
        pipeline.set_progress_bar_config(disable=True)
        return pipeline

    def draw(self, request, token=None):
        with self._listening():
            return events_of(self.backend, request, self.card, token)

    def run(self, request):
        """Return the run of a request, drawn for the first test that asks."""
        if (key := repr(request)) not in self._runs:
            token = CountingToken()
            with decoded_by(self.loaded.pipeline) as latents:
                events = self.draw(request, token)
            run = Run(events, self.last_sample, latents[-1], len(self.inputs), token.asked)
            self._runs[key] = run
        return self._runs[key]

    def draw_untouched(self, request, **more):
        arguments = pipeline_arguments(self.loaded, request)
        self.loaded.set_scheduler(request.sampling.scheduler_id)
        with self._listening():
            return self.loaded.pipeline(**arguments | more).images

    @contextmanager
    def _listening(self):
        self.inputs = []
        if self.loaded is None:
            yield
            return
        hook = self.loaded.denoiser.register_forward_pre_hook(
            lambda _, args, kwargs: self.inputs.append((args, kwargs)), with_kwargs=True
        )
        yield
        hook.remove()

    @property
    def last_sample(self):
        args, kwargs = self.inputs[-1]
        given = args[0] if args else kwargs["hidden_states"]
        return torch.stack(given) if isinstance(given, list) else given


@contextmanager
def decoded_by(pipeline):
    """Collect the latents that the autoencoder decodes."""
    latents, decode = [], pipeline.vae.decode

    def listen(given, *args, **kwargs):
        latents.append(given)
        return decode(given, *args, **kwargs)

    pipeline.vae.decode = listen
    yield latents
    del pipeline.vae.decode


def steps_of(events):
    return [event for event in events if isinstance(event, StepEvent)]


def card_of(folder):
    return ModelCard(
        id="tiny",
        title="Tiny",
        backend_id="diffusers",
        folder=folder,
        size_bytes=0,
        licence="MIT",
        native_size=128,
        steps=4,
        guidance_scale=4.0,
        strength=5.0,
        known_objects={},
    )
