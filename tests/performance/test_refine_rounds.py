"""The tables of Evaluate-and-Refine count what they say."""

from tests.performance.refine_rounds import by_assertions, by_checker, by_round


def row(number, variant, rounds, outcome="FAIL", asserted=3):
    return {
        "id": f"pairs-{number}",
        "variant": variant,
        "asserted": asserted,
        "rounds": rounds,
        "passes": 20 * len(rounds),
        "outcomes": [outcome],
        "second": ["FAIL"],
    }


ROWS = [
    row(0, "refine", [0.2, 0.6, 0.4], "PASS"),
    row(1, "refine", [0.4, None], asserted=5),
    row(0, "best", [0.2, 0.3]),
    row(1, "best", [0.4, 0.8], "PASS", asserted=5),
]


def cells(lines, name):
    (line,) = (each for each in lines if each.startswith(f"| {name} |"))
    return [cell.split(" [")[0] for cell in line.strip("| ").split(" | ")][1:]


def test_the_best_round_counts_by_number_of_assertions():
    lines = [*by_assertions(ROWS)]

    assert cells(lines, "round 1") == ["20.0", "40.0", "30.0"]
    assert cells(lines, "refine") == ["60.0", "40.0", "50.0"]
    assert cells(lines, "best") == ["30.0", "80.0", "55.0"]


def test_rounds_keep_the_best_so_far():
    assert cells(by_round(ROWS), "refine") == ["30.0", "50.0", "50.0", "50.0", "50.0", "2.5"]


def test_the_checker_counts_passes_and_differences():
    lines = [*by_checker(ROWS)]

    assert cells(lines, "refine") == ["2", "50.0", "0.0", "0.0", "50"]
    assert cells(lines, "best")[:2] == ["2", "50.0"]
