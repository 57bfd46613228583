import io
import json
from contextlib import redirect_stdout

import pytest

from spatialstudio.application.jobs.messages import Phase, PhaseChanged
from spatialstudio.cli.printing import (
    ProgressBar,
    complain,
    show_lines,
    show_row,
)
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
        bar.apply_event(event)
    return stream.getvalue()


def test_a_terminal_shows_the_progress_of_the_run():
    shown = watched(Screen())
    assert "Loading the model ..." in shown
    assert f"Drawing [{'#' * 15}{'-' * 15}] 1/2" in shown


def test_a_terminal_shows_which_picture_is_drawn(capsys):
    screen = Screen()
    bar = ProgressBar(screen)
    bar.begin_picture(12, 60)
    for event in events():
        bar.apply_event(event)
    bar.end_picture(20, 60)
    assert "Picture 12 of 60: Loading the model ..." in screen.getvalue()
    assert f"Picture 12 of 60: Drawing [{'#' * 15}{'-' * 15}] 1/2" in screen.getvalue()
    assert capsys.readouterr().err == ""


def test_a_file_gets_a_line_every_ten_pictures(capsys):
    bar = ProgressBar(io.StringIO())
    for number in range(9, 22):
        bar.begin_picture(number, 60)
        bar.end_picture(number, 60)
    assert capsys.readouterr().err == "10 of 60 pictures\n20 of 60 pictures\n"


def test_a_file_gets_no_progress_bar():
    assert watched(io.StringIO()) == ""


@pytest.mark.parametrize(("with_details", "lines"), [(False, 2), (True, 3)])
def test_an_error_is_a_message_a_hint_and_details_on_request(capsys, with_details, lines):
    report = ErrorReport(title="t", message="It broke.", hint="Mend it.", details="line 3")
    complain(report, with_details=with_details)
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.splitlines() == ["It broke.", "Mend it.", "line 3"][:lines]


def printed(show, *answer):
    """What a terminal that knows Western letters only is given."""
    written = io.BytesIO()
    terminal = io.TextIOWrapper(written, encoding="cp1252")
    with redirect_stdout(terminal):
        show(*answer)
        terminal.flush()
    return written.getvalue().decode("cp1252").strip()


def test_letters_missing_in_the_encoding_are_escaped():
    assert printed(show_lines, ["caf\u00e9 \u732b"]) == r"caf\xe9 \u732b"


def test_json_stays_valid_in_such_an_encoding():
    answer = {"id": "\u732b\U0001f600"}
    assert json.loads(printed(show_row, answer)) == answer
