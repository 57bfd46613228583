"""The registration of a metric: its scores of relations and images, and their aggregation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from math import isfinite
from statistics import mean
from typing import Any, TypeAlias

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Relation, SceneGraph
from spatialstudio.domain.verdict import Evaluation

Row: TypeAlias = Mapping[str, Any]
"""One image in the terminal's output: "prompt", "error" (None, or why evaluation failed),
"relations" and "objects" (their number in the prompt), the items of ``Metric.of_picture``, and
"verdicts": for each relation the values of ``Metric.of_relation`` by metric id."""
Figures: TypeAlias = Mapping[str, Any]
RelationAnswer: TypeAlias = bool | float | None

LAST = 1000

RESERVED_NAMES = frozenset(
    (
        *("picture", "prompt", "judge_set", "judges", "witnesses", "models", "error", "relations"),
        "hint",
        *("objects", "note", "notes", "verdicts", "failed_metrics", "why", "evidence", "found"),
        *("relation_id", "relation", "outcome", "reason", "confidence", "components", "delta"),
        *("margin", "overlap", "gap", "pos", "attention_pos", "not_checked"),
        *("judge_set", "origin", "run", "store_error", "mention_verdicts"),
    )
)
"""Names of other values in results, which no metric may use."""
PICTURE_VALUES = frozenset(
    (
        *("mean_pse", "pse_relations", "prompt_pse", "hrs_mended"),
        *("scene_graph_score", "scene_graph_parts", "scene_graph_edits", "quality_score"),
        *("choice_score", "choice_questions", "choice_answerer", "choice_protocol", "choice_cost"),
        *("da_score", "da_settings", "answered_by", "asserted_by", "da_notes", "assertions"),
    )
)
"""Items of ``of_picture`` of the built-in metrics; no plugin's metric can have one as its id."""


@frozen(eq=False)
class Metric:
    """A metric, registered by a module of ``science/metrics`` or a plugin.

    Attributes:
        id: Name in the terminal and in results.
        label: Name in the window.
        help: What it measures, in one sentence.
        of_relation: Scores one relation of a scene in an evaluated image under the rules: True or
            False, or a number in [0, 1]; None if the metric does not cover the relation.
        of_picture: Returns items for the whole image under the rules, merged into the row; their
            names differ from those of all other values. Values are JSON values or numpy arrays.
        score_row: Returns the score of a whole image from its row, higher is better, or None if it
            does not cover the image; None for the mean of ``of_relation``.
        add_up: Returns figures over many images by name under the rules; empty figures are not
            shown. By default the mean of ``of_relation``, 0 for an image without evaluation.
        is_yes_no: Whether ``of_relation`` returns True or False instead of a number.
        rules: Its published settings, a frozen dataclass; None if it has none.
        corrected: The same settings with known faults, which are fields, set to False.
        order: Position in lists of metrics; lower numbers first.
    """

    id: str
    label: str
    help: str
    of_relation: Callable[[Relation, SceneGraph, Evaluation, Any], RelationAnswer] | None = None
    of_picture: Callable[[SceneGraph, Evaluation, Any], Mapping[str, Any]] | None = None
    score_row: Callable[[Row], float | bool | None] | None = None
    add_up: Callable[[Sequence[Row], Any], Mapping[str, Figures]] | None = None
    is_yes_no: bool = False
    rules: Any = None
    corrected: Any = None
    order: int = LAST

    def score_of(self, row: Row) -> float | None:
        """Return its score of an image, higher is better; None if it does not cover the image."""
        if self.score_row is not None:
            return _number(self.score_row(row))
        values = (_number(each.get(self.id)) for each in row.get("verdicts") or ())
        known = [value for value in values if value is not None]
        return mean(known) if known else None

    @property
    def faults(self) -> tuple[str, ...]:
        """Names of the known faults of the published rules, which can be switched off."""
        if self.corrected is None:
            return ()
        settings = fields(self.corrected)
        return tuple(each.name for each in settings if getattr(self.corrected, each.name) is False)

    def figures(self, rows: Sequence[Row], rules: Any) -> Mapping[str, Figures]:
        """Aggregate its values over images."""
        if self.add_up is not None:
            return self.add_up(rows, rules)
        of_errors = False if self.is_yes_no else 0.0
        known = [value for value in relation_values(rows, self.id, of_errors) if value is not None]
        if self.is_yes_no:
            return {self.id: {"share": sum(known) / len(known)} if known else {}}
        return {self.id: {"mean": mean(known)} if known else {}}


def _number(value: object) -> float | None:
    if isinstance(value, bool | int | float) and isfinite(value):
        return float(value)
    return None


def relation_values(rows: Sequence[Row], name: str, of_errors: object) -> list[Any]:
    """Return one value per relation.

    Args:
        rows: The images.
        name: Key of the value, such as a metric id.
        of_errors: Value for each relation of an image that could not be evaluated.
    """
    return [
        value
        for row in rows
        for value in (
            [of_errors] * (row["relations"] or 1)
            if row["error"]
            else [verdict.get(name) for verdict in row["verdicts"]]
        )
    ]
