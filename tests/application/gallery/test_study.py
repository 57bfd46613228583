"""Which selected runs of the gallery are studied."""

from types import SimpleNamespace

import pytest

from spatialstudio.application.gallery.study import runs_to_study

SWEEP, OTHER = "5eeb", "0dd5"


def entry(name, sweep="", *, is_missing=False):
    cell = SimpleNamespace(sweep_id=sweep) if sweep else None
    summary = SimpleNamespace(sweep=cell)
    return SimpleNamespace(name=name, summary=summary, is_missing=is_missing)


RUNS = {
    "a": entry("a", SWEEP),
    "b": entry("b", SWEEP),
    "gone": entry("gone", SWEEP, is_missing=True),
    "other": entry("other", OTHER),
    "alone": entry("alone"),
}


class FakeLibrary:
    """Runs by id, which the filter of a sweep finds."""

    def entries(self, ids):
        return tuple(RUNS[each] for each in ids)

    def list(self, line):
        sweep = line.removeprefix("sweep:")
        return [
            name
            for name, each in RUNS.items()
            if each.summary.sweep and each.summary.sweep.sweep_id == sweep
        ]


@pytest.mark.parametrize(
    ("tiles", "members", "studied"),
    [
        (1, ["a"], ["a", "b"]),
        (1, ["a", "b"], ["a", "b"]),
        (2, ["a", "other"], ["a", "other"]),
        (2, ["a", "b"], ["a", "b"]),
        (1, ["a", "alone"], ["a", "alone"]),
        (1, ["alone"], ["alone"]),
        (1, ["gone"], ["a", "b"]),
        (0, [], []),
    ],
)
def test_a_single_tile_of_a_sweep_stands_for_the_whole_sweep(tiles, members, studied):
    found = runs_to_study(FakeLibrary(), tiles, members)
    assert [each.name for each in found] == studied
