"""A rater's program is killed while voting; the whole experiment is ``kill_voting``."""

import os

import pytest

from tests.performance.kill_voting import try_moments

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs fork and SIGKILL")


def test_no_vote_is_lost_or_stored_twice_when_the_program_is_killed():
    entries, wrong = try_moments(5, seed=3)
    assert wrong == []
    assert entries > 0
