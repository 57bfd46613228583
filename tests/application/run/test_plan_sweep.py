"""A sweep: typed text becomes values, and values become requests."""

from functools import partial

import pytest

from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.application.run.choose_settings import request_of
from spatialstudio.application.run.plan_sweep import (
    plan_of,
    read_axis,
    settings_at,
    suggested_values,
    sweep_fields,
    sweep_requests,
)
from spatialstudio.domain.derived_requests import unguided
from spatialstudio.domain.errors import RequestError, SettingsError
from spatialstudio.domain.generation import PlaceTarget, RequestId
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.domain.run_settings import SketchedPlaces
from spatialstudio.domain.sweep import (
    SweepAxis,
    SweepCell,
    SweepField,
    SweepPoint,
)
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS

STRENGTHS = SweepAxis(field=SweepField.STRENGTH, values=(0.0, 2.5))
SEEDS = SweepAxis(field=SweepField.SEED, values=(3, 4, 5))


@pytest.fixture
def requests_with():
    """Return the requests of a plan over the sticker model's own settings."""

    def make(plan, places=None):
        ask = partial(request_of, scene_of("a cat left of a dog"), STICKERS, places=places)
        settings = usual_settings(STICKERS)
        return sweep_requests(
            plan, settings, STICKERS, lambda each: (ask(each, seed=each.sampling.seed),)
        )

    return make


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0, 5, 10", (0, 5, 10)),
        ("0.5;1.5", (0.5, 1.5)),
        ("0 to 20 by 5", (0, 5, 10, 15, 20)),
        ("0..1/0.25", (0, 0.25, 0.5, 0.75, 1)),
        ("1-4", (1, 2, 3, 4)),
        ("3 to 1", (3, 2, 1)),
        ("0 to 1 by 0.4", (0, 0.4, 0.8)),
        ("1 to 3, 2, 7", (1, 2, 3, 7)),
        ("0 to 0.3 by 0.1", (0, 0.1, 0.2, 0.3)),
    ],
)
def test_values_are_parsed_as_typed(text, values):
    assert read_axis(SweepField.STRENGTH, text).values == pytest.approx(values)


@pytest.mark.parametrize(
    "text", ["", " , ", "many", "1 to", "0 to 3 by 0", "-2", "nan", "1 to 1000000"]
)
def test_an_invalid_value_is_rejected(text):
    with pytest.raises(SettingsError):
        read_axis(SweepField.STRENGTH, text)


def test_an_integer_field_rejects_fractions():
    with pytest.raises(SettingsError, match="whole"):
        read_axis(SweepField.STEPS, "4, 4.5")


def test_a_field_cannot_be_on_both_axes():
    with pytest.raises(SettingsError, match="both axes"):
        plan_of(SEEDS, SEEDS)


def test_a_sweep_has_a_limit():
    many = SweepAxis(field=SweepField.SEED, values=tuple(range(201)))
    with pytest.raises(SettingsError, match="402"):
        plan_of(many, STRENGTHS)


def test_pictures_are_requested_by_row_with_their_position(requests_with):
    requests = requests_with(plan_of(SEEDS, STRENGTHS))
    assert [request.sampling.seed for request in requests] == [3, 4, 5, 3, 4, 5]
    assert [request.sampling.guidance.strength for request in requests] == [0, 0, 0, 2.5, 2.5, 2.5]
    assert len({request.sweep.sweep_id for request in requests}) == 1
    assert requests[-1].sweep.column == SweepPoint(field=SweepField.SEED, value=5)
    assert requests[-1].sweep.row == SweepPoint(field=SweepField.STRENGTH, value=2.5)


def test_two_sweeps_have_different_ids(requests_with):
    first, second = requests_with(plan_of(SEEDS)), requests_with(plan_of(SEEDS))
    assert first[0].sweep.sweep_id != second[0].sweep.sweep_id


@pytest.mark.parametrize(
    ("field", "value", "read"),
    [
        (SweepField.STEPS, 6, lambda request: request.sampling.steps),
        (SweepField.WIDTH, 192, lambda request: request.width),
        (SweepField.HEIGHT, 64, lambda request: request.height),
        (SweepField.GUIDANCE_SCALE, 2.5, lambda request: request.guidance_scale),
        (SweepField.DECAY, 0.75, lambda request: request.sampling.guidance.decay),
        (SweepField.GUIDED_STEPS, 3, lambda request: request.sampling.guidance.last_step + 1),
        (SweepField.EVERY, 2, lambda request: request.sampling.guidance.every),
        (SweepField.INNER_UPDATES, 4, lambda request: request.sampling.guidance.inner_updates),
        (SweepField.GOAL, 0.75, lambda request: request.sampling.guidance.goal),
        (SweepField.PARTICLES, 4, lambda request: request.steering.particles),
    ],
    ids=lambda value: getattr(value, "id", ""),
)
def test_each_field_reaches_the_request(requests_with, field, value, read):
    (request,) = requests_with(plan_of(SweepAxis(field=field, values=(value,))))
    assert read(request) == value


def test_a_value_out_of_range_is_rejected(requests_with):
    with pytest.raises(RequestError, match="width"):
        requests_with(plan_of(SweepAxis(field=SweepField.WIDTH, values=(128, 100))))


def test_a_baseline_belongs_to_no_sweep(requests_with):
    (request, *_) = requests_with(plan_of(SEEDS))
    assert unguided(request, RequestId("plain")).sweep is None


@pytest.mark.parametrize(
    ("point", "label"),
    [
        (SweepPoint(field=SweepField.SEED, value=4294967295.0), "4294967295"),
        (SweepPoint(field=SweepField.STRENGTH, value=2.5), "2.5"),
        (SweepPoint(field=SweepField.STRENGTH, value=10.0), "10"),
    ],
)
def test_values_have_short_labels(point, label):
    assert point.label == label


def test_a_run_setting_with_an_option_can_be_swept(monkeypatch):
    settings = usual_settings(STICKERS)
    device = Option(id="device", label="Card", help="Number", kind=OptionKind.INT, default=0)
    monkeypatch.setattr("spatialstudio.application.run.plan_sweep.SAMPLING_OPTIONS", (device,))
    (field,) = (each for each in sweep_fields(settings) if each.id == "device")
    cell = SweepCell(sweep_id="s", column=SweepPoint(field=field, value=2))
    assert settings_at(cell, settings, STICKERS).sampling.device == 2
    assert suggested_values(field, settings, STICKERS) == "0, 1"


WEIGHTS = SweepAxis(field=SweepField.TARGET_WEIGHT, values=(0.0, 0.5, 1.0))


def test_the_weight_of_the_sketched_places_is_swept(requests_with):
    places = SketchedPlaces(targets=(PlaceTarget(mention_id="m1", x=0.2, y=0.4),), weight=0.7)
    requests = requests_with(plan_of(WEIGHTS), places)
    assert [each.sampling.guidance.target_weight for each in requests] == [0, 0.5, 1]
    assert {each.sampling.guidance.targets for each in requests} == {places.targets}


def test_without_places_their_weight_cannot_be_swept(requests_with):
    with pytest.raises(SettingsError, match="no object has a place"):
        requests_with(plan_of(WEIGHTS))
