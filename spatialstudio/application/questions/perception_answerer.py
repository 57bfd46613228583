"""An answerer without a language model: it looks with a judge set, and says what it cannot tell.

It looks at the picture and at its mirror image, as detectors miss objects that face the other way.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from spatialstudio.application.evaluate.evaluate_image import JudgeSet, perceive_image
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.multiple_choice import (
    NONE_LETTER,
    ChoiceQuestion,
    ChoiceReply,
    Sampling,
)
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.scene import MentionId, ObjectMention, Prompt, SceneGraph, TextSpan
from spatialstudio.domain.verdict import Perception
from spatialstudio.science.checker.instances import (
    Region,
    merged_regions,
    regions_of,
    separated_regions,
)
from spatialstudio.science.colours import colour_shares
from spatialstudio.science.questions.choice_answers import (
    ShownObjects,
    answer,
    coloured_names,
    names_in,
    needs_depth,
)
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID, CannotTellError

VERSION = 3
"""Rises when the answers to equal pictures change, so that stored ones are not used."""
CANNOT_TELL = f"{NONE_LETTER}: cannot tell: "


class PerceptionAnswerer:
    """Answers what detections, masks and depth tell plainly; implements ``ChoiceAnswerer``.

    Args:
        judges: Returns the models that look for objects of these names.
        model_key: Identifies the models.
    """

    id = PERCEPTION_ID

    def __init__(self, judges: Callable[[Sequence[str]], JudgeSet], model_key: str) -> None:
        self._judges = judges
        self.model_key = model_key

    def choose(
        self,
        image: RgbImage | None,
        questions: Sequence[ChoiceQuestion],
        sampling: Sampling,  # noqa: ARG002 - replies to equal questions are equal
        token: CancelToken,
    ) -> ChoiceReply:
        """Answer each question, or None with the reason; see ``ChoiceAnswerer``.

        Raises:
            NoDetectorChosen: No detector is chosen.
            DetectorError: A model is damaged or missing.
            Cancelled: The token was cancelled.
        """
        started = perf_counter()
        if image is None:
            lines = [f"{CANNOT_TELL}there is no picture"] * len(questions)
        else:
            shown = self._look(image, questions, token)
            lines = [_line(question, shown) for question in questions]
        return ChoiceReply(text="\n".join(lines), seconds=perf_counter() - started)

    def _look(
        self, image: RgbImage, questions: Sequence[ChoiceQuestion], token: CancelToken
    ) -> ShownObjects:
        names = sorted({name for question in questions for name in names_in(question)})
        height, width = image.shape[:2]
        if not names:
            return ShownObjects(height=height, width=width, regions={})
        judges, scene = self._judges(names), scene_of(names)
        perception = perceive_image(image, scene, judges, token)
        mirrored = perceive_image(np.fliplr(image).copy(), scene, judges, token)
        regions = {
            mention.head: separated_regions(_both_ways(mention.id, perception, mirrored), image)
            for mention in scene.mentions
            if mention.head not in perception.missing_classes
        }
        depth = None
        if judges.depth is not None and any(map(needs_depth, questions)):
            token.raise_if_cancelled()
            depth = judges.depth.estimate(image).values
        coloured = {name for question in questions for name in coloured_names(question)}
        return ShownObjects(
            height=height,
            width=width,
            regions=regions,
            depth=depth,
            colours={
                name: colour_shares(image, regions[name][0].pixels)
                for name in coloured
                if regions.get(name)
            },
        )


def scene_of(names: Sequence[str]) -> SceneGraph:
    """Return a scene that mentions each name once."""
    mentions = tuple(
        ObjectMention(
            id=MentionId(f"m{number}"),
            phrase=name,
            head=name,
            span=TextSpan(start=0, stop=len(name)),
        )
        for number, name in enumerate(names, 1)
    )
    prompt = Prompt(text=", ".join(names))
    return SceneGraph(prompt=prompt, mentions=mentions, relations=(), extractor_id=PERCEPTION_ID)


def _both_ways(
    mention_id: MentionId, perception: Perception, mirrored: Perception
) -> Sequence[Region]:
    """Return the regions of a mention in a picture or its mirror image, best first."""
    found = [
        *regions_of(mention_id, perception),
        *(
            replace(each, pixels=np.fliplr(each.pixels))
            for each in regions_of(mention_id, mirrored)
        ),
    ]
    return merged_regions(sorted(found, key=lambda each: -each.score))


def _line(question: ChoiceQuestion, shown: ShownObjects) -> str:
    try:
        letter, reason = answer(question, shown)
    except CannotTellError as error:
        return f"{CANNOT_TELL}{error}"
    return f"{letter}: {reason}"
