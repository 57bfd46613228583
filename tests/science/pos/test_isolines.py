import numpy as np
import pytest

from spatialstudio.science.pos.isolines import isolines, mass_level


def lengths(segments):
    return np.linalg.norm(segments[:, 1] - segments[:, 0], axis=-1)


def test_two_of_four_equal_positions_hold_half_of_the_mass():
    weights = np.array([[4, 3], [2, 1]], np.float32)
    assert mass_level(weights, 0.4) == 4
    assert mass_level(weights, 0.7) == 3
    assert mass_level(weights, 1.0) == 1


def test_an_empty_map_has_level_zero():
    assert mass_level(np.zeros((2, 2), np.float32), 0.5) == 0


def test_a_line_runs_halfway_between_a_high_and_a_low_position():
    weights = np.zeros((4, 4), np.float32)
    weights[:, :2] = 1
    lines = isolines(weights, 0.5)
    inner = lines[(lines[:, :, 1] > 0.2).all(1) & (lines[:, :, 1] < 0.8).all(1)]
    right = inner[inner[:, 0, 0] > 0.2]
    assert right[:, :, 0] == pytest.approx(0.5)


def test_one_high_position_is_surrounded_by_a_closed_line():
    weights = np.zeros((5, 5), np.float32)
    weights[2, 2] = 1
    lines = isolines(weights, 0.5)
    ends = [tuple(point) for point in lines.reshape(-1, 2).round(5).tolist()]
    assert len(lines) == 4
    assert all(ends.count(end) == 2 for end in ends)
    assert lengths(lines) == pytest.approx(np.sqrt(2) / 10)


@pytest.mark.parametrize("seed", range(5))
def test_every_line_is_closed(seed):
    weights = np.random.default_rng(seed).random((9, 7), np.float32) + 0.01
    weights[0] = weights[-1] = weights[:, 0] = weights[:, -1] = 0
    lines = isolines(weights, mass_level(weights, 0.5))
    _, counts = np.unique(lines.reshape(-1, 2).round(4), axis=0, return_counts=True)
    assert len(lines) > 0
    assert (counts % 2 == 0).all()


@pytest.mark.parametrize(("level", "is_joined"), [(0.6, True), (0.9, False)], ids=["low", "high"])
@pytest.mark.parametrize("slant", [1, -1], ids=["falling", "rising"])
def test_a_saddle_is_joined_where_its_middle_is_above_the_level(slant, level, is_joined):
    weights = np.array([[1, 0.4], [0.4, 1]], np.float32)[:, ::slant]
    middles = isolines(weights, level).mean(1) - 0.5
    middles[:, 0] *= slant
    inner = middles[(np.abs(middles) < 0.24).all(-1)]
    cuts_off_low_corners = inner[:, 0] * inner[:, 1] < 0
    assert len(inner) == 2
    assert cuts_off_low_corners.tolist() == [is_joined] * 2


def test_a_line_is_in_shares_of_the_sides_of_the_map():
    weights = np.zeros((4, 8), np.float32)
    weights[1:3, 2:6] = 1
    lines = isolines(weights, 0.5).reshape(-1, 2)
    assert lines[:, 0].min() == pytest.approx(0.25)
    assert lines[:, 0].max() == pytest.approx(0.75)
    assert lines[:, 1].min() == pytest.approx(0.25)


def test_a_map_below_the_level_has_no_lines():
    assert len(isolines(np.full((3, 3), 0.2, np.float32), 0.5)) == 0
