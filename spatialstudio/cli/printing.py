"""All that the terminal prints: answers on stdout, complaints and progress on stderr."""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from spatialstudio.application.engine.messages import Phase, PhaseChanged
from spatialstudio.domain.errors import ErrorReport
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
        print(line if _can_print(line) else line.encode("ascii", "backslashreplace").decode())


def show_json(answer: Mapping[str, Any]) -> None:
    """Print an answer for programs."""
    _show_json(answer, indent=2)


def show_row(row: Mapping[str, Any]) -> None:
    """Print one of many answers for programs, in a line."""
    _show_json(row, indent=None)


def show_progress(line: str) -> None:
    """Print a line that is no part of the answer."""
    print(line, file=sys.stderr, flush=True)


def complain(report: ErrorReport, *, with_details: bool = False) -> None:
    """Print what went wrong in one line, what to try in the next, and the traceback if wanted."""
    lines = [report.message, report.hint, report.details if with_details else ""]
    for line in filter(None, lines):
        print(line, file=sys.stderr)


def _show_json(answer: Mapping[str, Any], indent: int | None) -> None:
    text = json.dumps(answer, ensure_ascii=False, indent=indent)
    print(text if _can_print(text) else json.dumps(answer, indent=indent))


def _can_print(text: str) -> bool:
    """Tell whether the terminal has all these letters; halves of surrogates it never has."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


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
