"""Failures grouped by cause, each with buttons to show and retry its pictures."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.widgets.builders import SPACE, clear, column, push_button, row
from spatialstudio.ui.widgets.texts import PlainLabel, RemarkLabel, TextLabel, Tone, tr

MOST_GROUPS = 20


@frozen
class FailureGroup:
    """Failures of one cause.

    Attributes:
        cause: The message without its numbers.
        example: The message of one of them.
        count: Number of pictures.
    """

    cause: str
    example: str
    count: int


class FailureGroups(QWidget):
    """Shows failures by cause.

    Emits ``retry_picked`` with a cause, and ``show_picked`` with a filter line that finds them.
    """

    retry_picked = Signal(str)
    show_picked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._groups: tuple[FailureGroup, ...] | None = None
        self._column = column(within=self, gap=0.5)
        self.show_groups(())

    def show_groups(self, groups: tuple[FailureGroup, ...]) -> None:
        """Show groups, the first of many."""
        if groups == self._groups:
            return
        self._groups = groups
        clear(self._column)
        if not groups:
            self._column.addWidget(TextLabel(tr("No picture has failed."), Tone.MUTED))
        for group in groups[:MOST_GROUPS]:
            self._column.addWidget(self._card(group))

    def _card(self, group: FailureGroup) -> QFrame:
        card = QFrame()
        card.setProperty("kind", "card")
        one, many = tr("1 picture"), tr("{count} pictures").format(count=f"{group.count:,}")
        count = PlainLabel(one if group.count == 1 else many, tone=Tone.MUTED)
        phrase = group.example.replace('"', " ")
        shown = push_button(
            tr("Show"),
            partial(self.show_picked.emit, f'is:missing "{phrase}"'),
            kind="quiet",
            name=tr("Show pictures: {cause}").format(cause=group.cause),
        )
        retry = push_button(
            tr("Retry group"),
            partial(self.retry_picked.emit, group.cause),
            name=tr("Retry group: {cause}").format(cause=group.cause),
        )
        column(
            RemarkLabel(group.example),
            row(count, SPACE, shown, retry, gap=0.4),
            within=card,
            gap=0.3,
            edges=(0.6, 0.5, 0.6, 0.5),
        )
        return card
