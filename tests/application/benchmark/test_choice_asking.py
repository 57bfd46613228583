"""Multiple-choice questions of a benchmark, asked of an answerer that the plan names."""

import json
from collections import Counter
from dataclasses import replace
from functools import partial
from threading import Event, Thread

import pytest

from spatialstudio.application.benchmark.choice_asking import ChoiceAsking
from spatialstudio.application.benchmark.gather import write_results
from spatialstudio.application.benchmark.item_worker import ItemWorker
from spatialstudio.application.benchmark.runner import BenchmarkRunner, failures_of
from spatialstudio.application.engine.worker import InlineEngine
from spatialstudio.application.questions.questions import questions_of
from spatialstudio.domain.errors import DetectorError, ImageError, SettingsError
from spatialstudio.domain.multiple_choice import AskSettings, ChoiceReply, VoteRules
from tests.application.benchmark.conftest import PLAN
from tests.fakes import CountingToken

ONCE = AskSettings(rules=VoteRules(rollouts=1, attempts=1, votes=1), shuffles=False)
ASKED = PLAN.replace(
    'metrics = ["visor", "pse", "hrs"]', 'metrics = ["choices"]\nanswerer = "vision-model"'
)


class KnowingAnswerer:
    """Answers by the keys, or fails."""

    id = "vision-model"
    model_key = "localhost tiny"

    def __init__(self):
        self.asked = 0
        self.is_down = False

    def choose(self, image, questions, sampling, token):
        token.raise_if_cancelled()
        if self.is_down:
            raise DetectorError("The server is down.", hint="Start it.")
        self.asked += 1
        assert image.ndim == 3
        return ChoiceReply(text="\n".join(f"{each.key}: seen" for each in questions))


class SlowAnswerer(KnowingAnswerer):
    """Takes long enough for another request to arrive."""

    def choose(self, image, questions, sampling, token):
        self.asked += 1
        Event().wait(0.3)
        text = "\n".join(f"{each.key}: guessed" for each in questions)
        return ChoiceReply(text=text, tokens_in=100, tokens_out=7)


@pytest.fixture
def answerer():
    return KnowingAnswerer()


def run(bench, items, answerer, **options):
    ask = ChoiceAsking(questions_of(bench.studio), answerer, items.store.folder, ONCE).values
    worker = ItemWorker(InlineEngine(bench.registry))
    runner = BenchmarkRunner(items, bench.studio.storage.store, [worker], lambda _: None, ask)
    return runner.run(**options)


@pytest.fixture
def items(bench, answerer, monkeypatch):
    bench.write(plan=ASKED, seeds="0")
    monkeypatch.setattr(
        "spatialstudio.application.registry.Registry.choice_answerer", lambda *_: answerer
    )
    return bench.items()


def rows(items):
    files = items.store.folder.glob("results/*/rows.jsonl")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_the_answerer_of_the_plan_answers_instead_of_the_perception(bench, items, answerer):
    run(bench, items, answerer)
    write_results(items)

    asked = [row for row in rows(items) if row["choice_questions"]]
    assert asked
    assert {row["choice_score"] for row in asked} == {1.0}
    assert {row["choice_answerer"] for row in asked} == {"localhost tiny"}
    assert answerer.asked == len(asked)


def test_replies_are_not_asked_for_again(bench, items, answerer):
    run(bench, items, answerer)
    asked = answerer.asked
    for file in (items.store.folder / "judged").iterdir():
        file.unlink()

    run(bench, items, answerer)

    assert answerer.asked == asked


def test_a_picture_whose_questions_fail_is_kept_and_tried_again(bench, items, answerer):
    answerer.is_down = True
    bench.write(plan=ASKED, seeds="0", prompts=("a dog to the left of a car",))
    items = bench.items("down")
    with pytest.raises(Exception, match="The server is down"):
        run(bench, items, answerer)
    drawn = bench.notes.read_text()
    failures = failures_of(items)

    answerer.is_down = False
    run(bench, items, answerer, retry=[each.key for each in failures])

    assert len(failures) == 2
    assert failures_of(items) == ()
    assert bench.notes.read_text() == drawn


def test_an_unreadable_picture_is_a_failure_not_an_answer(bench, items, answerer):
    ask = ChoiceAsking(questions_of(bench.studio), answerer, items.store.folder, ONCE).values
    (items.store.folder / "damaged.png").write_bytes(b"no picture")
    for name in ("damaged.png", "missing.png"):
        with pytest.raises(ImageError):
            ask(items.opened.drawable[0], name, CountingToken())
    assert answerer.asked == 0


def test_two_engines_at_one_prompt_pay_for_its_blind_replies_once(bench, items):
    answerer = SlowAnswerer()
    blind = replace(ONCE, is_blind=True)
    ask = ChoiceAsking(questions_of(bench.studio), answerer, items.store.folder, blind).values
    by_prompt = Counter(item.prompt.id for item in items.opened.drawable)
    (prompt, _), *_ = by_prompt.most_common()
    first, second = [item for item in items.opened.drawable if item.prompt.id == prompt][:2]
    values = {}

    def do(item):
        values[item.key] = ask(item, "", CountingToken())

    threads = [Thread(target=do, args=(item,)) for item in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answerer.asked == 1
    assert values[first.key] == values[second.key]  # whichever asked
    assert values[first.key]["choice_cost"]["tokens_in"] == 100


def test_an_answerer_needs_questions_and_other_answers_are_other_verdicts(bench, items):
    item = items.opened.drawable[0]
    judge_id = partial(items.judge_id, items.job(item, items.opened.plan.judges[0]))
    own = judge_id()
    bench.write(plan=ASKED.replace('\nanswerer = "vision-model"', ""), seeds="0")
    other = bench.items("perception")
    assert other.judge_id(other.job(item, other.opened.plan.judges[0])) != own
    bench.write(plan=ASKED.replace("choices", "visor"), seeds="0")
    with pytest.raises(SettingsError, match="asks no multiple-choice questions"):
        bench.items("none")
