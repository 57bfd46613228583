import json

import pytest

from tests.science.questions.choice_sets import line, message


@pytest.fixture
def data(tmp_path):
    bad = line(2)
    bad["questions"][3] = "What? Options: A: a, B: b, C: c, E: None"
    bad["answers"][3] = "D"
    path = tmp_path / "data.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in (line(1), bad)))
    return path


@pytest.fixture
def rollouts(tmp_path):
    reasons = [[f"{letter}: seen\nthere" for letter in "CBDACCBCBA"]] * 5
    rows = (
        {"id": "000001", "attempts": ["sorry", *[message(form="1. {}")] * 5]},
        {"id": "000002", "attempts": ["sorry"]},
        {"id": "000002", "model_preds_cot": reasons},
        {"id": "other", "attempts": []},
    )
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_the_report_states_keys_blind_answerers_and_defects(terminal, data):
    done = terminal("questions", "report", data)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("2 pictures, 20 questions\nkeys: A 15.0%, B 30.0%, C 40.0%, D 15.0%")
    assert "always C" in done.out
    assert "000002 question 4: the key is not an option" in done.out
    assert "overall" not in done.out


def test_recorded_answers_are_reported_by_sub_domain(terminal, data, rollouts):
    options = ("--rollouts", rollouts, "--json")
    answered = json.loads(terminal("questions", "report", data, *options).out)["answered"]
    assert (answered["pictures"], answered["unknown"]) == (2, 1)
    assert answered["sub_domains"]["Object"] == 1
    assert answered["sub_domains"]["Orientation"] == 0.5
    assert answered["overall"] == 0.95
    assert answered["items"][0]["votes"][0] == "CCCCC"
    published = terminal("questions", "report", data, *options, "--published").out
    assert json.loads(published)["answered"]["overall"] == 0.45  # "1. C" is read as 1
    clean = terminal("questions", "report", data, *options, "--without-defects").out
    assert json.loads(clean)["answered"]["overall"] == 1
    assert "  overall         0.950" in terminal("questions", "report", data, *options[:2]).out


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "no questions"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not an object"),
        ('{"id": "a"}', 'the field "scene"'),
        (f"{json.dumps(line())}\n{json.dumps(line())}", "is repeated"),
    ],
    ids=["empty", "brackets", "list", "fields", "repeated"],
)
def test_a_damaged_file_is_named_with_its_line(terminal, tmp_path, content, reason):
    path = tmp_path / "data.jsonl"
    path.write_text(content)
    done = terminal("questions", "report", path)
    assert done.code == 1
    assert reason in done.err


def test_a_folder_and_a_missing_file_are_refused(terminal, tmp_path):
    for path in (tmp_path, tmp_path / "absent"):
        done = terminal("questions", "report", path)
        assert done.code == 1
        assert "cannot be read" in done.err
