import numpy as np
import pytest

from spatialstudio.adapters.perturbations import PillowPerturber
from spatialstudio.domain.verdict import Perturbation, PerturbationKind


@pytest.fixture
def picture():
    """A white square on grey, of odd size."""
    pixels = np.full((21, 31, 3), 100, np.uint8)
    pixels[5:15, 5:15] = 200
    return pixels


def perturbed(picture, kind, amount):
    return PillowPerturber().perturb(picture, Perturbation(kind=kind, amount=amount))


@pytest.mark.parametrize("kind", list(PerturbationKind), ids=lambda kind: kind.value)
def test_the_size_stays_and_the_picture_changes(picture, kind):
    changed = perturbed(picture, kind, 0.9)
    assert changed.shape == picture.shape
    assert changed.dtype == np.uint8
    assert not np.array_equal(changed, picture)


@pytest.mark.parametrize(("factor", "grey", "white"), [(1.1, 110, 220), (0.9, 90, 180)])
def test_brightness_is_a_factor_of_all_colours(picture, factor, grey, white):
    changed = perturbed(picture, PerturbationKind.BRIGHTNESS, factor)
    assert changed[0, 0].tolist() == [grey] * 3
    assert changed[10, 10].tolist() == [white] * 3


@pytest.mark.parametrize(
    ("kind", "amount"), [(PerturbationKind.GAUSSIAN_BLUR, 1.0), (PerturbationKind.RESIZE, 0.9)]
)
def test_blur_and_resize_change_only_edges(picture, kind, amount):
    changed = perturbed(picture, kind, amount)
    assert abs(int(changed[10, 10, 0]) - 200) <= 2
    assert abs(int(changed[18, 28, 0]) - 100) <= 2
    assert (changed != picture).any()


def test_a_single_pixel_can_be_shrunk():
    dot = np.full((1, 1, 3), 7, np.uint8)
    assert perturbed(dot, PerturbationKind.RESIZE, 0.9).tolist() == dot.tolist()
