"""Scores of many pictures by several metrics, their rank correlations and disagreements.

Created by ``science.statistics.metric_agreement``; immutable, may cross threads.
"""

from collections.abc import Hashable, Mapping
from math import inf, isnan
from pathlib import Path

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval

QUESTIONS, QUESTIONS_LABEL = "spatialgeneval", "SpatialGenEval"
"""Id and name of the share of right answers to multiple-choice questions."""


@frozen
class PictureScores:
    """The scores of one picture.

    Attributes:
        name: Name of the picture.
        prompt: Its prompt.
        scores: Score by metric id, higher is better; metrics that do not cover it are left out.
        path: File of the picture, for its evidence; None if unknown.
        source: The file that was judged, by which scores are joined; None for ``path``.
        recipe: Equal for runs of the same prompt, seed and settings; None if unknown.
        is_left_unguided: Whether the trial of its run needed no guidance.
    """

    name: str
    prompt: str
    scores: Mapping[str, float]
    path: Path | None = None
    source: Path | None = None
    recipe: Hashable = None
    is_left_unguided: bool = False


@frozen
class MetricColumn:
    """One metric over the pictures.

    Attributes:
        id: Its id.
        label: Its name.
        pictures: Number of pictures that it scores.
        mean: Its mean over them.
    """

    id: str
    label: str
    pictures: int
    mean: float


@frozen
class MetricPair:
    """The rank correlation of two metrics over the pictures that both score.

    Attributes:
        first: Id of a metric.
        second: Id of another.
        spearman: Spearman's correlation, [-1, 1], with an interval over prompts; NaN where one of
            the metrics does not vary.
        kendall: Kendall's tau-b, [-1, 1]; None where undefined.
    """

    first: str
    second: str
    spearman: Interval
    kendall: float | None


@frozen
class Disagreement:
    """A picture that metrics rank differently.

    Attributes:
        picture: Its scores.
        ranks: Its rank by metric id among the pictures of that metric, 0 lowest to 1 highest; ties
            have their mean rank.
        spread: Difference of the highest and the lowest rank, [0, 1].
    """

    picture: PictureScores
    ranks: Mapping[str, float]
    spread: float


@frozen
class MetricTable:
    """Metrics compared over a set of pictures.

    Attributes:
        columns: The metrics.
        pairs: Every two metrics.
        disagreements: Every picture with two scores or more, the largest spread first.
        notes: What was left out, and on intervals over few prompts, one sentence each.
    """

    columns: tuple[MetricColumn, ...]
    pairs: tuple[MetricPair, ...]
    disagreements: tuple[Disagreement, ...]
    notes: tuple[str, ...] = ()

    @property
    def weakest_first(self) -> tuple[MetricPair, ...]:
        """The pairs in ascending order of Spearman's correlation, undefined ones last."""
        return tuple(
            sorted(
                self.pairs,
                key=lambda each: inf if isnan(each.spearman.value) else each.spearman.value,
            )
        )
