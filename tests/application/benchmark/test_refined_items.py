"""Items drawn by Evaluate-and-Refine: rounds, best picture, cost, and interruption at any round."""

import json
from dataclasses import dataclass, replace
from shutil import copy

import pytest

from spatialstudio.adapters.storage.records.spatialbench_uc import SpatialBenchRuns
from spatialstudio.application.benchmark.gather import write_results
from spatialstudio.application.benchmark.report import read_methods, report_on_method
from spatialstudio.application.benchmark.report_files import report_html, report_lines
from spatialstudio.application.benchmark.runner import failures_of
from spatialstudio.application.engine.remote_engine import JobRunner
from spatialstudio.application.storage.run_writer import run_of
from spatialstudio.domain.errors import BackendError
from spatialstudio.domain.resources import resources_folder
from tests.application.benchmark.conftest import NotedBackend
from tests.application.benchmark.test_executors import FakeProcess, workers_of
from tests.cli.conftest import FakeRegistry
from tests.fakes import FakeDetector

PLAN = """\
name = "Refined"
seeds = "{seeds}"
metrics = ["pse", "da"]

[[prompts]]
set = "list"
file = "prompts.txt"

[[methods]]
name = "plain"
guidance = "none"

[[methods]]
name = "refine"
guidance = "none"
refine = "recommended"
refine_rounds = 4
"""
PROMPTS = ("a dog to the left of a car", "a cat to the left of a dog")
MISSING, SWAPPED, RIGHT = 60, 120, 200
ROUNDS = (MISSING, SWAPPED, MISSING, RIGHT)
"""Brightness of the rounds."""
PASSES = 4
"""Of a picture: two steps, with and without the prompt."""


@dataclass
class RoundBackend(NotedBackend):
    """Generates the brightness of the round, and fails where it is told to.

    Attributes:
        greys: Brightness by round.
        broken_round: The round that fails, from 1; 0 for none.
    """

    greys: tuple[int, ...] = ROUNDS
    broken_round: int = 0

    def generate(self, request, model, token, report, rate=None):
        number = int(request.id.partition("-")[2] or 1)
        if number == self.broken_round:
            raise BackendError("The round broke.")
        finished = super().generate(request, model, token, report, rate)
        finished.image.flags.writeable = True
        finished.image[:] = self.greys[number - 1]
        finished.image.flags.writeable = False
        return finished


@dataclass
class RoundDetector(FakeDetector):
    """Finds nothing, swapped objects or the objects, by the brightness; fails when told to."""

    is_broken: bool = False

    def detect(self, image, mentions):
        if self.is_broken:
            raise BackendError("The detector broke.")
        if image.mean() < 90:
            return replace(super().detect(image, mentions), detections=(), masks=())
        return super().detect(image, mentions if image.mean() > 160 else mentions[::-1])


@pytest.fixture
def refined(bench):
    """Return a benchmark whose backend and detector can be told to fail."""
    bench.write(seeds="0", prompts=PROMPTS, plan=PLAN)
    bench.backend, bench.detector = {}, {}

    def registry():
        backend = RoundBackend(notes=bench.notes, **bench.backend)
        detector = RoundDetector(**bench.detector)
        return FakeRegistry(bench.home, backend_made=backend, detector_made=detector)

    bench.registry = registry
    return bench


def run(bench, name="out"):
    items = bench.items(name)
    bench.runner(items).run()
    return items


def items_by(items, method):
    return [item for item in items.opened.drawable if item.method.name == method]


def test_the_best_round_is_the_item_at_the_cost_of_all(refined):
    items = run(refined)

    for plain, item in zip(items_by(items, "plain"), items_by(items, "refine"), strict=True):
        one, all_rounds = items.store.item(plain.key), items.store.item(item.key)
        attempts = items.store.attempts(item.key)
        assert one["passes"] == PASSES
        assert all_rounds["rounds"] == len(attempts) == 4
        assert all_rounds["passes"] == sum(each["passes"] for each in attempts) == 4 * PASSES
        assert all_rounds["seconds"] == sum(each["seconds"] for each in attempts)
        assert all_rounds["picture"] == attempts[3]["picture"]
        assert plain.key != item.key


def test_the_rounds_are_a_family_of_stored_runs_with_one_seed(refined):
    items = run(refined)
    item = items_by(items, "refine")[0]
    store = refined.studio.storage.store
    paths = [items.store.folder / each["picture"] for each in items.store.attempts(item.key)]
    runs = [run_of(*store.load(path), path) for path in paths]

    assert [each.request.parent_run_id for each in runs] == ["", *[paths[0].stem] * 3]
    assert {each.request.sampling.seed for each in runs} == {item.seed}
    assert [int(each.image.mean()) for each in runs] == list(ROUNDS)
    typed = [each.scene.prompt.as_typed for each in runs]
    assert typed[0] == item.request.scene.prompt.as_typed
    assert typed[1] != typed[0]  # the words of a missing object are weighted


def test_the_loop_ends_at_a_round_that_is_good_enough(refined):
    refined.backend = {"greys": (MISSING, RIGHT)}
    items = run(refined)

    rounds = [items.store.item(item.key)["rounds"] for item in items_by(items, "refine")]
    assert rounds == [2, 2]


def verdicts(items):
    write_results(items)
    folder = items.store.results("refine") / "eval"
    return (folder / "per_sample.jsonl").read_bytes()


@pytest.mark.parametrize("fault", ["drawing", "judging"])
def test_a_loop_that_failed_continues_with_its_rounds(refined, fault):
    whole = verdicts(run(refined, "whole"))
    refined.notes.unlink()
    refined.backend = {"broken_round": 3} if fault == "drawing" else {}
    items = refined.items("broken")
    runner = refined.runner(items)
    if fault == "judging":
        stop_judging_after(refined, items, 3)
        runner = refined.runner(items)
    runner.run()
    failed = failures_of(items)
    assert failed

    refined.backend, refined.detector = {}, {}
    refined.reports = []
    again = refined.items("broken")
    refined.runner(again).run(retry=[each.key for each in failed])

    drawn = refined.drawn()
    assert len(drawn) == len(set(drawn)) == len(PROMPTS) * (1 + len(ROUNDS))
    assert verdicts(again) == whole
    for item in items_by(again, "refine"):
        assert again.store.item(item.key)["rounds"] == len(ROUNDS)
        assert again.store.item(item.key)["judging_seconds"] > 0


def stop_judging_after(bench, items, count):
    """Let the detector fail once a refined item has some rounds."""
    add = items.store.add_attempts

    def add_attempts(key, records):
        add(key, records)
        bench.detector_now.is_broken = len(records) >= count - 1

    items.store.add_attempts = add_attempts
    make = bench.registry

    def registry():
        made = make()
        bench.detector_now = made.detector_made
        return made

    bench.registry = registry


def test_a_lost_picture_of_a_loop_is_drawn_again(refined):
    whole = verdicts(run(refined, "whole"))
    items = run(refined, "lost")
    item = items_by(items, "refine")[0]
    lost = items.store.folder / items.store.attempts(item.key)[2]["picture"]
    for file in refined.studio.storage.store.files_of(lost):
        file.unlink()
    (items.store.folder / "items" / f"{item.key}.json").unlink()
    refined.notes.unlink()

    again = run(refined, "lost")

    assert refined.drawn() == [f"{item.key}-3", f"{item.key}-4"]
    assert verdicts(again) == whole


@pytest.mark.parametrize("place", [{}, {"picture": "../outside.png"}, 7])
def test_a_damaged_list_of_rounds_is_drawn_again(refined, place):
    items = run(refined)
    item = items_by(items, "refine")[0]
    (items.store.folder / "items" / f"{item.key}.json").unlink()
    first, *others = items.store.attempts(item.key)
    for file in refined.studio.storage.store.files_of(items.store.folder / first["picture"]):
        copy(file, items.store.folder.parent / f"outside{file.suffix}")
    listed = [place, *others]
    rounds = items.store.folder / "attempts" / f"{item.key}.json"
    rounds.write_text(json.dumps({"attempts": listed}))
    refined.notes.unlink()

    again = run(refined)

    assert len(refined.drawn()) == len(ROUNDS)
    assert again.store.item(item.key)["rounds"] == len(ROUNDS)


def test_a_process_lost_in_mid_loop_costs_one_round_and_no_figure(refined):
    expected = verdicts(run(refined, "one"))
    refined.notes.unlink()
    items = refined.items("many")
    lossy = FakeProcess(JobRunner(refined.registry), "p0", lost_at=(4, 7))

    progress = refined.runner_of(items, workers_of([lossy])).run()

    assert progress.engines["p0"].lost == 2
    assert len(refined.drawn()) == len(set(refined.drawn())) == len(PROMPTS) * (1 + len(ROUNDS))
    assert verdicts(items) == expected


def test_another_judge_set_judges_the_best_picture_without_drawing(refined):
    run(refined)
    drawn = len(refined.drawn())
    second = '\n[[judges]]\nname = "default"\n\n[[judges]]\nname = "cut"\ncut = 0.5\n'
    refined.write(seeds="0", prompts=PROMPTS, plan=PLAN + second)

    items = refined.items(overwrite=True)
    refined.runner(items).run()

    assert all(map(items.is_done, items.opened.drawable))
    assert len(refined.drawn()) == drawn


def test_the_report_counts_rounds_and_their_passes(refined):
    items = run(refined)
    write_results(items)

    methods = read_methods([items.store.folder], SpatialBenchRuns(resources_folder()))
    reports = {each.name: report_on_method(each) for each in methods}

    assert reports["plain"].rounds is None
    assert reports["refine"].rounds == len(ROUNDS)
    assert reports["refine"].passes == len(ROUNDS) * reports["plain"].passes
    lines = [line[:5] for line in report_lines(reports.values())]
    assert ("refine", "cost", "", "rounds", len(ROUNDS)) in lines
    assert list(reports["refine"].by_round) == [1, 2, 3, 4]
    # nothing, then two objects in the wrong place, then both; the best so far never falls
    best = [each.value for each in reports["refine"].by_round.values()]
    assert best == pytest.approx([0, 0.6, 0.6, (0.9 + 0.9 + 0.81) / 3])
    assert reports["refine"].by_assertions[3].value == pytest.approx(best[-1])
    assert not reports["plain"].by_round
    assert ("refine", "da_by_round", "", "round 4", pytest.approx(best[-1])) in lines
    page = report_html("Refined", methods, tuple(reports.values()), ())
    assert "<th>Rounds</th>" in page
    assert "<td>refine</td><td>pass</td><td>1</td><td>16</td>" in page  # best of 1, at 16 passes
    assert reports["refine"].all.pass_all.value == 1
    assert reports["plain"].all.pass_all.value == 0
