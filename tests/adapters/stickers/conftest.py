"""Scenes that several tests of the sticker models share."""

import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.backgrounds import Backdrop
from spatialstudio.adapters.stickers.training.scenes import (
    Placement,
    Scene,
    SceneSettings,
    draw_scene,
)
from spatialstudio.adapters.stickers.vocabulary import object_number


@pytest.fixture(scope="session")
def random_scenes():
    """Fifty scenes of all kinds."""
    rng = np.random.default_rng(7)
    return [draw_scene(rng, SceneSettings()) for _ in range(50)]


@pytest.fixture
def cat_left_of_car():
    """A flat scene: a small cat at the left, a car at the right."""
    return Scene(
        placements=(
            Placement(number=object_number("cat"), x=0.25, y=0.5, size=0.4, depth=0.6),
            Placement(number=object_number("car"), x=0.75, y=0.5, size=0.4, depth=0.6),
        ),
        backdrop=Backdrop(seed=1),
    )


@pytest.fixture
def dog_in_front_of_house():
    """A scene on a ground: the dog covers a corner of the house."""
    return Scene(
        placements=(
            Placement(number=object_number("house"), x=0.4, y=0.4, size=0.5, depth=0.6),
            Placement(number=object_number("dog"), x=0.6, y=0.65, size=0.4, depth=0.2),
        ),
        backdrop=Backdrop(seed=2, horizon=0.3),
    )
