import pytest

from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.application.run.estimates import RunEstimate, RunEstimates
from spatialstudio.domain.generation import LAYOUT, UNGUIDED
from spatialstudio.ui.run.presenters import (
    estimate_in_words,
    estimate_now,
    kept_in_words,
    time_in_words,
)


class Estimates(RunEstimates):
    """Remembers what was asked."""

    def estimate(self, requests):
        self.asked = requests
        return super().estimate(requests)


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (
            RunEstimate(seconds=4.2, memory_bytes=310_000_000, guided_steps=(0, 7)),
            "About 4.2 s · 310 MB · guided steps 1 to 8",
        ),
        (
            RunEstimate(),
            "Time not yet known · at least 28 MB · guidance off",
        ),
        (
            RunEstimate(seconds=4.2, memory_bytes=310_000_000, candidates=8),
            "About 4.2 s · 310 MB · guidance off · best of 8",
        ),
        (
            RunEstimate(leaves_depth=True),
            "Time not yet known · at least 28 MB · guidance off: depth relations need "
            "particles or noise search",
        ),
        (
            RunEstimate(seconds=4.2, memory_bytes=310_000_000, particles=12),
            "About 4.2 s · 310 MB · steered with 12 particles",
        ),
    ],
    ids=["all is known", "nothing is known", "search", "depth alone", "steering"],
)
def test_the_line_says_what_is_known(estimate, words):
    assert estimate_in_words(estimate, 28_000_000) == words


@pytest.mark.parametrize(
    ("total", "each", "ends"),
    [
        (2, 2, "About 2.1 GB on disk."),
        (12, 4, "the oldest runs will lose their layers."),
        (20, 20, "all earlier runs will lose their layers."),
        (40, 20, "all earlier runs will lose their layers."),
    ],
)
def test_layers_that_exceed_the_cache_are_announced(total, each, ends):
    estimate = RunEstimate(disk_bytes=total * 1024**3, run_disk_bytes=each * 1024**3)
    assert kept_in_words(estimate).endswith(ends)


@pytest.mark.parametrize(
    ("prompt", "methods"),
    [("a dog to the left of a car", [LAYOUT, UNGUIDED]), ("a dog", [UNGUIDED])],
    ids=["guided", "nothing to guide"],
)
def test_the_baseline_counts_where_one_is_drawn(studio, prompt, methods):
    studio.estimates = Estimates(studio.queue.request, lambda request: None)
    studio.use_prompt(prompt)
    estimate_now(studio, usual_settings(studio.model()))
    assert [request.sampling.guidance.method_id for request in studio.estimates.asked] == methods


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.01, "0.1 s"), (4.26, "4.3 s"), (18.4, "18 s"), (540, "9 min")]
)
def test_times_have_as_many_figures_as_are_meant(seconds, words):
    assert time_in_words(seconds) == words
