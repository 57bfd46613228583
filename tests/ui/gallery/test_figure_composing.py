"""The figure composer in the window: preview, actions, templates and files."""

import json
import re
import threading
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
)

from spatialstudio.application.studio import Studio
from spatialstudio.cli.commands import run
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.figure_template import SCHEMA_FILE
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.figure_composing import _labels
from spatialstudio.ui.gallery.figure_dialog import CheckList, FigureDialog, steps_of
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.window.workspaces import GALLERY, INSPECT
from tests.ui.gallery.test_gallery_contents import ENTRY, SUMMARY
from tests.ui.inspect.test_blocks_panel import files_with
from tests.ui.scripted_engine import PROMPT

MOST_ACTIONS = 10
LATER = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


class Hand:
    """Acts in the window as a user does, and counts the actions."""

    def __init__(self, qtbot, window, monkeypatch):
        self._qtbot, self._window, self._monkeypatch = qtbot, window, monkeypatch
        self.actions = 0

    def trigger(self, command):
        self.actions += 1
        self._window.context.actions[command].trigger()

    def click(self, dialog, text):
        self.actions += 1
        buttons = dialog.findChildren(QPushButton)
        button = next(each for each in buttons if each.text().replace("&", "") == text)
        assert button.isEnabled()
        self._qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    def will_name(self, path):
        """Answer the next question for a file; naming it is an action."""

        def answer(*_arguments, **_options):
            self.actions += 1
            return str(path), ""

        for question in ("getSaveFileName", "getOpenFileName"):
            self._monkeypatch.setattr(QFileDialog, question, answer)


@pytest.fixture
def finished(qtbot, window, studio, engine):
    """The window after a guided run of 20 steps with its baseline, both stored."""
    steps = window.findChildren(QSpinBox)
    next(each for each in steps if each.accessibleName() == "Denoising steps").setValue(20)
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    for job in engine.jobs:
        engine.play(job)
    session = studio.session
    qtbot.waitUntil(lambda: session.baseline is not None and session.baseline.path is not None)
    qtbot.waitUntil(lambda: session.run.path is not None)
    window.use_workspace(GALLERY)
    window.use_workspace(INSPECT)
    return window


@pytest.fixture
def hand(qtbot, finished, monkeypatch):
    return Hand(qtbot, finished, monkeypatch)


@pytest.fixture
def composer(qtbot, finished, hand):
    """The composer of the open run and its baseline, with its first preview."""
    hand.trigger(commands.FIGURE)
    dialog = finished.findChild(FigureDialog)
    qtbot.waitUntil(lambda: bool(dialog.caption))
    return dialog


def named(dialog, kind, name):
    return next(each for each in dialog.findChildren(kind) if each.accessibleName() == name)


def told(window):
    return [toast.message for toast in window.context.toasts.earlier]


def texts_of(dialog):
    return [label.text() for label in dialog.findChildren(QLabel) if label.isVisible()]


def redraw(qtbot, dialog, change):
    """Change a field, and return the caption of the preview that follows."""
    before = dialog.caption
    change()
    qtbot.waitUntil(lambda: dialog.caption != before)
    return dialog.caption


def test_the_figure_of_a_paper_needs_at_most_ten_actions(qtbot, composer, finished, hand, tmp_path):
    target = tmp_path / "figure.svg"
    hand.will_name(target)
    hand.click(composer, "Save figure…")
    qtbot.waitUntil(lambda: "Wrote figure.svg." in told(finished))
    assert "Wrote figure.svg." in texts_of(composer)
    svg = target.read_text()
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", svg)
    assert hand.actions <= MOST_ACTIONS
    assert 'width="234pt"' in svg  # 3.25 inch
    assert texts[:5] == ["Step", "1", "5", "10", "20"]
    assert [texts.count(word) for word in ("Guided", "Baseline", "dog", "car")] == [2, 2, 2, 2]
    assert {"Attention", "PoS", "Denoising step", "guided steps"} <= set(texts)
    assert svg.count("<image ") == 2 * 2 * 4 + 1
    assert svg.count("@font-face") == 2


def test_it_starts_from_the_moment_that_inspect_shows(qtbot, finished, hand, studio):
    maps, files = finished.context.maps, files_with(1)
    studio.session.open(replace(studio.session.run, attention_files=files))
    studio.session.pick_step(6)
    maps.show_look(moment=Moment.BEFORE)
    maps.average(frozenset({files[1].layer}))
    hand.trigger(commands.FIGURE)
    dialog = finished.findChild(FigureDialog)
    start = dialog.template
    assert start.steps == (1, 5, 7, 10, 20)
    assert (start.moment, start.layers) == (Moment.BEFORE, (files[1].layer,))
    qtbot.waitUntil(lambda: bool(dialog.caption))  # the stored run has no layers
    assert dialog.template == replace(start, layers=())
    assert "before" in dialog.caption
    lost = "Not all runs have the chosen layers: the usual maps are shown."
    assert any(lost in text for text in texts_of(dialog))
    assert not any("head" in text for text in texts_of(dialog))


def test_a_chosen_head_is_said_to_be_averaged(qtbot, finished, hand, studio):
    files = files_with(1)
    studio.session.open(replace(studio.session.run, attention_files=files))
    finished.context.maps.average(frozenset({files[1].layer}))
    finished.context.maps.show_head(1)
    hand.trigger(commands.FIGURE)
    dialog = finished.findChild(FigureDialog)
    qtbot.waitUntil(lambda: any("means over all heads" in text for text in texts_of(dialog)))


def test_steps_beyond_the_last_are_named_until_they_are_removed(qtbot, composer):
    def left_out():
        return [text for text in texts_of(composer) if "not shown" in text]

    steps = named(composer, QLineEdit, "Steps")
    assert left_out() == []
    steps.setFocus()
    qtbot.keyClicks(steps, ", 30")
    qtbot.waitUntil(lambda: left_out() == ["Step 30 is not shown: the last step is 20."])
    for _ in ", 30":
        qtbot.keyClick(steps, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: left_out() == [])


def test_one_command_makes_the_same_figure(qtbot, composer, finished, hand, studio, tmp_path):
    mine, other = tmp_path / "mine.svg", tmp_path / "other.svg"
    hand.will_name(mine)
    hand.click(composer, "Save figure…")
    qtbot.waitUntil(lambda: "Wrote mine.svg." in told(finished))
    words = ["figure", *map(str, composer.chosen_runs), "--out", str(other)]
    assert run(words, lambda _folder: Studio.open("inline", studio.paths)) == 0
    assert mine.read_bytes() == other.read_bytes()


def test_each_change_is_previewed_and_only_the_newest_change_waits(
    qtbot, composer, finished, monkeypatch
):
    drawn, figures = [], finished.context.studio.storage.figures
    preview, gate = figures.preview, threading.Event()

    def slow(runs, look):
        gate.wait(10)
        drawn.append(look.template.steps)
        return preview(runs, look)

    monkeypatch.setattr(figures, "preview", slow)
    steps = named(composer, QLineEdit, "Steps")
    for text in ("1", "1, 2", "1, 2, 3"):
        steps.setText(text)
        composer.edited.emit()
    gate.set()
    qtbot.waitUntil(lambda: len(drawn) == 2)
    assert drawn == [(1,), (1, 2, 3)]


def test_runs_of_equal_settings_are_told_apart_by_their_times(tmp_path):
    summary, paths = replace(SUMMARY, steps=20), [tmp_path / name for name in "abc"]
    entries = [
        replace(ENTRY, path=paths[0], summary=summary),
        replace(ENTRY, path=paths[1], summary=replace(summary, is_left_unguided=True)),
        replace(ENTRY, path=paths[2], summary=replace(summary, created=LATER)),
    ]
    labels = _labels(entries)
    assert len(set(labels.values())) == len(paths)
    assert labels[paths[1]].startswith("psg 5, not needed, seed 7, 20 steps")
    assert [" UTC" in labels[path] for path in paths] == [True, False, True]
    assert labels[paths[2]].endswith(", 2030-01-02 03:04:05 UTC")


def test_a_short_list_of_wrapped_names_shows_all_of_them(qtbot):
    runs = CheckList("Runs")
    qtbot.addWidget(runs)
    name = "layout 100, seed 15, 20 steps, stickers, 2026-11-29 02:54:28 UTC"
    runs.resize(em(12), em(20))
    runs.show_choices({"1": name, "2": name}, ())
    runs.show()
    qtbot.waitUntil(lambda: runs.visualItemRect(runs.item(0)).height() > runs.sizeHintForRow(0))
    rows = sum(runs.visualItemRect(runs.item(row)).height() for row in range(2))
    assert rows <= runs.sizeHint().height() <= rows + em(2)


def test_words_scale_and_curves_are_chosen(qtbot, composer):
    words = named(composer, CheckList, "Words")
    scale = named(composer, QComboBox, "Colour scale")
    caption = redraw(qtbot, composer, lambda: scale.setCurrentIndex(scale.findText("0 to 1")))
    assert "colour scale from 0 to 1" in caption
    curves = next(b for b in composer.findChildren(QCheckBox) if b.text() == "PoS curves")
    assert "PoS (prob" not in redraw(qtbot, composer, curves.click)
    assert [words.item(row).text() for row in range(words.count())] == ["dog", "car"]
    words.item(1).setCheckState(Qt.CheckState.Checked)
    assert composer.template.words == ("car",)


def test_steps_that_are_no_numbers_are_a_problem(qtbot, composer):
    steps = named(composer, QLineEdit, "Steps")
    steps.setText("one")
    composer.edited.emit()
    button = next(b for b in composer.findChildren(QPushButton) if b.text() == "Save figure…")
    assert not button.isEnabled()
    assert any("whole numbers" in text for text in texts_of(composer))


def test_a_template_is_saved_and_used_again(qtbot, composer, finished, hand, studio):
    width = named(composer, QDoubleSpinBox, "Width")
    width.setValue(5.5)
    path = studio.storage.figures.folder / "thesis.json"
    hand.will_name(path)
    hand.click(composer, "Save template…")
    assert json.loads(path.read_text())["width"] == 5.5
    assert (path.parent / SCHEMA_FILE).exists()
    templates = named(composer, QComboBox, "Template")
    assert templates.currentText() == "thesis"
    assert templates.itemText(templates.findData("cvpr")) == "CVPR column (3.25 in)"
    assert "Wrote thesis.json." in texts_of(composer)
    templates.activated.emit(0)
    composer.template_picked.emit("cvpr")
    assert width.value() == 3.25
    hand.click(composer, "Open template…")
    assert width.value() == 5.5


def test_caption_and_latex_are_copied(composer, hand):
    hand.click(composer, "Copy caption")
    assert QGuiApplication.clipboard().text() == composer.caption
    hand.click(composer, "Copy LaTeX")
    latex = QGuiApplication.clipboard().text()
    assert latex.startswith("\\begin{figure}[t]")
    assert "Baseline: ``" in latex
    assert "Copied the LaTeX snippet." in texts_of(composer)
    composer.edited.emit()
    assert "Copied the LaTeX snippet." not in texts_of(composer)


def test_without_a_run_the_user_is_told(window):
    window.use_workspace(GALLERY)
    window.use_workspace(INSPECT)
    window.context.actions[commands.FIGURE].trigger()
    assert window.findChild(FigureDialog) is None
    assert "No run for a figure." in told(window)


@pytest.mark.parametrize(
    ("text", "steps"), [("", ()), ("1, 5 10;20", (1, 5, 10, 20)), (" 3 ", (3,))], ids=repr
)
def test_steps_are_separated_by_commas_or_spaces(text, steps):
    assert steps_of(text) == steps


@pytest.mark.parametrize("text", ["a", "1.5", "-1", "1,,x", "9" * 30], ids=repr)
def test_other_texts_are_no_steps(text):
    with pytest.raises(SettingsError):
        steps_of(text)


def test_long_names_of_layers_are_wrapped_and_kept_whole(qtbot):
    name = "down_blocks.0.attentions.0.transformer_blocks.0.attn1"
    layers = CheckList("Layers")
    qtbot.addWidget(layers)
    layers.resize(layers.fontMetrics().horizontalAdvance(name) * 2 // 3, 200)
    layers.show_choices({name: name, "mid": "mid"}, [name])
    layers.show()
    long, short = (layers.visualItemRect(layers.item(row)).height() for row in range(2))
    assert long > 1.5 * short
    assert layers.checked == (name,)
    assert layers.item(0).data(Qt.ItemDataRole.AccessibleTextRole) == name
