import io

import pytest

from spatialstudio.application.engine.messages import Phase, PhaseChanged
from spatialstudio.cli.printing import ProgressBar, complain
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import StepEvent


class Screen(io.StringIO):
    def isatty(self):
        return True


def events():
    yield PhaseChanged(request_id="a", phase=Phase.LOADING)
    yield StepEvent(request_id="a", step=0, total_steps=2, timestep=1.0, pos={})


def watched(stream):
    bar = ProgressBar(stream)
    for event in events():
        bar.follow(event)
    return stream.getvalue()


def test_a_terminal_shows_how_far_the_run_is():
    shown = watched(Screen())
    assert "Loading the model ..." in shown
    assert f"Drawing [{'#' * 15}{'-' * 15}] 1/2" in shown


def test_a_file_gets_no_progress_bar():
    assert watched(io.StringIO()) == ""


@pytest.mark.parametrize(("with_details", "lines"), [(False, 2), (True, 3)])
def test_a_complaint_is_a_sentence_a_hint_and_details_on_demand(capsys, with_details, lines):
    report = ErrorReport(title="t", message="It broke.", hint="Mend it.", details="line 3")
    complain(report, with_details=with_details)
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.splitlines() == ["It broke.", "Mend it.", "line 3"][:lines]
