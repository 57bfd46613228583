import json
from dataclasses import replace

import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.paths import resources_folder
from spatialstudio.cli.answers import scene_answer, scene_lines
from spatialstudio.domain.scene import BELOW, Prompt


@pytest.fixture
def prompts(tmp_path):
    """A file of prompts, a JSON object a line."""

    def written(*rows):
        path = tmp_path / "prompts.jsonl"
        path.write_text("\n".join(rows), encoding="utf-8")
        return path

    return written


def asked(prompt):
    return json.dumps({"id": "a", "prompt": prompt})


def answered(done):
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.parametrize(
    ("prompt", "objects", "relations"),
    [
        (
            "A silver car was parked next to the blue truck.",
            ["car", "truck"],
            [{"subject": "car", "relation": "near", "object": "truck"}],
        ),
        (
            "a cat between a dog and a lamp",
            ["cat", "dog", "lamp"],
            [{"subject": "cat", "relation": "between", "object": ["dog", "lamp"]}],
        ),
        (
            "a red cup to the upper left of two blue cups",
            ["red cup", "blue cup"],
            [
                {"subject": "red cup", "relation": "left_of", "object": "blue cup"},
                {"subject": "red cup", "relation": "above", "object": "blue cup"},
            ],
        ),
    ],
    ids=["attributes go", "between", "diagonal"],
)
def test_objects_and_relations_of_a_file_are_printed_by_name(
    terminal, prompts, prompt, objects, relations
):
    done = terminal("parse", "--file", prompts(asked(prompt)))
    assert done.code == 0
    assert answered(done) == [{"id": "a", "objects": objects, "relations": relations}]


def test_an_unreadable_prompt_is_a_row(terminal, prompts):
    done = terminal(
        "parse", "--file", prompts(asked(""), "no json", '{"id": 3, "prompt": 4}', asked("a cat"))
    )
    assert done.code == 1
    assert [row.get("error", "") for row in answered(done)] == [
        "The prompt is empty.",
        'The line is not a JSON object with "id" and "prompt".',
        "The prompt is not a string.",
        "",
    ]


def test_a_line_of_nested_brackets_is_a_row(terminal, prompts):
    done = terminal("parse", "--file", prompts("[" * 100_000, asked("a cat above a dog")))
    assert done.code == 1
    complained, read = answered(done)
    assert complained["line"] == 1
    assert read["objects"] == ["cat", "dog"]


def test_lines_are_counted_as_an_editor_counts_them(terminal, prompts):
    done = terminal("parse", "--file", prompts("", asked("a cat"), "", "no json"))
    assert [row.get("line") for row in answered(done)] == [None, 4]


@pytest.mark.parametrize("row_id", ['"\\ud800"', '"\u732b"', '"a"', "null", "3"])
def test_an_id_is_returned_unchanged(terminal, prompts, row_id):
    done = terminal(
        "parse", "--file", prompts(f'{{"id": {row_id}, "prompt": "a cat above a dog"}}')
    )
    assert done.code == 0
    assert [row["id"] for row in answered(done)] == [json.loads(row_id)]


def test_invalid_json_is_a_row(terminal, prompts):
    done = terminal("parse", "--file", prompts('{"id": NaN, "prompt": "a cat"}', asked("a cat")))
    assert done.code == 1
    assert [row.get("line") for row in answered(done)] == [1, None]


def test_an_empty_file_has_no_results(terminal, prompts):
    done = terminal("parse", "--file", prompts())
    assert (done.code, done.out) == (0, "")


def test_windows_files_are_read_like_others(terminal, tmp_path):
    path = tmp_path / "prompts.jsonl"
    lines = [asked("a cat above a dog"), asked("a cat left of a dog")]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n")
    done = terminal("parse", "--file", path)
    assert [row["relations"][0]["relation"] for row in answered(done)] == ["above", "left_of"]


def test_a_fallback_to_the_grammar_is_reported(terminal, prompts):
    done = terminal("parse", "--extractor", "llm", "--file", prompts(asked("a cat above a dog")))
    assert answered(done)[0]["objects"] == ["cat", "dog"]
    assert done.err.startswith("a: parsed by grammar. ")


def test_a_missing_file_exits_with_two(terminal, tmp_path):
    done = terminal("parse", "--file", tmp_path / "nothing.jsonl")
    assert done.code == 2
    assert "nothing.jsonl" in done.err


def test_parse_prints_a_contradiction_and_its_solution(terminal):
    said = terminal("parse", "a dog left of a car and right of the car").out
    assert "Contradiction: " in said
    assert 'Fix: Remove "dog to the right of car".' in said
    assert "Redundancy: " not in said


def test_parse_prints_redundant_relations_separately(terminal):
    prompt = "a dog left of a car and the car right of the dog"
    said = terminal("parse", prompt).out
    assert "Redundancy: " in said
    assert "Contradiction: " not in said
    answer = json.loads(terminal("parse", prompt, "--json").out)
    (found,) = answer["redundancies"]
    assert found["leaves_out"] in found["relations"]
    assert [prompt[slice(*span)] for span in found["spans"]] == ["right of"]
    assert answer["contradictions"] == []


def test_parse_prints_extractor_and_basis_of_a_relation(terminal):
    (relation,) = json.loads(terminal("parse", "a cat above a dog", "--json").out)["relations"]
    assert (relation["basis"], relation["source"]) == ("stated", "grammar")


@pytest.mark.parametrize(
    ("changes", "mark"),
    [
        ({"is_implied": True}, "implied"),
        ({"span": None}, "not in the prompt"),
        ({"is_unconfirmed": True}, "not confirmed by the grammar"),
    ],
)
def test_an_implied_relation_is_marked_in_the_lines(changes, mark):
    grammar = GrammarExtractor(resources_folder() / "prompts")
    scene = grammar.extract(Prompt(text="a cat above a dog"))
    doubtful = replace(scene, relations=(replace(scene.relations[0], **changes),))
    assert f"r1  cat above dog  ({mark})" in list(scene_lines(doubtful))


def test_a_disputed_claim_is_listed_separately():
    grammar = GrammarExtractor(resources_folder() / "prompts")
    scene = grammar.extract(Prompt(text="a cat above a dog"))
    claim = replace(scene.relations[0], type=BELOW, is_unconfirmed=True)
    disputed = replace(scene, disputed=(claim,))
    message = (
        'The language model interprets "above" as "cat below dog"; '
        'the grammar finds "cat above dog".'
    )
    assert f"Disputed: {message}" in list(scene_lines(disputed))
    answer = scene_answer(disputed)
    assert [each["relation"] for each in answer["relations"]] == ["above"]
    (told,) = answer["disputed"]
    assert (told["relation"], told["basis"], told["message"]) == ("below", "unconfirmed", message)


def test_the_help_of_parse_explains_grammar_and_language_model(terminal, capsys):
    with pytest.raises(SystemExit):
        terminal("parse", "--help")
    shown = " ".join(capsys.readouterr().out.split())
    for words in ("Parse a prompt.", "Relations: to the left of,", "objects.txt", "LLM_SERVER"):
        assert words in shown
