"""All that the terminal prints: answers on stdout, complaints and progress on stderr.

What others wrote stands among it. Escape sequences, line breaks and signs that turn the direction
of writing are printed as their escapes, here and nowhere else.
"""

import json
import logging
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from spatialstudio.application.engine.messages import Phase, PhaseChanged
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.foreign_text import shown, table_text
from spatialstudio.domain.generation import CandidateJudged, StepEvent

BAR_WIDTH = 30
CLEAR_LINE = "\r\033[K"
LABELS = {
    Phase.LOADING: "Loading the model",
    Phase.ENCODING: "Reading the prompt",
    Phase.DENOISING: "Drawing",
    Phase.DECODING: "Decoding",
    Phase.LOOKING: "Looking at the picture",
    Phase.JUDGING: "Judging",
}


def show_lines(lines: Iterable[str]) -> None:
    """Print an answer for people."""
    for line in lines:
        _print(shown(line), sys.stdout)


def show_table(rows: Iterable[Sequence[object]]) -> None:
    """Print a table for spreadsheets; the first row is the heading."""
    _print(shown(table_text(rows, line_end="\n").removesuffix("\n"), keep="\n"), sys.stdout)


def show_json(answer: Mapping[str, Any]) -> None:
    """Print an answer for programs."""
    _show_json(answer, indent=2)


def show_row(row: Mapping[str, Any]) -> None:
    """Print one of many answers for programs, in a line."""
    _show_json(row, indent=None)


def show_progress(line: str) -> None:
    """Print a line that is no part of the answer."""
    _print(shown(line), sys.stderr)


def complain(report: ErrorReport, *, with_details: bool = False) -> None:
    """Print what went wrong in one line, what to try in the next, and the traceback if wanted."""
    for line in filter(None, (report.message, report.hint)):
        _print(shown(line), sys.stderr)
    if with_details and report.details:
        _print(shown(report.details, keep="\n"), sys.stderr)


def _show_json(answer: Mapping[str, Any], indent: int | None) -> None:
    text = json.dumps(answer, ensure_ascii=False, indent=indent)
    is_plain = _can_print(text, sys.stdout) and shown(text, keep="\n") == text
    print(text if is_plain else json.dumps(answer, indent=indent))


def _print(text: str, stream: TextIO) -> None:
    if not _can_print(text, stream):
        text = text.encode("ascii", "backslashreplace").decode()
    print(text, file=stream, flush=True)


def _can_print(text: str, stream: TextIO) -> bool:
    """Tell whether a terminal has all these letters; halves of surrogates it never has."""
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


class LogPrinter(logging.Handler):
    """Prints records of the log for people who have set up no other handler."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record in a line."""
        show_progress(self.format(record))


class ProgressBar:
    """Shows how far a run is, in one line of a terminal; silent elsewhere.

    Args:
        stream: Where to; None for stderr.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_shown = self._stream.isatty()

    def follow(self, event: object) -> None:
        """Take in what the engine says."""
        match event:
            case PhaseChanged(phase=phase):
                self._draw(f"{LABELS[phase]} ...")
            case StepEvent(step=step, total_steps=total):
                done = BAR_WIDTH * (step + 1) // total
                bar = "#" * done + "-" * (BAR_WIDTH - done)
                self._draw(f"{LABELS[Phase.DENOISING]} [{bar}] {step + 1}/{total}")
            case CandidateJudged(number=number, candidates=most, score=score):
                self._draw(f"Picture {number} of {most} at most: PSE {score.pse:.2f}")

    def clear(self) -> None:
        """Take the bar away."""
        self._draw("")

    def _draw(self, text: str) -> None:
        if self._is_shown:
            print(f"{CLEAR_LINE}{text}", end="", file=self._stream, flush=True)
