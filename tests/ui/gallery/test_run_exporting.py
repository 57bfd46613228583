"""Runs leave the window as files, pictures with or without what they tell, bundles come in."""

import csv
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QDrag, QGuiApplication
from PySide6.QtWidgets import QFileDialog

from spatialstudio.application.gallery.exports import Exports
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.export_dialog import (
    ExportChoice,
    ExportDialog,
)
from spatialstudio.ui.window.workspaces import GALLERY, INSPECT
from tests.ui.scripted_engine import PROMPT

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.fixture
def answer(monkeypatch):
    """Answers the next question for a file or folder."""

    def say(path):
        for question in ("getSaveFileName", "getOpenFileName"):
            monkeypatch.setattr(QFileDialog, question, lambda *_a, **_k: (str(path), ""))
        monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_a, **_k: str(path))

    return say


def told(window):
    return [toast.message for toast in window.context.toasts.earlier]


def told_in(picture):
    """Return what a picture tells: its texts, and its EXIF."""
    with Image.open(picture) as image:
        return dict(image.info), dict(image.getexif())


def trigger(window, command):
    window.context.actions[command].trigger()


def expand(qtbot, panel):
    """Open the stack of run and baseline; the run stays selected."""
    qtbot.keyClick(panel.grid, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: len(panel.grid._keys) == 2)


def export(qtbot, window, kind):
    trigger(window, commands.EXPORT)
    dialog = window.findChild(ExportDialog)
    dialog._kinds.setCurrentRow(list(EXPORT_KINDS).index(kind))
    qtbot.mouseClick(dialog._export, Qt.MouseButton.LeftButton)


def test_a_picture_is_copied_or_saved_with_its_metadata_or_without(
    qtbot, drawn, panel, out, answer
):
    answer("")
    trigger(drawn, commands.SAVE_AS)  # without a file name, nothing is written
    assert list(out.iterdir()) == []
    assert not told(drawn)
    answer(out / "mine.png")
    trigger(drawn, commands.SAVE_AS)
    qtbot.waitUntil(lambda: "Wrote mine.png." in told(drawn))
    assert "spatial_studio" in told_in(out / "mine.png")[0]
    answer(out / "clean.png")
    trigger(drawn, commands.CLEAN_COPY)
    qtbot.waitUntil(lambda: "Wrote clean.png." in told(drawn))
    assert told_in(out / "clean.png") == ({}, {})
    QGuiApplication.clipboard().clear()
    trigger(drawn, commands.COPY_PICTURE)
    qtbot.waitUntil(lambda: not QGuiApplication.clipboard().image().isNull())
    assert QGuiApplication.clipboard().image().width() > 128  # with its legend
    drawn.context.window_signals.workspace_asked.emit("inspect")  # there, it is the open run
    answer(out / "open.png")
    trigger(drawn, commands.SAVE_AS)
    qtbot.waitUntil(lambda: (out / "open.png").exists())


def test_a_kind_is_exported(qtbot, drawn, panel, out, answer, prompt_list):
    expand(qtbot, panel)
    shipped = (EXPORT_KINDS["annotated"], EXPORT_KINDS["table"], EXPORT_KINDS["bundle"])
    for kind in (*shipped, prompt_list):
        name = f"{kind.id}.{kind.formats[0]}"
        answer(out / name)
        export(qtbot, drawn, kind)
        qtbot.waitUntil(lambda name=name: f"Wrote {name}." in told(drawn))
        assert (out / name).stat().st_size > 0
    assert (out / "prompts.txt").read_text() == PROMPT


def test_all_runs_of_a_closed_stack_are_exported(qtbot, drawn, panel, out, answer):
    assert len(drawn.context.gallery.ids) == 1
    target = out / "runs.csv"
    answer(target)
    export(qtbot, drawn, EXPORT_KINDS["table"])
    assert drawn.findChild(ExportDialog).windowTitle() == "Export 2 runs"
    qtbot.waitUntil(lambda: "Wrote runs.csv." in told(drawn))
    with target.open(newline="") as file:
        assert len({row["run"] for row in csv.DictReader(file)}) == 2


@pytest.fixture
def asked(monkeypatch):
    """Questions asked of the user, who answers with what ``asked.answer`` says."""

    class Asked(list):
        answer = False

    questions = Asked()

    def ask(_parent, question, _consequence, _action):
        questions.append(question)
        return questions.answer

    monkeypatch.setattr("spatialstudio.ui.framework.confirmation.is_confirmed", ask)
    return questions


def test_many_pictures_go_into_a_folder_and_replace_files_only_when_the_user_agrees(
    qtbot, drawn, panel, out, answer, asked
):
    expand(qtbot, panel)
    qtbot.keyClick(panel.grid, Qt.Key.Key_A, CONTROL)
    taken = [out / f"{run.stem}_masks.json" for run in panel._exporting.targets]
    answer(out)
    export(qtbot, drawn, EXPORT_KINDS["annotated"])
    qtbot.waitUntil(lambda: "Wrote 2 files." in told(drawn))
    assert len(list(out.glob("*_annotated.png"))) == 2
    assert asked == []
    runs = [out / f"{run.stem}_annotated.png" for run in panel._exporting.targets]
    for path in (*runs, *taken):
        path.write_text("mine")
    export(qtbot, drawn, EXPORT_KINDS["annotated"])
    assert asked == ["Replace 2 files?"]
    assert {path.read_text() for path in runs} == {"mine"}
    asked.answer = True
    qtbot.mouseClick(drawn.findChild(ExportDialog)._export, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: told(drawn).count("Wrote 2 files.") == 2)
    assert all(path.read_bytes() != b"mine" for path in runs)
    assert {path.read_text() for path in taken} == {"mine"}


def test_a_name_is_asked_about_unless_the_file_dialog_did(qtbot, drawn, panel, out, answer, asked):
    (out / "mine.png").write_text("mine")
    answer(out / "mine")
    trigger(drawn, commands.SAVE_AS)
    assert asked == ["Replace mine.png?"]
    assert (out / "mine.png").read_text() == "mine"
    answer(out / "mine.png")
    trigger(drawn, commands.SAVE_AS)
    qtbot.waitUntil(lambda: "Wrote mine.png." in told(drawn))
    assert asked == ["Replace mine.png?"]


def test_a_picture_is_never_saved_over_its_own_run_or_in_a_file(
    qtbot, drawn, panel, out, answer, asked
):
    (out / "file").write_text("taken")
    answer(out / "file" / "mine.png")
    trigger(drawn, commands.SAVE_AS)
    qtbot.waitUntil(lambda: len(told(drawn)) == 1)
    assert "Wrote" not in told(drawn)[0]
    (picture,) = panel._exporting.targets
    before = picture.read_bytes()
    answer(picture)
    trigger(drawn, commands.CLEAN_COPY)
    qtbot.waitUntil(lambda: any("never overwritten" in message for message in told(drawn)))
    assert picture.read_bytes() == before


def test_without_a_run_there_is_a_hint(qtbot, window):
    window.make_docks()
    trigger(window, commands.EXPORT)
    assert told(window) == ["No run to export."]


def test_a_copy_does_not_take_the_notes_of_an_export(drawn, panel, studio, monkeypatch):
    exporting, started = panel._exporting, []
    ids = iter(("export", "copy"))
    monkeypatch.setattr(
        exporting._background_jobs,
        "run",
        lambda _title, *parts: started.append(parts) or next(ids),
    )
    monkeypatch.setattr(
        Exports, "export", lambda _self, _runs, kind, *_rest: _rest[-1].note(kind.id) or ()
    )
    choice = ExportChoice(
        kind=EXPORT_KINDS["film"], ending="gif", layers=frozenset(), theme="light", is_marked=True
    )
    exporting._start((), choice, Path("film.gif"), lambda _files: None)
    work, tell = started[0]
    work(lambda *_: None)
    trigger(drawn, commands.COPY_PICTURE)
    tell(())
    assert told(drawn) == ["film"]


def test_pictures_are_pulled_out_as_files(drawn, panel, monkeypatch):
    pulled = []
    monkeypatch.setattr(QDrag, "exec", lambda drag, _action: pulled.append(drag.mimeData().urls()))
    path = drawn.context.gallery.current.path
    for clean, name in ((False, path.name), (True, "picture_1.png")):
        drawn.context.actions[commands.DRAG_CLEAN].setChecked(clean)
        panel.grid.drag_begun.emit()
        ((url,),) = pulled
        assert Path(url.toLocalFile()).name == name
        pulled.clear()
    assert told_in(url.toLocalFile()) == ({}, {})


def test_a_bundle_is_imported_again(qtbot, drawn, panel, studio, out, answer):
    expand(qtbot, panel)
    answer(out / "runs.zip")
    export(qtbot, drawn, EXPORT_KINDS["bundle"])
    qtbot.waitUntil(lambda: "Wrote runs.zip." in told(drawn))
    before = drawn.context.gallery.current.path
    qtbot.keyClick(panel.grid, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not before.exists())
    trigger(drawn, commands.IMPORT)
    qtbot.waitUntil(lambda: "Imported 1 run." in told(drawn))
    assert len(studio.library.list()) == 2


def test_imported_runs_are_shown_and_selected(qtbot, drawn, panel, out, answer):
    answer(out / "runs.zip")
    export(qtbot, drawn, EXPORT_KINDS["bundle"])
    qtbot.waitUntil(lambda: "Wrote runs.zip." in told(drawn))
    trigger(drawn, commands.IMPORT)
    qtbot.waitUntil(lambda: "Imported 2 runs." in told(drawn))
    imported = drawn.context.toasts.earlier[-1]
    panel.use_line("a zebra")
    qtbot.waitUntil(lambda: not panel.grid._keys)
    drawn.use_workspace(INSPECT)
    (offer,) = imported.offers
    offer.accept()
    qtbot.waitUntil(lambda: len(drawn.context.gallery.ids) == 2)
    assert drawn.context.settings.workspace == GALLERY.id
    assert drawn.context.gallery.line == ""
    entries = drawn.context.studio.library.entries(drawn.context.gallery.ids)
    assert all(entry.path.is_file() for entry in entries)
