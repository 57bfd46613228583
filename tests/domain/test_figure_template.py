"""Templates of figures, also from files of strangers."""

import json
from dataclasses import replace

import pytest

from spatialstudio.domain.attention import MapScale, Moment
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.figure_template import (
    TEMPLATES,
    TITLES,
    FigureTemplate,
    plain_template,
    template_of,
    template_schema,
)


def test_a_template_is_read_from_plain_values():
    plain = {
        "words": ["cat"],
        "steps": [2, 7],
        "scale": "0 to 1",
        "moment": "before the step's updates",
        "has_curves": False,
        "width": 5,
    }
    assert template_of(plain) == FigureTemplate(
        words=("cat",),
        steps=(2, 7),
        scale=MapScale.ABSOLUTE,
        moment=Moment.BEFORE,
        has_curves=False,
        width=5.0,
    )


def test_missing_fields_have_their_defaults():
    assert template_of({}) == FigureTemplate() == TEMPLATES["cvpr"]
    assert TITLES.keys() == TEMPLATES.keys()


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_survives_writing_and_reading(template):
    changed = replace(template, words=("cat", "dog"), layers=("up.1",), moment=Moment.BEFORE)
    assert template_of(json.loads(json.dumps(plain_template(changed)))) == changed


def test_the_schema_describes_every_field_of_a_written_template():
    properties = template_schema()["properties"]
    assert properties.keys() == plain_template(FigureTemplate()).keys()
    assert properties["scale"]["enum"] == [each.value for each in MapScale]
    assert properties["width"] == {
        "type": "number",
        "minimum": 1.5,
        "maximum": 12,
        "default": 3.25,
    }
    assert properties["steps"]["items"]["type"] == properties["dpi"]["type"] == "integer"


@pytest.mark.parametrize(
    "plain",
    [
        [],
        None,
        {"width": True},
        {"width": float("nan")},
        {"width": 1e308},
        {"width": "3.25"},
        {"steps": [0]},
        {"steps": [1.5]},
        {"steps": [True]},
        {"steps": list(range(1, 14))},
        {"words": ["x" * 10_000]},
        {"words": [" "]},
        {"words": "cat"},
        {"scale": "rainbow"},
        {"has_curves": 1},
        {"dpi": 10**12},
        {"type_size": 5},
        {"font": ""},
        {"layers": ["x"] * 1001},
        {"__class__": "x"},
    ],
    ids=str,
)
def test_an_invalid_template_is_rejected(plain):
    with pytest.raises(SettingsError):
        template_of(plain)


def test_an_invalid_value_is_rejected_in_code_too():
    with pytest.raises(SettingsError, match=r"between 1\.5 and 12"):
        replace(FigureTemplate(), width=0.5)
