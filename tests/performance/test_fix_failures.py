"""The order of remedies and the tables of Fix it count what they say."""

import tomllib

from spatialstudio.domain.fix import FixReason, Remedy
from tests.performance.fix_failures import (
    BEST,
    FIX,
    START,
    candidate_steps,
    fix_table,
    order_lines,
    remedy_table,
)

PASS, FAIL = "PASS", "FAIL"


def tried(number, remedy, other_noise, outcome):
    return {
        "id": f"far-{number}",
        "variant": f"{remedy}{other_noise}",
        "reason": "place",
        "remedy": remedy,
        "other_noise": other_noise,
        "outcome": outcome,
        "passes": 40,
    }


def place_rows(number, passing):
    """Return the rows of all remedies on one picture, of which those named pass."""
    return [
        tried(
            number,
            step.remedy.value,
            step.other_noise,
            PASS if (step.remedy, step.other_noise) in passing else FAIL,
        )
        for step in candidate_steps(FixReason.PLACE)
    ]


def test_the_next_remedy_repairs_most_of_what_earlier_ones_did_not():
    hold, sketch = (Remedy.HOLD, False), (Remedy.SKETCH, False)
    redraw, noise = (Remedy.REDRAW, True), (Remedy.NOISE, True)
    rows = [
        *place_rows(0, {hold, sketch}),
        *place_rows(1, {hold, sketch}),
        *place_rows(2, {hold}),
        *place_rows(3, {redraw, noise}),
    ]

    order = tomllib.loads("\n".join(order_lines(rows)))["place"]

    # sketch repairs more than redrawing, but nothing that hold does not repair
    assert [(each["remedy"], each["repaired"], each["tried"]) for each in order[:3]] == [
        ("hold", 3, 4),
        ("redraw", 1, 4),
        ("sketch", 2, 4),
    ]
    assert "noise" not in {each["remedy"] for each in order}, "it answers no wrong place"


def test_pictures_on_which_remedies_are_missing_do_not_count():
    rows = [*place_rows(0, set()), *place_rows(1, set())[:-1]]

    order = tomllib.loads("\n".join(order_lines(rows)))["place"]

    assert {each["tried"] for each in order} == {1}


def test_the_table_of_remedies_counts_what_passes():
    rows = [tried(n, "hold", False, PASS if n else FAIL) for n in range(4)]

    *_, line = remedy_table(rows)

    assert line.startswith("| place | holdFalse | 4 | 75.0 [")


def fixed(number, outcomes, best, second=FAIL):
    """Return the rows of one picture: start, attempts with these outcomes, and best-of-N."""
    base = {"id": f"far-{number}", "reason": "place"}
    attempts = [
        {"remedy": "hold", "other_noise": place > 0, "outcome": outcome, "passes": 40}
        for place, outcome in enumerate(outcomes)
    ]
    row = {"attempts": attempts, "outcome": outcomes[-1], "is_worse": False}
    return [
        {**base, "variant": START, "outcome": FAIL, "second": [FAIL]},
        {**base, **row, "variant": FIX, "passes": 40 * len(outcomes), "second": [second]},
        {**base, "variant": BEST, "attempts": [{}], "outcome": best, "second": [FAIL]},
    ]


def test_the_table_of_fixes_counts_pictures_and_repairs():
    rows = [*fixed(0, [FAIL, PASS], FAIL, PASS), *fixed(1, [PASS], PASS), *fixed(2, [FAIL], FAIL)]
    rows.append({"id": "far-3", "variant": START, "outcome": PASS})

    lines = [*fix_table(rows)]

    assert lines[0] == "4 starts, of which 3 do not pass; 3 were fixed."
    (line,) = (each for each in lines if each.startswith("| all |"))
    _, pictures, repaired, cost, passes, worse, best, others = line.strip("| ").split(" | ")
    assert (pictures, repaired[:4], cost, passes) == ("3", "66.7", "1.33", "53")
    assert (worse, best[:4], others) == ("0", "33.3", "1.00")
    assert "Repaired by: hold + noise 1, hold 1" in lines
    assert lines[-1] == "By the second verifier, of 3: 1 better, 0 worse than the start."
