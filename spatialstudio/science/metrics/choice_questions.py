"""Multiple-choice questions on the prompt as a metric, answered from the perception.

The questions are those of the prompt's scene (``prompt_questions``): counts, colours and places.
A question that the perception cannot tell counts as not right. A picture that could not be
evaluated counts 0; one whose prompt gives no question is left out. Ours; answers of vision-language
models are those of ``questions ask``.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np

from spatialstudio.domain.metric import Figures, Metric, Row
from spatialstudio.domain.multiple_choice import NONE_LETTER, ChoiceQuestion
from spatialstudio.domain.scene import ObjectMention, SceneGraph
from spatialstudio.domain.verdict import Evaluation, Instance
from spatialstudio.science.checker.instances import (
    Region,
    box_pixels,
    merged_regions,
    regions_of,
)
from spatialstudio.science.questions.choice_answers import ShownObjects, answer
from spatialstudio.science.questions.perception_answers import CannotTellError
from spatialstudio.science.questions.prompt_questions import questions_of_prompt

CHOICES = "choices"


def _of_picture(scene: SceneGraph, evaluation: Evaluation, _: object) -> Mapping[str, Any]:
    made = questions_of_prompt(scene, ()).questions
    shown = _shown(scene, evaluation)
    rows = [
        _answered(question, name, shown)
        for question, name in zip(made.questions, made.types, strict=True)
    ]
    right = [row["letter"] == row["key"] for row in rows]
    return {
        "choice_score": mean(map(float, right)) if right else None,
        "choice_questions": rows,
    }


def _answered(question: ChoiceQuestion, name: str, shown: ShownObjects) -> Mapping[str, Any]:
    try:
        letter, reason = answer(question, shown)
    except CannotTellError as error:
        letter, reason = NONE_LETTER, f"cannot tell: {error}"
    return {
        "sub_domain": name,
        "question": question.text,
        "key": question.key,
        "letter": letter,
        "reason": reason,
    }


def _shown(scene: SceneGraph, evaluation: Evaluation) -> ShownObjects:
    """Return what the perception found, by the names of the mentions, singular and as written."""
    seen = evaluation.perception
    regions: dict[str, Sequence[Region]] = {}
    colours: dict[str, Mapping[str, float]] = {}
    for mention in scene.mentions:
        if mention.head in seen.missing_classes:
            continue
        own = [each for each in evaluation.instances if each.mention_id == mention.id]
        found = [_region(each, evaluation) for each in own] or merged_regions(
            regions_of(mention.id, seen)
        )
        for name in _names(mention):
            regions[name] = [each for each in found if each.pixels.any()]
            if own and own[0].colours:
                colours[name] = {each.term: each.share for each in own[0].colours}
    return ShownObjects(
        height=seen.height,
        width=seen.width,
        regions=regions,
        depth=seen.depth.values if seen.depth else None,
        colours=colours,
    )


def _names(mention: ObjectMention) -> set[str]:
    return {mention.head.lower(), mention.phrase.split()[-1].lower()}


def _region(instance: Instance, evaluation: Evaluation) -> Region:
    """Return the pixels of an instance: those of its best mask inside its box."""
    seen = evaluation.perception
    inside = box_pixels(instance.box, (seen.height, seen.width))
    masks = [mask.pixels & inside for mask in seen.masks_of(instance.mention_id)]
    best = max(masks, key=np.count_nonzero, default=inside)
    pixels = best if best.any() else inside
    return Region(pixels=pixels, score=instance.score, has_mask=bool(masks), most=instance.most)


def _figures(rows: Sequence[Row], _: object) -> Mapping[str, Figures]:
    scores = [
        0.0 if row["error"] else row["choice_score"]
        for row in rows
        if row["error"] or row.get("choice_score") is not None
    ]
    asked = [each for row in rows for each in row.get("choice_questions", ())]
    if not asked:
        return {}
    decided = [each for each in asked if each["letter"] != NONE_LETTER]
    return {
        CHOICES: {
            "mean": mean(scores),
            "questions": len(asked),
            "answered": len(decided) / len(asked),
        }
    }


METRIC = Metric(
    id=CHOICES,
    label="Multiple choice",
    help=(
        "Share of multiple-choice questions on the prompt that detections, masks and depth answer "
        "rightly."
    ),
    of_picture=_of_picture,
    add_up=_figures,
    score_row=lambda row: row.get("choice_score"),
    order=37,
)
"""The metric."""
