import json
from contextlib import suppress
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.chat.server import ServerSettings
from spatialstudio.adapters.questions.vision_model import VisionLanguageModel
from spatialstudio.application.questions.question_run import QuestionRun
from spatialstudio.application.questions.reply_journal import ReplyJournal
from spatialstudio.domain.errors import Cancelled, DetectorError, ImageError, StoreError
from spatialstudio.domain.multiple_choice import (
    PUBLISHED_ASKING,
    AnswerCost,
    AskSettings,
    Price,
    VoteRules,
)
from spatialstudio.science.questions.spatialgeneval import at_random, longest
from tests.adapters.loopback import LoopbackServer, sends
from tests.application.questions.answerers import (
    FakeAnswerer,
    always_c,
    always_right,
    cut,
    save_pictures,
    server_fault,
)
from tests.fakes import CountingToken
from tests.science.questions.choice_sets import KEYS, message, questions

SETS = [questions(number) for number in (1, 2, 3)]


def read(path):
    return np.asarray(Image.open(path))


@pytest.fixture
def opened(tmp_path):
    """Open the run of the test, again and again, with other settings if given."""
    pictures = save_pictures(tmp_path / "pictures", [each.id for each in SETS])

    def open_again(settings=None, sets=SETS):
        found = {path.stem: path for path in pictures.iterdir()}
        journal = ReplyJournal(tmp_path / "run" / "replies.jsonl")
        return QuestionRun(journal, sets, found, settings or AskSettings(), "fake model")

    return open_again


def asked(run, answerer, token=None, **options):
    return list(run.ask(answerer, read, token or CountingToken(), **options))


def test_five_rollouts_of_a_picture_are_five_messages_with_all_questions(opened):
    run, answerer = opened(), FakeAnswerer(always_right)
    progress = asked(run, answerer)
    assert len(answerer.requests) == 15
    assert run.figures().overall == 1
    assert (progress[0].done, progress[-1].done) == (0, 3)
    assert progress[-1].left.replies == 0


def test_each_rollout_has_another_seed(opened):
    answerer = FakeAnswerer(always_right)
    asked(opened(AskSettings(seed=10), SETS[:1]), answerer)
    assert [sampling.seed for _, sampling in answerer.requests] == [10, 11, 12, 13, 14]


def test_the_published_protocol_asks_as_listed_and_always_c_gets_the_share_of_c(opened):
    run, answerer = opened(PUBLISHED_ASKING), FakeAnswerer(always_c)
    asked(run, answerer)
    assert run.figures().overall == 0.4
    assert not answerer.requests[0][1].is_structured
    biases = run.biases()
    assert biases.chosen["C"] == 1
    assert biases.keys == {"A": 0.2, "B": 0.3, "C": 0.4, "D": 0.1, "E": 0}
    assert biases.right_by_key == {"A": 0, "B": 0, "C": 1, "D": 0}
    assert biases.excess == pytest.approx(0.6)
    assert biases.agreement == 1


def test_shuffling_takes_always_c_to_chance_and_the_bias_shows(opened):
    sets = [questions(number) for number in range(40)]
    run = opened(AskSettings(), SETS)
    run = QuestionRun(
        run.journal, sets, {each.id: run.pictures["000001"] for each in sets}, run.settings, ""
    )
    asked(run, FakeAnswerer(always_c))
    single = run.biases().keys["C"]
    assert single == pytest.approx(0.25, abs=0.03)
    assert run.figures().overall < 0.05
    assert run.biases().excess == pytest.approx(0.75, abs=0.03)
    assert run.biases().agreement < 0.35


def test_votes_on_shuffled_options_count_in_the_original_order(opened):
    run = opened(sets=SETS[:1])
    asked(run, FakeAnswerer(always_right))
    (item,) = run.items()
    assert item.voted.chosen == tuple(KEYS)
    assert item.attempts[0] != item.attempts[1]
    assert len({each.questions[0].key for each in item.asked}) > 1


def test_an_invalid_rollout_is_repeated_up_to_25_attempts(opened):
    late = FakeAnswerer(always_right, faults=dict.fromkeys(range(20), "sorry"))
    run = opened(sets=SETS[:1])
    asked(run, late)
    assert (len(late.requests), run.figures().overall) == (25, 1)
    never = FakeAnswerer(always_right, faults=dict.fromkeys(range(99), "sorry"))
    other = opened(AskSettings(seed=50), SETS[1:2])
    asked(other, never)
    assert len(never.requests) == 25
    assert (other.figures().overall, other.figures().unanswered) == (0, 1)


def test_a_question_alone_is_one_message(opened):
    run, answerer = opened(AskSettings(is_single=True), SETS[:1]), FakeAnswerer(always_right)
    assert run.estimate().replies == 50
    asked(run, answerer)
    assert len(answerer.requests) == 50
    assert run.figures().overall == 1


def test_the_blind_baseline_sees_no_picture(opened):
    run, answerer = opened(AskSettings(is_blind=True), SETS[:1]), FakeAnswerer(always_c)
    asked(run, answerer)
    assert not any(with_picture for with_picture, _ in answerer.requests)


@pytest.mark.parametrize("is_single", [False, True], ids=["together", "single"])
@pytest.mark.parametrize("fault", [server_fault, cut], ids=["server", "cut"])
def test_after_any_interruption_nothing_is_lost_and_nothing_is_asked_twice(
    opened, fault, is_single
):
    settings, sets = AskSettings(is_single=is_single), SETS[:2]
    whole = 5 * (10 if is_single else 1) * len(sets)
    requests, replies = 0, 0
    for at in count():
        answerer = FakeAnswerer(always_right, faults={at % 4: fault()})
        run = opened(settings, sets)
        with suppress(DetectorError, Cancelled):
            asked(run, answerer)
        requests += len(answerer.requests)
        replies = run.journal.cost.replies
        if run.figures().unanswered == 0 and replies == whole:
            break
    final = opened(settings, sets)
    assert final.figures().overall == 1
    cost = final.journal.cost
    assert (cost.replies, cost.tokens_in, cost.tokens_out) == (whole, whole * 100, whole * 7)
    assert cost.seconds == whole * 0.5
    failures = requests - whole
    assert cost.failures == (failures if fault is server_fault else 0)
    again = FakeAnswerer(always_right)
    asked(final, again)
    assert again.requests == []


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.99], ids=str)
def test_a_line_torn_by_a_crash_is_asked_again_alone(opened, tmp_path, kept):
    asked(opened(), FakeAnswerer(always_right))
    journal = tmp_path / "run" / "replies.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    torn = b"".join(lines[:-1]) + lines[-1][: int(kept * len(lines[-1]))]
    journal.write_bytes(torn)
    run, answerer = opened(), FakeAnswerer(always_right)
    asked(run, answerer)
    assert len(answerer.requests) == 1
    assert opened().journal.cost.replies == 15
    assert opened().figures().overall == 1


def test_a_server_that_fails_for_three_pictures_in_succession_ends_the_run(opened):
    answerer = FakeAnswerer(always_right, faults={number: server_fault() for number in range(9)})
    with pytest.raises(DetectorError, match="busy"):
        asked(opened(), answerer)
    assert len(answerer.requests) == 3
    assert opened().journal.cost == AnswerCost(failures=3)


def test_the_cost_of_a_run_is_all_that_the_server_charged(opened):
    right = {"content": message(), "refusal": None}
    sent = [
        {"choices": [{"message": right}], "usage": usage(900, 80)},
        {"choices": [], "usage": usage(901, 3)},
        {"choices": [{"message": {**right, "content": "sorry"}}], "usage": usage(902, 2)},
        {"choices": [{"message": {**right, "refusal": "no"}}], "usage": usage(903, 1)},
        *[{"choices": [{"message": right}], "usage": usage(904, 81)}] * 4,
    ]
    settings = replace(PUBLISHED_ASKING, temperature=0.5)
    with LoopbackServer(*(sends(json.dumps(each).encode()) for each in sent)) as server:
        answerer = VisionLanguageModel(ServerSettings(url=server.url, model="small"))
        with pytest.raises(DetectorError, match="does not speak"):
            asked(opened(settings, SETS[:1]), answerer)
        asked(opened(settings, SETS[:1]), answerer)
        assert len(server.questions) == len(sent)
    run = opened(settings, SETS[:1])
    charged = [each["usage"] for each in sent]
    cost = run.journal.cost
    assert (cost.replies, cost.failures) == (len(sent) - 1, 1)
    assert cost.tokens_in == sum(each["prompt_tokens"] for each in charged)
    assert cost.tokens_out == sum(each["completion_tokens"] for each in charged)
    assert run.figures().unanswered == 0


def usage(tokens_in, tokens_out):
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}


def test_a_fault_at_one_picture_leaves_the_others(opened):
    run = opened()
    progress = asked(run, FakeAnswerer(always_right, faults={0: server_fault()}))
    assert progress[-1].failed == {"000001": "The model at 127.0.0.1 is busy."}
    assert run.figures().unanswered == 1


def test_an_unreadable_picture_counts_as_unanswered(opened):
    def broken(path):
        if path.stem == "000002":
            raise ImageError("The picture is damaged.")
        return read(path)

    run = opened()
    *_, last = run.ask(FakeAnswerer(always_right), broken, CountingToken())
    assert last.failed == {"000002": "The picture is damaged."}
    assert (run.figures().pictures, run.figures().unanswered) == (3, 1)
    assert run.figures().overall == 0.667


def test_a_missing_picture_stays_in_the_denominator_unless_as_published(opened):
    sets = [*SETS, questions(9)]
    run = opened(sets=sets)
    asked(run, FakeAnswerer(always_right))
    assert run.missing == ("000009",)
    assert (run.figures().pictures, run.figures().overall) == (4, 0.75)
    published = opened(replace(AskSettings(), rules=VoteRules(drops_incomplete=True)), sets)
    assert (published.figures().pictures, published.figures().overall) == (3, 1)


def test_a_replaced_picture_is_asked_about_again(opened, tmp_path):
    asked(opened(), FakeAnswerer(always_right))
    save_pictures(tmp_path / "pictures", ["000002"], seed=5)
    run, answerer = opened(), FakeAnswerer(always_c)
    asked(run, answerer)
    assert len(answerer.requests) == 5
    assert opened().answered(SETS[1]).voted.is_right.count(True) < 10
    assert opened().journal.cost.replies == 20


def test_replies_of_another_run_are_used_without_cost(opened, tmp_path):
    cache = ReplyJournal(tmp_path / "cache.jsonl")
    run = opened(sets=SETS[:1])
    asked(run, FakeAnswerer(always_right), cache=cache)
    other = QuestionRun(
        ReplyJournal(tmp_path / "other.jsonl"), SETS[:1], run.pictures, run.settings, "fake model"
    )
    answerer = FakeAnswerer(always_c)
    asked(other, answerer, cache=ReplyJournal(tmp_path / "cache.jsonl"))
    assert answerer.requests == []
    assert other.journal.cost == AnswerCost(cached=5)
    assert other.figures().overall == 1


class FullCache(ReplyJournal):
    """A cache on a full disk."""

    def add(self, stored):
        raise StoreError("The disk is full.")


class KilledCache(ReplyJournal):
    """A cache during whose write the process is killed."""

    def add(self, stored):
        raise KeyboardInterrupt


def test_a_paid_reply_is_kept_if_the_cache_cannot_be_written(opened, tmp_path):
    asked(opened(), FakeAnswerer(always_right), cache=FullCache(tmp_path / "cache.jsonl"))
    assert opened().journal.cost.replies == 15


def test_a_paid_reply_is_booked_before_it_is_cached(opened, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        asked(opened(), FakeAnswerer(always_right), cache=KilledCache(tmp_path / "cache.jsonl"))
    assert opened().journal.cost == AnswerCost(replies=1, tokens_in=100, tokens_out=7, seconds=0.5)


def test_equal_questions_on_equal_pictures_are_asked_once_and_counted_for_each(opened):
    run, answerer = many(opened(PUBLISHED_ASKING), SETS), FakeAnswerer(always_right)
    asked(run, answerer)
    assert len(answerer.requests) == 5
    assert (run.figures().unanswered, run.figures().overall) == (0, 1)
    assert (run.journal.cost.replies, run.journal.cost.cached) == (5, 10)


def test_another_model_or_temperature_is_asked_anew(opened, tmp_path):
    cache = ReplyJournal(tmp_path / "cache.jsonl")
    run = opened(sets=SETS[:1])
    asked(run, FakeAnswerer(always_right), cache=cache)
    hotter = replace(run.settings, temperature=0.5)
    for settings, model in ((run.settings, "another"), (hotter, "fake model")):
        answerer = FakeAnswerer(always_right)
        journal = ReplyJournal(tmp_path / f"{model} {settings.temperature}.jsonl")
        asked(QuestionRun(journal, SETS[:1], run.pictures, settings, model), answerer, cache=cache)
        assert len(answerer.requests) == 5


def test_the_cost_is_estimated_before_and_from_the_first_reply_on(opened):
    run = opened()
    before = run.estimate(pixels=784)
    assert (before.replies, before.tokens_out, before.seconds) == (15, 15 * 400, 0)
    assert before.tokens_in > 15
    progress = asked(run, FakeAnswerer(always_right))
    assert progress[1].left == AnswerCost(replies=10, tokens_in=1000, tokens_out=70, seconds=5.0)
    price = Price(per_million_in=2, per_million_out=10)
    assert progress[-1].cost.money(price) == pytest.approx((1500 * 2 + 105 * 10) / 1e6)


def test_a_cancelled_run_asks_nothing(opened):
    answerer = FakeAnswerer(always_right)
    with pytest.raises(Cancelled):
        asked(opened(), answerer, CountingToken(stop_at=1))
    assert answerer.requests == []


def many(run, sets):
    """The run of many question sets on one picture."""
    pictures = {each.id: run.pictures["000001"] for each in sets}
    return QuestionRun(run.journal, sets, pictures, run.settings, "")


def test_a_random_answerer_is_at_chance_without_a_preference(opened):
    rng = np.random.default_rng(0)
    run = many(opened(), [questions(number) for number in range(60)])
    asked(run, FakeAnswerer(lambda question, _: at_random(question, rng)))
    biases = run.biases()
    assert biases.right_chosen == pytest.approx(0.25, abs=0.03)
    assert biases.excess < 0.03
    assert biases.agreement == pytest.approx(0.25, abs=0.04)
    assert run.figures().overall < 0.05


@pytest.mark.parametrize("shuffles", [False, True], ids=["as listed", "shuffled"])
def test_an_answerer_that_prefers_long_options_shows_it_either_way(opened, shuffles):
    run = many(opened(AskSettings(shuffles=shuffles)), [questions(number) for number in range(10)])
    asked(run, FakeAnswerer(lambda question, _: longest(question, None)))
    biases = run.biases()
    assert (biases.longest, biases.agreement) == (1, 1)
    assert biases.longest_keys == pytest.approx(0.4)  # the third option is the longest, and the key
    assert run.figures().overall == 0.4
