"""Measure the perception answerer on rendered scenes with generated questions.

    python -m tests.performance.answer_rendered_scenes [COUNT] [SEED]

COUNT scenes (300 by default) are rendered from SEED; the margins were chosen on other seeds. The
answerer gets the pixels and the questions only: the shipped segmenter and depth model look at each
picture. Accuracy is the share of right answers among those other than "cannot tell", with a Wilson
interval; coverage is the share of questions with such an answer.
"""

import sys
from collections import Counter

import numpy as np

from spatialstudio.adapters.stickers.depth import build as build_depth
from spatialstudio.adapters.stickers.rendered_scenes import StickerScenes
from spatialstudio.adapters.stickers.segmenter import build as build_segmenter
from spatialstudio.application.evaluate.evaluate_image import JudgeSet
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.questions.perception_answerer import PerceptionAnswerer
from spatialstudio.domain.multiple_choice import NONE_LETTER, Sampling
from spatialstudio.science.questions.rendered_questions import questions_of_scene
from tests.performance.intervals import wilson

HELD_OUT = 20261124
SEEDS = 1_000_000


def answered(count, seed):
    """Return the numbers of right, wrong and undecided answers by sub-domain, and the reasons."""
    surroundings = StudioPaths.usual().surroundings
    judges = JudgeSet(detector=build_segmenter(surroundings), depth=build_depth(surroundings))
    answerer, renderer = PerceptionAnswerer(lambda _: judges, "stickers"), StickerScenes()
    right, wrong, undecided, reasons = Counter(), Counter(), Counter(), Counter()
    for number in range(count):
        own = seed * SEEDS + number
        scene = renderer.render(own)
        asked = questions_of_scene(scene, str(number), renderer.names, np.random.default_rng(own))
        reply = answerer.choose(scene.image, asked.questions, Sampling(), CancelFlag())
        for name, question, line in zip(
            asked.types, asked.questions, reply.text.splitlines(), strict=True
        ):
            if line[0] == NONE_LETTER:
                undecided[name] += 1
                reasons[line.split(": ", 2)[2]] += 1
            else:
                (right if line[0] == question.key else wrong)[name] += 1
    return right, wrong, undecided, reasons


def table(right, wrong, undecided):
    """Return the lines of the table, all sub-domains last."""
    names = sorted({*right, *wrong, *undecided})
    rows = [(name, right[name], wrong[name], undecided[name]) for name in names]
    rows.append(("all", right.total(), wrong.total(), undecided.total()))
    lines = [f"{'':12} questions  answered  right  accuracy, %            coverage"]
    for name, correct, false, open_ones in rows:
        told = correct + false
        total = told + open_ones
        share = "none"
        if told:
            share = wilson(correct, told).percent
        lines.append(f"{name:12} {total:9} {told:9} {correct:6}  {share:22}{told / total:.1%}")
    return lines


def main(arguments):
    """Print the table and the most frequent reasons."""
    count = int(arguments[0]) if arguments else 300
    seed = int(arguments[1]) if len(arguments) > 1 else HELD_OUT
    right, wrong, undecided, reasons = answered(count, seed)
    lines = table(right, wrong, undecided)
    lines += [f"cannot tell {number}: {reason}" for reason, number in reasons.most_common(5)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
