"""Runs judged by the real checker on made-up perceptions of 100 x 100 pixels."""

import numpy as np

from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.domain.scene import LEFT_OF
from spatialstudio.domain.verdict import REPRODUCE, ColourShare, Evaluation, Instance, Looks
from spatialstudio.science.checker.decide import decide
from spatialstudio.science.checker.decide_mentions import decide_mentions
from tests.fakes import scene_of
from tests.science.seen_things import SIDE, masked, perception, seen

DOG, CAR = seen("m1", 20, 50, 0.81), seen("m2", 70, 50, 0.9)
NEAR_DOG = seen("m1", 64, 20, 0.81)
SECOND_DOG = seen("m1", 90, 20, 0.78)
UNSURE_DOG = seen("m1", 30, 40, 0.15)
MASKS = masked("m1", 20, 50), masked("m2", 70, 50)


def judged_run(
    *detections,
    relation_type=LEFT_OF,
    masks=(),
    depth=None,
    settings=REPRODUCE,
    scene=None,
    instances=(),
    **looks,
):
    """Return a run of "a dog ... a car" in whose picture these were detected and measured."""
    scene = scene or scene_of(relation_type=relation_type)
    picture = perception(*detections, masks=masks, depth=depth)
    seen_else = Looks(**looks)
    evaluation = Evaluation(
        perception=picture,
        verdicts=decide(scene, picture, settings, seen_else),
        checker=settings,
        looks=seen_else,
        instances=instances,
        mention_verdicts=decide_mentions(scene, instances, settings) if instances else (),
    )
    return OpenRun(
        id="judged",
        scene=scene,
        state=RunState.DONE,
        image=np.full((SIDE, SIDE, 3), 200, np.uint8),
        evaluation=evaluation,
    )


def instance(found, term="brown", rgb=(139, 90, 43)):
    """Return the instance of a detection, of one colour."""
    return Instance(
        mention_id=found.mention_id,
        box=found.box,
        score=found.score,
        area=found.box.area / SIDE**2,
        colours=(ColourShare(term=term, share=1.0),),
        rgb=rgb,
    )
