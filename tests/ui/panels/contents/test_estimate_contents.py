import pytest

from spatialstudio.application.run_estimates import RunEstimate
from spatialstudio.ui.panels.contents.estimate_contents import (
    estimate_in_words,
    size_in_words,
    time_in_words,
)


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (
            RunEstimate(seconds=4.2, memory_bytes=310_000_000, guided_steps=(0, 7)),
            "About 4.2 s · 310 MB · guided steps 1 to 8",
        ),
        (
            RunEstimate(),
            "Time not known yet · at least 28 MB · not guided",
        ),
        (
            RunEstimate(seconds=4.2, memory_bytes=310_000_000, candidates=8),
            "About 4.2 s · 310 MB · not guided · best of 8",
        ),
        (
            RunEstimate(leaves_depth=True),
            "Time not known yet · at least 28 MB · not guided, as depth takes a search",
        ),
    ],
    ids=["all is known", "nothing is known", "search", "depth alone"],
)
def test_the_line_says_what_is_known(estimate, words):
    assert estimate_in_words(estimate, 28_000_000) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.01, "0.1 s"), (4.26, "4.3 s"), (18.4, "18 s"), (540, "9 min")]
)
def test_times_have_as_many_figures_as_are_meant(seconds, words):
    assert time_in_words(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"), [(999, "999 B"), (2_500_000, "2 MB"), (7_400_000_000, "7.4 GB")]
)
def test_sizes_have_a_unit_that_fits(count, words):
    assert size_in_words(count) == words
