"""What the user says of kept runs, and the trash; all of it can be undone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from spatialstudio.application.errands import ErrandId
from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.library import LibraryEntry, Marks
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.panels.contents.gallery_contents import runs_in_words
from spatialstudio.ui.texts import tr


class RunMarking(QObject):
    """Rates, sorts out, tags and deletes the chosen runs.

    Emits ``marked`` with the new marks by path; they are on disk a moment later.
    """

    marked = Signal(object)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._keeping = context.studio.keeping
        self._unwritten: dict[Path, tuple[ErrandId, Marks]] = {}

    @property
    def chosen(self) -> tuple[LibraryEntry, ...]:
        """The runs that are chosen, with what the user says of them now."""
        entries = self._keeping.library.entries(self._context.gallery.ids)
        return tuple(map(self.as_said, entries))

    def as_said(self, entry: LibraryEntry) -> LibraryEntry:
        """Return a run with marks that may not be on disk yet."""
        _, marks = self._unwritten.get(entry.path, (None, entry.marks))
        return replace(entry, marks=marks)

    def end(self, errand_id: ErrandId) -> None:
        """Take note that marks are on disk, or that they could not be written."""
        for path, (writing, _) in tuple(self._unwritten.items()):
            if writing == errand_id:
                del self._unwritten[path]

    def rate(self, stars: int) -> None:
        """Give the chosen runs stars; a starred run is not sorted out."""
        self._change(
            tr("stars"),
            lambda marks: replace(marks, stars=stars, is_rejected=marks.is_rejected and not stars),
        )

    def star(self) -> None:
        """Give all a star, or take the stars when all have some."""
        has_stars = all(entry.marks.stars for entry in self.chosen)
        self.rate(0 if has_stars else 1)

    def reject(self) -> None:
        """Sort all out, or back in when all are out."""
        are_out = all(entry.marks.is_rejected for entry in self.chosen)
        self._change(
            tr("back in") if are_out else tr("sorted out"),
            lambda marks: replace(marks, is_rejected=not are_out),
        )

    def tag(self, add: Sequence[str], drop: Sequence[str]) -> None:
        """Give the chosen runs tags and take others away."""

        def changed(marks: Marks) -> Marks:
            kept = (tag for tag in (*marks.tags, *add) if tag not in drop)
            return replace(marks, tags=tuple(dict.fromkeys(kept)))

        self._change(tr("tags"), changed)

    def note(self, text: str) -> None:
        """Write a note to the chosen runs."""
        self._change(tr("note"), lambda marks: replace(marks, note=text.strip()))

    def trash(self) -> None:
        """Move the chosen runs into the trash, and offer to undo it."""
        pictures = [entry.path for entry in self.chosen if not entry.is_missing]
        if not pictures:
            return
        deleting = Deleting(self._context, pictures)
        count = runs_in_words(len(pictures))
        self._context.edits.change(
            tr("move to the trash"), before=False, after=True, apply=deleting.make
        )
        if deleting.is_deleted:
            message = tr("{count} moved to the trash.").format(count=count)
            self._context.toasts.offer(message, tr("Undo"), lambda: deleting.make(False))

    def _change(self, name: str, change: Callable[[Marks], Marks]) -> None:
        before = {entry.path: entry.marks for entry in self.chosen}
        after = {path: change(marks) for path, marks in before.items()}
        self._context.edits.change(name, before, after, self._write)

    def _write(self, marks: Mapping[Path, Marks]) -> None:
        writing = self._keeping.gallery.mark(marks)
        self._unwritten |= {path: (writing, said) for path, said in marks.items()}
        self.marked.emit(marks)


class Deleting:
    """Runs on their way into the trash and back.

    Args:
        context: Of the window.
        pictures: Of the runs.

    Attributes:
        is_deleted: Whether they are in the trash now.
    """

    def __init__(self, context: WindowContext, pictures: Sequence[Path]) -> None:
        self._context = context
        self._pictures = pictures
        self._deletion_id = ""

    @property
    def is_deleted(self) -> bool:
        """Whether they are in the trash now."""
        return bool(self._deletion_id)

    def make(self, deleted: bool) -> None:
        """Delete them or put them back; says why when that cannot be done."""
        library = self._context.studio.library
        if deleted == self.is_deleted:
            return
        try:
            if deleted:
                self._deletion_id = library.trash(self._pictures).id
            else:
                library.restore(self._deletion_id)
                self._deletion_id = ""
        except StudioError as error:
            self._context.toasts.report(report_on(error, tr("Moving runs")))
