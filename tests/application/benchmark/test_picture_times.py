"""Times of earlier benchmarks give estimates before the first picture."""

from dataclasses import replace

import pytest

from spatialstudio.application.benchmark.picture_times import (
    TIMES_FILE,
    expected_seconds,
    learn_times,
    read_times,
    with_times,
)
from spatialstudio.domain.benchmark_plan import PlanEstimate

UNKNOWN = PlanEstimate(
    prompts=6,
    pictures=36,
    unusable=0,
    seconds=None,
    disk_bytes=0,
    memory_bytes=None,
    free_bytes=1,
)


def test_a_benchmark_gives_the_time_of_the_next_one_with_equal_settings(bench, tmp_path):
    items = bench.items()
    assert with_times(UNKNOWN, items.opened, tmp_path).seconds is None

    bench.runner(items).run()
    learn_times(items, tmp_path)

    bench.write(seeds="7-8")
    later = bench.items("later").opened
    known = expected_seconds(later, read_times(tmp_path))
    assert known.keys() == {"plain", "psg"}
    assert all(seconds >= 0.5 for seconds in known.values())
    expected = sum(known[item.method.name] for item in later.drawable)
    assert with_times(UNKNOWN, later, tmp_path).seconds == pytest.approx(expected)
    assert with_times(replace(UNKNOWN, seconds=3.0), later, tmp_path).seconds == 3.0


def test_other_steps_have_no_time_and_a_damaged_file_counts_as_missing(bench, tmp_path):
    items = bench.items()
    bench.runner(items).run()
    learn_times(items, tmp_path)
    text = (bench.home / "plan.toml").read_text()
    (bench.home / "plan.toml").write_text(text.replace('"psg"\n', '"psg"\nsteps = 7\n', 1))

    assert "plain" in expected_seconds(bench.items("more").opened, read_times(tmp_path))
    (tmp_path / TIMES_FILE).write_text("[1")
    assert read_times(tmp_path) == {}


def test_a_damaged_item_is_not_measured(bench, tmp_path):
    items = bench.items()
    bench.runner(items).run()
    for item in items.opened.drawable:
        if item.method.name == "psg":
            items.store.add_item(item.key, {"picture": "runs/a.png"})

    learn_times(items, tmp_path)

    assert expected_seconds(items.opened, read_times(tmp_path)).keys() == {"plain"}


def test_a_prompt_without_guidance_does_not_determine_the_time_of_a_guided_method(bench, tmp_path):
    opened = bench.items().opened
    names = [item.method.name for item in opened.drawable if not item.request.scene.relations]

    assert "psg" in names
    assert opened.examples["psg"].sampling.guidance.is_on
    assert not opened.examples["plain"].sampling.guidance.is_on
