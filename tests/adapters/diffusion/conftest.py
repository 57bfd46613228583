from functools import cache

import pytest
import torch

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.load_pipeline import load_pipeline
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationRequest,
    ModelRef,
    RequestId,
    SamplingSettings,
)
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.drawn_families import SCENE, SILENT, STEPS, Drawn, card_of
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES, save_tiny_family
from tests.adapters.diffusion.tiny_pipeline import save_tiny_pipeline, tiny_unet
from tests.fakes import scene_of


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny"
    save_tiny_pipeline(folder)
    return card_of(folder)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    """Return the folder of a family, written once; tests that change it copy it."""

    @cache
    def write(pipeline_class):
        folder = tmp_path_factory.mktemp("families") / "tiny"
        (tiny,) = (each for each in TINY_FAMILIES if each.pipeline_class == pipeline_class)
        save_tiny_family(tiny, folder)
        return folder

    return write


@pytest.fixture(scope="session")
def loaded(tiny_model):
    return load_pipeline(tiny_model, torch.device("cpu"))


@pytest.fixture(scope="session")
def backend(tmp_path_factory):
    return DiffusersBackend(tmp_path_factory.mktemp("archives"))


@pytest.fixture(scope="session")
def unet():
    torch.manual_seed(0)
    return tiny_unet().eval().requires_grad_(False)


@pytest.fixture
def tiny_request():
    return GenerationRequest(
        id=RequestId("run"),
        scene=scene_of("dog", "car"),
        backend_id="diffusers",
        model=ModelRef(id="tiny"),
        sampling=SamplingSettings(seed=7, steps=4),
        capture=CaptureSettings(attention_every=1, preview_every=0),
    )


@pytest.fixture
def make_card():
    return card_of


@pytest.fixture(scope="module", params=TINY_FAMILIES, ids=lambda tiny: tiny.pipeline_class)
def family(request, tiny_folder, tmp_path_factory, make_request):
    folder = tiny_folder(request.param.pipeline_class)
    drawn = Drawn(request.param, folder, tmp_path_factory.mktemp("archives"))
    drawn.draw(make_request(drawn.tiny.size))  # loads the model
    return drawn


@pytest.fixture(scope="module")
def make_request():
    def make(size, scene=SCENE, **changes):
        height, width = size
        plain = GenerationRequest(
            id=RequestId("run"),
            scene=scene,
            backend_id="diffusers",
            model=ModelRef(id="tiny"),
            sampling=SamplingSettings(seed=7, steps=STEPS),
            height=height,
            width=width,
            capture=SILENT,
        )
        return with_values(plain, **changes)

    return make


@pytest.fixture(scope="module")
def samplers_model(tiny_folder, tmp_path_factory):
    """Return a family by its pipeline class, loaded by its first run."""
    made = {}

    def get(name):
        if name not in made:
            tiny = next(tiny for tiny in TINY_FAMILIES if tiny.pipeline_class == name)
            made[name] = Drawn(tiny, tiny_folder(name), tmp_path_factory.mktemp("archives"))
        return made[name]

    return get
