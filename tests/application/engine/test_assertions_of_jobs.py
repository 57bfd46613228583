"""Assertions that a job brings along."""

from dataclasses import replace

from spatialstudio.application.engine.worker import Worker
from spatialstudio.application.jobs.messages import PictureJudged
from spatialstudio.domain.assertion import Assertion, AssertionId, Assertions
from tests.fakes import CountingToken, FakeEngineRegistry


def test_the_da_score_has_the_assertions_of_the_job(job):
    reports = []
    asserted = Assertions(
        items=(Assertion(id=AssertionId("a1"), text="it is night", question="is it night?"),),
        source_id="llm",
    )

    worker = Worker(FakeEngineRegistry, reports.append)
    worker.run(replace(job, assertions=asserted), CountingToken())

    (judged,) = (each for each in reports if isinstance(each, PictureJudged))
    score = judged.evaluation.da_score
    assert score.asserted_by == "llm"
    assert [each.assertion.text for each in score.scores] == ["it is night"]
