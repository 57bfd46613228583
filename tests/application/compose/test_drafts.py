"""Drafts are written soon, once for several changes, and at the latest when closing."""

import threading

from spatialstudio.application.compose.drafts import PAUSE_S, DraftSaver
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.run_settings import Draft
from tests.patience import PATIENCE_S


def nothing():
    """An earlier program has left no draft."""


class Paper:
    """Remembers what was written, and when."""

    def __init__(self, error=None):
        self.written = []
        self.was_written = threading.Event()
        self.error = error

    def __call__(self, draft):
        self.written.append(draft.prompt)
        self.was_written.set()
        if self.error is not None:
            raise self.error


def test_a_change_is_written_before_the_program_closes():
    paper = Paper()
    run_recorder = DraftSaver(nothing, paper)
    run_recorder.keep(Draft(prompt="a cat"))
    assert paper.was_written.wait(PATIENCE_S)
    run_recorder.close()


def test_changes_are_collected_for_at_most_a_second():
    assert PAUSE_S <= 1


def test_changes_in_quick_succession_are_written_together():
    paper = Paper()
    run_recorder = DraftSaver(nothing, paper, pause_s=30)
    for text in ("a", "a c", "a cat"):
        run_recorder.keep(Draft(prompt=text))
    run_recorder.close()
    assert paper.written == ["a cat"]


def test_a_change_after_a_pause_is_written_too():
    paper = Paper()
    run_recorder = DraftSaver(nothing, paper, pause_s=0.01)
    run_recorder.keep(Draft(prompt="a"))
    run_recorder.close()
    run_recorder.keep(Draft(prompt="b"))
    run_recorder.close()
    assert paper.written == ["a", "b"]


def test_a_full_disk_does_not_raise(caplog):
    paper = Paper(StoreError("The disk is full."))
    run_recorder = DraftSaver(nothing, paper, pause_s=0.01)
    run_recorder.keep(Draft(prompt="a"))
    run_recorder.close()
    assert "The disk is full." in caplog.text
