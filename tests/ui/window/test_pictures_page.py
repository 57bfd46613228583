"""Pictures are kept where the user wants, and say that a model drew them unless told not to."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLabel, QPushButton

from spatialstudio.ui.framework.commands import LIBRARY_FOLDER
from spatialstudio.ui.gallery.commands import MARK_PICTURES
from spatialstudio.ui.window.settings_dialog import SettingsDialog
from spatialstudio.ui.window.settings_pages import PicturesPage
from tests.ui.scripted_engine import PROMPT


@pytest.fixture
def box(window):
    window.show_settings("Pictures")
    (page,) = (each for each in window.findChildren(SettingsDialog))
    return next(b for b in page.findChildren(QCheckBox) if b.text().startswith("Label new"))


def drawn_picture(qtbot, window, studio, engine):
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    for job in engine.jobs:
        engine.play(job)
    qtbot.waitUntil(lambda: studio.session.baseline.is_over)
    return studio.storage.metadata.read(studio.session.run.path)


def test_pictures_are_marked_until_the_user_says_otherwise(qtbot, window, studio, engine):
    assert window.context.actions[MARK_PICTURES].isChecked()
    assert drawn_picture(qtbot, window, studio, engine).is_marked_as_generated


def test_unticked_new_pictures_tell_their_settings_without_the_mark(
    qtbot, window, studio, engine, settings, box
):
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Space)
    told = drawn_picture(qtbot, window, studio, engine)
    assert (told.prompt, told.is_marked_as_generated) == (PROMPT, False)
    assert not settings.marks_pictures
    assert not window.context.actions[MARK_PICTURES].isChecked()


def page_of(window):
    (dialog,) = (each for each in window.findChildren(SettingsDialog) if each.isVisible())
    return dialog.findChild(PicturesPage)


def button(page, words):
    return next(each for each in page.findChildren(QPushButton) if each.text() == words)


def said(page):
    return [each.text() for each in page.findChildren(QLabel) if each.isVisible()]


def choose(monkeypatch, folder):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))


def test_another_library_is_chosen_and_the_usual_one_again(
    qtbot, window, studio, engine, tmp_path, monkeypatch
):
    window.context.actions[LIBRARY_FOLDER].trigger()
    usual, chosen = studio.runs_folder, tmp_path / "chosen"
    choose(monkeypatch, chosen)
    qtbot.mouseClick(button(page_of(window), "Choose a folder…"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(window.findChildren(SettingsDialog)) == 1)
    qtbot.waitUntil(lambda: str(chosen) in said(page_of(window)))
    drawn_picture(qtbot, window, studio, engine)
    assert studio.session.run.path.is_relative_to(chosen)
    back = button(page_of(window), "Use the default folder")
    qtbot.waitUntil(lambda: not studio.storage.run_recorder.is_busy)
    back.setFocus()
    qtbot.keyClick(back, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: studio.runs_folder == usual)
    qtbot.waitUntil(lambda: len(window.findChildren(SettingsDialog)) == 1)
    qtbot.waitUntil(lambda: str(usual) in said(page_of(window)))


def test_a_folder_that_cannot_be_used_is_told_of_on_the_page(
    qtbot, window, studio, tmp_path, monkeypatch
):
    usual, taken = studio.runs_folder, tmp_path / "file"
    taken.write_text("taken")
    choose(monkeypatch, taken)
    window.show_settings("Pictures")
    qtbot.mouseClick(button(page_of(window), "Choose a folder…"), Qt.MouseButton.LeftButton)
    assert f'"{taken}" is not a folder. Choose another folder.' in said(page_of(window))
    assert studio.runs_folder == usual
