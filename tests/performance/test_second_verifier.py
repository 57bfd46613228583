"""The second verifier finds painted objects where they are, and decides by their boxes."""

import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.backgrounds import Backdrop
from spatialstudio.adapters.stickers.training.scenes import Placement, Scene, paint
from spatialstudio.adapters.stickers.vocabulary import object_number
from spatialstudio.application.studio import Studio
from spatialstudio.domain.verdict import Outcome
from tests.adapters.stickers.asking import mention_of
from tests.performance.second_verifier import (
    PICTURE_SIDE,
    WEIGHTS_FILE,
    SecondVerifier,
    Window,
    all_windows,
    is_elsewhere,
    labelled_windows,
)

CAR = Placement(number=object_number("car"), x=0.3, y=0.35, size=0.35, depth=0.8)
CAT = Placement(number=object_number("cat"), x=0.7, y=0.65, size=0.4, depth=0.2)
MOST_BYTES = 100_000


@pytest.fixture(scope="module")
def painted():
    return paint(Scene(placements=(CAR, CAT), backdrop=Backdrop(seed=3)), PICTURE_SIDE)


@pytest.fixture(scope="module")
def verifier():
    return SecondVerifier()


def test_objects_are_found_in_their_places(painted, verifier):
    seen = verifier.perceive(painted.pixels, [mention_of("cat"), mention_of("car")])
    cat, car = (seen.detections_of(name)[0].box for name in ("cat", "car"))
    assert np.array(cat.center_xy) / PICTURE_SIDE == pytest.approx((CAT.x, CAT.y), abs=0.06)
    assert np.array(car.center_xy) / PICTURE_SIDE == pytest.approx((CAR.x, CAR.y), abs=0.06)


def test_an_absent_object_is_not_found(painted, verifier):
    assert not verifier.perceive(painted.pixels, [mention_of("banana")]).detections


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("a car to the left of a cat", Outcome.PASS),
        ("a car to the right of a cat", Outcome.FAIL),
        ("a cat in front of a car", Outcome.PASS),
        ("a cat behind a car", Outcome.FAIL),
        ("a banana above a car", Outcome.UNDECIDABLE),
    ],
)
def test_relations_are_decided_by_the_boxes(painted, verifier, text, outcome):
    outcomes, _ = verifier.outcomes(painted.pixels, Studio.open("inline").parse_for_model(text))
    assert outcomes == (outcome,)


def test_windows_lie_in_the_picture():
    for window in all_windows():
        assert window.x - window.side / 2 > -2
        assert window.x + window.side / 2 < PICTURE_SIDE + 2


def test_windows_without_an_object_are_far_from_all(painted):
    objects = [Window(CAR.x * 128, CAR.y * 128, 45), Window(CAT.x * 128, CAT.y * 128, 51)]
    labelled = list(labelled_windows(painted, np.random.default_rng(1)))
    none = [window for window, number in labelled if number not in (CAR.number, CAT.number)]
    assert len(none) == len(labelled) - 6
    assert all(is_elsewhere(window, own) for window in none for own in objects)


def test_the_net_is_small():
    assert WEIGHTS_FILE.stat().st_size < MOST_BYTES
