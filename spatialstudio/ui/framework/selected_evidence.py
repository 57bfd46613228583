"""Highlighted evidence and trial checker settings of the open picture."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal

from spatialstudio.application.evaluate.adjusting import with_setting
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.graph_match import GraphObject
from spatialstudio.domain.graph_settings import GraphSettings
from spatialstudio.domain.scene import MentionId
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Adjustment,
    Detection,
    MentionVerdict,
)
from spatialstudio.ui.framework.undo import Edits


@frozen
class ShownObjects:
    """Objects of a picture's scene graph, highlighted together.

    Attributes:
        key: The selection that shows them, of the panel that set it.
        objects: The objects; none for a missing one.
    """

    key: object
    objects: tuple[GraphObject, ...]


Lit: TypeAlias = AbstentionReason | MentionVerdict | ShownObjects
"""What may be highlighted: a reason, a verdict on a count or colour, or objects."""


class SelectedEvidence(QObject):
    """Highlighted evidence and trial settings; one per window. A trial is an undoable edit.

    Emits ``changed``.

    Args:
        edits: Receives the trial edits.

    Attributes:
        lit: The reason of the selected verdict, the verdict on a count or colour, or the objects
            whose evidence is highlighted on the picture; None for none.
        graph: Trial settings of the scene-graph score.
    """

    changed = Signal()

    def __init__(self, edits: Edits) -> None:
        super().__init__()
        self._edits = edits
        self._tried: dict[str, Adjustment] = {}
        self.lit: Lit | None = None
        self.graph = GraphSettings()

    def light(self, lit: Lit | None) -> None:
        """Highlight the evidence of a reason or a verdict, or objects; None for nothing."""
        if lit != self.lit:
            self.lit = lit
            self.changed.emit()

    def adjustment_of(self, run: OpenRun) -> Adjustment | None:
        """Return the trial settings of an evaluated run; initially the run's own settings."""
        if run.evaluation is None:
            return None
        return self._tried.get(run.id, Adjustment(checker=run.evaluation.checker))

    def is_tried(self, run: OpenRun) -> bool:
        """Return True if the trial settings differ from those the run was evaluated with."""
        return run.id in self._tried

    def try_setting(self, run: OpenRun, setting: str, value: float, name: str) -> None:
        """Try another value of a checker setting.

        Args:
            run: The run.
            setting: Name of the setting.
            value: In its range.
            name: Name of the edit, for undo.
        """
        self._change(
            run,
            name,
            lambda now: replace(now, checker=with_setting(now.checker, setting, value)),
            merge_key=setting,
        )

    def try_choice(
        self, run: OpenRun, mention_id: MentionId, choice: Detection | None, name: str
    ) -> None:
        """Try another instance of a mention; None for the most confident one."""

        def chosen(now: Adjustment) -> Adjustment:
            others = tuple(each for each in now.choices if each.mention_id != mention_id)
            return replace(now, choices=others if choice is None else (*others, choice))

        self._change(run, name, chosen)

    def try_nothing(self, run: OpenRun, name: str) -> None:
        """Reset the trial to the settings the run was evaluated with."""
        if run.evaluation is not None:
            own = Adjustment(checker=run.evaluation.checker)
            self._change(run, name, lambda _now: own)

    def try_graph(self, settings: GraphSettings, name: str) -> None:
        """Try other settings of the scene-graph score.

        Args:
            settings: The settings.
            name: Name of the edit, for undo.
        """
        if settings != self.graph:
            self._edits.change(name, self.graph, settings, self._show_graph)

    def _show_graph(self, settings: GraphSettings) -> None:
        self.graph = settings
        self.changed.emit()

    def _change(
        self,
        run: OpenRun,
        name: str,
        change: Callable[[Adjustment], Adjustment],
        merge_key: str = "",
    ) -> None:
        if (before := self.adjustment_of(run)) is not None:
            show = partial(self._show, run)
            self._edits.change(name, before, change(before), show, merge_key=merge_key)

    def _show(self, run: OpenRun, adjustment: Adjustment) -> None:
        if run.evaluation is not None and adjustment == Adjustment(checker=run.evaluation.checker):
            self._tried.pop(run.id, None)
        else:
            self._tried[run.id] = adjustment
        self.changed.emit()
