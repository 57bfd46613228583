import pytest
import torch

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.diffusion.invalid_numbers import refuse_invalid, what_may_help
from spatialstudio.domain.errors import BackendError
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.run_settings import with_values
from tests.fakes import events_of

STRONG = GuidanceSettings(method_id="psg", strength=500.0, last_step=0)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_a_single_value_that_is_no_number_is_refused(bad):
    values = torch.ones(2, 3)
    values[1, 2] = bad
    with pytest.raises(BackendError, match="invalid numbers"):
        refuse_invalid(values)


def test_infinities_that_cancel_out_are_refused():
    with pytest.raises(BackendError):
        refuse_invalid(torch.tensor([torch.inf, -torch.inf]))


def test_numbers_whose_sum_is_none_are_accepted():
    values = torch.full((4,), 60_000, dtype=torch.float16)
    assert values.sum().isinf()
    refuse_invalid(values)


@pytest.mark.parametrize(
    ("was_moved", "dtype", "scale", "told", "untold"),
    [
        (True, torch.float32, 1.0, ["strength"], ["float", "scale"]),
        (True, torch.float16, 7.5, ["strength", "bfloat16", "scale"], ["sampler"]),
        (False, torch.float16, 1.0, ["bfloat16"], ["strength", "scale"]),
        (False, torch.bfloat16, 7.5, ["CFG scale"], ["strength", "float"]),
        (False, torch.float32, 1.0, ["sampler", "install"], ["strength", "float", "scale"]),
    ],
)
def test_the_advice_fits_the_run(was_moved, dtype, scale, told, untold):
    advice = what_may_help(was_moved=was_moved, dtype=dtype, guidance_scale=scale)
    assert all(word in advice for word in told)
    assert not any(word in advice for word in untold)
    assert advice[0].isupper()
    assert advice.endswith(".")


@pytest.fixture(scope="module")
def in_half_precision(tmp_path_factory):
    """A backend that loads the model for this file alone."""
    return DiffusersBackend(tmp_path_factory.mktemp("archives"))


@pytest.mark.parametrize("guidance", [GuidanceSettings(), STRONG], ids=["plain", "guided"])
@pytest.mark.parametrize("part", ["unet", "vae", "text_encoder"])
def test_numbers_that_no_guidance_made_invalid_are_not_laid_to_it(
    in_half_precision, tiny_model, tiny_request, guidance, part
):
    backend = in_half_precision
    request = with_values(tiny_request, dtype="float16", guidance=guidance, steps=1)
    assert events_of(backend, request, tiny_model)[-1].setup.dtype == "float16"
    module = getattr(backend._loaded.pipeline, part)
    valid = {name: weights.clone() for name, weights in module.state_dict().items()}
    with torch.no_grad():
        for weights in module.parameters():
            weights.fill_(torch.nan)
    with pytest.raises(BackendError, match="invalid numbers") as told:
        events_of(backend, request, tiny_model)
    module.load_state_dict(valid)
    was_moved = part == "vae" and guidance is STRONG
    assert type(told.value) is BackendError
    assert "bfloat16" in told.value.hint
    assert ("strength" in told.value.hint) is was_moved
