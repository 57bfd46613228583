import signal
from multiprocessing import Pipe

import pytest

from spatialstudio.application.engine.child_main import (
    Inbox,
    send,
    work,
)
from spatialstudio.application.jobs.messages import (
    CancelJob,
    EstimateMemory,
    ReadTokens,
    Stop,
)
from spatialstudio.domain.errors import Cancelled
from spatialstudio.domain.generation import RequestId
from tests.fakes import FakeEngineRegistry


@pytest.fixture
def interrupts():
    """Keep the test runner's own answer to Ctrl+C."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture
def pipes(interrupts):
    commands, to_child = Pipe(duplex=False)
    from_child, reports = Pipe(duplex=False)
    yield commands, to_child, from_child, reports
    for pipe in (to_child, from_child, commands, reports):
        pipe.close()


def test_a_child_ends_on_request(pipes):
    commands, to_child, _, reports = pipes
    send(to_child, Stop())
    work(commands, reports, FakeEngineRegistry)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_child_whose_parent_is_gone_ends(pipes):
    commands, to_child, _, reports = pipes
    to_child.close()
    work(commands, reports, FakeEngineRegistry)


def test_a_child_whose_reports_are_not_read_ends(pipes, job):
    commands, to_child, from_child, reports = pipes
    from_child.close()
    send(to_child, job)
    with pytest.raises(SystemExit):
        work(commands, reports, FakeEngineRegistry)


def test_a_service_is_prepared_before_the_first_job(pipes):
    registry = FakeEngineRegistry()
    commands, to_child, _, reports = pipes
    send(to_child, Stop())
    work(commands, reports, lambda: registry)
    assert registry.is_warm


def test_a_service_that_fails_to_prepare_does_not_end_the_child(pipes):
    def build():
        raise ImportError("torch")

    commands, to_child, _, reports = pipes
    send(to_child, Stop())
    work(commands, reports, build)


def test_stopping_cancels_waiting_jobs(job):
    inbox = Inbox()
    inbox.take(job)
    inbox.take(Stop())
    with pytest.raises(Cancelled):
        inbox.flag(job.job_id).raise_if_cancelled()


def test_cancelling_an_unknown_job_does_nothing(job):
    inbox = Inbox()
    inbox.take(CancelJob(RequestId("long gone")))
    inbox.take(job)
    assert inbox.next_job() is job
    assert inbox.flag(job.job_id).raise_if_cancelled() is None


def test_only_the_latest_query_is_answered(job):
    inbox = Inbox()
    for prompt in ("a", "a dog"):
        inbox.take(ReadTokens(prompt=prompt, model=job.model))
    assert inbox.next_question().prompt == "a dog"


def test_a_query_of_another_kind_replaces_none(job):
    inbox = Inbox()
    inbox.take(ReadTokens(prompt="a dog", model=job.model))
    inbox.take(EstimateMemory(request=job.request, model=job.model))
    kinds = [type(inbox.next_question()) for _ in range(2)]
    assert kinds == [ReadTokens, EstimateMemory]


def test_stopping_ends_the_wait_for_queries():
    inbox = Inbox()
    inbox.take(Stop())
    assert inbox.next_question() is None
