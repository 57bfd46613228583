"""The table that compares guidance with none counts what it says."""

import pytest

from tests.performance.compare_guidance import Row, conditional, table, unconditional, wilson


def rows(method, placed, found=8, count=10):
    """Make one picture a prompt: ``found`` have both objects, ``placed`` of these are right."""
    return [
        Row(
            prompt_id=f"p{number}",
            seed=0,
            method=method,
            both_found=number < found,
            placed=number < placed,
            outcome="PASS" if number < placed else "FAIL",
            pse=float(number < placed),
            seconds=2.0,
        )
        for number in range(count)
    ]


def test_missing_objects_count_against_the_unconditional_share_only():
    assert conditional(rows("psg", placed=4)) == 0.5
    assert unconditional(rows("psg", placed=4)) == 0.4


def test_the_wilson_interval_agrees_with_the_textbook():
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0.0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)


def test_the_table_shows_both_methods_and_their_difference():
    lines = list(table(rows("none", placed=4) + rows("psg", placed=8)))
    placed = next(line for line in lines if line.startswith("placed, among both found"))
    assert placed.split()[5:].count("50.0") == 2
    assert "100.0 [67.6, 100.0]" in placed
    assert lines[-1] == "PSG: 2.00 seconds a picture (mean)"


def test_pictures_that_are_alike_differ_by_nothing():
    lines = list(table(rows("none", placed=4) + rows("psg", placed=4)))
    assert [line.endswith("0.0 [0.0, 0.0]") for line in lines[2:8]] == [True] * 6
