from itertools import count

import numpy as np
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QDockWidget,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSlider,
)

from spatialstudio.application.jobs.messages import EvaluateJob
from spatialstudio.domain.derived_requests import unguided
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import GenerationFailed
from spatialstudio.domain.judge_choice import STICKER_JUDGES
from spatialstudio.domain.scene import relation_types
from spatialstudio.ui.compose.widgets.prompt_editor import PromptEditor
from spatialstudio.ui.compose.widgets.relation_chip import RelationChip
from spatialstudio.ui.evaluate.widgets.verdict_card import VerdictCard
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.gallery.widgets.run_grid import RunGrid
from spatialstudio.ui.inspect.widgets.replay_bar import StepScrubber
from spatialstudio.ui.stage.widgets.empty_stage import EXAMPLES
from spatialstudio.ui.stage.widgets.map_strip import MapTile
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.widgets.toast_cards import ToastCard
from spatialstudio.ui.window import main_window
from spatialstudio.ui.window.shortcuts import ShortcutSheet
from spatialstudio.ui.window.workspaces import WORKSPACES
from tests.ui.scripted_engine import PROMPT, STEPS

INTERACTIVE = (
    QAbstractButton,
    QSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    PictureView,
)
CONTROL = Qt.KeyboardModifier.ControlModifier


def shown(window, kind):
    return [widget for widget in window.findChildren(kind) if widget.isVisible()]


def button(window, name):
    return next(
        each
        for each in shown(window, QAbstractButton)
        if name in (each.text(), each.accessibleName())
    )


def push_button(window, text):
    return next(each for each in shown(window, QPushButton) if each.text() == text)


def texts(window):
    return [label.text() for label in shown(window, QLabel)]


def write(qtbot, window, text):
    editor = window.findChild(PromptEditor)
    editor.clear()
    qtbot.keyClicks(editor, text)


def test_writing_a_prompt_makes_a_chip(qtbot, window):
    write(qtbot, window, PROMPT)
    qtbot.waitUntil(lambda: bool(shown(window, RelationChip)))
    assert shown(window, RelationChip)[0].accessibleName() == "Relation: dog to the left of car"


def test_changing_the_type_changes_the_prompt_as_well(qtbot, window, studio):
    window.prompt.use_prompt(PROMPT)
    qtbot.waitUntil(lambda: bool(shown(window, RelationChip)))
    above = relation_types["above"]
    shown(window, RelationChip)[0].type_picked.emit(above.id)
    qtbot.waitUntil(lambda: "above" in window.findChild(PromptEditor).toPlainText())
    assert studio.session.scene.relations[0].type == above


def test_a_contradiction_is_told(qtbot, window):
    window.prompt.use_prompt("a dog to the left of a car and the car to the left of the dog")
    qtbot.waitUntil(lambda: any("contradicts" in text for text in texts(window)))


def test_ctrl_enter_draws_with_what_is_set(qtbot, window, engine):
    window.prompt.use_prompt(PROMPT)
    window.generation.use_seed(7)
    qtbot.keyClick(window.findChild(PromptEditor), Qt.Key.Key_Return, CONTROL)
    assert [job.request.sampling.seed for job in engine.jobs] == [7, 7]
    assert [job.request.sampling.guidance.strength for job in engine.jobs] == [100, 0]


def test_without_the_baseline_one_picture_is_drawn(qtbot, window, engine):
    window.prompt.use_prompt(PROMPT)
    baseline = next(each for each in shown(window, QCheckBox) if "baseline" in each.text())
    qtbot.keyClick(baseline, Qt.Key.Key_Space)
    qtbot.mouseClick(push_button(window, "Generate"), Qt.MouseButton.LeftButton)
    assert len(engine.jobs) == 1


def test_an_empty_prompt_gets_a_sentence(qtbot, window, engine):
    qtbot.mouseClick(push_button(window, "Generate"), Qt.MouseButton.LeftButton)
    assert shown(window, ToastCard)
    assert engine.jobs == []


def test_cancel_says_so_and_reaches_the_engine(qtbot, window, engine):
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    qtbot.waitUntil(lambda: window.generation.is_running)
    qtbot.mouseClick(button(window, "Cancel"), Qt.MouseButton.LeftButton)
    assert button(window, "Cancelling…")
    assert engine.cancelled == [job.job_id for job in engine.jobs]


def test_escape_twice_cancels(qtbot, window, engine):
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    qtbot.waitUntil(lambda: window.generation.is_running)
    qtbot.keyClick(window.findChild(PromptEditor), Qt.Key.Key_Escape)
    assert engine.cancelled == []
    qtbot.keyClick(window.findChild(PromptEditor), Qt.Key.Key_Escape)
    assert len(engine.cancelled) == 2


def test_stage_only_twice_brings_the_docks_back(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_2, CONTROL)
    before = set(shown(window, QDockWidget))
    qtbot.keyClick(window, Qt.Key.Key_F)
    assert shown(window, QDockWidget) == []
    qtbot.keyClick(window, Qt.Key.Key_F)
    assert set(shown(window, QDockWidget)) == before


def test_a_live_run_shows_its_maps_and_its_progress_in_docks_of_the_same_size(
    qtbot, window, engine
):
    before = window.stage.height()
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    engine.play(engine.jobs[0], steps=3)
    qtbot.waitUntil(lambda: f"Denoise 3 of {STEPS}" in texts(window))
    qtbot.waitUntil(lambda: f"Step 3 of {STEPS}" in texts(window))
    qtbot.waitUntil(lambda: [tile.text() for tile in shown(window, MapTile)] == ["dog", "car"])
    assert window.stage.height() == before


def test_a_finished_run_shows_both_verdicts_and_can_be_scrubbed(qtbot, drawn, studio):
    qtbot.waitUntil(lambda: len(shown(drawn, VerdictCard)) == 2)
    names = [card.accessibleName() for card in shown(drawn, VerdictCard)]
    assert names == [
        "Guided verdict on dog to the left of car: PASS",
        "Baseline verdict on dog to the left of car: PASS",
    ]
    qtbot.waitUntil(lambda: bool(shown(drawn, MapTile)))
    qtbot.mouseClick(shown(drawn, MapTile)[1], Qt.MouseButton.LeftButton)
    assert studio.session.mention_id == studio.session.run.scene.mentions[1].id
    scrubber = drawn.findChild(StepScrubber)
    qtbot.waitUntil(scrubber.isEnabled)
    qtbot.keyClick(scrubber, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: f"Step 1 of {STEPS}" in texts(drawn))
    assert studio.session.step == 0


def test_a_digit_hides_a_layer_unless_one_is_typing(qtbot, drawn):
    boxes, editor = push_button(drawn, "Boxes"), drawn.findChild(PromptEditor)
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_4)
    assert boxes.isChecked()
    qtbot.keyClick(editor, Qt.Key.Key_Escape)  # leads back to the stage
    assert isinstance(drawn.focusWidget(), PictureView)
    qtbot.keyClick(drawn, Qt.Key.Key_4)
    assert not boxes.isChecked()


def test_a_failure_is_told_and_the_next_run_begins(qtbot, window, engine):
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    report = ErrorReport(title="Drawing", message="The model is damaged.", hint="Reinstall.")
    for job in engine.jobs:
        engine.report(GenerationFailed(request_id=job.job_id, error=report))
    qtbot.waitUntil(lambda: "The model is damaged." in texts(window))
    qtbot.waitUntil(lambda: not window.generation.is_running)
    window.generation.generate()
    qtbot.waitUntil(lambda: window.generation.is_running)
    assert not shown(window, ToastCard)


def test_a_dropped_picture_is_judged_against_the_prompt(qtbot, window, engine, tmp_path):
    path = tmp_path / "mine.png"
    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(path)
    window.context.studio.judges = STICKER_JUDGES
    window.prompt.use_prompt(PROMPT)
    drop(window.stage, path)
    qtbot.waitUntil(lambda: bool(engine.jobs))
    assert isinstance(engine.jobs[0], EvaluateJob)


def test_a_picture_without_a_prompt_is_shown_with_a_hint(qtbot, window, engine, tmp_path):
    path = tmp_path / "mine.png"
    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(path)
    window.open_path(path)
    hint = "Write a prompt that describes the picture, then judge it."
    qtbot.waitUntil(lambda: hint in texts(window))
    assert engine.jobs == []


def test_what_is_not_a_picture_gets_a_sentence(qtbot, window, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no picture")
    window.prompt.use_prompt(PROMPT)
    window.open_path(path)
    qtbot.waitUntil(lambda: bool(shown(window, ToastCard)))


def test_after_what_is_not_a_picture_another_can_be_opened(
    qtbot, window, studio, tmp_path, monkeypatch
):
    path, picture = tmp_path / "notes.txt", tmp_path / "mine.png"
    path.write_text("no picture")
    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(picture)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(picture), ""))
    window.open_path(path)
    qtbot.waitUntil(lambda: bool(shown(window, ToastCard)))
    (card,) = shown(window, ToastCard)
    another = next(each for each in card.findChildren(QPushButton) if "another" in each.text())
    qtbot.mouseClick(another, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: studio.session.run is not None)
    assert studio.session.run.image.shape == (32, 32, 3)
    qtbot.waitUntil(lambda: not shown(window, ToastCard))


def test_a_stored_run_opens_like_a_live_one(qtbot, drawn, studio):
    qtbot.waitUntil(lambda: studio.session.run.folder is not None)
    folder = studio.session.run.folder
    drawn.prompt.use_prompt("a clock to the right of a couch")
    drawn.open_path(folder)
    qtbot.waitUntil(lambda: drawn.findChild(PromptEditor).toPlainText() == PROMPT)
    qtbot.waitUntil(lambda: len(shown(drawn, VerdictCard)) == 1)
    assert drawn.findChild(PromptEditor).toPlainText() == PROMPT
    assert f"Step {STEPS} of {STEPS}" in texts(drawn)


def test_a_run_opened_in_the_gallery_is_shown_in_inspect(qtbot, drawn, studio, monkeypatch):
    qtbot.waitUntil(lambda: studio.session.run.path is not None)
    actions, path = drawn.context.actions, studio.session.run.path
    actions[framework_commands.GALLERY_WORKSPACE].trigger()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    actions[framework_commands.OPEN_RUN].trigger()
    qtbot.waitUntil(lambda: drawn.context.settings.workspace == "inspect")


def test_the_folder_of_a_run_can_be_shown(qtbot, drawn, studio, monkeypatch):
    shown_urls = []
    monkeypatch.setattr(QDesktopServices, "openUrl", shown_urls.append)
    qtbot.waitUntil(lambda: studio.session.run.folder is not None)
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(drawn, Qt.Key.Key_F, CONTROL | shift)
    assert [url.toLocalFile() for url in shown_urls] == [str(studio.session.run.folder)]


def test_a_folder_without_a_run_gets_a_sentence(qtbot, window, tmp_path):
    window.open_path(tmp_path)
    qtbot.waitUntil(lambda: bool(shown(window, ToastCard)))


def test_an_example_is_drawn_with_its_seed_and_its_baseline(qtbot, window, engine):
    example = EXAMPLES[0]
    qtbot.mouseClick(button(window, f"Example: {example.prompt}"), Qt.MouseButton.LeftButton)
    assert window.findChild(PromptEditor).toPlainText() == example.prompt
    window.generation.generate()
    qtbot.waitUntil(lambda: len(engine.jobs) == 2)
    guided, baseline = (job.request for job in engine.jobs)
    assert (guided.scene.prompt.text, guided.sampling.seed) == (example.prompt, example.seed)
    assert baseline == unguided(guided, baseline.id)


def test_a_workspace_shows_its_docks(qtbot, window):
    keys = (Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_1)
    for key, workspace in zip(keys, (*WORKSPACES[1:3], WORKSPACES[0]), strict=True):
        qtbot.keyClick(window, key, CONTROL)
        names = {dock.objectName() for dock in shown(window, QDockWidget)}
        assert names >= {plan.id for plan in workspace.docks if not plan.tab_of}


def test_the_colours_can_be_switched_while_it_runs(qtbot, drawn, appearance):
    qtbot.waitUntil(lambda: len(shown(drawn, VerdictCard)) == 2)
    word = next(label for label in shown(drawn, QLabel) if label.text() == "PASS")
    qtbot.mouseClick(button(drawn, "Dark theme"), Qt.MouseButton.LeftButton)
    assert appearance.theme.palette.is_dark
    view = drawn.stage.findChild(PictureView)
    qtbot.waitUntil(lambda: beside(view).lightness() < 80)
    appearance.choose(ThemeChoice.HIGH_CONTRAST)
    wanted = appearance.theme.colour("good")
    qtbot.waitUntil(lambda: word.palette().color(word.foregroundRole()) == wanted)


def beside(view):
    """Return the colour of the ground beside the picture."""
    place = view.rect().bottomRight()
    return view.grab().toImage().pixelColor(place)


def test_a_question_mark_opens_the_sheet_of_keys(qtbot, window):
    qtbot.keyClick(window, Qt.Key.Key_Question)
    sheet = window.findChild(ShortcutSheet)
    assert sheet.isVisible()
    sheet.reject()
    # while there is no picture, Escape leads to the examples
    qtbot.keyClick(window.findChild(PromptEditor), Qt.Key.Key_Escape)
    assert window.focusWidget().accessibleName().startswith("Example: ")


def test_the_window_fits_common_screens_and_names_every_control(qtbot, drawn):
    for size in ((1920, 1080), (1280, 800)):
        drawn.resize(*size)
        assert (drawn.width(), drawn.height()) == size
        generate = push_button(drawn, "Generate")
        bottom = generate.mapTo(drawn, QPoint(0, generate.height())).y()
        assert bottom < drawn.height()
    found = [each for kind in INTERACTIVE for each in shown(drawn, kind)]
    controls = [each for each in found if not isinstance(each.parent(), QAbstractSpinBox)]
    nameless = [each for each in controls if not (each.accessibleName() or text_of(each))]
    assert len(controls) > 20
    assert nameless == []


def text_of(widget):
    return widget.text() if isinstance(widget, QAbstractButton) else ""


def drop(widget, path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    middle = widget.rect().center()
    copy, left, none = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    widget.dragEnterEvent(QDragEnterEvent(middle, copy, data, left, none))
    widget.dropEvent(QDropEvent(QPointF(middle), copy, data, left, none))


def test_tab_never_leads_into_a_dock_behind_another(qtbot, window):
    window.use_workspace(WORKSPACES[1])
    behind = window.findChild(QDockWidget, "numbers")
    visited = []
    for _ in range(80):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        visited.append(QApplication.focusWidget())
    assert len(set(visited)) > 8
    assert not any(behind.isAncestorOf(widget) for widget in visited)


def test_a_disabled_widget_loses_the_focus_even_if_all_else_is_behind(window, monkeypatch):
    left = count()

    def is_behind(_widget):
        assert next(left) < 10_000, "the search for the next widget does not end"
        return True

    field = window.findChild(PromptEditor)
    field.setFocus()
    field.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # as if disabled: Tab does not return to it
    monkeypatch.setattr(main_window, "_is_behind", is_behind)
    assert window.focusNextPrevChild(True)


def test_tab_leads_from_the_prompt_to_its_relations(qtbot, window):
    window.prompt.use_prompt(PROMPT)
    qtbot.waitUntil(lambda: any(chip.isVisible() for chip in window.findChildren(RelationChip)))
    qtbot.keyClick(window.findChild(PromptEditor), Qt.Key.Key_Tab)
    assert window.findChild(RelationChip).isAncestorOf(QApplication.focusWidget())


def test_each_workspace_gives_the_keyboard_to_its_main_thing(qtbot, drawn):
    for key, kind in (
        (Qt.Key.Key_2, PictureView),
        (Qt.Key.Key_1, PromptEditor),
        (Qt.Key.Key_3, PictureView),
        (Qt.Key.Key_6, RunGrid),
    ):
        qtbot.keyClick(drawn.focusWidget(), key, CONTROL)
        assert isinstance(drawn.focusWidget(), kind)
