from threading import Event

import numpy as np
import pytest

from spatialstudio.adapters.perturbations import PillowPerturber
from spatialstudio.application.evaluate.crops import CropMaker, CropsMade
from spatialstudio.application.inspect.inspection import evidence_of
from tests.patience import PATIENCE_S
from tests.science.seen_things import SIDE, perception
from tests.ui.judged_runs import CAR, DOG, judged_run

PICTURE = np.full((SIDE, SIDE, 3), 100, np.uint8)


class Listener:
    """Waits for what is published."""

    def __init__(self):
        self.pronounced = []
        self._arrived = Event()

    def __call__(self, event):
        self.pronounced.append(event)
        self._arrived.set()

    def wait(self):
        assert self._arrived.wait(PATIENCE_S)
        return self.pronounced[-1]


class HeldPerturber(PillowPerturber):
    """Changes nothing before it is told to."""

    def __init__(self):
        self.go = Event()

    def perturb(self, image, perturbation):
        self.go.wait(PATIENCE_S)
        return super().perturb(image, perturbation)


@pytest.fixture
def evidence():
    run = judged_run(DOG, CAR, perturbed=(perception(DOG, CAR),) * 4)
    return evidence_of(run.evaluation.verdicts[0], run.scene, run.evaluation)


def test_crops_are_made_in_the_background(evidence):
    listener = Listener()
    CropMaker(PillowPerturber, listener).make(PICTURE, evidence)
    made = listener.wait()
    assert isinstance(made, CropsMade)
    assert made.evidence is evidence
    assert [int(crop.max()) for crop in made.crops] == [110, 90, 100, 100]
    assert made.unchanged.shape == made.crops[0].shape == (40, 90, 3)


def test_cancelled_crops_are_not_published(evidence):
    listener, perturber = Listener(), HeldPerturber()
    maker = CropMaker(lambda: perturber, listener)
    maker.make(PICTURE, evidence)
    maker.make(PICTURE, evidence)
    perturber.go.set()
    listener.wait()
    assert len(listener.pronounced) == 1
