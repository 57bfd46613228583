"""Judge set and second detector are chosen in the window, stored, and used from then on."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDoubleSpinBox, QLabel, QLineEdit, QPushButton

from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.generation import ModelRef
from spatialstudio.domain.judge_choice import DEFAULT_JUDGE_SET, Candidates, JudgeTask
from spatialstudio.domain.ports import PerceptionCard, PerceptionRole
from spatialstudio.ui.evaluate.evaluation_panel import EvaluationPanel
from spatialstudio.ui.evaluate.judge_set_dialog import JudgeSetDialog
from spatialstudio.ui.evaluate.judge_set_panel import JudgeSetPanel
from spatialstudio.ui.run.widgets.fields import ChoiceField
from tests.ui.scripted_engine import PROMPT, studio_around

BROKEN = ModelNotFound('The model folder "owl" is damaged.', hint="Download it again.")


DINO = "IDEA-Research/grounding-dino-tiny"


def card(name, role=PerceptionRole.DETECTOR, architecture="GroundingDino"):
    ref = ModelRef(id=name)
    return PerceptionCard(
        ref=ref, role=role, architecture=architecture, folder=Path(name), size_bytes=1
    )


class Shelf:
    """Two detectors, a depth model, and a damaged one; or what the test puts there."""

    def __init__(self):
        self.models = (card("dino"), card("detr"), card("midas", PerceptionRole.DEPTH))
        self.broken = {"owl": BROKEN}

    def cards(self):
        return self.models

    def damaged(self):
        return self.broken


@pytest.fixture
def shelf(monkeypatch, studio):
    shelf = Shelf()
    monkeypatch.setattr(studio.registry, "perception_catalog", lambda _id: shelf)
    return shelf


@pytest.fixture
def panel(qtbot, shelf, context):
    return shown(qtbot, context)


def shown(qtbot, context):
    panel = JudgeSetPanel(context)
    qtbot.addWidget(panel)
    panel.show()
    return panel


def field_of(panel):
    return field_named(panel, "Second detector")


def set_field(panel):
    return field_named(panel, "Judge set")


def field_named(panel, name):
    return next(each for each in panel.findChildren(ChoiceField) if each.accessibleName() == name)


def titles(panel, field_in=field_of):
    field = field_in(panel)
    return [field.itemText(place) for place in range(field.count())]


def test_detectors_are_offered_and_damaged_ones_say_why(panel):
    assert titles(panel) == ["None", "dino", "detr", BROKEN.message]
    assert not field_of(panel).model().item(3).isEnabled()


def test_what_is_judged_next_is_seen_by_the_second_as_well(qtbot, shelf, window, engine):
    panel = window.panel(JudgeSetPanel)
    window.context.window_signals.workspace_asked.emit("evaluate")
    qtbot.waitUntil(lambda: len(titles(panel)) == 4)
    qtbot.keyClick(field_of(panel), Qt.Key.Key_Down)
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    assert engine.jobs[0].judges.second_id == "dino"


def test_the_choice_can_be_undone(qtbot, panel, context):
    qtbot.keyClick(field_of(panel), Qt.Key.Key_Down)
    context.edits.undo()
    assert context.studio.judges.second_id is None
    assert field_of(panel).currentText() == "None"


def test_the_choice_is_kept(qtbot, panel, context):
    qtbot.keyClick(field_of(panel), Qt.Key.Key_Down)
    again = shown(qtbot, context)
    assert field_of(again).currentText() == "dino"


def test_a_detector_that_has_gone_is_named_but_not_asked(qtbot, shelf, context):
    context.settings.second_detector = "gone"
    panel = shown(qtbot, context)
    assert field_of(panel).currentText() == "gone, not found"
    assert context.studio.judges.second_id is None


def test_the_verdicts_panel_judges_again_once_another_is_chosen(qtbot, shelf, drawn, engine):
    drawn.context.window_signals.workspace_asked.emit("evaluate")
    verdicts = drawn.panel(EvaluationPanel)
    again = next(
        each for each in verdicts.findChildren(QPushButton) if each.text().startswith("Judge")
    )
    qtbot.waitUntil(again.isHidden)
    engine.jobs.clear()
    field = field_of(drawn.panel(JudgeSetPanel))
    qtbot.waitUntil(lambda: field.count() == 4)
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.waitUntil(again.isVisible)
    assert again.text() == "Judge again"
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    (job,) = engine.jobs
    assert job.judges.second_id == "dino"
    qtbot.waitUntil(again.isHidden)


def test_where_there_is_none_it_is_said_where_they_are_looked_for(qtbot, shelf, context):
    shelf.models, shelf.broken = (), {}
    panel = shown(qtbot, context)
    texts = [label.text() for label in panel.findChildren(QLabel)]
    assert any("models folder" in text for text in texts)


@pytest.fixture
def with_dino(shelf):
    """Grounding DINO and SAM 2 are installed; depth and question models are not."""
    sam = card("sam", PerceptionRole.SEGMENTER, "Sam2Model")
    shelf.models, shelf.broken = (card(DINO), sam), {}
    return shelf


def described(panel):
    return "\n".join(label.text() for label in panel.findChildren(QLabel))


def test_judge_sets_without_a_detector_are_listed_but_cannot_be_chosen(panel):
    assert titles(panel, set_field) == [
        "By the picture's origin (default)",
        "Stickers",
        "Open vocabulary (not installed)",
        "COCO (not installed)",
        "SpatialBench-UC (not installed)",
    ]
    items = [set_field(panel).model().item(place) for place in range(5)]
    assert [each.isEnabled() for each in items] == [True, True, False, False, False]
    reason = items[2].data(Qt.ItemDataRole.AccessibleDescriptionRole)
    assert "No detector of this set is installed." in reason
    assert "Detector: not installed; download IDEA-Research/grounding-dino-base or" in reason


def test_a_judge_set_names_its_models_and_what_to_download(qtbot, with_dino, context):
    panel = shown(qtbot, context)
    set_field(panel).setCurrentIndex(2)
    assert context.studio.judges.set_id == "open-vocabulary"
    text = described(panel)
    assert f"Detector: {DINO}" in text
    assert "Segmenter: sam" in text
    assert "Depth model: not installed; download depth-anything/Depth-Anything-V2-Base-hf" in text


def test_the_judge_set_can_be_undone_and_is_restored(qtbot, with_dino, context):
    panel = shown(qtbot, context)
    set_field(panel).setCurrentIndex(2)
    context.studio.judges = DEFAULT_JUDGE_SET
    again = shown(qtbot, context)
    assert set_field(again).currentText() == "Open vocabulary"
    assert context.studio.judges.set_id == "open-vocabulary"
    context.edits.undo()
    assert context.studio.judges == DEFAULT_JUDGE_SET
    assert context.settings.judge_set == ""


def test_a_restored_judge_set_whose_detector_is_gone_is_shown_but_not_used(qtbot, shelf, context):
    context.settings.judge_set = "coco"
    panel = shown(qtbot, context)
    assert set_field(panel).currentText() == "COCO (not installed)"
    assert context.studio.judges.set_id == ""
    context.settings.judge_set = "theirs"
    again = shown(qtbot, context)
    assert set_field(again).currentText() == "theirs, not found"
    assert 'There is no judge set "theirs".' in described(again)


def test_showing_the_dock_again_finds_a_model_installed_meanwhile(qtbot, shelf, panel):
    panel.hide()
    shelf.models = (*shelf.models, card(DINO))
    panel.show()
    assert titles(panel, set_field)[2] == "Open vocabulary"


def test_the_missing_models_of_a_set_are_offered_for_download(qtbot, with_dino, context):
    asked = []
    context.window_signals.models_asked.connect(asked.append)
    panel = shown(qtbot, context)
    set_field(panel).setCurrentIndex(2)
    button(panel, "Download missing models…").click()
    (names,) = asked
    assert "depth-anything/Depth-Anything-V2-Small-hf" in names
    assert DINO not in names
    assert "facebook/sam2.1-hiera-tiny" not in names


def button(widget, text):
    return next(each for each in widget.findChildren(QPushButton) if each.text() == text)


def defined(panel, name, cut=None, **models):
    """Define a judge set in the dialog, and return the dialog."""
    button(panel, "New set…").click()
    dialog = panel.findChildren(JudgeSetDialog)[-1]
    dialog.findChild(QLineEdit).setText(name)
    if cut is not None:
        dialog.findChild(QDoubleSpinBox).setValue(cut)
    for task, model in models.items():
        field = field_named(dialog, task.replace("_", " "))
        field.setCurrentIndex(field.findData(model))
    button(dialog, "Save").click()
    return dialog


def test_a_set_defined_by_hand_is_saved_chosen_and_deleted(qtbot, with_dino, context, monkeypatch):
    panel = shown(qtbot, context)
    defined(panel, "mine", Detector=DINO, Segmenter="sam", Depth_model="sticker-depth")
    assert set_field(panel).currentText() == "mine"
    assert context.studio.judges.set_id == "mine"
    filled = context.studio.judge_sets.filled(context.studio.judges)
    assert (filled.detector_id, filled.segmenter_id) == (DINO, "sam")
    assert "Detector: " + DINO in described(panel)
    assert "Score threshold:" not in described(panel)
    monkeypatch.setattr("spatialstudio.ui.evaluate.judge_set_panel.is_confirmed", lambda *_: True)
    button(panel, "Delete…").click()
    assert context.studio.judges.set_id == ""
    assert "mine" not in titles(panel, set_field)


@pytest.mark.parametrize(
    ("name", "models", "problem"),
    [
        ("", {"Detector": DINO}, "cannot have the name"),
        ("coco", {"Detector": DINO}, "cannot have the name"),
        ("mine", {"Segmenter": "sam"}, "has no detector"),
    ],
)
def test_a_set_that_cannot_be_saved_names_the_reason(
    qtbot, with_dino, context, name, models, problem
):
    dialog = defined(shown(qtbot, context), name, **models)
    assert dialog.isVisible()
    assert problem in described(dialog)
    assert context.studio.storage.own_judge_sets() == ()


def test_the_score_threshold_of_a_set_is_saved_and_used(
    qtbot, with_dino, context, engine, tmp_path
):
    panel = shown(qtbot, context)
    defined(panel, "strict", cut=0.6, Detector=DINO)
    assert context.studio.judge_sets.filled(context.studio.judges).cut == 0.6
    assert "Score threshold: 0.6" in described(panel)
    other = studio_around(engine, tmp_path)
    assert other.judge_sets.card("strict").cut == 0.6
    other.close()


def test_another_program_finds_a_saved_set_by_name(qtbot, with_dino, context, engine, tmp_path):
    defined(shown(qtbot, context), "mine", Detector=DINO)
    other = studio_around(engine, tmp_path)
    assert other.judge_sets.card("mine").tasks == {JudgeTask.DETECTOR: Candidates(models=(DINO,))}
    other.close()


def test_stored_sets_that_cannot_be_used_say_why(qtbot, with_dino, context):
    file = context.studio.paths.settings / "judge_sets.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    sets = {"misspelt": {"detektor": [DINO]}, "gone": {"detector": [DINO], "depth": ["my depth"]}}
    file.write_text(json.dumps(sets))
    context.settings.judge_set = "misspelt"
    panel = shown(qtbot, context)
    assert titles(panel, set_field)[-2:] == ["misspelt (invalid)", "gone"]
    assert context.studio.judges.set_id == ""
    assert '"detektor" is not one of detector, second_detector' in described(panel)
    assert "Correct it in judge_sets.json in the settings folder." in described(panel)
    field = set_field(panel)
    field.setCurrentIndex(field.findData("gone"))
    assert "Depth model: my depth, not found" in described(panel)
    assert button(panel, "Download missing models…").isHidden()
