"""Multiple-choice questions on the prompt as a metric, answered from the perception.

The questions are those of the prompt's scene (``prompt_questions``): counts, colours and places; a
benchmark may bring its own. A question that the perception cannot tell counts as not right. A
picture that could not be evaluated counts 0 in the mean; one without questions is left out. Ours;
answers of vision-language models are those of ``questions ask``.
"""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np

from spatialstudio.domain.metric import Figures, Metric, Row
from spatialstudio.domain.multiple_choice import (
    LETTERS,
    NONE_LETTER,
    ChoiceQuestion,
    QuestionSet,
    VotedSet,
    VoteRules,
)
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
from spatialstudio.science.questions.spatialgeneval import choice_figures, count_votes

CHOICES = "choices"
ACCURACIES, COST = "choice_accuracies", "choice_cost"
"""Further figures: accuracy by sub-domain, and what all replies cost."""
TOTALS = ("basic", "spatial", "overall")
"""Names of the mean accuracies of sub-domains among the figures."""
PERCEPTION_RULES = VoteRules(rollouts=1, attempts=1, votes=1)
BY_PERCEPTION = "answered by the perception; what it cannot tell counts as wrong"
UNSTATED = "protocol not stated"


def _of_picture(scene: SceneGraph, evaluation: Evaluation, _: object) -> Mapping[str, Any]:
    made = questions_of_prompt(scene, ()).questions
    return answers_by_perception(made, scene, evaluation, PERCEPTION_RULES)


def answers_by_perception(
    questions: QuestionSet, scene: SceneGraph, evaluation: Evaluation, rules: VoteRules
) -> Mapping[str, Any]:
    """Return the items of a picture whose questions the perception answers once.

    Args:
        questions: The questions.
        scene: The scene whose objects were looked for.
        evaluation: The evaluation of the picture.
        rules: How an answer counts; one rollout.
    """
    shown = _shown(scene, evaluation)
    stated = [_stated(question, shown) for question in questions.questions]
    voted = count_votes(questions, [[letter for letter, _ in stated]], rules, attempts=1)
    return choice_values(questions, voted, rules, [reason for _, reason in stated])


def _stated(question: ChoiceQuestion, shown: ShownObjects) -> tuple[str, str]:
    try:
        return answer(question, shown)
    except CannotTellError as error:
        return NONE_LETTER, f"cannot tell: {error}"


def choice_values(
    questions: QuestionSet, voted: VotedSet, rules: VoteRules, reasons: Sequence[str] = ()
) -> Mapping[str, Any]:
    """Return the items of a picture: the share of right answers, and each question.

    Args:
        questions: Its questions.
        voted: Its answers; without enough of them no question is right, or none counts.
        rules: How answers count.
        reasons: Why each was answered so; empty if unknown.
    """
    count = len(questions.questions)
    is_dropped = rules.drops_incomplete and not voted.is_answered
    right = (None,) * count if is_dropped else voted.is_right
    chosen = voted.chosen or (NONE_LETTER,) * count
    rows = [
        {
            "sub_domain": questions.types[place],
            "question": question.text,
            "key": question.key,
            "letter": chosen[place] if chosen[place] in tuple(LETTERS) else NONE_LETTER,
            "votes": "".join(voted.answers[place]) if voted.answers else "",
            "right": right[place],
            "reason": reasons[place] if reasons else "",
        }
        for place, question in enumerate(questions.questions)
    ]
    counted = [float(each) for each in right if each is not None]
    return {"choice_score": mean(counted) if counted else None, "choice_questions": rows}


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
    asked = [row for row in rows if row.get("choice_questions")]
    if not asked:
        return {}
    letters = [each["letter"] for row in asked for each in row["choice_questions"]]
    voted = [_voted(row) for row in asked]
    figures = choice_figures(voted, VoteRules())
    totals = {name: getattr(figures, name) for name in TOTALS}
    answerers = dict.fromkeys(row["choice_answerer"] for row in asked if "choice_answerer" in row)
    rules = dict.fromkeys(
        row.get("choice_protocol", UNSTATED if "choice_answerer" in row else BY_PERCEPTION)
        for row in asked
    )
    return {
        CHOICES: {
            **({"mean": mean(scores)} if scores else {}),
            "questions": len(letters),
            "answered": sum(letter != NONE_LETTER for letter in letters) / len(letters),
            **_known(totals),
            "pictures": sum(set(each.is_right) != {None} for each in voted),
            "unanswered_pictures": figures.unanswered,
            "rule": "; ".join(rules),
            **({"answerers": "; ".join(answerers)} if answerers else {}),
        },
        ACCURACIES: _known(figures.sub_domains),
        COST: _cost([row["choice_cost"] for row in asked if "choice_cost" in row]),
    }


def _known(accuracies: Mapping[str, float | None]) -> Figures:
    return {name: value for name, value in accuracies.items() if value is not None}


def check_choices(row: Row) -> None:
    """Raise KeyError, TypeError or AttributeError for damaged values that the figures read."""
    texts = [row.get("choice_protocol", ""), row.get("choice_answerer", "")]
    numbers = [row.get("choice_score") or 0.0, *row.get("choice_cost", {}).values()]
    for each in row.get("choice_questions") or ():
        texts += [each["sub_domain"], each["key"], each["letter"], each.get("votes", "")]
        numbers.append(each.get("right") or False)
    if not all(isinstance(each, str) for each in texts):
        raise TypeError(texts)
    if not all(isinstance(each, int | float) for each in numbers):
        raise TypeError(numbers)


def _voted(row: Row) -> VotedSet:
    """Return the votes of a row; rows of earlier versions hold one letter per question."""
    listed = row["choice_questions"]
    answers = tuple(tuple(each.get("votes", each["letter"])) for each in listed)
    return VotedSet(
        id="",
        answers=answers if all(answers) else (),
        chosen=tuple(each["letter"] for each in listed),
        is_right=tuple(each.get("right", each["letter"] == each["key"]) for each in listed),
        attempts=0,
        types=tuple(each["sub_domain"] for each in listed),
    )


def _cost(costs: Sequence[Mapping[str, float]]) -> Figures:
    """Return the sums of what the replies about pictures cost; nothing without costs."""
    names = dict.fromkeys(name for each in costs for name in each)
    return {name: sum(each[name] for each in costs if name in each) for name in names}


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
