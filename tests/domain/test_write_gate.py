from threading import Event, Thread

import pytest

from spatialstudio.domain.write_gate import WriteGate

WAIT_S = 0.05


@pytest.fixture
def gate():
    return WriteGate()


@pytest.fixture
def writer(gate):
    """A thread inside the gate, until it is told to leave."""
    inside, may_leave = Event(), Event()

    def write():
        with gate.passed():
            inside.set()
            may_leave.wait()

    thread = Thread(target=write)
    thread.start()
    inside.wait()
    yield may_leave
    may_leave.set()
    thread.join()


def test_a_quiet_gate_closes_at_once(gate):
    with gate.passed():
        pass
    assert gate.close()


def test_closing_waits_for_writers(gate, writer):
    assert not gate.close(WAIT_S)
    writer.set()
    assert gate.close()


def test_the_thread_that_closed_the_gate_may_still_write(gate):
    gate.close()
    with gate.passed():
        pass


def test_a_thread_inside_may_enter_again(gate):
    inside, closed, wrote = Event(), Event(), Event()

    def write():
        with gate.passed():
            inside.set()
            closed.wait()
            with gate.passed():
                wrote.set()

    thread = Thread(target=write)
    thread.start()
    inside.wait()
    gate.close(WAIT_S)
    closed.set()
    thread.join()
    assert wrote.is_set()


def test_a_closed_gate_removes_unfinished_files(tmp_path):
    gate = WriteGate()
    folder = tmp_path / "staging"
    folder.mkdir()
    with gate.staging(folder):
        (folder / "part").touch()
        gate.close()
        assert not folder.exists()
    assert list(tmp_path.iterdir()) == []
