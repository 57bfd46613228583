"""The guards of tests/conftest.py find threads, processes, windows and warnings left by a test."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

GUARDS = (Path(__file__).parents[1] / "conftest.py").read_text(encoding="utf-8")
THREAD = """
import threading
def test_it():
    threading.Thread(target=threading.Event().wait, daemon=True).start()
"""
PROCESS = """
import multiprocessing, time
def test_it():
    multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,), daemon=True).start()
"""
LOG = """
import logging
def test_it():
    logging.getLogger("spatialstudio.engine").warning("careful")
"""
EXPECTED_LOG = """
import logging
def test_it(caplog):
    logging.getLogger("spatialstudio.engine").warning("careful")
"""
WINDOW = """
from PySide6.QtWidgets import QWidget
def test_it(qapp):
    global window
    window = QWidget()
    window.show()
"""
CLOSED_WINDOW = """
from PySide6.QtWidgets import QWidget
def test_it(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
"""


COMPLAINTS = {
    "thread": "left a thread behind",
    "log": "logged a warning",
    "window": "left a window open",
}


@pytest.fixture
def complaints_of(pytester):
    """Run tests in a suite of their own with the same guards, but without patience."""
    pytester.makeconftest(GUARDS.replace("GRACE_S = 60.0", "GRACE_S = 0.1"))

    def run(**sources):
        """Return the error of each test by its name in ``sources``, all of which pass."""
        pytester.makepyfile(**{f"test_{name}": source for name, source in sources.items()})
        names = [f"test_{name}.py" for name in sources]  # what one leaves behind meets the next
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *names)
        lines = [line for line in result.outlines if line.startswith("ERROR test_")]
        result.assert_outcomes(passed=len(sources), errors=len(lines))
        return {line.removeprefix("ERROR test_").split(".py")[0]: line for line in lines}

    return run


def test_leftovers_fail_a_test_and_clean_tests_pass(complaints_of):
    found = complaints_of(
        expected_log=EXPECTED_LOG,
        closed_window=CLOSED_WINDOW,
        thread=THREAD,
        log=LOG,
        window=WINDOW,
    )
    assert found.keys() == COMPLAINTS.keys()
    assert all(COMPLAINTS[name] in found[name] for name in found)


def test_a_leftover_process_fails_the_test(complaints_of):
    assert "left a process behind" in complaints_of(process=PROCESS)["process"]
