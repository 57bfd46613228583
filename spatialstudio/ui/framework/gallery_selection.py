"""The gallery's selection, shared by all parts of the window."""

from PySide6.QtCore import QObject, Signal

from spatialstudio.domain.library import EntryId, LibraryEntry


class GalleryView(QObject):
    """The gallery's selection, set by the grid and followed by docks and commands.

    One per window. Emits ``chosen_changed`` when the selection or the marks of selected runs
    change, ``line_offered`` with a filter line to apply, ``day_offered`` with the index of a day to
    scroll to, ``days_changed`` when the listed days change, ``tags_asked`` to open the tag editor,
    ``grid_asked`` to focus the grid and ``sweep_asked`` with the id of a sweep to show.
    ``stars_picked``, ``tags_written`` (added, dropped) and ``note_written`` carry the user's edits
    of all selected runs.

    Attributes:
        ids: Ids of the selected runs, from top to bottom.
        members: The same, with all runs of selected closed stacks.
        current: The run with keyboard focus; None when there is none.
        days: The listed days, as titles and numbers of runs.
        line: The filter in use.
    """

    chosen_changed = Signal()
    line_offered = Signal(str)
    line_changed = Signal()
    day_offered = Signal(int)
    days_changed = Signal()
    tags_asked = Signal()
    grid_asked = Signal()
    sweep_asked = Signal(str)
    stars_picked = Signal(int)
    tags_written = Signal(object, object)
    note_written = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.ids: tuple[EntryId, ...] = ()
        self.members: tuple[EntryId, ...] = ()
        self.current: LibraryEntry | None = None
        self.days: tuple[tuple[str, int], ...] = ()
        self.line = ""

    def show_chosen(
        self,
        ids: tuple[EntryId, ...],
        current: LibraryEntry | None,
        members: tuple[EntryId, ...] | None = None,
    ) -> None:
        """Set the selected runs and the current one; ``members`` if some stand for a stack."""
        chosen = ids, current, ids if members is None else members
        if chosen != (self.ids, self.current, self.members):
            self.ids, self.current, self.members = chosen
            self.chosen_changed.emit()

    def show_days(self, days: tuple[tuple[str, int], ...]) -> None:
        """Set the listed days."""
        if days != self.days:
            self.days = days
            self.days_changed.emit()

    def show_line(self, line: str) -> None:
        """Set the active filter line."""
        if line != self.line:
            self.line = line
            self.line_changed.emit()
