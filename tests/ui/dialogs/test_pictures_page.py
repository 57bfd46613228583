"""New pictures say that a model drew them, unless the user does not want it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox

from spatialstudio.ui.commands.gallery import MARK_PICTURES
from spatialstudio.ui.dialogs.settings_dialog import SettingsDialog
from tests.ui.scripted_engine import PROMPT


@pytest.fixture
def box(window):
    window.show_settings("Pictures")
    (page,) = (each for each in window.findChildren(SettingsDialog))
    return next(b for b in page.findChildren(QCheckBox) if b.text().startswith("Say in new"))


def drawn_picture(qtbot, window, studio, engine):
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    for job in engine.jobs:
        engine.play(job)
    qtbot.waitUntil(lambda: studio.session.baseline.is_over)
    return studio.keeping.metadata.read(studio.session.run.path)


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
