"""The table that compares guidance with none counts what it says."""

from argparse import Namespace

import pytest

from spatialstudio.domain.generation import (
    PSG,
    GuidanceSettings,
)
from tests.performance.compare_guidance import MEASURES, Row, change_of, prompts_of, table

FOUND, PLACED_OF_FOUND, PLACED_OF_ALL = MEASURES[:3]


def rows(method, placed, found=8, count=10):
    """Make one picture a prompt: ``found`` have all objects, ``placed`` of these are right."""
    return [
        Row(
            prompt_id=f"p{number}",
            seed=0,
            method=method,
            all_found=number < found,
            placed=number < placed,
            outcome="PASS" if number < placed else "FAIL",
            pse=float(number < placed),
            seconds=2.0,
        )
        for number in range(count)
    ]


@pytest.fixture
def lines():
    return list(table(rows("none", placed=4) + rows("psg", placed=8)))


def test_missing_objects_count_against_the_unconditional_share_only():
    assert PLACED_OF_FOUND.sums(rows("psg", placed=4)) == (4, 8)
    assert PLACED_OF_ALL.sums(rows("psg", placed=4)) == (4, 10)


def test_the_table_shows_both_methods_and_their_difference(lines):
    placed = next(line for line in lines if line.startswith("placed, among all found"))
    assert placed.split()[5:].count("50.0") == 2
    assert "100.0 [67.6, 100.0]" in placed
    assert lines[-1] == "PSG: 2.00 seconds a picture (median)"


def test_the_table_states_the_ratio_of_guided_to_unguided_pictures(lines):
    (quotient,) = (line for line in lines if "PSG over none" in line)
    assert "200.0 [" in quotient


def test_equal_pictures_have_zero_difference():
    lines = list(table(rows("none", placed=4) + rows("psg", placed=4)))
    assert [line.endswith("0.0 [0.0, 0.0]") for line in lines[2:8]] == [True] * 6


@pytest.mark.parametrize("objects", [2, 3, 4])
def test_fewer_prompts_are_spread_over_all(objects):
    every = [prompt.id for prompt in prompts_of(objects, 200)]
    assert len(set(every)) == 200
    assert [prompt.id for prompt in prompts_of(objects, 50)] == every[::4]


@pytest.mark.parametrize(
    ("strength", "presence", "wanted"),
    [
        (None, None, GuidanceSettings(method_id=PSG, strength=20)),
        (5.0, None, GuidanceSettings(method_id=PSG, strength=5)),
        (
            None,
            0.3,
            GuidanceSettings(
                method_id="psg-presence", strength=20, options={"presence_weight": 0.3}
            ),
        ),
    ],
)
def test_options_change_the_recommended_guidance(strength, presence, wanted):
    change = change_of(Namespace(strength=strength, presence=presence))
    assert change(GuidanceSettings(method_id=PSG, strength=20)) == wanted
