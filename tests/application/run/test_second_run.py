"""A second run is aligned with the steps of the open one."""

from dataclasses import replace

import pytest

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    MAX_SEED,
    UNGUIDED,
    NoiseSearch,
)
from spatialstudio.domain.run_settings import with_values


@pytest.fixture
def drawn(studio, engine):
    """The studio with a finished run of seed 7."""
    studio.generate(studio.new_request(seed=7))
    engine.play(engine.jobs.pop())
    return studio


def test_the_baseline_of_the_open_run_is_drawn_as_the_second_run(drawn, engine):
    run = drawn.session.run
    drawn.second.draw_baseline()
    (job,) = engine.jobs
    assert (job.request.sampling.seed, job.request.sampling.guidance.method_id) == (7, UNGUIDED)
    engine.play(job)
    assert drawn.session.run is run
    assert len(drawn.session.baseline.steps) == len(run.steps)


def test_a_search_has_no_baseline_as_the_second_run(studio, engine):
    asked = studio.new_request(seed=7)
    studio.generate(replace(asked, search=NoiseSearch(candidates=4)))
    with pytest.raises(RequestError, match="search"):
        studio.second.draw_baseline()
    assert len(engine.jobs) == 1


def test_each_next_seed_is_different(drawn, engine):
    for _ in range(2):
        drawn.second.draw_next_seed()
    assert [job.request.sampling.seed for job in engine.jobs] == [8, 9]


def test_seeds_wrap_around(drawn):
    run = drawn.session.run
    drawn.session.open(replace(run, request=with_values(run.request, seed=MAX_SEED)))
    drawn.second.draw_next_seed()
    assert drawn.session.baseline.request.sampling.seed == 0


def test_a_stored_run_becomes_the_second_run(drawn, engine):
    drawn.generate(drawn.new_request(seed=9))
    engine.play(engine.jobs.pop())
    later = drawn.session.run
    earlier = next(drawn.runs_folder.rglob("*_7.strace"))
    drawn.second.show(drawn.storage.read_run(earlier))
    assert drawn.session.run is later
    assert drawn.session.baseline.request.sampling.seed == 7


def test_without_an_open_run_no_second_run_is_set(studio, drawn):
    run = drawn.session.run
    drawn.session.run = None
    with pytest.raises(RequestError):
        drawn.second.show(run)
    assert drawn.session.baseline is None


def test_the_second_run_can_be_closed(drawn):
    drawn.second.draw_baseline()
    drawn.second.put_away()
    assert drawn.session.baseline is None


@pytest.mark.parametrize("ask", ["draw_baseline", "draw_next_seed"])
def test_without_an_open_run_no_second_run_is_drawn(studio, ask):
    with pytest.raises(RequestError):
        getattr(studio.second, ask)()
