"""A program that is killed at any moment loses nothing that it reported as stored."""

import os

import pytest

from tests.performance.kill_studio import try_moments


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_pictures_ratings_and_requests_survive_eight_crashes():
    stored, lost = try_moments(8, seed=3)
    assert lost == []
    assert stored > 0
