"""Settings of a picture are loaded field by field, where the form has such a field."""

from dataclasses import replace

import pytest

from spatialstudio.application.run.choose_settings import request_of
from spatialstudio.application.storage.picture_settings import tell_form, usable_fields, with_fields
from spatialstudio.domain.generation import PlaceTarget, SamplingSettings
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.run_settings import Draft, RunSettings, SketchedPlaces, with_values
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS

EULER = "EulerDiscreteScheduler"
FORM = RunSettings(
    model_id="dreams",
    width=64,
    height=64,
    sampling=SamplingSettings(steps=10, seed=1),
)
TOLD = PictureSettings(
    dialect="a1111",
    prompt="a cat",
    seed=7,
    steps=20,
    width=128,
    height=256,
    model="stickers",
    strength=2.5,
)


def test_only_the_selected_fields_are_loaded():
    taken = with_fields(FORM, TOLD, {"seed", "height"})
    assert (taken.sampling.seed, taken.height) == (7, 256)
    assert (taken.sampling.steps, taken.width, taken.model_id) == (10, 64, "dreams")


def test_the_model_is_loaded_before_its_settings():
    taken = with_fields(FORM, TOLD, {"model", "steps", "strength"}, STICKERS)
    assert (taken.model_id, taken.sampling.steps, taken.sampling.guidance.strength) == (
        "stickers",
        20,
        2.5,
    )


def test_compatible_values_are_accepted():
    told = usable_fields(TOLD, ["stickers"])
    assert set(told) == {"prompt", "seed", "steps", "width", "height", "model", "strength"}


def test_sampler_and_search_settings_can_be_loaded():
    searching = with_values(FORM, candidates=8, scheduler_id="DDIMScheduler")
    request = request_of(scene_of(), STICKERS, with_values(FORM, scheduler_id=EULER), 4)
    theirs = replace(TOLD, sampler=EULER)
    assert {"sampler", "search"} <= set(usable_fields(theirs, ["stickers"], request))
    taken = with_fields(searching, theirs, {"sampler", "search"}, request=request)
    assert taken == with_values(FORM, scheduler_id=EULER)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"width": 130}, "width"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**70}, "seed"),
        ({"steps": 0}, "steps"),
        ({"model": "unknown"}, "model"),
        ({"prompt": " "}, "prompt"),
        ({"strength": None}, "strength"),
    ],
    ids=str,
)
def test_incompatible_values_are_only_listed(changes, name):
    assert name not in usable_fields(replace(TOLD, **changes), ["stickers"])


def test_the_places_of_the_form_name_their_objects():
    places = SketchedPlaces(targets=(PlaceTarget(mention_id="m1", x=0.3, y=0.5),))
    draft = Draft(prompt="a dog", model_id="stickers", settings=FORM, places=places)
    assert "places dog at 0.3, 0.5" in tell_form(draft, scene_of(), [STICKERS]).guidance
