"""Items of plans and their keys."""

from dataclasses import replace

import pytest

from spatialstudio.application.benchmark.plan_items import Drawing, items_of, key_of
from spatialstudio.domain.benchmark_plan import (
    BenchmarkPlan,
    BenchmarkPrompt,
    JudgePlan,
    MethodPlan,
)
from spatialstudio.domain.errors import PromptError, RequestError
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.refinement import MOST_ROUNDS, REFINE_RECOMMENDED, UpdateOrder
from tests.cli.conftest import CARD
from tests.fakes import scene_of

PROMPT = BenchmarkPrompt(id="p1", text="a photo of a dog to the left of a car", set_id="list")
OTHER = BenchmarkPrompt(id="p2", text="a photo of a unicorn", set_id="list")
PLAIN = MethodPlan(name="plain", guidance="none")


class NoJudges:
    def rate_depth(self, model_id, scene):
        return False

    def draws_stickers(self, model_id):
        return False

    def judges_for(self, choice, scene, *, is_sticker_picture):
        return choice


def read_scene(text, model_id):
    if "unicorn" in text:
        raise PromptError("The model cannot draw a unicorn.", hint="Name another object.")
    return scene_of()


DRAWING = Drawing(model=lambda _: CARD, read_scene=read_scene, judges=NoJudges())


def items(*methods, seeds=(0,), prompts=(PROMPT,), drawing=DRAWING):
    plan = BenchmarkPlan(name="plan", prompts=(), methods=methods, seeds=seeds)
    return items_of(plan, prompts, drawing)


def test_a_plan_has_one_item_per_method_prompt_and_seed():
    found = items(PLAIN, MethodPlan(name="psg", guidance="psg"), seeds=(0, 1))

    assert [(each.method.name, each.seed) for each in found] == [
        *(("plain", 0), ("plain", 1)),
        *(("psg", 0), ("psg", 1)),
    ]
    assert len({each.key for each in found}) == 4
    assert [each.request.sampling.seed for each in found] == [0, 1, 0, 1]


def test_equal_pictures_of_two_methods_share_a_key():
    first, second = items(PLAIN, replace(PLAIN, name="again"))

    assert first.key == second.key


@pytest.mark.parametrize(
    "change",
    [
        {"steps": 3},
        {"guidance_scale": 1.5},
        {"negative": "cats"},
        {"width": 64, "height": 64},
        {"guidance": "psg"},
        {"particles": 2},
        {"candidates": 2},
    ],
    ids=["steps", "scale", "negative", "size", "guidance", "particles", "search"],
)
def test_each_setting_changes_the_key(change):
    first, second = items(PLAIN, replace(PLAIN, name="other", **change))

    assert first.key != second.key


def test_a_changed_model_changes_the_key():
    other = replace(DRAWING, model=lambda _: replace(CARD, revision="2"))

    assert items(PLAIN)[0].key != items(PLAIN, drawing=other)[0].key


def test_a_prompt_that_cannot_be_drawn_does_not_stop_the_others():
    good, bad = items(PLAIN, prompts=(PROMPT, OTHER))

    assert good.request is not None
    assert bad.request is None
    assert "unicorn" in bad.error.message


def test_an_unknown_guidance_method_is_an_error_of_the_plan():
    with pytest.raises(RequestError):
        items(MethodPlan(name="x", guidance="unknown"))


def test_an_unknown_option_is_an_error_of_the_plan():
    with pytest.raises(RequestError):
        items(MethodPlan(name="x", guidance="psg", options={"unknown": 1}))


def test_fields_at_their_defaults_do_not_change_a_key():
    assert key_of(MethodPlan(name="a")) == key_of(MethodPlan(name="a", steps=None, negative=""))
    assert key_of(MethodPlan(name="a")) != key_of(MethodPlan(name="a", steps=1))


def test_the_key_of_a_request_is_stable():
    (item,) = items(PLAIN)

    assert item.key == items(PLAIN)[0].key == item.request.id
    assert len(item.key) == 32


REFINED = replace(PLAIN, name="refine", refine=REFINE_RECOMMENDED)


def judged_by(detector_id, *methods, **changes):
    choice = JudgeSetChoice(detector_id=detector_id)
    judges = (JudgePlan(choice=choice), JudgePlan(name="other"))
    plan = BenchmarkPlan(name="plan", prompts=(), methods=methods, seeds=(0,), judges=judges)
    return items_of(plan, (PROMPT,), DRAWING)


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 3},
        {"order": UpdateOrder.FIRST},
        {"weighs_prompt": False},
        {"weighs_attention": False},
    ],
    ids=str,
)
def test_the_rules_of_a_refinement_are_part_of_the_key(change):
    other = replace(REFINED, refine=replace(REFINE_RECOMMENDED, **change))
    plain, first, second = judged_by("one", PLAIN, REFINED, other)

    assert len({plain.key, first.key, second.key}) == 3


def test_the_judge_set_that_scores_the_rounds_is_part_of_the_key():
    plain, first = judged_by("one", PLAIN, REFINED)
    again, second = judged_by("two", PLAIN, REFINED)

    assert plain.key == again.key
    assert first.key != second.key


def test_rounds_that_nothing_can_score_are_an_error_of_the_item():
    (item,) = judged_by(None, REFINED)

    assert item.request is None
    assert "score" in item.error.message


@pytest.mark.parametrize("rounds", [0, MOST_ROUNDS + 1])
def test_a_loop_of_too_many_rounds_is_an_error_of_the_item(rounds):
    rules = replace(REFINE_RECOMMENDED, rounds=rounds)
    (item,) = judged_by("one", replace(REFINED, refine=rules))

    assert f"1 to {MOST_ROUNDS} rounds, not {rounds}" in item.error.message
