import numpy as np
import pytest

from spatialstudio.adapters.stickers.depth import StickerDepth
from spatialstudio.adapters.stickers.training.scenes import paint
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER


@pytest.fixture(scope="module")
def estimator():
    """The shipped depth estimator."""
    return StickerDepth(WORLD_FOLDER.parent / "sticker-depth")


def test_objects_in_front_are_nearer(estimator, dog_in_front_of_house):
    painted = paint(dog_in_front_of_house, 128)
    values = estimator.estimate(painted.pixels).values
    house, dog = (np.median(values[mask]) for mask in painted.masks)
    assert dog < house < np.median(values[:20])


def test_the_map_has_the_size_of_the_picture(estimator):
    picture = np.full((40, 90, 3), 128, dtype=np.uint8)
    assert estimator.estimate(picture).values.shape == (40, 90)
