"""The same on a device with its own memory; skipped where there is none."""

from dataclasses import replace

import pytest
import torch

from spatialstudio.adapters.device import (
    available_memory_bytes,
    free_memory,
    pick_device,
)
from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import OutOfMemory
from spatialstudio.domain.generation import CaptureSettings, GuidanceSettings
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES, save_tiny_family
from tests.fakes import events_of

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(pick_device().type == "cpu", reason="no accelerator at hand"),
]

STRONG = GuidanceSettings(method_id="psg", strength=2000.0, last_step=1)
EVERYTHING = CaptureSettings(detail=AttentionDetail.EVERYTHING)


@pytest.fixture(scope="module", params=TINY_FAMILIES, ids=lambda tiny: tiny.pipeline_class)
def family(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("families") / "tiny"
    save_tiny_family(request.param, folder)
    return request.param, read_card(folder)


@pytest.fixture
def own_backend(tmp_path):
    return DiffusersBackend(tmp_path)


def asked(tiny_request, tiny, **changes):
    height, width = tiny.wide
    return with_values(tiny_request, height=height, width=width, steps=2, **changes)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_guidance_raises_pos_in_every_number_format(own_backend, family, tiny_request, dtype):
    tiny, card = family
    card = replace(card, dtype=dtype)
    free = events_of(own_backend, asked(tiny_request, tiny), card)
    request = asked(tiny_request, tiny, guidance=STRONG, capture=EVERYTHING)
    guided = events_of(own_backend, request, card)
    assert guided[0].device.startswith(("cuda", "mps"))
    assert {weights.dtype.name for weights in guided[1].attention.maps.values()} == {"float32"}
    assert guided[-2].pos["r1"] > free[-2].pos["r1"]


@pytest.mark.parametrize(
    "saving", [Saving.OFFLOAD, Saving.OFFLOAD_LAYERS, Saving.TILING, Saving.PROCESSOR]
)
def test_every_saving_draws(own_backend, family, tiny_request, saving):
    tiny, card = family
    request = asked(tiny_request, tiny, guidance=STRONG, savings=(saving,))
    *_, finished = events_of(own_backend, request, card)
    assert finished.image.shape[:2] == tiny.wide


def test_memory_that_ran_out_is_given_back(own_backend, tmp_path, tiny_request):
    tiny = TINY_FAMILIES[0]
    save_tiny_family(tiny, tmp_path / "tiny")
    card = read_card(tmp_path / "tiny")
    events_of(own_backend, asked(tiny_request, tiny), card)
    device = pick_device()
    free_memory(device)
    before = available_memory_bytes(device)
    held = []

    def fill(*_):
        held.append(torch.empty(2**62, dtype=torch.uint8, device=device))

    hook = own_backend._loaded.denoiser.register_forward_pre_hook(fill)
    with pytest.raises(OutOfMemory) as told:
        events_of(own_backend, asked(tiny_request, tiny), card)
    hook.remove()
    assert told.value.hint
    assert available_memory_bytes(device) >= before - 2**24
    *_, finished = events_of(own_backend, asked(tiny_request, tiny), card)
    assert finished.peak_memory_bytes > 0
