"""Stored pictures are judged in the engine, and the wait ends on every outcome."""

import numpy as np
import pytest

from spatialstudio.application.evaluate.judge_stored import judge_in_engine
from spatialstudio.application.events import EventBus
from spatialstudio.application.jobs.messages import EngineStopped, EvaluateJob, JobFailed
from spatialstudio.domain.errors import Cancelled, ErrorReport, StudioError
from tests.fakes import scene_of

ERROR = ErrorReport(title="Judging", message="It failed.", hint="Try again.")
JOB = EvaluateJob(job_id="mine", image=np.zeros((4, 4, 3), np.uint8), scene=scene_of())


class Engine:
    """Reports at once when a job is submitted."""

    def __init__(self, bus, *reports):
        self.bus, self.reports, self.cancelled = bus, reports, []

    def submit(self, job):
        for report in self.reports:
            self.bus.publish(report)

    def cancel(self, job_id):
        self.cancelled.append(job_id)


@pytest.mark.parametrize(
    "report",
    [
        JobFailed(request_id="mine", error=ERROR),
        EngineStopped(error=ERROR, lost="mine"),
        EngineStopped(error=ERROR),
    ],
)
def test_a_failure_is_raised_and_reports_of_other_jobs_are_ignored(report):
    bus = EventBus()
    engine = Engine(bus, JobFailed(request_id="other", error=ERROR), report)
    with pytest.raises(StudioError, match="It failed"):
        judge_in_engine(engine, bus.subscribe, JOB, lambda: None)
    assert bus._handlers == ()


def test_a_cancellation_reaches_the_engine():
    bus = EventBus()
    engine = Engine(bus)
    checks = iter([None, Cancelled()])

    def check():
        if error := next(checks):
            raise error

    with pytest.raises(Cancelled):
        judge_in_engine(engine, bus.subscribe, JOB, check)
    assert engine.cancelled == ["mine"]
