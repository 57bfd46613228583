"""Options of registered parts."""

import pytest

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.options import Option, OptionKind


def option(kind: OptionKind, default: object, **more: object) -> Option:
    return Option(id="margin", label="Margin", help="How far.", kind=kind, default=default, **more)


SHARE = option(OptionKind.FLOAT, 0.5, minimum=0, maximum=1, step=0.1)
COUNT = option(OptionKind.INT, 2, minimum=1)
SWITCH = option(OptionKind.BOOL, False)
FORM = option(OptionKind.CHOICE, "code", choices=("code", "paper"))


@pytest.mark.parametrize(
    ("asked", "value", "expected"),
    [
        pytest.param(SHARE, 1, 1.0, id="a whole number becomes a float"),
        pytest.param(SHARE, 0.25, 0.25, id="a float stays"),
        pytest.param(COUNT, 3.0, 3, id="a whole float becomes an int"),
        pytest.param(SWITCH, True, True, id="a switch"),
        pytest.param(FORM, "paper", "paper", id="a choice"),
    ],
)
def test_a_value_in_range_is_returned_in_the_options_type(
    asked: Option, value: object, expected: object
) -> None:
    checked = asked.check(value)
    assert (checked, type(checked)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("asked", "value", "hint"),
    [
        pytest.param(SHARE, 1.5, "Choose a number from 0 to 1.", id="above"),
        pytest.param(SHARE, -0.1, "Choose a number from 0 to 1.", id="below"),
        pytest.param(SHARE, float("nan"), "Choose a number from 0 to 1.", id="not a number"),
        pytest.param(SHARE, True, "Choose a number from 0 to 1.", id="a switch for a number"),
        pytest.param(COUNT, 1.5, "Choose a whole number, 1 or more.", id="a fraction of a count"),
        pytest.param(SWITCH, 1, "Choose true or false.", id="a number for a switch"),
        pytest.param(FORM, "other", "Choose one of code, paper.", id="no such choice"),
    ],
)
def test_a_value_out_of_range_is_rejected_with_the_range(
    asked: Option, value: object, hint: str
) -> None:
    with pytest.raises(RequestError, match="Margin cannot be") as caught:
        asked.check(value)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("asked", "text", "expected"),
    [
        pytest.param(SHARE, " 0.5 ", 0.5, id="float"),
        pytest.param(COUNT, "3", 3, id="int"),
        pytest.param(SWITCH, "True", True, id="true"),
        pytest.param(SWITCH, "off", False, id="off"),
        pytest.param(FORM, "code", "code", id="choice"),
    ],
)
def test_typed_values_are_parsed(asked: Option, text: str, expected: object) -> None:
    assert asked.parse(text) == expected


@pytest.mark.parametrize(
    ("asked", "text"),
    [(SHARE, "much"), (SHARE, "inf"), (COUNT, "1.5"), (SWITCH, "maybe"), (FORM, "")],
)
def test_typed_text_that_is_not_a_value_is_rejected(asked: Option, text: str) -> None:
    with pytest.raises(RequestError, match="Margin cannot be"):
        asked.parse(text)


def test_a_missing_value_is_the_default() -> None:
    assert SHARE.value_in({}) == 0.5
    assert SHARE.value_in({"margin": 0.75}) == 0.75


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"kind": OptionKind.FLOAT, "default": 2, "maximum": 1}, id="default too high"),
        pytest.param({"kind": OptionKind.CHOICE, "default": "code"}, id="no choices"),
        pytest.param({"kind": OptionKind.BOOL, "default": True, "choices": ("a",)}, id="choices"),
    ],
)
def test_a_contradictory_option_cannot_be_made(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="margin"):
        option(**settings)
