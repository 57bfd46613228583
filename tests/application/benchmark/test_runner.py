"""Runs of benchmarks: content, interruption, failures, pauses."""

import hashlib
import json
import multiprocessing
import platform
import random
from contextlib import suppress
from importlib import metadata
from threading import Event, Thread

import pytest

from spatialstudio.adapters.storage.records.spatialbench_uc import SpatialBenchRuns
from spatialstudio.application.benchmark import runner as runner_module
from spatialstudio.application.benchmark.export_report import full_report
from spatialstudio.application.benchmark.gather import write_results
from spatialstudio.application.benchmark.report import read_methods
from spatialstudio.application.benchmark.report_files import comparison_answer, report_lines
from spatialstudio.application.benchmark.runner import DRAIN, PAUSE, failures_of
from spatialstudio.application.evaluate.recorded_runs import judge_sample
from spatialstudio.domain.errors import Cancelled, StudioError, TargetExists
from spatialstudio.domain.resources import resources_folder
from tests.application.benchmark.conftest import PLAN, PROMPTS

KILLS = 50
ITEMS = len(PROMPTS) * 2 * 3 - 3
"""The prompt without a relation has no guidance: both methods share its pictures."""
LONGEST_LIFE_S = 0.4
HOUR_S = 3600


def records(items, method="plain", name="per_sample.jsonl"):
    return (items.store.results(method) / "eval" / name).read_bytes()


def undated(items, method, name):
    fields = json.loads(records(items, method, name))
    return {name: value for name, value in fields.items() if name != "timestamp_utc"}


def metrics(items, method="plain"):
    return undated(items, method, "metrics.json")


def provenance(items, method="plain"):
    return undated(items, method, "provenance.json")


def finished(bench, name="out", **changes):
    items = bench.items(name)
    bench.runner(items, **changes).run()
    write_results(items)
    return items


def test_every_prompt_is_drawn_by_every_method_with_every_seed(bench):
    items = finished(bench)

    lines = [json.loads(line) for line in records(items).splitlines()]
    manifest = (items.store.results("plain") / "manifest.jsonl").read_text().splitlines()
    assert len(bench.drawn()) == len(set(bench.drawn())) == ITEMS
    assert len(lines) == len(manifest) == 5 * 3  # one prompt states no relation
    assert lines[0]["sample_id"] == "plain_prompts_000000_seed0000"
    assert {line["verdict_raw"] for line in lines} == {"PASS", "FAIL", "UNDECIDABLE"}
    assert bench.reports[-1].done == bench.reports[-1].total == ITEMS


def test_results_are_run_folders_that_the_reader_of_the_release_judges_alike(bench):
    items = finished(bench)

    run = SpatialBenchRuns(resources_folder()).read(items.store.results("plain"))
    lines = [json.loads(line) for line in records(items).splitlines()]
    judged = [judge_sample(sample, run.settings) for sample in run.samples]
    assert [one.outcome.value for one in judged] == [line["verdict_raw"] for line in lines]
    assert [one.confidence for one in judged] == pytest.approx([line["conf"] for line in lines])


def test_missing_objects_are_named_as_in_the_prompt(bench):
    items = finished(bench)

    reasons = {json.loads(line)["verdict_reason"] for line in records(items).splitlines()}
    missing = {reason for reason in reasons if reason and reason.startswith("missing")}
    assert missing
    assert missing <= {f"missing: {name}" for name in ("dog", "cat", "car")}


def test_a_finished_benchmark_draws_nothing_again(bench):
    finished(bench)
    finished(bench)

    assert len(bench.drawn()) == ITEMS


def test_a_changed_plan_draws_only_its_new_items(bench):
    finished(bench)
    bench.write(seeds="0-3")

    with pytest.raises(TargetExists):
        bench.items()
    items = bench.items(overwrite=True)
    bench.runner(items).run()

    assert len(bench.drawn()) == len(set(bench.drawn())) == ITEMS * 4 // 3


def test_another_judge_set_judges_stored_pictures_without_drawing(bench):
    finished(bench)
    bench.write(plan=PLAN + '\n[[judges]]\nname = "cut"\ncut = 0.5\n')

    items = bench.items(overwrite=True)
    bench.runner(items).run()

    assert all(map(items.is_done, items.opened.drawable))
    assert len(bench.drawn()) == ITEMS


def run_to_the_end(bench, name):
    finished(bench, name)


def test_fifty_kills_change_no_record_and_redraw_at_most_the_item_in_flight(bench):
    whole = finished(bench, "whole")
    bench.notes.unlink()
    chance = random.Random(7)
    context = multiprocessing.get_context("fork")
    kills, rounds = 0, 0
    while kills < KILLS:
        name = f"killed-{rounds}"
        child = context.Process(target=run_to_the_end, args=(bench, name))
        child.start()
        child.join(chance.uniform(0, LONGEST_LIFE_S))
        if child.is_alive():
            child.kill()
            kills += 1
        else:
            rounds += 1  # it ended first: kill another benchmark
        child.join()
    killed = finished(bench, f"killed-{rounds}")

    drawn = bench.drawn()
    assert records(killed) == records(whole)
    assert records(killed, "psg") == records(whole, "psg")
    assert metrics(killed) == metrics(whole)
    assert len(drawn) <= ITEMS * (rounds + 1) + kills


def report_on(items):
    """Return every figure of the report but times, by method, group, name and figure."""
    methods = read_methods([items.store.folder], SpatialBenchRuns(resources_folder()))
    made = full_report(methods)
    lines = {line[:4]: line[4:] for line in report_lines(made.reports) if "seconds" not in line[3]}
    compared = (comparison_answer(each) for each in made.comparisons)
    pairs = {
        tuple(each.pop(key) for key in ("first", "second", "value")): each for each in compared
    }
    return lines | {key: tuple(each.values()) for key, each in pairs.items()}


def check_equal(found, expected):
    """Compare figures up to the order of sums."""
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert found[key] == pytest.approx(values, abs=1e-12), key


@pytest.mark.parametrize("seed", range(4))
def test_order_engines_and_resumption_change_no_figure_of_the_report(bench, seed):
    expected = report_on(finished(bench, "plain"))
    chance = random.Random(seed)
    shuffled = list(PROMPTS)
    chance.shuffle(shuffled)
    bench.write(prompts=shuffled)
    items = bench.items("shuffled")
    left = [chance.randint(1, ITEMS)]

    def stop_after(_progress):
        left[0] -= 1
        if not left[0]:
            runner.cancel()

    bench.reports = Listener(stop_after)
    runner = bench.runner(items, workers=chance.randint(1, 3))
    with suppress(Cancelled):  # raised where another engine was drawing
        runner.run()
    bench.reports = []
    check_equal(report_on(finished(bench, "shuffled", workers=2)), expected)


class Listener:
    """Takes progress where a list is expected."""

    def __init__(self, take):
        self.append = take


def test_the_provenance_names_plan_prompts_and_libraries(bench):
    bench.write(plan=PLAN + '\n[[prompts]]\nset = "visor"\nsample = 2\n')
    items = bench.items()
    bench.runner(items).run(only_smoke=True)
    write_results(items)

    made = provenance(items)
    lines = (items.store.folder / "prompts.jsonl").read_bytes().splitlines(keepends=True)
    sets = {
        name: b"".join(line for line in lines if json.loads(line)["set"] == name)
        for name in ("list", "visor")
    }
    assert made["plan_sha256"] == hash_of(items.store.plan_file.read_bytes())
    assert made["prompts_sha256"] == {name: hash_of(own) for name, own in sets.items()}
    assert made["python_version"] == platform.python_version()
    libraries = ("spatialstudio", "torch", "diffusers", "transformers", "numpy")
    assert made["library_versions"] == {name: metadata.version(name) for name in libraries}
    assert provenance(finished(bench, workers=2)) == made


def hash_of(content):
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("workers", [2, 3])
def test_the_number_of_engines_changes_no_figure(bench, workers):
    one = finished(bench, "one")
    bench.notes.unlink()
    many = finished(bench, "many", workers=workers)

    assert records(many) == records(one)
    assert metrics(many, "psg") == metrics(one, "psg")
    assert len(bench.drawn()) == ITEMS
    assert bench.reports[-1].drawn == ITEMS


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_prompts_changes_no_figure(bench, seed):
    plain = metrics(finished(bench, "plain"))
    shuffled = list(PROMPTS)
    random.Random(seed).shuffle(shuffled)
    bench.write(prompts=shuffled)

    changed = metrics(finished(bench, "shuffled"))

    by_relation = changed["by_relation"].items()
    assert {**changed, "by_relation": dict(sorted(by_relation))} == {
        **plain,
        "by_relation": dict(sorted(plain["by_relation"].items())),
    }


def test_failures_are_grouped_by_cause_and_retried_as_a_group(bench):
    bench.broken_seeds = (1, 2)
    items = finished(bench)

    failures = failures_of(items)
    assert len(failures) == ITEMS * 2 // 3
    assert {each.cause for each in failures} == {"The seed # broke."}
    drawn = len(bench.drawn())
    finished(bench)
    assert len(bench.drawn()) == drawn  # failed items wait for a retry

    bench.broken_seeds = ()
    items = bench.items()
    bench.runner(items).run(retry=[each.key for each in failures_of(items)])

    assert failures_of(items) == ()
    assert all(map(items.is_done, items.opened.drawable))


def test_a_failing_smoke_test_ends_the_run_after_two_pictures(bench):
    bench.broken_seeds = (0, 1, 2)

    with pytest.raises(StudioError, match="smoke test"):
        finished(bench)

    assert len(bench.drawn()) == 2


def test_a_smoke_run_draws_one_picture_of_the_first_and_of_the_last_method(bench):
    items = bench.items()
    bench.runner(items).run(only_smoke=True)

    done = [item for item in items.opened.drawable if items.is_done(item)]
    assert [item.method.name for item in done] == ["plain", "psg"]


def test_a_drained_benchmark_ends_after_its_item_and_goes_on_later(bench):
    items = bench.items()
    runner = bench.runner(items)
    bench.reports = Draining(items.store)
    runner = bench.runner(items)

    progress = runner.run()

    assert progress.done == 3
    items.store.release()
    assert bench.runner(items).run().done == ITEMS
    assert len(bench.drawn()) == ITEMS


class Draining(list):
    """Asks to drain at the third report."""

    def __init__(self, store):
        super().__init__()
        self.store = store

    def append(self, progress):
        super().append(progress)
        if len(self) == 3:
            self.store.hold(DRAIN)


def test_a_paused_benchmark_waits_and_goes_on(bench):
    items = bench.items()
    items.store.hold(PAUSE)
    bench.reports = Releasing(items.store)
    thread = Thread(target=bench.runner(items).run)
    thread.start()
    thread.join()

    assert bench.reports[0].is_paused
    assert bench.reports[-1].done == ITEMS


def test_pauses_do_not_count_in_the_throughput(bench, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(runner_module, "time", clock)
    monkeypatch.setattr(runner_module, "Event", clock.event)
    items = bench.items()
    items.store.hold(PAUSE)
    bench.reports = Releasing(items.store)

    bench.runner(items).run()

    assert clock.now == HOUR_S
    assert bench.reports[-1].seconds == 0


class Clock:
    """Time passes only while an event is awaited: an hour each."""

    def __init__(self):
        self.now = 0

    def monotonic(self):
        return self.now

    def event(self):
        made = Event()
        made.wait = self.wait
        return made

    def wait(self, timeout):
        self.now += HOUR_S
        return False


class Releasing(list):
    """Releases the benchmark when it reports that it waits."""

    def __init__(self, store):
        super().__init__()
        self.store = store

    def append(self, progress):
        super().append(progress)
        if progress.is_paused:
            self.store.release()


def test_a_cancelled_benchmark_stops_at_once(bench):
    items = bench.items()
    runner = bench.runner(items)
    runner.cancel()

    assert runner.run().done == 0
    assert bench.drawn() == []


@pytest.mark.parametrize("content", [b"{", b"[]", b"{}"])
def test_a_damaged_item_is_drawn_again(bench, content):
    items = finished(bench)
    before = records(items)
    key = items.opened.drawable[0].key
    (items.store.folder / "items" / f"{key}.json").write_bytes(content)

    finished(bench)

    assert bench.drawn().count(key) == 2
    assert records(items) == before


def test_progress_tells_pace_and_remaining_time(bench):
    finished(bench)

    last = bench.reports[len(bench.reports) // 2]
    assert last.per_hour > 0
    assert last.seconds_left > 0


def test_cancelling_from_another_thread_raises_cancelled_in_the_job(bench):
    items = bench.items()
    runner = bench.runner(items)
    bench.reports = Cancelling(runner)
    runner = bench.runner(items)
    bench.reports.runner = runner

    progress = runner.run()

    assert progress.done == 1


class Cancelling(list):
    """Cancels at the first report."""

    def __init__(self, runner):
        super().__init__()
        self.runner = runner

    def append(self, progress):
        super().append(progress)
        self.runner.cancel()


@pytest.mark.parametrize("fault", [Cancelled, RuntimeError])
def test_the_fault_of_one_engine_ends_all(bench, fault):
    items = bench.items()
    runner = bench.runner(items, workers=2)

    def refuse(*_):
        raise fault

    items.store.add_item = refuse

    with pytest.raises(fault):
        runner.run()
