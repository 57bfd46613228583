"""The queue of downloads: order, pause, resume, cancel, failures and the rate."""

import pytest

from spatialstudio.application.models.downloads import (
    DownloadPlanned,
    Downloads,
    DownloadState,
    ModelsChanged,
    ModelsFound,
    ModelsTaskEnded,
    TransferRate,
    progress_in_words,
)
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.hub import DownloadProgress
from tests.download_fakes import FakeModelHub, Transfers, plan_of

FAILURE = ErrorReport(title="Downloading", message="The connection broke off.")


@pytest.fixture
def transfers():
    return Transfers()


@pytest.fixture
def hub():
    return FakeModelHub()


@pytest.fixture
def events():
    return []


@pytest.fixture
def downloads(hub, transfers, events):
    downloads = Downloads(lambda: hub, transfers.start, events.append)
    yield downloads
    downloads.close()


def states(downloads):
    return {entry.repository: entry.state for entry in downloads.entries}


def progress(done):
    return DownloadProgress(repository="a", file="x", done_bytes=done, total_bytes=1000)


def test_one_download_runs_at_a_time(downloads, transfers):
    downloads.add(plan_of("a"))
    downloads.add(plan_of("b"))
    assert transfers.started == ["a"]
    transfers.report(None)
    assert transfers.started == ["a", "b"]
    assert states(downloads) == {"a": DownloadState.DONE, "b": DownloadState.RUNNING}


def test_the_end_of_a_download_is_announced(downloads, transfers, events):
    downloads.add(plan_of("a"))
    transfers.report(progress(400))
    assert downloads.entries[0].progress == progress(400)
    transfers.report(None)
    downloads.wait()
    assert ModelsChanged() in events
    assert any(isinstance(event, ModelsFound) for event in events)


def test_a_paused_download_lets_the_next_one_run_and_resumes(downloads, transfers):
    downloads.add(plan_of("a"))
    downloads.add(plan_of("b"))
    downloads.pause("a")
    assert transfers.stopped == ["a"]
    assert states(downloads) == {"a": DownloadState.PAUSED, "b": DownloadState.RUNNING}
    downloads.resume("a")
    transfers.report(None)
    assert transfers.started == ["a", "b", "a"]


def test_a_late_report_of_a_stopped_download_is_ignored(downloads, transfers):
    downloads.add(plan_of("a"))
    late = transfers.report
    downloads.pause("a")
    late(None)
    assert states(downloads) == {"a": DownloadState.PAUSED}


def test_a_cancelled_download_is_deleted(downloads, transfers, hub, events):
    downloads.add(plan_of("a"))
    downloads.cancel("a")
    downloads.wait()
    assert (transfers.stopped, hub.discarded) == (["a"], ["a"])
    assert downloads.entries == ()


def test_a_failed_download_says_why_and_can_be_resumed(downloads, transfers):
    downloads.add(plan_of("a"))
    transfers.report(FAILURE)
    assert downloads.entries[0].error == FAILURE
    downloads.resume("a")
    assert transfers.started == ["a", "a"]


def test_closing_stops_the_download_and_starts_no_other(downloads, transfers):
    downloads.add(plan_of("a"))
    downloads.close()
    downloads.add(plan_of("b"))
    assert (transfers.started, transfers.stopped) == (["a"], ["a"])


def test_a_plan_or_its_failure_is_published(downloads, events):
    downloads.plan("a")
    downloads.wait()
    downloads.plan("gated")
    downloads.wait()
    first, second = events
    assert first == DownloadPlanned(name="a", plan=plan_of("a"))
    assert (second.error.message, second.needs_token) == ("It is gated.", True)


def test_the_result_of_a_task_is_published(downloads, events):
    downloads.remove("a")
    downloads.wait()
    (ended,) = [event for event in events if isinstance(event, ModelsTaskEnded)]
    assert ended.message == '"a" is deleted: 2 MB freed.'


def test_the_rate_is_that_of_the_last_seconds():
    now = [0.0]
    rate = TransferRate(lambda: now[0])
    assert rate.add(0) == 0
    now[0] = 2.0
    assert rate.add(2000) == 1000
    now[0] = 7.0
    assert rate.add(2000) == 0


def test_progress_is_described_in_words():
    words = progress_in_words(progress(500), 100.0, 125.0)
    assert words.endswith("2 min left")
