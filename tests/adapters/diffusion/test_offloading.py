"""Offloading by accelerate draws the same picture; here the processor plays the accelerator."""

import accelerate
import numpy as np
import pytest

from spatialstudio.adapters.diffusion import diffusers_backend
from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.load_pipeline import load_pipeline
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.generation import GuidanceSettings, StepEvent
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES
from tests.fakes import events_of

pytestmark = pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning")  # diffusers 0.42

A_ROUNDING = 1
CHECKED = ("StableDiffusionPipeline", "StableDiffusionXLPipeline", "FluxPipeline")
FAMILIES = [
    pytest.param(
        tiny,
        id=tiny.pipeline_class,
        marks=() if tiny.pipeline_class in CHECKED else pytest.mark.slow,
    )
    for tiny in TINY_FAMILIES
]


class Copies(dict):
    """Weights of which every look-up is a copy, as on a device with its own memory."""

    def __getitem__(self, name):
        return super().__getitem__(name).clone()


@pytest.fixture(autouse=True)
def copied_weights(monkeypatch):
    own = accelerate.cpu_offload

    def offload(model, device, **settings):
        weights = Copies(model.state_dict())
        return own(model, device.type, state_dict=weights, **settings)  # without diffusers' index

    monkeypatch.setattr(accelerate, "cpu_offload", offload)


@pytest.mark.parametrize("tiny", FAMILIES)
def test_offloading_draws_the_same_guided_picture(
    tiny, tiny_folder, tmp_path, tiny_request, monkeypatch
):
    card = read_card(tiny_folder(tiny.pipeline_class))
    height, width = tiny.size
    guidance = GuidanceSettings(method_id="psg", strength=200.0, last_step=1)
    request = with_values(tiny_request, height=height, width=width, steps=2, guidance=guidance)
    runs = {None: events_of(DiffusersBackend(tmp_path), request, card)}
    for saving in (Saving.OFFLOAD, Saving.OFFLOAD_LAYERS):
        backend = DiffusersBackend(tmp_path)
        monkeypatch.setattr(
            diffusers_backend,
            "load_pipeline",
            lambda model, device, offload, saving=saving: load_pipeline(
                model, device, offload=saving
            ),
        )
        runs[saving] = events_of(backend, request, card)
        weights = next(backend._loaded.denoiser.parameters())
        assert weights.is_meta is (saving is Saving.OFFLOAD_LAYERS)
        assert hasattr(backend._loaded.denoiser, "_hf_hook")
    steps = {saving: _steps(events) for saving, events in runs.items()}
    assert any(step.is_guided for step in steps[None])
    for saving, events in runs.items():
        apart = np.abs(events[-1].image.astype(int) - runs[None][-1].image)
        assert apart.max() <= A_ROUNDING  # sums differ in order where copies are aligned otherwise
        for step, plain in zip(steps[saving], steps[None], strict=True):
            assert step.pos_after == pytest.approx(plain.pos_after, abs=1e-5)


def _steps(events):
    return [event for event in events if isinstance(event, StepEvent)]
