"""Only the newest wish counts, and nothing is left running."""

import threading

import pytest

from spatialstudio.application.jobs.background_jobs import LatestJob


class Slow:
    """Fulfils a wish when the test lets it."""

    def __init__(self):
        self.done = []
        self.begun = threading.Event()
        self.may_go_on = threading.Event()

    def fulfil(self, wish):
        self.begun.set()
        self.may_go_on.wait()
        self.done.append(wish)


@pytest.fixture
def slow():
    slow = Slow()
    yield slow
    slow.may_go_on.set()


def come_to_rest(wishes):
    while (thread := wishes._thread) is not None:
        thread.join()


def test_what_waits_is_given_up_for_what_is_newer(slow):
    wishes = LatestJob("test", slow.fulfil)
    wishes.ask("first")
    slow.begun.wait()
    wishes.ask("second")
    wishes.ask("third")
    assert wishes.is_out_of_date
    slow.may_go_on.set()
    come_to_rest(wishes)
    assert slow.done == ["first", "third"]


def test_after_a_rest_the_next_wish_is_heard_as_well(slow):
    slow.may_go_on.set()
    wishes = LatestJob("test", slow.fulfil)
    for wish in (1, 2):
        wishes.ask(wish)
        come_to_rest(wishes)
    assert slow.done == [1, 2]


def test_nothing_is_begun_once_it_is_closed(slow):
    slow.may_go_on.set()
    wishes = LatestJob("test", slow.fulfil)
    wishes.close()
    wishes.ask(1)
    assert slow.done == []
    assert wishes.is_out_of_date
