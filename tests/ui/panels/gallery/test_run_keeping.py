"""Runs are verified, drawn again, put back and found again."""

import shutil

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton

from spatialstudio.ui.commands import gallery as commands
from spatialstudio.ui.panels.gallery.gallery_details_panel import GalleryDetailsPanel
from spatialstudio.ui.panels.gallery.gallery_panel import GalleryPanel
from spatialstudio.ui.workspaces.gallery import GALLERY


@pytest.fixture
def panel(qtbot, drawn, studio):
    qtbot.waitUntil(lambda: studio.session.baseline.path is not None)
    drawn.use_workspace(GALLERY)
    panel = drawn.findChild(GalleryPanel)
    qtbot.waitUntil(lambda: panel.grid.current is not None)
    return panel


def told(window):
    return [toast.message for toast in window.context.toasts.earlier]


def trigger(window, command):
    window.context.actions[command].trigger()


def lose(qtbot, window, studio):
    """Move the files of the current run away, as a file manager does; return the picture."""
    path = window.context.gallery.current.path
    elsewhere = path.parents[3] / "elsewhere"
    elsewhere.mkdir()
    for file in path.parent.glob(f"{path.stem}.*"):
        shutil.move(file, elsewhere / file.name)
    studio.library.refresh()
    qtbot.waitUntil(lambda: window.context.gallery.current.is_missing)
    return elsewhere / path.name


def test_a_whole_run_is_verified(qtbot, drawn, panel):
    trigger(drawn, commands.VERIFY)
    qtbot.waitUntil(lambda: "1 run verified: every part is as it was written." in told(drawn))


def test_a_run_that_was_changed_is_told(qtbot, drawn, panel):
    trace = drawn.context.gallery.current.path.with_suffix(".strace")
    trace.write_bytes(trace.read_bytes()[:-40])
    trigger(drawn, commands.VERIFY)
    qtbot.waitUntil(lambda: "1 run verified, 1 with faults." in told(drawn))


def test_running_again_ends_with_a_word_on_sameness(qtbot, drawn, panel, engine):
    before = len(engine.jobs)
    first = drawn.context.gallery.current.path
    trigger(drawn, commands.RUN_AGAIN)
    (job,) = engine.jobs[before:]
    engine.play(job)
    qtbot.waitUntil(lambda: any(text.startswith("Drawn again: the same") for text in told(drawn)))
    details = drawn.findChild(GalleryDetailsPanel)
    assert details._repeated[first].startswith("Drawn again: the same")


def test_the_newest_deletion_is_put_back(qtbot, drawn, panel):
    path = drawn.context.gallery.current.path
    qtbot.keyClick(panel.grid, Qt.Key.Key_Delete)
    assert not path.exists()
    trigger(drawn, commands.RESTORE)
    assert path.exists()


def test_an_empty_trash_says_so(drawn, panel):
    trigger(drawn, commands.RESTORE)
    assert told(drawn) == ["The trash is empty."]


def test_a_missing_file_is_found_again(qtbot, drawn, panel, studio, monkeypatch):
    before = drawn.context.gallery.current.path
    moved = lose(qtbot, drawn, studio)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: (str(moved), ""))
    details = drawn.findChild(GalleryDetailsPanel)
    locate = next(b for b in details.findChildren(QPushButton) if b.text() == "Locate…")
    qtbot.mouseClick(locate, Qt.MouseButton.LeftButton)
    assert before.exists()
    qtbot.waitUntil(lambda: not drawn.context.gallery.current.is_missing)


def test_a_missing_run_can_be_forgotten(qtbot, drawn, panel, studio):
    lose(qtbot, drawn, studio)
    details = drawn.findChild(GalleryDetailsPanel)
    forget = next(b for b in details.findChildren(QPushButton) if b.text() == "Forget")
    qtbot.mouseClick(forget, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(studio.library.list()) == 1)
    qtbot.waitUntil(lambda: not drawn.context.gallery.current.is_missing)


def test_the_index_is_built_anew(qtbot, drawn, panel):
    trigger(drawn, commands.REINDEX)
    qtbot.waitUntil(lambda: "2 runs are in the index." in told(drawn))
