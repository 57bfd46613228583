"""The table that compares guidance methods counts what it says, and can be gone on with."""

import pytest

from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from tests.performance.compare_methods import ABLATIONS, Row, line_of, read_rows, table


def row(method, number, *, placed):
    return Row(
        method=method,
        prompt_id=f"p{number}",
        seed=0,
        found=True,
        placed=placed,
        pse=float(placed),
        calls=30,
        final_pos=0.75,
        seconds=2.0,
    )


@pytest.fixture
def rows():
    return [
        row(method, number, placed=number < placed)
        for method, placed in (("none", 4), ("psg", 8))
        for number in range(10)
    ]


def test_variants_of_a_method_are_no_methods_of_the_studio():
    assert ABLATIONS
    assert not any(variant.id in GUIDANCE_METHODS for variant in ABLATIONS)


def test_the_table_lists_shares_with_their_intervals(rows):
    *_, none, guided = table(rows)
    name, pictures, found, placed, pse, last, calls, seconds = none.strip("| ").split(" | ")
    assert (name, pictures, calls, last, seconds) == ("none", "10", "30.0", "0.750", "2.00")
    assert found.startswith("100.0 [")
    assert placed == "40.0 [16.8, 68.7]"
    assert pse.startswith("40.0 [")
    assert "80.0 [49.0, 94.3]" in guided


def test_a_truncated_line_is_drawn_again(tmp_path, rows):
    path = tmp_path / "rows"
    assert read_rows(path) == []
    path.write_text("".join(map(line_of, rows)) + line_of(rows[0])[:20])
    assert read_rows(path) == rows
