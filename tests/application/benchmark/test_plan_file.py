"""Plan files and the messages of their errors."""

from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.application.benchmark.plan_file import (
    PlanMeasures,
    parse_plan,
    parse_seeds,
    read_plan,
    write_plan,
)
from spatialstudio.domain.benchmark_plan import (
    MethodPlan,
    PromptSetPlan,
    PromptSource,
    new_method,
)
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.multiple_choice import PUBLISHED_ASKING, AskSettings
from spatialstudio.domain.refinement import REFINE_PUBLISHED, UpdateOrder
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import LoraUse

PLAN = """\
name = "Methods"
seeds = "0-2, 7"
metrics = ["visor", "pse"]

[[prompts]]
set = "visor"
sample = 20

[[prompts]]
set = "list"
file = "own.txt"

[[methods]]
name = "plain"
guidance = "none"

[[methods]]
name = "strong"
guidance = "psg"
preset = "published"
strength = 20
steps = 30
lora = ["style:0.8"]

[methods.options]
paper_loss = true

[[judges]]
name = "coco"
set = "coco"
cut = 0.4
"""
PATH = Path("/plans/methods.toml")


def test_a_new_plan_names_metrics_and_an_answerer():
    measures = PlanMeasures(
        metrics=("visor", "choices"), choice_answerer="vision-model", protocol="published"
    )
    sets = [PromptSetPlan(source=PromptSource.CONTRAST)]
    methods = [MethodPlan(name="plain", guidance="none")]

    made = parse_plan(write_plan("p", sets, methods, "0", measures=measures), Path("p.toml"))
    usual = parse_plan(write_plan("p", sets, methods, "0"), Path("p.toml"))

    assert made.metrics == ("visor", "choices")
    assert made.choice_answerer == "vision-model"
    assert made.asking == PUBLISHED_ASKING
    assert (usual.metrics, usual.choice_answerer) == ((), "")
    assert usual.asking == AskSettings()


def test_the_answerer_perception_is_the_default():
    text = write_plan(
        "p",
        [PromptSetPlan(source=PromptSource.CONTRAST)],
        [MethodPlan(name="plain", guidance="none")],
        "0",
    )
    made = parse_plan(f'answerer = "perception"\n{text}', Path("p.toml"))
    assert made.choice_answerer == ""


def test_a_plan_states_prompts_methods_seeds_and_judges():
    plan = parse_plan(PLAN, PATH)

    assert plan.seeds == (0, 1, 2, 7)
    assert plan.metrics == ("visor", "pse")
    visor, own = plan.prompts
    assert (visor.source, visor.sample) == (PromptSource.VISOR, 20)
    assert own.file == Path("/plans/own.txt")
    plain, strong = plan.methods
    assert (plain.guidance, plain.strength) == ("none", None)
    assert (strong.preset, strong.strength, strong.steps) == (Preset.PUBLISHED, 20.0, 30)
    assert strong.loras == (LoraUse(name="style", weight=0.8),)
    assert strong.options == {"paper_loss": True}
    (judges,) = plan.judges
    assert (judges.name, judges.choice.set_id, judges.choice.cut) == ("coco", "coco", 0.4)


def test_a_plan_without_judges_uses_the_default_judge_set():
    text = '[[prompts]]\nset = "visor"\n[[methods]]\nname = "a"\n'

    (judges,) = parse_plan(text, PATH).judges

    assert judges.choice.set_id == ""


def changed(old, new):
    assert old in PLAN
    return PLAN.replace(old, new)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param(changed('guidance = "none"', 'guidence = "none"'), 15, "guidence", id="field"),
        pytest.param(changed("steps = 30", 'steps = "many"'), 22, "whole number", id="type"),
        pytest.param(changed("steps = 30", "steps = true"), 22, "whole number", id="bool"),
        pytest.param(changed("steps = 30", "steps = 0"), 22, "at least 1", id="range"),
        pytest.param(changed('"published"', '"publshed"'), 20, "publshed", id="choice"),
        pytest.param(changed('file = "own.txt"', ""), 10, "needs a file", id="no-file"),
        pytest.param(changed('name = "strong"', 'name = "plain"'), 18, "twice", id="twice"),
        pytest.param(changed('name = "strong"', 'name = "../up"'), 18, "folder", id="path"),
        pytest.param(changed('name = "strong"', ""), 17, "needs a name", id="no-name"),
        pytest.param(changed('"0-2, 7"', '"0-two"'), 2, "seeds", id="seeds"),
        pytest.param(changed("cut = 0.4", "cut = 4"), 31, "between 0 and 1", id="cut"),
        pytest.param(changed('set = "visor"', 'set = visor"'), 6, "Invalid value", id="toml"),
        pytest.param(PLAN + 'colour = "red"\n', 32, "colour", id="last-table"),
    ],
)
def test_an_error_names_its_line_and_field(text, line, words):
    with pytest.raises(SettingsError, match=f"methods.toml, line {line}: .*{words}"):
        parse_plan(text, PATH)


@pytest.mark.parametrize("table", ["prompts", "methods"])
def test_a_plan_needs_prompts_and_methods(table):
    text = PLAN.replace(f"[[{table}]]", "[[judges]]").replace("[methods.options]\n", "")

    with pytest.raises(SettingsError):
        parse_plan(text, PATH)


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("0-3", (0, 1, 2, 3)), ("5", (5,)), ("2, 0-2", (2, 0, 1))],
    ids=["range", "one", "both"],
)
def test_seeds_are_ranges_and_numbers(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "3-1", "-1", "4294967296", "0-4294967295", "a"])
def test_other_seeds_are_refused(text):
    with pytest.raises(SettingsError):
        parse_seeds(text)


def test_a_plan_of_endless_brackets_is_refused(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("a = " + "[" * 200_000)

    with pytest.raises(SettingsError, match="brackets"):
        read_plan(path)


def test_a_missing_plan_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"none\.toml"):
        read_plan(tmp_path / "none.toml")


def test_a_written_plan_is_read_back():
    sets = [
        PromptSetPlan(source=PromptSource.VISOR, sample=20),
        PromptSetPlan(source=PromptSource.LIST, file=Path("/my/prompts.csv"), column="text"),
    ]
    methods = [
        MethodPlan(name="none", guidance="none"),
        MethodPlan(name="psg", guidance="psg", model_id="sd15", strength=2.5, steps=30),
        new_method("refine", "sd15"),
    ]
    text = write_plan('two "sets"', sets, methods, "0-3", judge_sets=["open"])

    plan = parse_plan(text, PATH)

    assert plan.prompts == tuple(sets)
    assert plan.methods == tuple(methods)
    assert [each.choice.set_id for each in plan.judges] == ["open"]
    assert plan.name == 'two "sets"'
    assert plan.seeds == (0, 1, 2, 3)


REFINED = """\
[[prompts]]
set = "visor"

[[methods]]
name = "refine"
guidance = "none"
refine = "published"
refine_rounds = 3
refine_rule = "lowest"
refine_weights = false
refine_attention = false
"""


def test_a_method_states_the_rules_of_its_refinement():
    (method,) = parse_plan(REFINED, PATH).methods

    assert method.refine == replace(
        REFINE_PUBLISHED,
        rounds=3,
        order=UpdateOrder.LOWEST,
        weighs_prompt=False,
        weighs_attention=False,
    )
    assert method.rounds == 3


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('refine = "published"\n', "", 7, '"refine_rounds" needs "refine"'),
        ('"published"', '"mine"', 7, '"refine" must be a known name'),
        ('"published"', "5", 7, '"refine" must be text'),
        ("rounds = 3", "rounds = 0", 8, '"refine_rounds" must be at least 1'),
        ('"lowest"', '"last"', 9, '"refine_rule" must be a known name'),
        ("weights = false", "weights = 0", 10, '"refine_weights" must be true or false'),
    ],
)
def test_an_error_in_the_rules_of_a_refinement_is_named(old, new, line, words):
    with pytest.raises(SettingsError) as caught:
        parse_plan(REFINED.replace(old, new), PATH)

    assert f"line {line}: {words}" in caught.value.message
