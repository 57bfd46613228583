"""What is chosen in the gallery, for all parts of the window that show it or work on it."""

from PySide6.QtCore import QObject, Signal

from spatialstudio.domain.library import EntryId, LibraryEntry


class GalleryView(QObject):
    """Belongs to the window; the grid says what is chosen, docks and commands follow.

    Emits ``chosen_changed`` when other runs are chosen or their marks change, ``line_offered``
    with a filter line to use, ``day_offered`` with the number of a day to bring into sight,
    ``days_changed`` when others are listed, ``tags_asked`` when tags shall be written,
    ``grid_asked`` when the keyboard shall go back to the grid and ``sweep_asked`` with the id of a
    sweep to show. ``stars_picked``, ``tags_written``
    (added, dropped) and ``note_written`` tell what the user says of all chosen runs.

    Attributes:
        ids: Of the runs that are chosen, from top to bottom.
        current: The run that the keyboard is on; None when there is none.
        days: What is listed, as titles and numbers of runs.
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
        self.current: LibraryEntry | None = None
        self.days: tuple[tuple[str, int], ...] = ()
        self.line = ""

    def show_chosen(self, ids: tuple[EntryId, ...], current: LibraryEntry | None) -> None:
        """Take other runs as chosen."""
        if (ids, current) != (self.ids, self.current):
            self.ids, self.current = ids, current
            self.chosen_changed.emit()

    def show_days(self, days: tuple[tuple[str, int], ...]) -> None:
        """Take other days as listed."""
        if days != self.days:
            self.days = days
            self.days_changed.emit()

    def show_line(self, line: str) -> None:
        """Take another filter as the one in use."""
        if line != self.line:
            self.line = line
            self.line_changed.emit()
