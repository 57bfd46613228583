"""Requests of local repairs, and the pictures that they start from."""

from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.domain.errors import RequestError, StoreError
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.repair import Region
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.steering import Steering
from tests.ui.scripted_engine import STICKERS, ScriptedEngine, picture_of

LEFT = Region(x=0.0, y=0.0, width=0.5, height=1.0)


@pytest.fixture
def run(studio, engine):
    """A stored run, opened in the session."""
    asked = studio.new_request(seed=4)
    studio.queue.add(replace(asked, steering=Steering(particles=2)))
    engine.play(engine.jobs[-1])
    return studio.read_run(studio.session.run.path)


@pytest.fixture
def repaired(studio, run):
    repairs = studio.storage.repairs
    return repairs.request(run, repairs.plan_in(run, [LEFT]), STICKERS)


def test_a_repair_keeps_the_settings_of_its_run_except_search_and_steering(run, repaired):
    assert repaired.sampling.seed == 4
    assert repaired.repair.regions == (LEFT,)
    assert repaired.repair.start == run.id
    assert not repaired.steering.is_on
    assert repaired.parent_run_id == run.path.stem
    assert repaired.sampling.guidance.method_id == "layout"
    (target,) = repaired.sampling.guidance.targets
    assert (target.mention_id, target.x, target.y) == ("m1", 0.25, 0.5)


def test_the_job_of_a_repair_has_the_picture_of_its_start(studio, engine, repaired):
    studio.queue.add(repaired)
    assert np.array_equal(engine.jobs[-1].start, picture_of(4))


def test_a_repair_resumes_in_a_later_session(studio, opened, repaired):
    later = ScriptedEngine()
    other = opened(later)
    other.queue.add(repaired)
    assert np.array_equal(later.jobs[-1].start, picture_of(4))


def test_other_runs_have_no_start(studio, run):
    assert studio.storage.repairs.start_of(run.request) is None


@pytest.mark.parametrize("start", ["unknown", "../../../etc/passwd", "/etc/passwd", "\\\\host\\x"])
def test_a_start_is_only_looked_up_in_the_library(studio, repaired, start):
    hostile = replace(repaired.repair, start=RequestId(start), sha256="0" * 64)
    with pytest.raises(StoreError, match="not in the library"):
        studio.storage.repairs.start_of(with_values(repaired, repair=hostile))


def test_an_imported_picture_is_not_repaired(studio, run):
    plan = studio.storage.repairs.plan_in(run, [LEFT])
    with pytest.raises(RequestError, match="Only a finished picture"):
        studio.storage.repairs.request(replace(run, request=None), plan, STICKERS)


def test_without_verdicts_a_region_is_needed(studio, run):
    with pytest.raises(RequestError, match="not judged"):
        studio.storage.repairs.plan(replace(run, evaluation=None))
    with pytest.raises(RequestError, match="passes"):
        studio.storage.repairs.plan(run)
