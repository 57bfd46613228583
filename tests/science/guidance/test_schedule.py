import pytest

from spatialstudio.domain.generation import (
    GuidanceSettings,
    Refinement,
    StepUnit,
)
from spatialstudio.science.guidance.schedule import GuidanceSchedule


@pytest.fixture
def schedule():
    """The authors' setting: strength 20, 50 steps."""
    return GuidanceSchedule(GuidanceSettings(strength=20), total_steps=50)


@pytest.mark.parametrize(
    ("step", "length"),
    [(0, 20.0), (5, 19.5), (10, 19.0), (15, 18.4), (20, 17.8), (24, 17.4), (49, 14.1)],
)
def test_the_step_lengths_equal_the_authors_code(schedule, step, length):
    assert schedule.length(step) == pytest.approx(length, abs=0.05)


def test_half_of_the_squared_length_is_left_at_the_end(schedule):
    assert schedule.length(49) ** 2 == pytest.approx(schedule.length(0) ** 2 / 2)


@pytest.mark.parametrize(
    ("total_steps", "last_step"), [(50, 24), (16, 7), (25, 12), (2, 0), (1, 0)]
)
def test_the_first_half_is_guided_by_default(total_steps, last_step):
    assert GuidanceSchedule(GuidanceSettings(), total_steps).last_step == last_step


@pytest.mark.parametrize(("step", "is_guided"), [(1, False), (2, True), (5, True), (6, False)])
def test_the_guided_window_includes_both_ends(step, is_guided):
    settings = GuidanceSettings(first_step=2, last_step=5)
    assert GuidanceSchedule(settings, total_steps=10).guides(step) is is_guided


def test_every_second_step_of_the_window_can_be_left_out():
    schedule = GuidanceSchedule(GuidanceSettings(first_step=1, last_step=5, every=2), 10)
    assert [step for step in range(10) if schedule.guides(step)] == [1, 3, 5]


def test_a_strength_in_units_of_sigma_means_the_same_for_every_sampler():
    settings = GuidanceSettings(strength=20_000, unit=StepUnit.SIGMA)
    assert GuidanceSchedule(settings, 50).length(0, signal=0.01) == pytest.approx(200)


def test_a_refinement_states_its_target_loss():
    refinements = (Refinement(step=10, presence=0.8),)
    schedule = GuidanceSchedule(GuidanceSettings(refinements=refinements), 50)
    assert schedule.refined_loss(10) == pytest.approx(0.2)
    assert schedule.refined_loss(11) is None


def test_a_single_step_has_full_length():
    assert GuidanceSchedule(GuidanceSettings(strength=3), total_steps=1).length(0) == 3


@pytest.mark.parametrize(
    ("step", "sigma", "length"), [(0, 13.12, 115), (4, 8.39, 274), (9, 5.13, 697)]
)
def test_the_authors_sdxl_steps_are_reproduced_in_vp_units(step, sigma, length):
    settings = GuidanceSettings(strength=20_000 / (sigma**2 + 1))
    vp_length = GuidanceSchedule(settings, total_steps=50).length(step)
    assert vp_length == pytest.approx(length, rel=0.01)
