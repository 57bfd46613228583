"""Answerers of multiple-choice questions whose replies are known, and their pictures."""

from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from spatialstudio.domain.errors import Cancelled, DetectorError
from spatialstudio.domain.multiple_choice import ChoiceReply

TOKENS_IN, TOKENS_OUT, SECONDS = 100, 7, 0.5


@dataclass
class FakeAnswerer:
    """Implements ``ChoiceAnswerer``.

    Attributes:
        choose_letter: The letter for a question, from the question as asked and the number of
            the reply, counted from 0.
        faults: What happens instead of a reply, by number of the request: an error that is raised,
            or a text that is returned.
        requests: Whether each request had a picture, and its sampling.
    """

    choose_letter: object
    faults: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)
    id: str = "fake"
    model_key: str = "fake model"

    def choose(self, image, questions, sampling, token):
        number = len(self.requests)
        self.requests.append((image is not None, sampling))
        token.raise_if_cancelled()
        fault = self.faults.get(number)
        if isinstance(fault, Exception):
            raise fault
        lines = [f"{self.choose_letter(each, number)}: as seen" for each in questions]
        return ChoiceReply(
            text=fault if isinstance(fault, str) else "\n".join(lines),
            tokens_in=TOKENS_IN,
            tokens_out=TOKENS_OUT,
            seconds=SECONDS,
        )


def always_right(question, _):
    return question.key


def always_c(_question, _):
    return "C"


def server_fault():
    return DetectorError("The model at 127.0.0.1 is busy.", hint="Try again.")


def cut():
    return Cancelled()


def save_pictures(folder, ids, seed=0):
    """Write a small picture per id; return the folder."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(seed)
    for name in ids:
        pixels = rng.integers(0, 256, (8, 12, 3), np.uint8)
        Image.fromarray(pixels).save(folder / f"{name}.png")
    return folder
