import numpy as np
import pytest

from spatialstudio.science.pos.layer_means import enlarged, mean_of_layers


def test_layers_of_equal_size_are_averaged():
    one, other = np.full((3, 2, 2), 1, np.float32), np.full((3, 2, 2), 3, np.float32)
    assert mean_of_layers([one, other]) == pytest.approx(np.full((3, 2, 2), 2))


def test_a_coarse_layer_is_resized_to_the_finest():
    coarse, fine = np.ones((2, 3), np.float32), np.zeros((4, 6), np.float32)
    assert mean_of_layers([coarse, fine]) == pytest.approx(np.full((4, 6), 0.5))


def test_values_are_interpolated_linearly_between_cell_centres():
    # middles of two positions lie at 1/4 and 3/4, those of four at 1/8, 3/8, 5/8, 7/8
    grown = enlarged(np.array([[0, 1]], np.float32), 1, 4)
    assert grown[0] == pytest.approx([0, 0.25, 0.75, 1])


def test_the_mean_of_a_map_is_unchanged():
    weights = np.random.default_rng(3).random((5, 4, 6), np.float32)
    assert enlarged(weights, 8, 12).mean((-2, -1)) == pytest.approx(
        weights.mean((-2, -1)), rel=1e-5
    )
