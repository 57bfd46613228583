"""Metrics: what each says of a relation or a picture, and how its answers add up over pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from statistics import mean
from typing import Any, TypeAlias

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.relation import Relation, SceneGraph
from spatialstudio.domain.verdict import Evaluation

Row: TypeAlias = Mapping[str, Any]
"""One picture as the terminal answers it: "prompt", "error" (None, or why it could not be judged),
"relations" and "objects" (how many the prompt names), what ``Metric.of_picture`` returned, and
"verdicts": for each relation the answers of ``Metric.of_relation`` by the metrics' ids."""
Figures: TypeAlias = Mapping[str, Any]
RelationAnswer: TypeAlias = bool | float | None

LAST = 1000


@frozen(eq=False)
class Metric:
    """A metric, as a module of ``science/metrics`` or a plugin registers it.

    Attributes:
        id: Its name in the terminal and in results.
        label: Its name in the window.
        help: What it measures, in a sentence.
        of_relation: Judges one relation of a scene in an evaluated picture, by the rules: whether
            it holds or how well, [0, 1]; None where the metric does not cover the relation.
        of_picture: Returns what it says of the whole picture, by the rules; merged into the row.
        add_up: Returns figures over many pictures by name, by the rules; empty figures are not
            shown. By default the mean of ``of_relation``, 0 for a picture that was not judged.
        is_yes_no: Whether ``of_relation`` answers True or False instead of a number.
        rules: Its published settings, a frozen dataclass; None where it has none.
        corrected: The same settings with their known faults, which are fields, set to False.
        order: Its place where metrics are listed; lower numbers first.
    """

    id: str
    label: str
    help: str
    of_relation: Callable[[Relation, SceneGraph, Evaluation, Any], RelationAnswer] | None = None
    of_picture: Callable[[SceneGraph, Evaluation, Any], Mapping[str, Any]] | None = None
    add_up: Callable[[Sequence[Row], Any], Mapping[str, Figures]] | None = None
    is_yes_no: bool = False
    rules: Any = None
    corrected: Any = None
    order: int = LAST

    @property
    def faults(self) -> tuple[str, ...]:
        """The known faults of the published rules, which can be switched off."""
        if self.corrected is None:
            return ()
        settings = fields(self.corrected)
        return tuple(each.name for each in settings if getattr(self.corrected, each.name) is False)

    def figures(self, rows: Sequence[Row], rules: Any) -> Mapping[str, Figures]:
        """Add up its answers over pictures."""
        if self.add_up is not None:
            return self.add_up(rows, rules)
        of_errors = False if self.is_yes_no else 0.0
        known = [value for value in relation_values(rows, self.id, of_errors) if value is not None]
        if self.is_yes_no:
            return {self.id: {"share": sum(known) / len(known)} if known else {}}
        return {self.id: {"mean": mean(known)} if known else {}}


def relation_values(rows: Sequence[Row], name: str, of_errors: object) -> list[Any]:
    """Return one answer of every relation.

    Args:
        rows: The pictures.
        name: Of the answer, a metric's id.
        of_errors: Counted for each relation of a picture that could not be judged.
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
