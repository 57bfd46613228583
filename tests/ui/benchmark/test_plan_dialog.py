"""The form of a new benchmark writes a plan, and shows its estimate."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from spatialstudio.application.benchmark.background_run import RunOrder
from spatialstudio.application.benchmark.check_plan import check_plan
from spatialstudio.application.benchmark.executors import EnginePlan, Executor
from spatialstudio.application.benchmark.plan_file import parse_plan
from spatialstudio.domain.benchmark_plan import PromptSource
from spatialstudio.domain.multiple_choice import PROTOCOLS, AnswerCost
from spatialstudio.domain.refinement import REFINE_RECOMMENDED
from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.benchmark.benchmark_presenter import plan_in_words
from spatialstudio.ui.benchmark.plan_dialog import PlanChoices, PlanDialog
from spatialstudio.ui.benchmark.plan_making import PlanMaking
from spatialstudio.ui.benchmark.run_choices import remember_run

CHOICES = PlanChoices(
    methods=(("none", "None"), ("layout", "Layout guidance"), ("psg", "PoS guidance")),
    models=(("stickers", "Stickers"), ("sd15", "Stable Diffusion 1.5")),
    judge_sets=(("open", "Open vocabulary"), ("coco", "COCO")),
    metrics=(("visor", "VISOR"), ("choices", "Multiple choice")),
    answerers=(("perception", "judge set"), ("vision-model", "server")),
    folder=Path("/benchmarks"),
)


@pytest.fixture
def dialog(qtbot):
    made = PlanDialog(CHOICES, None)
    qtbot.addWidget(made)
    return made


def plan(dialog):
    return parse_plan(dialog.text, Path("/p/plan.toml"))


def test_the_form_begins_with_a_valid_plan(dialog):
    assert [each.guidance for each in plan(dialog).methods] == ["none", "layout"]
    assert plan(dialog).seeds == (0, 1, 2, 3)
    assert dialog.folder == Path("/benchmarks/benchmark")


def test_each_field_changes_the_plan(dialog, qtbot):
    dialog._set.setCurrentIndex(dialog._set.findData(PromptSource.LIST.value))
    qtbot.keyClicks(dialog._file, "/my/list.txt")
    dialog._sample.setValue(5)
    dialog._model.setCurrentIndex(1)
    for row in range(2):
        dialog._judges.item(row).setCheckState(Qt.CheckState.Checked)
    made = plan(dialog)
    assert made.prompts[0].file == Path("/my/list.txt")
    assert made.prompts[0].sample == 5
    assert {each.model_id for each in made.methods} == {"sd15"}
    assert [each.choice.set_id for each in made.judges] == ["open", "coco"]


def test_metrics_and_the_answerer_of_questions_are_chosen(dialog):
    assert plan(dialog).metrics == ()
    dialog._answerer.setCurrentIndex(1)
    assert plan(dialog).choice_answerer == "vision-model"
    dialog._metrics.item(0).setCheckState(Qt.CheckState.Checked)
    assert plan(dialog).metrics == ("visor",)
    assert plan(dialog).choice_answerer == ""
    assert not dialog._answerer.isEnabled()
    dialog._metrics.item(1).setCheckState(Qt.CheckState.Checked)
    assert plan(dialog).metrics == ("visor", "choices")
    assert plan(dialog).choice_answerer == "vision-model"


def test_spatialgeneval_is_asked_by_a_protocol(dialog, qtbot):
    dialog._set.setCurrentIndex(dialog._set.findData(PromptSource.SPATIALGENEVAL.value))
    qtbot.keyClicks(dialog._file, "/my/data.jsonl")
    assert not dialog._protocol.isEnabled()
    dialog._answerer.setCurrentIndex(1)
    assert dialog._protocol.isEnabled()
    for name, asking in PROTOCOLS.items():
        dialog._protocol.setCurrentIndex(dialog._protocol.findData(name))
        assert plan(dialog).asking == asking
    assert plan(dialog).prompts[0].file == Path("/my/data.jsonl")


def test_the_folder_follows_the_name_as_one_part_of_a_path(dialog, qtbot):
    dialog._name.selectAll()
    qtbot.keyClicks(dialog._name, "../a b")
    assert dialog.folder == Path("/benchmarks/---a b")


def test_nothing_starts_before_the_plan_is_checked(dialog, qtbot):
    with qtbot.waitSignal(dialog.check_asked) as asked:
        dialog._seeds.setText("0-1")
        dialog._write()
    assert not dialog._start.isEnabled()
    dialog.show_summary(asked.args[0], "60 pictures")
    assert dialog._start.isEnabled()
    assert dialog._smoke.isEnabled()


def test_the_estimate_of_an_earlier_text_is_ignored(dialog):
    dialog.show_summary("name = 1", "60 pictures")
    assert not dialog._start.isEnabled()


def test_a_problem_is_shown_and_keeps_the_buttons_disabled(dialog):
    dialog.show_summary(dialog.text, "60 pictures")
    dialog.show_problem("plan.toml, line 2: seeds must be a list of seeds.")
    assert "line 2" in dialog._summary.text()
    assert not dialog._start.isEnabled()


def test_the_smoke_run_is_asked_for(dialog, qtbot):
    dialog.show_summary(dialog.text, "60 pictures")
    with qtbot.waitSignal(dialog.begin_asked) as asked:
        dialog._smoke.click()
    assert asked.args == [dialog.text, RunOrder(folder=dialog.folder, only_smoke=True)]


def test_the_choice_of_the_best_method_on_a_cluster_is_ordered(dialog, qtbot):
    dialog.show_summary(dialog.text, "60 pictures")
    assert not dialog._address.isEnabled()
    dialog._executor.setCurrentIndex(dialog._executor.findData("ray"))
    qtbot.keyClicks(dialog._address, " host:6379 ")
    dialog._extent.setCurrentIndex(dialog._extent.findData("pse"))
    with qtbot.waitSignal(dialog.begin_asked) as asked:
        dialog._start.click()
    engines = EnginePlan(executor=Executor.RAY, address="host:6379")
    assert asked.args[1] == RunOrder(folder=dialog.folder, engines=engines, choose="pse")


def test_extent_and_engines_of_the_last_run_are_proposed(context, qtbot):
    engines = EnginePlan(executor=Executor.RAY, address="host:6379")
    remember_run(context.settings, RunOrder(folder=Path("/b"), engines=engines, choose="pse"))
    making = PlanMaking(context, None)
    making.ask()
    dialog = making._dialog
    qtbot.addWidget(dialog)
    assert dialog._extent.currentData() == "pse"
    assert dialog._executor.currentData() == "ray"
    assert dialog._address.text() == "host:6379"
    assert dialog._address.isEnabled()


def test_the_command_offers_the_models_of_the_studio(context, qtbot):
    making = PlanMaking(context, None)
    context.actions[commands.NEW].trigger()
    qtbot.addWidget(making._dialog)
    assert "stickers" in making._dialog.text


def test_the_form_offers_evaluate_and_refine_and_says_that_its_cost_is_an_upper_bound(
    context, studio, qtbot, tmp_path
):
    making = PlanMaking(context, None)
    context.actions[commands.NEW].trigger()
    dialog = making._dialog
    qtbot.addWidget(dialog)
    offered = [dialog._methods.item(row) for row in range(dialog._methods.count())]
    for item in offered:
        is_refine = item.text() == "Evaluate-and-Refine"
        item.setCheckState(Qt.CheckState.Checked if is_refine else Qt.CheckState.Unchecked)

    (method,) = plan(dialog).methods
    assert (method.guidance, method.refine) == ("none", REFINE_RECOMMENDED)
    checked = check_plan(lambda: studio, dialog.text, tmp_path / "new")
    assert checked.costs[0].pictures == 5 * checked.estimate.pictures


def test_the_summary_names_size_disk_and_licence(studio, dialog, tmp_path):
    checked = check_plan(lambda: studio, dialog.text, tmp_path / "new")
    words = plan_in_words(checked, studio.estimates)
    assert "200 prompts x 2 methods x 4 seeds = 1,600 pictures" in words
    assert "licence MIT" in words
    assert "disk" in words
    assert "Answers" not in words
    answers = AnswerCost(replies=1600, tokens_in=2_000_000, tokens_out=64_000)
    asking = replace(checked, estimate=replace(checked.estimate, answers=answers))
    words = plan_in_words(asking, studio.estimates)
    assert "Answers: 1,600 replies, 2,000,000 + 64,000 tokens" in words
