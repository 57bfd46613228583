"""What is typed is written soon, once for many changes, and at the latest when closing."""

import threading

from spatialstudio.application.compose.drafts import PAUSE_S, DraftKeeper
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


def test_a_change_is_written_although_nothing_is_closed():
    paper = Paper()
    keeper = DraftKeeper(nothing, paper)
    keeper.keep(Draft(prompt="a cat"))
    assert paper.was_written.wait(PATIENCE_S)
    keeper.close()


def test_changes_are_gathered_for_a_second_at_most():
    assert PAUSE_S <= 1


def test_changes_that_follow_soon_are_written_together():
    paper = Paper()
    keeper = DraftKeeper(nothing, paper, pause_s=30)
    for text in ("a", "a c", "a cat"):
        keeper.keep(Draft(prompt=text))
    keeper.close()
    assert paper.written == ["a cat"]


def test_a_change_after_a_rest_is_written_too():
    paper = Paper()
    keeper = DraftKeeper(nothing, paper, pause_s=0.01)
    keeper.keep(Draft(prompt="a"))
    keeper.close()
    keeper.keep(Draft(prompt="b"))
    keeper.close()
    assert paper.written == ["a", "b"]


def test_a_disk_that_is_full_stops_nobody(caplog):
    paper = Paper(StoreError("The disk is full."))
    keeper = DraftKeeper(nothing, paper, pause_s=0.01)
    keeper.keep(Draft(prompt="a"))
    keeper.close()
    assert "The disk is full." in caplog.text
