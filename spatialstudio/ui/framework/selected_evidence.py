"""How the verdicts of the open picture are looked at, and what is tried otherwise."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from spatialstudio.application.evaluate.adjusting import with_setting
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.perception import Detection
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.verdict import AbstentionReason, Adjustment
from spatialstudio.ui.framework.undo import Edits


class SelectedEvidence(QObject):
    """Belongs to the window. Trying is an edit like any other: it can be undone.

    Emits ``changed``.

    Args:
        edits: Takes what is tried.

    Attributes:
        lit: The reason whose evidence is lit on the picture; None for none.
    """

    changed = Signal()

    def __init__(self, edits: Edits) -> None:
        super().__init__()
        self._edits = edits
        self._tried: dict[str, Adjustment] = {}
        self.lit: AbstentionReason | None = None

    def light(self, reason: AbstentionReason | None) -> None:
        """Light the evidence of a reason on the picture; None for none."""
        if reason is not self.lit:
            self.lit = reason
            self.changed.emit()

    def adjustment_of(self, run: OpenRun) -> Adjustment | None:
        """Return what is tried with a judged run: its own settings at first."""
        if run.evaluation is None:
            return None
        return self._tried.get(run.id, Adjustment(checker=run.evaluation.checker))

    def is_tried(self, run: OpenRun) -> bool:
        """Whether something is tried that differs from what the run was judged by."""
        return run.id in self._tried

    def try_setting(self, run: OpenRun, setting: str, value: float, name: str) -> None:
        """Judge with another value of one of the checker's settings.

        Args:
            run: The run.
            setting: Name of the setting.
            value: In its range.
            name: Of the edit, for undo.
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
        """Judge by another instance of a mention; None for the surest."""

        def chosen(now: Adjustment) -> Adjustment:
            others = tuple(each for each in now.choices if each.mention_id != mention_id)
            return replace(now, choices=others if choice is None else (*others, choice))

        self._change(run, name, chosen)

    def try_nothing(self, run: OpenRun, name: str) -> None:
        """Judge as the run was judged."""
        if run.evaluation is not None:
            own = Adjustment(checker=run.evaluation.checker)
            self._change(run, name, lambda _now: own)

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
