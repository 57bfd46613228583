"""Setup of every test: offscreen, few threads, no network, and checks for leaks."""

import gc
import logging
import multiprocessing
import os
import signal
import sys
import threading

import pytest
from hypothesis import settings

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_NUM_THREADS", str(min(os.cpu_count() or 1, 4)))
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each child process compiles the package
sys.dont_write_bytecode = False  # and each run all tests
os.environ["HF_HUB_CACHE"] = ""  # tests are independent of downloaded models

# A shell that starts a job in the background has it ignore Ctrl+C, and its children as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no failure, and what fails does so on any day. To hunt for more, at random:
# pytest -o faulthandler_timeout=0 --hypothesis-profile=explore FILES
settings.register_profile("studio", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, derandomize=False, max_examples=20_000)
settings.load_profile("studio")

GRACE_S = 60.0
"""Time for a thread or process to end after its test."""

THIRD_PARTY_THREADS = ("tqdm", "TMonitor", "pyqtgraph", "pydevd")
"""Name prefixes of threads that libraries keep for the whole process."""


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let no garbage be collected while modules are imported, and later not look at them again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


class WarningCollector(logging.Handler):
    """Collects the warnings and errors that the studio logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@pytest.fixture(autouse=True)
def quiet_log(request):
    """Fail a test in which the studio logs a warning, unless it uses ``caplog``."""
    collector = WarningCollector()
    logger = logging.getLogger("spatialstudio")
    logger.addHandler(collector)
    yield
    logger.removeHandler(collector)
    if "caplog" not in request.fixturenames:
        assert not collector.messages, "the studio logged a warning that nobody asked for"


@pytest.fixture(autouse=True)
def nothing_running_on():
    """Fail a test that leaves a thread or a child process behind."""
    threads_before = set(threading.enumerate())
    yield
    new_threads = [
        thread
        for thread in threading.enumerate()
        if thread not in threads_before and not thread.name.startswith(THIRD_PARTY_THREADS)
    ]
    for thread in new_threads:  # before processes, as join() of a process may fail beside another
        thread.join(GRACE_S)
    assert not [t.name for t in new_threads if t.is_alive()], "the test left a thread behind"
    for child in multiprocessing.active_children():
        child.join(GRACE_S)
    assert not multiprocessing.active_children(), "the test left a process behind"


@pytest.fixture(autouse=True)
def no_window_left(request):
    """Delete the widgets that a test has discarded, and fail it if a window is still open."""
    yield
    widgets = sys.modules.get("PySide6.QtWidgets")
    if widgets is None or widgets.QApplication.instance() is None:
        return
    if "qapp" not in request.fixturenames and not widgets.QApplication.topLevelWidgets():
        return
    core = sys.modules["PySide6.QtCore"]
    core.QCoreApplication.sendPostedEvents(None, core.QEvent.Type.DeferredDelete.value)
    gc.collect()  # widgets form reference cycles, and many of them slow all later tests
    gc.freeze()  # later collections skip the remaining objects
    still_open = [w for w in widgets.QApplication.topLevelWidgets() if w.isVisible()]
    assert not still_open, "the test left a window open"


@pytest.fixture
def prompt_list():
    """Register an export kind for one test, as a plugin does: the prompts as text."""
    from spatialstudio.application.registry import EXPORT_KINDS
    from spatialstudio.domain.export import ExportFile, ExportKind

    def write(runs, _look, _ending, _resources):
        prompts = (run.record.request.scene.prompt.text for run in runs)
        return ExportFile(content="\n".join(prompts).encode())

    kind = ExportKind(
        id="prompts",
        label="Prompts",
        help="The prompts, one per line.",
        formats=("txt",),
        write=write,
        is_of_many=True,
    )
    EXPORT_KINDS.register(kind)
    yield kind
    EXPORT_KINDS.unregister(kind.id)


@pytest.fixture
def register():
    """Register relation types for one test, as a plugin does."""
    from spatialstudio.domain.scene import relation_types

    registered = []

    def add(*types):
        for each in types:
            relation_types.register(each)
            registered.append(each.id)

    yield add
    for type_id in registered:
        relation_types.unregister(type_id)


@pytest.fixture
def diagonally_above(register):
    """Register "diagonally above" and its inverse; return the first."""
    from spatialstudio.domain.scene import ABOVE, BELOW, RelationType, Shape

    up, down = "diagonally_above", "diagonally_below"
    above = RelationType(
        up, "diagonally above", Shape.ORDER, ABOVE.claims, down, ("kitty-corner over",)
    )
    register(above, RelationType(down, "diagonally below", Shape.ORDER, BELOW.claims, up))
    return above
