import threading

import pytest

from spatialstudio.adapters.diffusion.diffusers_backend import iterate


def test_values_come_in_order():
    def work(emit):
        emit(1)
        emit(2)

    assert list(iterate(work, thread_name="work")) == [1, 2]


def test_the_work_never_runs_ahead_of_its_user():
    done = []

    def work(emit):
        emit("first")
        done.append("more")
        emit("second")

    values = iterate(work, thread_name="work")
    assert next(values) == "first"
    assert done == []
    assert next(values) == "second"
    assert done == ["more"]
    values.close()


def test_what_the_work_raises_reaches_the_user():
    def work(emit):
        emit(1)
        raise KeyError("lost")

    values = iterate(work, thread_name="work")
    assert next(values) == 1
    with pytest.raises(KeyError, match="lost"):
        next(values)


def test_a_user_who_leaves_ends_the_work_and_its_thread():
    cleaned_up = threading.Event()

    def work(emit):
        try:
            emit(1)
            emit(2)
        finally:
            cleaned_up.set()

    values = iterate(work, thread_name="work that is left")
    next(values)
    values.close()
    assert cleaned_up.is_set()
    assert "work that is left" not in [thread.name for thread in threading.enumerate()]


def test_nothing_is_begun_before_the_first_value_is_asked_for():
    begun = []
    values = iterate(begun.append, thread_name="work")
    values.close()
    assert begun == []
