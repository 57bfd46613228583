"""All that the terminal prints: answers on stdout, complaints and progress on stderr."""

import errno
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TextIO

from spatialstudio.application.engine.messages import Phase, PhaseChanged
from spatialstudio.domain.errors import ErrorReport, StoreError
from spatialstudio.domain.generation import CandidateJudged, StepEvent
from spatialstudio.domain.write_gate import ANSWER_GATE

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
    _answer("".join(f"{line}\n" for line in (_printable(line, sys.stdout) for line in lines)))


def show_json(answer: Mapping[str, Any]) -> None:
    """Print an answer for programs."""
    _show_json(answer, indent=2)


def show_row(row: Mapping[str, Any]) -> None:
    """Print one of many answers for programs, in a line."""
    _show_json(row, indent=None)


def show_progress(line: str) -> None:
    """Print a line that is no part of the answer."""
    _say(line)


def complain(report: ErrorReport, *, with_details: bool = False) -> None:
    """Print what went wrong in one line, what to try in the next, and the traceback if wanted."""
    lines = [report.message, report.hint, report.details if with_details else ""]
    for line in filter(None, lines):
        _say(line)


def _show_json(answer: Mapping[str, Any], indent: int | None) -> None:
    text = json.dumps(answer, ensure_ascii=False, indent=indent)
    _answer((text if _can_print(text, sys.stdout) else json.dumps(answer, indent=indent)) + "\n")


def _answer(text: str) -> None:
    """Write a part of the answer at once, so that no line is cut where the program is stopped.

    Raises:
        StoreError: Nobody can read it: the pipe is closed, or the disk is full.
    """
    if sys.stdout is None:
        raise _refusal(OSError(errno.EBADF, "standard output is closed"))
    try:
        with ANSWER_GATE.passed():
            sys.stdout.write(text)
            sys.stdout.flush()
    except OSError as error:
        _give_up_stdout()
        raise _refusal(error) from error


def _refusal(error: OSError) -> StoreError:
    if isinstance(error, BrokenPipeError):
        return StoreError(
            "The output was closed before all of the answer was written.",
            hint="Let the program that reads it read to its end.",
        )
    reason = (error.strerror or str(error)).lower()
    return StoreError(
        f"The answer cannot be written: {reason}.", hint="Send it to a file or a terminal."
    )


def _give_up_stdout() -> None:
    """Have the interpreter's last flush go nowhere: it would complain once more."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _say(line: str) -> None:
    """Write a line that is no part of the answer; where nobody listens, nothing happens."""
    with suppress(OSError, AttributeError), ANSWER_GATE.passed():
        sys.stderr.write(f"{_printable(line, sys.stderr)}\n")
        sys.stderr.flush()


def _printable(line: str, stream: TextIO | None) -> str:
    is_known = _can_print(line, stream)
    return line if is_known else line.encode("ascii", "backslashreplace").decode()


def _can_print(text: str, stream: TextIO | None) -> bool:
    """Tell whether a stream has all these letters; halves of surrogates it never has."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
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
        self._is_shown = self._stream is not None and self._stream.isatty()

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
            with suppress(OSError), ANSWER_GATE.passed():
                print(f"{CLEAR_LINE}{text}", end="", file=self._stream, flush=True)
