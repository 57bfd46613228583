import pytest

from spatialstudio.domain.samplers import (
    SAMPLERS,
    alternative_samplers,
    sampler_named,
    sampler_title,
)


@pytest.mark.parametrize("own", SAMPLERS)
def test_samplers_of_one_kind_are_interchangeable_with_the_default_first(own):
    names = alternative_samplers(own)
    assert names[0] == own
    assert sorted(names) == sorted(SAMPLERS)


def test_heun_is_not_offered_if_the_first_step_is_too_large():
    names = alternative_samplers("DDPMScheduler", begins_in_noise=True)
    assert set(SAMPLERS) - set(names) == {"HeunDiscreteScheduler"}


def test_a_sampler_of_another_kind_has_no_alternatives():
    assert alternative_samplers("FlowMatchEulerDiscreteScheduler") == (
        "FlowMatchEulerDiscreteScheduler",
    )
    assert alternative_samplers("") == ()


@pytest.mark.parametrize("name", SAMPLERS)
def test_both_names_find_the_sampler(name):
    assert sampler_named(sampler_title(name).upper()) == name
    assert sampler_named(name) == name


def test_an_unknown_name_is_unchanged():
    assert sampler_named("LCMScheduler") == "LCMScheduler"
    assert sampler_title("LCMScheduler") == "LCM"
