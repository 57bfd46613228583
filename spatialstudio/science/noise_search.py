"""PSG by search: of several first noises, which gave the best picture.

Pictures are ranked by PSE; ties, most often all at 0, by the signed difference of PoS, then by how
many objects were seen, by how surely, and by the lower seed. The second verifier is told beside and
never chooses, because a score that selects is inflated by its selecting.

Source: Rezaei et al. 2025, arXiv:2506.23418, best of N. Ours: the order among ties, and the checker
of SpatialBench-UC (Rostane 2026, arXiv:2601.13462) as the second verifier: it compares boxes where
PSE compares masks, and it may abstain, which counts as not accepted.
"""

from collections.abc import Iterable
from statistics import geometric_mean, mean

from spatialstudio.domain.generation import CandidateScore
from spatialstudio.domain.perception import Perception
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import CheckerSettings, Outcome
from spatialstudio.science.checker import decide
from spatialstudio.science.pse import prompt_pse

UNMEASURED_LEAD = -1.0


def score_candidate(
    scene: SceneGraph,
    seed: int,
    perception: Perception,
    settings: CheckerSettings,
    second: Perception | None = None,
) -> CandidateScore:
    """Say how good a picture is.

    Args:
        scene: At least one relation.
        seed: Of the picture.
        perception: What the first verifier saw; relations of depth need a depth map.
        settings: Least score of what counts as seen; thresholds of the checker.
        second: What another detector saw; None when the second verifier uses the first's eyes.

    Raises:
        ValueError: The scene claims nothing.
    """
    measured = prompt_pse(scene, perception, least_score=settings.detection_score)
    if measured is None:
        raise ValueError("A search needs a relation to go by.")
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
    """Sort pictures, best first."""
    return tuple(sorted(scores, key=_merit))


def _merit(score: CandidateScore) -> tuple[float, ...]:
    return (-score.pse, -score.lead, -score.found, -score.sureness, score.seed)
