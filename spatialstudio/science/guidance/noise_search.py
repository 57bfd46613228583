"""PSG by noise search: ranking of candidates, and prompts that name only the objects.

Images are ranked by PSE; ties, usually all at 0, by 2 PoS - 1, then by the number of detected
objects, their scores, and the lower seed. The second verifier is reported but not used for ranking,
as a score used for selection is biased upwards.

Source: Rezaei et al. 2025, arXiv:2506.23418, best of N. Ours: the order among ties, and the checker
of SpatialBench-UC (Rostane 2026, arXiv:2601.13462) as the second verifier: it compares boxes while
PSE compares masks, and an abstention counts as not accepted.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from statistics import geometric_mean, mean

from spatialstudio.domain.generation import CandidateScore
from spatialstudio.domain.scene import ObjectMention, SceneGraph, TextSpan
from spatialstudio.domain.verdict import CheckerSettings, Outcome, Perception
from spatialstudio.science.checker.decide import decide
from spatialstudio.science.pos.pse import prompt_pse

UNMEASURED_LEAD = -1.0


def score_candidate(
    scene: SceneGraph,
    seed: int,
    perception: Perception,
    settings: CheckerSettings,
    second: Perception | None = None,
) -> CandidateScore:
    """Compute the scores of an image.

    Args:
        scene: A scene with at least one relation.
        seed: Seed of the image.
        perception: Perception by the first verifier; depth relations require a depth map.
        settings: Minimum detection score, and thresholds of the checker.
        second: Perception by another detector; None to use the first perception.

    Raises:
        ValueError: The scene has no relation.
    """
    measured = prompt_pse(scene, perception, least_score=settings.detection_score)
    if measured is None:
        raise ValueError("A noise search requires a relation.")
    ends = {end for relation in scene.relations for end in relation.ends}
    missing = {end for relation in measured.relations for end in relation.missing}
    scores = [max((d.score for d in perception.detections_of(end)), default=0.0) for end in ends]
    verdicts = decide(scene, second or perception, settings)
    return CandidateScore(
        seed=seed,
        pse=measured.mean,
        lead=mean(
            UNMEASURED_LEAD if relation.pos is None else 2 * relation.pos - 1
            for relation in measured.relations
        ),
        found=len(ends - missing),
        sureness=geometric_mean(scores) if all(scores) else 0.0,
        second=mean(verdict.outcome is Outcome.PASS for verdict in verdicts),
    )


def ranked(scores: Iterable[CandidateScore]) -> tuple[CandidateScore, ...]:
    """Sort candidates, best first."""
    return tuple(sorted(scores, key=_merit))


def _merit(score: CandidateScore) -> tuple[float, ...]:
    return (-score.pse, -score.lead, -score.found, -score.sureness, score.seed)


_VOWEL_SOUND = re.compile(
    r"(?!u-|uni(?!n|d|m[^e])|us[eu]|uku|ut[eo]|eu|ewe|one\b|once\b)[aeiou]"
    r"|hour|honest|honou?r|heir|[fhlmnrsx]-|8|1[18]\b",
    re.IGNORECASE,
)
# Pronounced letter by letter: "MP3", "SUV", "X-ray"; but "NASA" and "LEGO" are read as words.
_SPELLED_OUT = re.compile(r"[A-Z][A-Z\d]{1,2}s?\b|[A-Z][B-DF-HJ-NP-TV-Z\d]+s?\b")
_LETTERS_WITH_VOWEL_SOUND = "AEFHILMNORSX"


def indefinite_article(name: str, *, is_shouted: bool = False) -> str:
    """Return "a" or "an".

    Args:
        name: The noun phrase that follows.
        is_shouted: Whether the whole text is upper case, so that capitals are not abbreviations.
    """
    if _SPELLED_OUT.match(name) and not is_shouted:
        return "an" if name[0] in _LETTERS_WITH_VOWEL_SOUND else "a"
    return "an" if _VOWEL_SOUND.match(name) else "a"


_AND = " and "
_ARTICLE = re.compile(r"\b(a|an|the)\s+$", re.IGNORECASE)


def objects_only(scene: SceneGraph) -> SceneGraph:
    """Return the scene with the same mentions and relations, and the prompt "a dog and a car"."""
    if not scene.mentions:
        return scene
    text = ""
    mentions = []
    for mention in scene.mentions:
        words = mention.span.of(scene.prompt.text)
        text += _AND if text else ""
        text += _article(mention, words, scene.prompt.text)
        mentions.append(
            replace(mention, span=TextSpan(start=len(text), stop=len(text) + len(words)))
        )
        text += words
    relations = tuple(replace(relation, span=None) for relation in scene.relations)
    prompt = replace(scene.prompt, text=text, weights=())
    return replace(scene, prompt=prompt, mentions=tuple(mentions), relations=relations)


def _article(mention: ObjectMention, words: str, text: str) -> str:
    """Return the article of a mention with a trailing space; empty for none."""
    written = _ARTICLE.search(text[: mention.span.start])
    if written is not None:
        return f"{written.group(1).lower()} "
    if mention.is_plural:
        return ""
    return f"{indefinite_article(words, is_shouted=text.isupper())} "
