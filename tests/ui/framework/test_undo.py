import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialstudio.ui.framework.undo import PAUSE_S, Edits


class Clock:
    """Tells the time that it is set to."""

    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s


class Value:
    """Something that is edited."""

    def __init__(self):
        self.now = 0

    def take(self, value):
        self.now = value


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def edits(qapp, clock):
    return Edits(clock)


@pytest.fixture
def value():
    return Value()


def test_an_edit_is_done_undone_and_done_again(edits, value):
    edits.change("number", 0, 5, value.take)
    assert value.now == 5
    edits.undo()
    assert value.now == 0
    edits.redo()
    assert value.now == 5


def test_what_changes_nothing_is_no_edit(edits, value):
    edits.change("number", 3, 3, value.take)
    assert edits.count() == 0


def test_a_burst_is_one_edit(edits, value):
    edits.change("number", 0, 1, value.take, merge_key="slide")
    edits.change("number", 1, 2, value.take, merge_key="slide")
    edits.undo()
    assert (value.now, edits.count()) == (0, 1)


def test_after_a_pause_another_edit_begins(edits, value, clock):
    edits.change("number", 0, 1, value.take, merge_key="slide")
    clock.now_s = PAUSE_S + 0.1
    edits.change("number", 1, 2, value.take, merge_key="slide")
    edits.undo()
    assert value.now == 1


def test_edits_of_different_things_stay_apart(edits, value):
    edits.change("number", 0, 1, value.take, merge_key="slide")
    edits.change("number", 1, 2, value.take, merge_key="type")
    assert edits.count() == 2


@given(numbers=st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["", "a", "b"])), max_size=50))
def test_as_many_undos_as_edits_lead_back_to_the_start(numbers):
    edits, value = Edits(Clock()), Value()
    for number, key in numbers:
        edits.change("number", value.now, number, value.take, merge_key=key)
    after = value.now
    for _ in range(edits.count()):
        edits.undo()
    assert value.now == 0
    for _ in range(edits.count()):
        edits.redo()
    assert value.now == after
