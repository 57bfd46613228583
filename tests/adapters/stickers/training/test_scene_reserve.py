import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.scenes import SceneReserve, SceneSettings


@pytest.fixture
def reserve():
    return SceneReserve(SceneSettings(), kept=8)


def test_the_first_draw_has_the_requested_number_of_scenes(reserve):
    assert len(reserve.draw(np.random.default_rng(1), 4)) == 4


def test_later_draws_reuse_scenes(reserve):
    rng = np.random.default_rng(1)
    first = {id(scene) for scene in reserve.draw(rng, 8)}
    later = {id(scene) for scene in reserve.draw(rng, 8)}
    assert first & later


def test_scenes_are_replaced(reserve):
    rng = np.random.default_rng(1)
    first = reserve.draw(rng, 8)
    rounds = [reserve.draw(rng, 8) for _ in range(4)]
    assert not {id(scene) for scene in first} & {id(scene) for scene in rounds[-1]}
