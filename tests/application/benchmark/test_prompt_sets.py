"""Prompt sets of plans."""

import hashlib
import json
from itertools import combinations
from pathlib import Path

import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.adapters.storage.records.spatialbench_uc import read_objects
from spatialstudio.application.benchmark.prompt_sets import MOST_PROMPTS, read_prompt_sets
from spatialstudio.application.benchmark.set_extents import set_extents
from spatialstudio.domain.benchmark_plan import BenchmarkPlan, PromptSetPlan, PromptSource
from spatialstudio.domain.errors import PromptError, SettingsError
from spatialstudio.domain.multiple_choice import SUB_DOMAINS
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.scene import ABOVE, LEFT_OF, RIGHT_OF, Prompt
from spatialstudio.science.benchmark.prompts import contrast_prompts, draw_prompts, visor_prompts
from tests.science.questions.choice_sets import KEYS, line

RELEASE_SHA256 = "e13c0ed8f962acb7fed702c689e384184759f17317373bce0ef633667c244d8d"
"""Of prompts.jsonl of SpatialBench-UC v1.0.1."""
PARTS = Path(__file__).parents[2] / "golden" / "benchmark_prompts"
RELEASE_FILE = draw_prompts(read_objects(resources_folder()))


def read(**plan):
    return read_prompt_sets([PromptSetPlan(**plan)], resources_folder())


def test_the_prompts_of_spatialbench_uc_are_the_release_to_the_byte():
    assert hashlib.sha256(RELEASE_FILE).hexdigest() == RELEASE_SHA256


def test_prompts_of_spatialbench_uc_name_their_counterparts():
    prompts = read(source=PromptSource.SPATIALBENCH_UC)

    by_id = {prompt.id: prompt for prompt in prompts}
    assert len(prompts) == 200
    assert all(by_id[each.counterpart_id].counterpart_id == each.id for each in prompts)
    assert sum("multi_word_object" in prompt.tags for prompt in prompts) == 48
    assert prompts[0].stated.type == LEFT_OF


def test_visor_has_25280_spatial_prompts():
    prompts = read(source=PromptSource.VISOR)

    assert len(prompts) == len({each.text for each in prompts}) == 25_280


def test_visor_prompts_have_the_right_articles_and_both_orders():
    prompts = visor_prompts(["apple", "dog"])

    texts = [each.text for each in prompts]
    assert len(texts) == 8
    assert "an apple to the left of a dog" in texts
    assert "a dog to the right of an apple" in texts
    by_id = {each.id: each for each in prompts}
    left = next(each for each in prompts if each.text == "an apple to the left of a dog")
    assert by_id[left.counterpart_id].text == "a dog to the right of an apple"


def test_a_sample_keeps_the_order_and_depends_on_its_seed():
    whole = [each.id for each in read(source=PromptSource.VISOR)]
    first, again, other = (
        [each.id for each in read(source=PromptSource.VISOR, sample=50, sample_seed=seed)]
        for seed in (1, 1, 2)
    )

    assert first == again != other
    assert [whole.index(each) for each in first] == sorted(whole.index(each) for each in first)


def test_a_sample_larger_than_its_set_is_refused():
    with pytest.raises(SettingsError, match="200 prompts"):
        read(source=PromptSource.SPATIALBENCH_UC, sample=201)


def test_a_sample_may_be_taken_of_more_prompts_than_a_plan_can_have(tmp_path):
    file = tmp_path / "large.txt"
    file.write_text("a dog\n" * (MOST_PROMPTS + 1))
    own = PromptSetPlan(source=PromptSource.LIST, file=file, sample=2)
    plan = BenchmarkPlan(name="large", prompts=(own,), methods=(), seeds=(0,))

    (extent,) = set_extents(plan, resources_folder())

    assert (extent.prompts, extent.size) == (2, MOST_PROMPTS + 1)


def test_prompts_of_spatialgeneval_keep_their_questions_and_scenes(tmp_path):
    file = tmp_path / "data.jsonl"
    lines = [line(1, prompt=" a dog "), line(2, question_type=["Object"] * 10, scene="Street")]
    file.write_text("\n".join(map(json.dumps, lines)))
    first, second = read(source=PromptSource.SPATIALGENEVAL, file=file)

    assert (first.id, first.text, first.tags) == ("000001", "a dog", ("Library",))
    assert first.questions.types == SUB_DOMAINS
    assert second.questions.types == ("Object",) * 10
    assert "".join(each.key for each in second.questions.questions) == KEYS
    assert second.tags == ("Street",)


def test_compbench_lists_one_prompt_per_line():
    prompts = read(source=PromptSource.COMPBENCH, file=PARTS / "spatial_val.txt")

    assert [each.id for each in prompts][:2] == ["spatial_val_000000", "spatial_val_000001"]
    assert prompts[0].text == "a giraffe next to a lamp"


def test_geneval_states_the_placed_object_as_the_subject():
    first, second, *_ = read(source=PromptSource.GENEVAL, file=PARTS / "position.jsonl")

    assert (first.stated.subject, first.stated.type, first.stated.object) == (
        *("dog", RIGHT_OF),
        "teddy bear",
    )
    assert second.stated.type == ABOVE


def test_hrs_levels_are_the_thirds_of_the_table(tmp_path):
    file = tmp_path / "spatial_compositions_prompts.csv"
    rows = [f"a cat on the left of a dog {number},cat,dog" for number in range(6)]
    file.write_text("\n".join(["prompt,object1,object2", *rows]))

    levels = [each.tags for each in read(source=PromptSource.HRS, file=file)]

    assert levels == [(f"level_{level}",) for level in (1, 1, 2, 2, 3, 3)]


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("own.txt", "a cat\n\na dog\n", ""),
        ("own.csv", "n,prompt\n1,a cat\n2,a dog\n", ""),
        ("own.csv", "words;n\na cat;1\n".replace(";", ",") + "a dog,2\n", "words"),
        ("own.jsonl", '{"prompt": "a cat"}\n{"prompt": "a dog", "id": 7}\n', ""),
    ],
    ids=["txt", "csv", "column", "jsonl"],
)
def test_own_lists_are_text_tables_or_json_lines(tmp_path, name, text, column):
    file = tmp_path / name
    file.write_text(text)

    prompts = read(source=PromptSource.LIST, file=file, column=column)

    assert [each.text for each in prompts] == ["a cat", "a dog"]


def test_a_prompt_file_of_the_release_keeps_its_counterparts(tmp_path):
    file = tmp_path / "prompts.jsonl"
    file.write_bytes(RELEASE_FILE)

    prompts = read(source=PromptSource.LIST, file=file)

    assert prompts[0].id == "v1_000000"
    assert prompts[0].counterpart_id == "v1_000001"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b""),
        ("a.txt", b"\xff\xfe"),
        ("a.csv", b"other\nvalue\n"),
        ("a.csv", b"prompt\n \n"),
        ("a.jsonl", b"[1]"),
        ("a.jsonl", b'{"prompt": 3}'),
        ("a.jsonl", b"[" * 100_000),
        (
            "a.jsonl",
            b'{"prompt_id": "x", "prompt": "a", "counterfactual": 3, "object_a": 1, '
            b'"object_b": 2, "difficulty_tags": []}',
        ),
    ],
    ids=["empty", "binary", "column", "blank", "array", "number", "nested", "half"],
)
def test_a_damaged_list_is_named(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)

    with pytest.raises(PromptError, match=name):
        read(source=PromptSource.LIST, file=file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(PromptError, match="none"):
        read(source=PromptSource.GENEVAL, file=tmp_path / "none.jsonl")


def test_one_set_cannot_be_named_twice():
    plans = [PromptSetPlan(source=PromptSource.SPATIALBENCH_UC)] * 2

    with pytest.raises(SettingsError, match="v1_000000"):
        read_prompt_sets(plans, resources_folder())


def test_every_visor_pair_is_a_pair_of_coco_names():
    names = (resources_folder() / "benchmarks" / "coco_names.txt").read_text().splitlines()

    assert len(set(names)) == 80
    assert len(list(combinations(names, 2))) * 8 == 25_280


def test_contrast_prompts_differ_from_their_counterpart_in_the_order_only():
    prompts = {each.id: each for each in read(source=PromptSource.CONTRAST)}
    assert len(prompts) == 14 * 13 * 4
    for each in prompts.values():
        other = prompts[each.counterpart_id]
        assert other.counterpart_id == each.id
        assert sorted(other.text.split()) == sorted(each.text.split())
        assert (other.stated.subject, other.stated.object) == (
            each.stated.object,
            each.stated.subject,
        )
    assert prompts["contrast_girl_left_of_horse"].text == "a girl on the left of a horse"


def test_the_grammar_reads_contrast_prompts_as_they_state():
    grammar = GrammarExtractor(resources_folder() / "prompts")
    for each in contrast_prompts(["girl", "horse", "cup"]):
        (relation,) = (scene := grammar.extract(Prompt(text=each.text))).relations
        assert relation.type is each.stated.type
        assert scene.mention(relation.subject).head == each.stated.subject
