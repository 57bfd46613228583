from pathlib import Path

import pytest

from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.framework.toasts import Toasts, report_text
from spatialstudio.ui.widgets.toast_cards import ToastKind

FAILURE = ErrorReport(
    title="Drawing",
    message="The model is damaged.",
    hint="Reinstall.",
    details=f'File "{Path.home()}/studio/run.py", line 3',
)


@pytest.fixture
def toasts(qapp):
    return Toasts()


def test_a_problem_brings_its_details_and_a_report(qtbot, toasts):
    with qtbot.waitSignal(toasts.toast_raised) as told:
        toasts.report(FAILURE)
    toast = told.args[0]
    assert (toast.kind, toast.message) == (ToastKind.PROBLEM, "The model is damaged.")
    assert "line 3" in toast.details
    assert toast.report.splitlines()[0] == "Drawing"


def test_a_report_does_not_name_the_users_folder():
    assert str(Path.home()) not in report_text(FAILURE)


def test_a_mistake_needs_no_report(qtbot, toasts):
    with qtbot.waitSignal(toasts.toast_raised) as told:
        toasts.report(ErrorReport(title="Reading", message="Empty.", is_mistake=True))
    assert told.args[0].report == ""


def test_what_was_told_can_be_read_again(toasts):
    toasts.tell("Stored.")
    toasts.clear()
    toasts.report(FAILURE)
    assert [toast.message for toast in toasts.earlier] == ["Stored.", "The model is damaged."]
