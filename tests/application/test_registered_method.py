"""A guidance loss that a package registers is offered, drawn with, swept and stored."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.metadata.reader import settings_in
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.application.run.choose_settings import request_of, with_method
from spatialstudio.application.run.plan_sweep import (
    plan_of,
    read_axis,
    suggested_values,
    sweep_fields,
    sweep_requests,
)
from spatialstudio.application.studio import Studio
from spatialstudio.cli.commands import run
from spatialstudio.domain.errors import PluginError, RequestError
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.domain.run_settings import Preset
from spatialstudio.science.guidance.method import ANY_FAMILY, GuidanceMethod
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS

PROMPT = "a dog to the left of a car"

MARGIN = Option(
    id="margin",
    label="Margin",
    help="How far apart the centroids shall be.",
    kind=OptionKind.FLOAT,
    default=0.25,
    minimum=-1,
    maximum=1,
)


class MarginLoss:
    """The horizontal centroids of the mentions are a margin apart."""

    reads_whole_text = False

    def __init__(self, margin):
        self.margin = margin

    def __call__(self, relations, attention):
        import torch

        left, right = (self._centroid(each) for each in attention.loss_maps().values())
        return torch.relu(left - right + self.margin)

    def _centroid(self, weights):
        import torch

        places = torch.linspace(0, 1, weights.shape[-1])
        return (weights.sum(0) * places).sum() / weights.sum()


METHOD = GuidanceMethod(
    id="margin-of-test",
    label="Centroids with a margin",
    description="Moves centroids apart.",
    options=(MARGIN,),
    presets={Preset.RECOMMENDED: {ANY_FAMILY: GuidanceSettings(strength=20)}},
    make_loss=lambda settings: MarginLoss(float(MARGIN.value_in(settings.options))),
)


@pytest.fixture
def registered():
    GUIDANCE_METHODS.register(METHOD)
    yield METHOD
    GUIDANCE_METHODS.unregister(METHOD.id)


@pytest.fixture
def form(registered):
    return with_method(usual_settings(STICKERS), STICKERS, registered.id, Preset.RECOMMENDED)


def test_a_registered_method_is_listed_after_the_built_in_ones(registered):
    assert list(GUIDANCE_METHODS)[-1] is registered


def test_a_method_id_is_unique(registered):
    with pytest.raises(PluginError, match="registered twice"):
        GUIDANCE_METHODS.register(registered)


def test_choosing_the_method_sets_the_defaults_of_its_options(form):
    assert form.sampling.guidance == GuidanceSettings(
        method_id=METHOD.id, strength=20, options={"margin": 0.25}
    )


def test_the_terminal_uses_the_method_and_the_record_has_its_option(registered, tmp_path, capsys):
    words = ["generate", PROMPT, "--guidance", METHOD.id, "--steps", "2", "--json"]
    places = ["--width", "64", "--height", "64", "--out", str(tmp_path)]

    def draw(*more):
        code = run(
            [*words, *places, *more], lambda folder: Studio.open("inline", runs_folder=folder)
        )
        written = capsys.readouterr()
        assert code == 0, written.err
        record, _ = RunFiles().load(Path(json.loads(written.out)["picture"]))
        return record

    usual, far = draw(), draw("--option", "margin=0.75")
    losses = [each.trace[0].guidance_loss for each in (usual, far)]
    assert losses[1] - losses[0] == pytest.approx(0.5, abs=1e-5)
    assert usual.request.sampling.guidance.options == {"margin": 0.25}
    assert far.request.sampling.guidance.options == {"margin": 0.75}
    told = {settings_in(path.read_bytes()).guidance for path in tmp_path.glob("*.png")}
    assert told == {(), ("margin 0.75",)}


@pytest.mark.parametrize(
    ("typed", "told"),
    [("margin=2", "Margin cannot be 2"), ("margin=far", "Margin cannot be"), ("size=1", "size")],
)
def test_the_terminal_rejects_invalid_option_values(registered, tmp_path, capsys, typed, told):
    words = ["generate", PROMPT, "--guidance", METHOD.id, "--option", typed]
    code = run([*words, "--out", str(tmp_path)], lambda _: Studio.open("inline"))
    assert code != 0
    assert told in capsys.readouterr().err


def test_a_sweep_varies_the_option(form):
    field = next(each for each in sweep_fields(form) if each.id == "margin")
    axis = read_axis(field, "-0.5, 0.25 to 0.75 by 0.25")
    scene = scene_of("a cat left of a dog")
    asked = sweep_requests(
        plan_of(axis),
        form,
        STICKERS,
        lambda each: (request_of(scene, STICKERS, each, each.sampling.seed),),
    )
    margins = [each.sampling.guidance.options["margin"] for each in asked]
    assert margins == [-0.5, 0.25, 0.5, 0.75]
    assert {each.sweep.column.field.title for each in asked} == {"Margin"}
    assert suggested_values(field, form, STICKERS) == "-1, 0.25, 0.5"


def test_a_sweep_rejects_values_out_of_range(form):
    field = next(each for each in sweep_fields(form) if each.id == "margin")
    with pytest.raises(RequestError, match=r"Margin cannot be 1\.5"):
        sweep_requests(plan_of(read_axis(field, "1.5")), form, STICKERS, lambda _: ())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"presets": {}}, id="no recommendation"),
        pytest.param({"options": (MARGIN, MARGIN)}, id="two options of one id"),
        pytest.param({"options": (replace(MARGIN, id="seed"),)}, id="a setting of every run"),
        pytest.param(
            {
                "presets": {
                    Preset.RECOMMENDED: {ANY_FAMILY: GuidanceSettings(options={"margin": 9})}
                }
            },
            id="preset out of range",
        ),
    ],
)
def test_an_inconsistent_registration_is_rejected(change):
    with pytest.raises(ValueError, match=METHOD.id):
        replace(METHOD, **change)
