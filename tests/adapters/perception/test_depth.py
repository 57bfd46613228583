import numpy as np
import pytest
import torch

from spatialstudio.adapters.perception.architectures.depth import farther_from_nearer
from spatialstudio.domain.ports import PerceptionRole


@pytest.mark.parametrize("name", ["depth-anything", "depth-anything-metric", "dpt"])
def test_depth_has_the_size_of_the_picture(made, name, picture):
    depth = made(name, PerceptionRole.DEPTH).estimate(picture)
    assert depth.values.shape == (48, 80)
    assert depth.values.dtype == np.float32
    assert depth.values.min() >= 0
    assert depth.estimator_id == name


def test_nearer_pixels_have_a_smaller_depth():
    assert farther_from_nearer(np.float32([[9, 1], [4, 9]])).tolist() == [[0, 8], [5, 0]]


@pytest.mark.parametrize(
    ("name", "grows_away"),
    [("depth-anything", False), ("depth-anything-metric", True), ("dpt", False)],
)
def test_metres_are_kept_and_inverse_depth_is_inverted(made, name, grows_away, picture):
    estimator = made(name, PerceptionRole.DEPTH)
    estimator.estimate(picture)
    answered = []
    ramp = torch.linspace(0, 1, 80).expand(1, 48, 80)

    def answer(_module, _given, out):
        answered.append(1)
        out.predicted_depth = ramp
        return out

    estimator._model._loaded.model.register_forward_hook(answer)
    values = estimator.estimate(picture).values
    assert answered
    assert bool(values[0, 79] > values[0, 0]) is grows_away
