"""Generated confidences, outcomes and weights."""

import random

import numpy as np


def calibration_data():
    """Return (150,) confidences with ties, outcomes 0 or 1 that follow them, and weights."""
    chance = random.Random(28)
    confidence = [round(chance.random(), 2) for _ in range(150)]
    right = [float(chance.random() < 0.3 + 0.6 * value) for value in confidence]
    weights = [1 + chance.random() * 4 for _ in confidence]
    return np.array(confidence), np.array(right), np.array(weights)
