"""Runs are verified, drawn again, put back and found again."""

import os
import shutil
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.jobs.messages import EvaluateJob, JobFailed, PictureJudged
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.judge_choice import UsedJudgeSet
from spatialstudio.domain.verdict import AbstentionReason, Outcome
from spatialstudio.science.checker.decide import decide
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.gallery_details_panel import GalleryDetailsPanel


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


def test_a_run_is_verified_and_the_index_built_anew(qtbot, drawn, panel):
    trigger(drawn, commands.VERIFY)
    qtbot.waitUntil(lambda: "2 runs verified: files are unchanged." in told(drawn))
    trace = drawn.context.gallery.current.path.with_suffix(".strace")
    trace.write_bytes(trace.read_bytes()[:-40])
    trigger(drawn, commands.VERIFY)
    qtbot.waitUntil(lambda: "2 runs verified, 1 with errors." in told(drawn))
    trigger(drawn, commands.REINDEX)
    qtbot.waitUntil(lambda: "2 runs in the index." in told(drawn))
    trigger(drawn, commands.EMPTY_TRASH)
    qtbot.waitUntil(lambda: "The trash is empty." in told(drawn))


@pytest.fixture
def judged(drawn, panel, studio):
    """Files of the run and its baseline, whose verdicts follow from their perceptions."""
    store, paths = RunFiles(), (studio.session.run.path, studio.session.baseline.path)
    for path in paths:
        request, evaluation = (record := store.load(path)[0]).request, record.evaluation
        due = decide(request.scene, evaluation.perception, evaluation.checker, evaluation.looks)
        store.judge(path, replace(evaluation, verdicts=tuple(due)))
    return paths


def test_a_verdict_that_was_changed_is_named_by_judging_again(qtbot, drawn, judged):
    store, path = RunFiles(), judged[0]
    record, _ = store.load(path)
    (true, *others) = record.evaluation.verdicts
    changed = replace(true, outcome=Outcome.UNDECIDABLE, reason=AbstentionReason.UNSTABLE)
    store.judge(path, replace(record.evaluation, verdicts=(changed, *others)))
    trigger(drawn, commands.RECHECK)
    wanted = "2 runs verified, 1 with errors. 2 runs judged again: 1 with differences."
    qtbot.waitUntil(lambda: wanted in told(drawn))


def test_judging_again_says_that_verdicts_are_unchanged(qtbot, drawn, panel, judged):
    def hints():
        return [toast.hint for toast in drawn.context.toasts.earlier]

    trigger(drawn, commands.RECHECK)
    qtbot.waitUntil(lambda: "2 runs judged again: verdicts unchanged." in hints())
    panel.grid.stack_picked.emit(panel.grid.current)
    qtbot.waitUntil(lambda: len(panel.grid._keys) == 2)
    qtbot.keyClick(panel.grid, Qt.Key.Key_Home)
    trigger(drawn, commands.RECHECK)
    qtbot.waitUntil(lambda: "1 run judged again: verdict unchanged." in hints())


@pytest.mark.skipif(os.name == "nt", reason="names are always text there")
def test_pictures_whose_names_are_no_text_are_told_once(qtbot, drawn, panel, studio):
    folder = drawn.context.gallery.current.path.parent
    for name in (b"caf\xe9.png", b"\xff.png"):
        (folder / os.fsdecode(name)).write_bytes(b"")
        studio.library.refresh()
    shown = [
        "1 picture in the library folder could not be listed.",
        "2 pictures in the library folder could not be listed.",
    ]
    qtbot.waitUntil(lambda: [each for each in told(drawn) if "not be listed" in each] == shown)
    (folder / "another.png").write_bytes(b"")
    assert studio.library.refresh().nameless == 2
    qtbot.waitUntil(lambda: drawn.context.gallery.current is not None)
    assert len([each for each in told(drawn) if "not be listed" in each]) == 2


def test_running_again_ends_with_a_word_on_sameness(qtbot, drawn, panel, engine):
    before = len(engine.jobs)
    trigger(drawn, commands.RUN_AGAIN)
    qtbot.waitUntil(lambda: len(engine.jobs) > before)
    (job,) = engine.jobs[before:]
    engine.play(job)
    qtbot.waitUntil(lambda: any(text.startswith("Reproduced: identical") for text in told(drawn)))
    details = drawn.findChild(GalleryDetailsPanel)
    panel.use_line("is:guided")
    qtbot.waitUntil(lambda: len(panel.grid._keys) == 1)
    qtbot.keyClick(panel.grid, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: len(panel.grid._keys) == 2)
    qtbot.keyClick(panel.grid, Qt.Key.Key_Home)
    first = drawn.context.gallery.current.summary.parent_run_id
    assert says(details, f"Reproduces {first}: identical pixels.")
    qtbot.keyClick(panel.grid, Qt.Key.Key_End)
    assert says(details, "Reproduced: identical pixels.")


def current_path(window):
    """Return the picture of the current run; None while there is none."""
    current = window.context.gallery.current
    return None if current is None else current.path


def says(details, words):
    labels = (label for label in details.findChildren(QLabel) if not label.isHidden())
    return any(label.text() == words for label in labels)


@pytest.fixture
def trash(qtbot, drawn, panel):
    """Delete both runs, one after the other, and look into the trash; return their pictures."""
    first = drawn.context.gallery.current.path
    qtbot.keyClick(panel.grid, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: current_path(drawn) not in (None, first))
    pictures = [first, current_path(drawn)]
    qtbot.keyClick(panel.grid, Qt.Key.Key_Delete)
    trigger(drawn, commands.SHOW_TRASH)
    qtbot.waitUntil(lambda: len(panel.grid._keys) == 2)
    return pictures


def test_all_deleted_runs_are_listed_and_any_is_put_back_which_can_be_undone(
    qtbot, drawn, panel, trash
):
    qtbot.keyClick(panel.grid, Qt.Key.Key_End)
    details = drawn.findChild(GalleryDetailsPanel)
    assert says(details, "In the trash; deleted permanently in 30 days.")
    back = next(b for b in details.findChildren(QPushButton) if b.text() == "Restore")
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    assert sorted(picture.exists() for picture in trash) == [False, True]
    qtbot.waitUntil(lambda: len(panel.grid._keys) == 1)
    drawn.context.edits.undo()
    qtbot.waitUntil(lambda: len(panel.grid._keys) == 2)
    assert not drawn.context.actions[commands.TRASH].isEnabled()
    assert drawn.context.actions[commands.RESTORE].isEnabled()
    qtbot.keyClick(panel.grid, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    trigger(drawn, commands.RESTORE)
    assert all(picture.exists() for picture in trash)
    drawn.context.edits.undo()
    assert not any(picture.exists() for picture in trash)
    drawn.context.edits.redo()
    assert all(picture.exists() for picture in trash)


def test_the_trash_is_emptied_only_when_the_user_says_so(qtbot, drawn, panel, trash, answering):
    answering("Cancel")
    trigger(drawn, commands.EMPTY_TRASH)
    assert len(panel.grid._keys) == 2
    answering("Delete permanently")
    trigger(drawn, commands.EMPTY_TRASH)
    qtbot.waitUntil(lambda: "The trash is empty." in told(drawn))
    qtbot.waitUntil(lambda: panel.grid._keys == [])


@pytest.fixture
def answering(qtbot):
    """Have the next question answered with a click on a button."""

    def answer(text):
        def click():
            box = QApplication.activeModalWidget()
            button = next(b for b in box.buttons() if b.text().replace("&", "") == text)
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

        QTimer.singleShot(0, click)

    return answer


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
    forget = next(
        b for b in details.findChildren(QPushButton) if b.text() == "Remove from the library"
    )
    qtbot.mouseClick(forget, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(studio.library.list()) == 1)
    qtbot.waitUntil(lambda: not drawn.context.gallery.current.is_missing)
    drawn.context.edits.undo()
    assert len(studio.library.list("is:missing")) == 1


def test_selected_runs_are_judged_by_the_chosen_set_without_drawing(qtbot, drawn, panel, engine):
    path = drawn.context.gallery.current.path
    before = contents(path)
    engine.jobs.clear()
    trigger(drawn, commands.JUDGE_STORED)
    error = ErrorReport(title="Judging", message="The detector failed.", hint="Try another.")
    for number in range(2):  # the closed stack of the run and its baseline
        qtbot.waitUntil(lambda number=number: len(engine.jobs) > number)
        engine._report(JobFailed(request_id=engine.jobs[number].job_id, error=error))
    qtbot.waitUntil(lambda: "0 runs judged, 2 with errors." in told(drawn))
    assert contents(path) == before  # a run that cannot be judged keeps its verdicts
    evaluation = RunFiles().load(path)[0].evaluation
    used = UsedJudgeSet(id="stickers", models={"detector": "sticker-segmenter"})
    engine.jobs.clear()
    trigger(drawn, commands.JUDGE_STORED)
    judged = replace(evaluation, judge_set=used)
    for number in range(2):
        qtbot.waitUntil(lambda number=number: len(engine.jobs) > number)
        job = engine.jobs[number]
        assert isinstance(job, EvaluateJob)
        assert job.judges.detector_id == "sticker-segmenter"
        engine._report(PictureJudged(request_id=job.job_id, evaluation=judged))
    qtbot.waitUntil(lambda: "2 runs judged." in told(drawn))
    assert RunFiles().load(path)[0].evaluation.judge_set == used


def contents(picture):
    """Return the content of a run's files by suffix."""
    return {file.suffix: file.read_bytes() for file in picture.parent.glob(f"{picture.stem}.*")}
