"""Every failure is reported in one sentence with a hint."""

import errno

import pytest

from spatialstudio.application.error_reports import exit_code_of, report_on
from spatialstudio.domain.errors import (
    BackendError,
    Cancelled,
    ImageError,
    ModelNotFound,
    PromptError,
    RequestError,
    SettingsError,
    StoreError,
)

TITLE = "Generating the picture"


def raised(error):
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


def test_a_known_error_keeps_its_message_without_a_traceback():
    report = report_on(raised(PromptError("The prompt is empty.", hint="Type one.")), TITLE)
    assert (report.title, report.message, report.hint) == (
        TITLE,
        "The prompt is empty.",
        "Type one.",
    )
    assert report.details == ""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "Out of memory."),
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full."),
        (ZeroDivisionError("by zero"), "Unexpected error: generating the picture failed."),
        (OSError(errno.EIO, "I/O error", "a.png"), '"a.png" cannot be used: i/o error.'),
        (RecursionError(), "The input is nested too deeply to be read."),
        (OSError(errno.EIO, "I/O error"), "Unexpected error: generating the picture failed."),
    ],
    ids=["memory", "disk", "bug", "file", "nesting", "hardware"],
)
def test_an_unexpected_error_gets_a_message_and_a_traceback(error, message):
    report = report_on(raised(error), TITLE)
    assert report.message == message
    assert report.hint.endswith(".")
    assert f"{type(error).__name__}" in report.details
    assert "in raised" in report.details


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PromptError(""), 2),
        (RequestError(""), 2),
        (ImageError(""), 2),
        (SettingsError(""), 2),
        (ModelNotFound(""), 2),
        (BackendError(""), 1),
        (StoreError(""), 1),
        (ValueError(), 1),
        (Cancelled(), 130),
        (KeyboardInterrupt(), 130),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_the_exit_code_states_the_kind_of_error(error, code):
    assert exit_code_of(error) == code


@pytest.mark.parametrize(("error", "code"), [(PromptError(""), 2), (BackendError(""), 1)])
def test_a_report_keeps_the_kind_of_error(error, code):
    assert exit_code_of(report_on(error, TITLE)) == code


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENAMETOOLONG, 2), (errno.EISDIR, 2), (errno.ENOENT, 2), (errno.EIO, 1)],
    ids=["name too long", "folder", "missing", "hardware"],
)
def test_a_wrong_file_name_is_a_user_error(number, code):
    assert exit_code_of(report_on(OSError(number, "Reason", "a.png"), TITLE)) == code


def test_a_very_long_name_is_shortened():
    error = OSError(errno.ENAMETOOLONG, "File name too long", "x" * 5000)
    assert len(report_on(error, TITLE).message) < 400


@pytest.mark.parametrize(
    "name", ["x" * 5000, "two words " * 500, 'a"' * 2500], ids=["word", "words", "quotes"]
)
def test_a_message_shortens_long_names(name):
    error = StoreError(f'There is no file "{name}".', hint=f'Rename "{name}".')
    report = report_on(error, TITLE)
    assert len(report.message) < 400
    assert len(report.hint) < 400
    assert report.message.startswith("There is no file ")
    assert report.message.endswith(".")
