"""Terminal output: results on stdout, errors and progress on stderr.

Output may contain untrusted text. Escape sequences, line breaks and characters that change the text
direction are printed as escapes, in this module only.
"""

import errno
import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO

from spatialstudio.application.jobs.messages import Phase, PhaseChanged
from spatialstudio.application.models.downloads import TransferRate, progress_in_words
from spatialstudio.domain.errors import ErrorReport, StoreError
from spatialstudio.domain.foreign_text import shown, table_text
from spatialstudio.domain.generation import CandidateJudged, StepEvent
from spatialstudio.domain.hub import DownloadProgress
from spatialstudio.domain.write_gate import ANSWER_GATE

BAR_WIDTH = 30
LINE_EVERY = 10
"""Pictures between two lines of progress in a file."""
GAP = "  "
"""Between the columns of a table."""
CLEAR_LINE = "\r\033[K"
LABELS = {
    Phase.LOADING: "Loading the model",
    Phase.ENCODING: "Parsing the prompt",
    Phase.DENOISING: "Drawing",
    Phase.DECODING: "Decoding",
    Phase.LOOKING: "Perceiving",
    Phase.JUDGING: "Judging",
}


def show_lines(lines: Iterable[str]) -> None:
    """Print a result as text."""
    _answer("".join(f"{_printable(shown(line), sys.stdout)}\n" for line in lines))


def aligned(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield rows as lines with columns of equal width; floats with three digits."""
    texts = [[_short(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        yield GAP.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def show_table(rows: Iterable[Sequence[object]]) -> None:
    """Print a result as CSV; the first row is the header."""
    text = shown(table_text(rows, line_end="\n"), keep="\n")
    _answer(_printable(text, sys.stdout))


def show_json(answer: Mapping[str, Any]) -> None:
    """Print a result as indented JSON."""
    _show_json(answer, indent=2)


def show_row(row: Mapping[str, Any]) -> None:
    """Print one of many results as a line of JSON."""
    _show_json(row, indent=None)


def show_progress(line: str) -> None:
    """Print a line that is not part of the result."""
    _say(shown(line))


def complain(report: ErrorReport, *, with_details: bool = False) -> None:
    """Print an error's message, its hint, and its traceback on request."""
    for line in filter(None, (report.message, report.hint)):
        _say(shown(line))
    if with_details and report.details:
        _say(shown(report.details, keep="\n"))


def _show_json(answer: Mapping[str, Any], indent: int | None) -> None:
    text = json.dumps(answer, ensure_ascii=False, indent=indent)
    is_plain = _can_print(text, sys.stdout) and shown(text, keep="\n") == text
    _answer((text if is_plain else json.dumps(answer, indent=indent)) + "\n")


def _answer(text: str) -> None:
    """Write and flush a part of the result, so that an interrupt does not cut a line.

    Raises:
        StoreError: The pipe is closed, or the disk is full.
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
            "Standard output was closed before all output was written.",
            hint="Make sure that the receiving program reads all output.",
        )
    reason = (error.strerror or str(error)).lower()
    return StoreError(
        f"The output cannot be written: {reason}.",
        hint="Redirect the output to a file or a terminal.",
    )


def _give_up_stdout() -> None:
    """Redirect stdout to the null device, so that the final flush does not fail again."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _say(line: str) -> None:
    """Write a line to stderr; ignore a closed stream."""
    with suppress(OSError, AttributeError), ANSWER_GATE.passed():
        sys.stderr.write(f"{_printable(line, sys.stderr)}\n")
        sys.stderr.flush()


def _printable(line: str, stream: TextIO | None) -> str:
    is_known = _can_print(line, stream)
    return line if is_known else line.encode("ascii", "backslashreplace").decode()


def _can_print(text: str, stream: TextIO | None) -> bool:
    """Return True if a stream can encode a text; lone surrogates never can be encoded."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


class LogPrinter(logging.Handler):
    """Prints log records if no other handler is set up."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record in a line."""
        show_progress(self.format(record))


class ProgressBar:
    """Progress of a run in one line of a terminal; other streams get numbers of pictures only.

    Args:
        stream: Output stream; None for stderr.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_shown = self._stream is not None and self._stream.isatty()
        self._rate = TransferRate()
        self._place = ""

    def begin_picture(self, number: int, total: int) -> None:
        """Show before the progress which picture of how many is drawn, from 1."""
        self._place = f"Picture {number} of {total}: "

    def end_picture(self, done: int, total: int) -> None:
        """Print the number of pictures at every tenth where no progress is shown."""
        if not self._is_shown and done % LINE_EVERY == 0:
            show_progress(f"{done} of {total} pictures")

    def apply_event(self, event: object) -> None:
        """Show the progress of an engine event."""
        match event:
            case PhaseChanged(phase=phase):
                self._draw(f"{self._place}{LABELS[phase]} ...")
            case StepEvent(step=step, total_steps=total):
                done = BAR_WIDTH * (step + 1) // total
                bar = "#" * done + "-" * (BAR_WIDTH - done)
                label = f"{self._place}{LABELS[Phase.DENOISING]}"
                self._draw(f"{label} [{bar}] {step + 1}/{total}")
            case DownloadProgress(done_bytes=done, total_bytes=total):
                rate = self._rate.add(done)
                left = (total - done) / rate if rate > 0 else None
                self._draw(progress_in_words(event, rate, left))
            case CandidateJudged(number=number, candidates=most, score=score):
                self._draw(f"Picture {number} of up to {most}: PSE {score.pse:.2f}")

    def clear(self) -> None:
        """Erase the progress bar."""
        self._draw("")

    def _draw(self, text: str) -> None:
        if self._is_shown:
            with suppress(OSError), ANSWER_GATE.passed():
                print(f"{CLEAR_LINE}{text}", end="", file=self._stream, flush=True)
