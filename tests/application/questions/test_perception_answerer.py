import numpy as np
import pytest

from spatialstudio.application.evaluate.evaluate_image import JudgeSet
from spatialstudio.application.questions.perception_answerer import PerceptionAnswerer
from spatialstudio.domain.multiple_choice import Sampling
from spatialstudio.domain.ports import Seen
from spatialstudio.domain.verdict import Detection, Mask, box_around
from spatialstudio.science.questions.spatialgeneval import read_question
from tests.fakes import CountingToken

HOW_MANY = read_question("How many dogs are in the picture? Options: A: 1, B: 2, E: None", "B")
DOG, HEAD = (200, 60, 50), (240, 230, 200)


class OneSidedDetector:
    """Finds red dogs, and only those whose heads are at the left."""

    id = "one-sided"

    def detect(self, image, mentions):
        is_dog = (image == DOG).all(-1) | (image == HEAD).all(-1)
        half = image.shape[1] // 2
        sides = np.arange(image.shape[1]) < half, np.arange(image.shape[1]) >= half
        masks = [is_dog & side for side in sides]
        seen = [(mention, mask) for mention in mentions for mask in masks if _faces(image, mask)]
        return Seen(
            detections=tuple(
                Detection(
                    mention_id=mention.id,
                    label=mention.head,
                    score=0.9,
                    box=box_around(mask),
                    detector_id=self.id,
                )
                for mention, mask in seen
            ),
            masks=tuple(
                Mask(mention_id=mention.id, pixels=mask, score=0.9, source_id=self.id)
                for mention, mask in seen
            ),
        )


def _faces(image, mask):
    columns = np.nonzero(mask.any(0))[0]
    return columns.size > 0 and (image[mask.any(1)][:, columns[0]] == HEAD).all(-1).any()


def picture(*head_columns):
    """Two dogs of 20 x 24 pixels in the halves of a picture, with their heads in these columns."""
    image = np.full((64, 128, 3), (90, 160, 90), np.uint8)
    for left, column in zip((20, 84), head_columns, strict=True):
        image[20:40, left : left + 24] = DOG
        image[20:30, left + column : left + column + 3] = HEAD
    return image


def answered(image):
    answerer = PerceptionAnswerer(lambda _: JudgeSet(detector=OneSidedDetector()), "one-sided")
    return answerer.choose(image, [HOW_MANY], Sampling(), CountingToken()).text


@pytest.mark.parametrize("heads", [(0, 0), (0, 21), (21, 21)], ids=["left", "both", "right"])
def test_an_object_is_found_whichever_way_it_faces(heads):
    assert answered(picture(*heads)).startswith("B: 2 are found")


def test_without_a_picture_nothing_can_be_told():
    assert answered(None) == "E: cannot tell: there is no picture"
