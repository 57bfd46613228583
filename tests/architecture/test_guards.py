"""The guards that stand around every test notice what they are there for."""

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


@pytest.fixture
def outcome_of(pytester):
    """Run a test in a suite of its own with the same guards, but without patience."""
    pytester.makeconftest(GUARDS.replace("GRACE_S = 60.0", "GRACE_S = 0.1"))

    def run(source):
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider")

    return run


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        pytest.param(THREAD, "left a thread behind", id="thread"),
        pytest.param(PROCESS, "left a process behind", id="process"),
        pytest.param(LOG, "logged a warning", id="log"),
        pytest.param(WINDOW, "left a window open", id="window"),
    ],
)
def test_what_is_left_behind_fails_the_test(outcome_of, source, complaint):
    result = outcome_of(source)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(f"*{complaint}*")


@pytest.mark.parametrize("source", [EXPECTED_LOG, CLOSED_WINDOW], ids=["log", "window"])
def test_what_is_in_order_passes(outcome_of, source):
    outcome_of(source).assert_outcomes(passed=1)
