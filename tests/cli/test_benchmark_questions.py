"""SpatialGenEval as a prompt set of a benchmark: plan, run, resume, report."""

import csv
import json
import re
from dataclasses import dataclass, field

import pytest

from spatialstudio.domain.errors import Cancelled
from spatialstudio.domain.multiple_choice import ChoiceReply
from spatialstudio.domain.scene import Prompt
from spatialstudio.science.questions.prompt_questions import questions_of_prompt
from tests.science.questions.choice_sets import KEYS, line

PLAN = """\
name = "Questions"
seeds = "0"
metrics = ["choices"]
{asking}

[[prompts]]
set = "spatialgeneval"
file = "data.jsonl"

[[methods]]
name = "plain"
guidance = "none"

[[methods]]
name = "psg"
guidance = "psg"
"""
PUBLISHED = 'answerer = "vision-model"\nprotocol = "published"'
LINES = (
    line(1, prompt="a dog to the left of a car"),
    line(2, prompt="a cat above a dog"),
)
TOKENS_IN, TOKENS_OUT, SECONDS = 100, 7, 0.5


def right(question, _):
    return question.key


def letter_c(_question, _place):
    return "C"


def only_the_first_wrong(question, place):
    return "B" if place == 0 else question.key


def all_a(_question, _place):
    return "A"


SCRIPT = (
    *[right] * 5,  # prompt 1, plain: 10 of 10
    *[letter_c] * 5,  # prompt 1, psg: the keys of Object, Layout, Comparison and Occlusion
    *[None] * 25,  # prompt 2, plain: no valid rollout in 25 attempts
    *[right] * 3,  # prompt 2, psg: all but Object have 4 of 5 votes
    only_the_first_wrong,
    all_a,
)


@dataclass
class ScriptedAnswerer:
    """Replies in the order of a script; None is a reply that is no valid rollout.

    Attributes:
        script: A function of question and place for each reply.
        cut_at: Number of the reply before which it is cancelled once.
        replies: Whether each request had a picture.
    """

    script: tuple = SCRIPT
    cut_at: int | None = None
    replies: list = field(default_factory=list)
    id: str = "vision-model"
    model_key: str = "localhost tiny"

    def choose(self, image, questions, sampling, token):
        number = len(self.replies)
        if number == self.cut_at:
            self.cut_at = None
            raise Cancelled
        self.replies.append(image is not None)
        letter = self.script[number % len(self.script)]
        lines = [
            f"{letter(question, place)}: as seen"
            for place, question in enumerate(questions if letter else questions[1:])
            if letter
        ]
        return ChoiceReply(
            text="\n".join(lines), tokens_in=TOKENS_IN, tokens_out=TOKENS_OUT, seconds=SECONDS
        )


@pytest.fixture
def answerer(monkeypatch):
    made = ScriptedAnswerer()
    monkeypatch.setattr(
        "spatialstudio.application.registry.Registry.choice_answerer", lambda *_: made
    )
    return made


def plan_in(folder, asking=PUBLISHED, lines=LINES):
    (folder / "data.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    path = folder / "plan.toml"
    path.write_text(PLAN.format(asking=asking))
    return path


def figures_of(terminal, folder):
    """The figures of a report on the questions, by method, group and name."""
    report = json.loads(terminal("benchmark", "report", folder, "--json").out)
    return {
        (each["method"], each["name"], each["figure"]): each["value"]
        for each in report["figures"]
        if each["group"] == "metric"
    }


def rows_of(folder):
    files = sorted(folder.glob("results/*/rows.jsonl"))
    return [json.loads(text) for file in files for text in file.read_text().splitlines()]


PSG_ACCURACIES = {
    "Object": 0.5,
    "Attribute": 0.5,
    "Position": 0.5,
    "Orientation": 0.5,
    "Layout": 1,
    "Comparison": 1,
    "Proximity": 0.5,
    "Occlusion": 1,
    "Motion": 0.5,
    "Causal": 0.5,
}
PSG_TOTALS = {"basic": 0.5, "spatial": 0.688, "overall": 0.65}


def test_the_published_protocol_is_counted_by_sub_domain_and_method(terminal, tmp_path, answerer):
    out = tmp_path / "out"
    finished = terminal("benchmark", "run", plan_in(tmp_path), "--out", out)
    found = figures_of(terminal, out)

    assert (finished.code, len(answerer.replies)) == (0, 40)
    psg = {name: found["psg", "choice_accuracies", name] for name in PSG_ACCURACIES}
    assert psg == PSG_ACCURACIES
    assert {name: found["psg", "choices", name] for name in PSG_TOTALS} == PSG_TOTALS
    assert {found["plain", "choice_accuracies", name] for name in PSG_ACCURACIES} == {1.0}
    assert [found[name, "choices", "pictures"] for name in ("plain", "psg")] == [1, 2]
    assert found["psg", "choices", "answerers"] == "localhost tiny"
    unanswered = [found[name, "choices", "unanswered_pictures"] for name in ("plain", "psg")]
    assert unanswered == [1, 0]
    assert "fewer are left out" in found["plain", "choices", "rule"]
    cost = [found["plain", "choice_cost", name] for name in ("replies", "tokens_in", "seconds")]
    assert cost == [30, 3000, 15.0]
    assert found["psg", "choice_cost", "tokens_out"] == 70


def test_the_cost_and_the_votes_of_each_item_are_stored(terminal, tmp_path, answerer):
    out = tmp_path / "out"
    terminal("benchmark", "run", plan_in(tmp_path), "--out", out)
    rows = {row["prompt_id"]: row for row in rows_of(out)[2:]}  # of psg

    last = rows["000002"]
    assert [each["key"] for each in last["choice_questions"]] == list(KEYS)
    assert last["choice_questions"][0]["votes"] == "CCCBA"
    assert last["choice_questions"][0]["letter"] == "C"  # the most frequent, three votes
    assert last["choice_questions"][0]["right"] is False
    assert last["choice_score"] == 0.9
    assert last["tags"] == ["Library"]
    assert last["choice_cost"]["seconds"] == 2.5


def test_the_throughput_counts_the_time_of_the_answers(terminal, tmp_path, answerer):
    terminal("benchmark", "run", plan_in(tmp_path), "--out", tmp_path / "out")
    for file in (tmp_path / "out" / "judged").iterdir():
        judged = json.loads(file.read_text())
        assert judged["asking_seconds"] > 0
        file.write_text(json.dumps({**judged, "asking_seconds": 1.5}))
    status = json.loads(terminal("benchmark", "status", tmp_path / "out", "--json").out)

    assert status["devices"]["cpu"]["pictures"] == 4
    assert status["devices"]["cpu"]["per_hour"] <= 3600 / 2  # 0.5 s to draw, 1.5 s to answer


def test_the_report_shows_accuracies_cost_and_the_rule(terminal, tmp_path, answerer):
    out, page, table = tmp_path / "out", tmp_path / "r.html", tmp_path / "r.csv"
    terminal("benchmark", "run", plan_in(tmp_path), "--out", out)
    report = terminal("benchmark", "report", out, "--out", page, "--out", table)

    assert "choice_accuracies: Object 0.5000, Attribute 0.5000" in report.out
    assert "right with 4 of 5 valid rollouts, pictures with fewer are left out" in report.out
    assert "tokens in 3000" in report.out
    text = page.read_text()
    assert "Multiple-choice questions by sub-domain" in text
    assert "<th>Method</th><th>plain</th><th>psg</th>" in text
    assert "<td>Object</td><td>1</td><td>0.5</td>" in text
    assert "<td>tokens in</td><td>3000</td><td>1000</td>" in text
    assert "pictures with fewer are left out" in text
    lines = list(csv.reader(table.read_text().splitlines()))
    assert ["psg", "metric", "choice_accuracies", "Layout", "1.0", "", "", ""] in lines


def test_ours_shuffles_and_counts_unanswered_pictures_as_wrong(terminal, tmp_path, answerer):
    out = tmp_path / "out"
    answerer.script = tuple(right if each is letter_c else each for each in SCRIPT)
    asking = 'answerer = "vision-model"'
    terminal("benchmark", "run", plan_in(tmp_path, asking), "--out", out)
    found = figures_of(terminal, out)

    assert found["plain", "choices", "overall"] == 0.5
    assert found["plain", "choices", "mean"] == 0.5
    assert found["psg", "choice_accuracies", "Layout"] == 1
    rule = found["plain", "choices", "rule"]
    assert "options shuffled" in rule
    assert "fewer count as wrong" in rule


def test_an_interrupted_run_asks_nothing_twice(terminal, tmp_path, answerer):
    out = tmp_path / "out"
    answerer.cut_at = 37
    cut = terminal("benchmark", "run", plan_in(tmp_path), "--out", out)
    assert (cut.code, len(answerer.replies)) == (130, 37)

    resumed = terminal("benchmark", "resume", out)

    assert (resumed.code, len(answerer.replies)) == (0, 40)
    assert figures_of(terminal, out)["psg", "choices", "overall"] == 0.65
    assert figures_of(terminal, out)["psg", "choice_cost", "replies"] == 10


def test_replies_come_from_the_cache_that_all_runs_share(terminal, tmp_path, answerer):
    out = tmp_path / "out"
    terminal("benchmark", "run", plan_in(tmp_path), "--out", out)
    for folder in ("replies", "judged"):
        for file in (out / folder).iterdir():
            file.unlink()

    terminal("benchmark", "resume", out)
    found = figures_of(terminal, out)

    assert len(answerer.replies) == 40
    assert found["psg", "choices", "overall"] == 0.65
    assert found["psg", "choice_cost", "replies"] == 10  # as if they had been asked for
    assert found["psg", "choice_cost", "tokens_in"] == 1000


def test_another_protocol_asks_again_and_is_counted_alone(terminal, tmp_path, answerer):
    out = tmp_path / "out"
    answerer.script = (right,)
    terminal("benchmark", "run", plan_in(tmp_path), "--out", out)
    single = plan_in(tmp_path, PUBLISHED.replace("published", "single"))
    terminal("benchmark", "run", single, "--out", out, "--overwrite")
    found = figures_of(terminal, out)

    assert found["psg", "choice_cost", "replies"] == 100
    assert found["psg", "choices", "overall"] == 1
    assert "each question alone" in found["psg", "choices", "rule"]


def test_the_blind_baseline_shows_no_picture_and_shares_its_replies(terminal, tmp_path, answerer):
    answerer.script = (right,)
    blind = plan_in(tmp_path, PUBLISHED.replace("published", "blind"))
    terminal("benchmark", "run", blind, "--out", tmp_path / "out")

    assert answerer.replies == [False] * 10  # two prompts; both methods have the same replies


def test_questions_with_a_defect_are_left_out_by_choice(terminal, tmp_path, answerer):
    answerer.script = (letter_c,)
    keys = "D" + KEYS[1:]
    bad = line(1, keys=keys, prompt="a dog to the left of a car")
    bad["questions"][0] = "Which? Options: A: one, B: two, C: three, E: None"  # its key is D
    plan = plan_in(tmp_path, PUBLISHED, [bad])
    terminal("benchmark", "run", plan, "--out", tmp_path / "all")
    plan = plan_in(tmp_path, f"{PUBLISHED}\nwithout_defects = true", [bad])
    terminal("benchmark", "run", plan, "--out", tmp_path / "sound")
    counted = figures_of(terminal, tmp_path / "all")
    left_out = figures_of(terminal, tmp_path / "sound")

    assert counted["psg", "choice_accuracies", "Object"] == 0
    assert counted["psg", "choices", "mean"] == 0.3
    assert ("psg", "choice_accuracies", "Object") not in left_out
    assert left_out["psg", "choices", "mean"] == pytest.approx(3 / 9)


def test_the_perception_answers_what_it_can_tell(terminal, tmp_path, registry):
    prompt = "a dog to the left of a car"
    scene = registry.extractor("grammar").extract(Prompt(text=prompt))
    known = questions_of_prompt(scene, ()).questions.questions[0]
    own = line(1, prompt=prompt)
    own["questions"][2], own["answers"][2] = known.text, known.key
    out = tmp_path / "out"
    terminal("benchmark", "run", plan_in(tmp_path, "", [own]), "--out", out)
    found = figures_of(terminal, out)

    assert [len(row["choice_questions"]) for row in rows_of(out)] == [10, 10]
    assert found["plain", "choice_accuracies", "Position"] == 1
    assert found["plain", "choices", "answered"] == 0.1
    assert found["plain", "choices", "mean"] == 0.1
    assert "what it cannot tell counts as wrong" in found["plain", "choices", "rule"]


def test_equal_prompts_with_other_questions_are_asked_their_own(terminal, tmp_path, answerer):
    answerer.script = (right,)
    lines = [line(number, prompt="a dog to the left of a car") for number in (1, 2)]
    lines[1]["questions"] = [f"In short: {each}" for each in lines[1]["questions"]]
    plan = plan_in(tmp_path, PUBLISHED, lines)
    terminal("benchmark", "run", plan, "--out", tmp_path / "out")

    asked = {row["prompt_id"]: row["choice_questions"] for row in rows_of(tmp_path / "out")}
    assert asked["000002"][0]["question"].startswith("In short")
    assert not asked["000001"][0]["question"].startswith("In short")


@pytest.mark.parametrize(
    ("protocol", "replies"), [("published", 20), ("single", 200), ("blind", 10)]
)
def test_a_plan_estimates_the_answers(terminal, tmp_path, answerer, protocol, replies):
    plan = plan_in(tmp_path, PUBLISHED.replace("published", protocol))
    in_lines = terminal("benchmark", "plan", plan)
    answer = json.loads(terminal("benchmark", "plan", plan, "--json").out)["answers"]
    pictures = 2 if protocol == "blind" else 4  # blind, both methods share their replies

    assert f"answers {replies} replies" in in_lines.out
    assert (answer["replies"], answer["tokens_out"]) == (replies, pictures * 5 * 10 * 40)
    assert answer["tokens_in"] > 5 * pictures * len("".join(LINES[0]["questions"])) / 4
    assert answerer.replies == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("choice_protocol", ["x"]), ("choice_answerer", 1), ("choice_cost", {"replies": "x"})],
)
def test_damaged_values_of_rows_are_said_to_be(terminal, tmp_path, answerer, name, value):
    out = tmp_path / "out"
    terminal("benchmark", "run", plan_in(tmp_path), "--out", out)
    file = next(out.glob("results/*/rows.jsonl"))
    lines = [{**json.loads(text), name: value} for text in file.read_text().splitlines()]
    file.write_text("".join(json.dumps(each) + "\n" for each in lines))

    assert "is damaged" in terminal("benchmark", "report", out).err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{**LINES[0], "answers": ["A"]}], "Line 1 .* not a list of 10 texts"),
        ([LINES[0], LINES[0]], 'the id "000001" is repeated'),
        ([], "has no questions"),
        ([{**LINES[0], "prompt": " "}], 'The questions "000001" .* have no prompt'),
        ([{**LINES[0], "questions": ["Q? Options: A: "] * 10}], "Line 1 .* has no options"),
    ],
)
def test_defective_files_are_refused_with_their_line(terminal, tmp_path, lines, message):
    finished = terminal("benchmark", "plan", plan_in(tmp_path, "", lines))

    assert finished.code != 0
    assert re.search(message, finished.err)


def test_a_protocol_needs_a_known_name_and_an_answerer(terminal, tmp_path):
    unknown = terminal("benchmark", "plan", plan_in(tmp_path, PUBLISHED.replace("published", "x")))
    alone = terminal("benchmark", "plan", plan_in(tmp_path, 'protocol = "published"'))

    assert 'plan.toml, line 5: there is no protocol "x"' in unknown.err
    assert 'plan.toml, line 4: "protocol" needs an answerer' in alone.err


def test_prompts_that_could_not_be_read_again_are_refused(terminal, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "spatialstudio.application.benchmark.result_store.LARGEST_PROMPTS_BYTES", 1000
    )
    finished = terminal("benchmark", "run", plan_in(tmp_path, ""), "--out", tmp_path / "out")

    assert finished.code != 0
    assert "Draw a sample" in finished.err
    assert not (tmp_path / "out" / "plan.toml").exists()
