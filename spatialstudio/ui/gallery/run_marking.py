"""Undoable marks of stored runs, and the trash."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.background_jobs import (
    BackgroundJobEnded,
    BackgroundJobId,
    BackgroundJobs,
    Progress,
)
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.library import LibraryEntry, Marks
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.gallery_presenter import runs_in_words
from spatialstudio.ui.widgets.texts import tr

Result = TypeVar("Result")


class RunMarking(QObject):
    """Rates, rejects, tags and deletes the selected runs.

    Emits ``marked`` with the new marks by path; they are written to disk shortly after.

    Args:
        context: Services of the window; its commands are bound.
    """

    marked = Signal(object)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._storage = context.studio.storage
        self._unwritten: dict[Path, tuple[BackgroundJobId, Marks]] = {}
        self._writing: set[BackgroundJobId] = set()
        context.gallery.stars_picked.connect(self.rate)
        context.gallery.tags_written.connect(self.tag)
        context.gallery.note_written.connect(self.note)
        context.actions.bind_all(
            {
                **{star: partial(self.rate, count) for count, star in enumerate(commands.STARS)},
                commands.STAR: self.star,
                commands.REJECT: self.reject,
                commands.TRASH: self.trash,
                commands.RESTORE: self.put_back,
                commands.FORGET: self.forget,
            }
        )

    @property
    def chosen(self) -> tuple[LibraryEntry, ...]:
        """The selected runs with their latest marks."""
        entries = self._storage.library.entries(self._context.gallery.ids)
        return tuple(map(self.as_said, entries))

    def as_said(self, entry: LibraryEntry) -> LibraryEntry:
        """Return a run with its latest marks, which may not be on disk yet."""
        _, marks = self._unwritten.get(entry.path, (None, entry.marks))
        return replace(entry, marks=marks)

    def end(self, job_id: BackgroundJobId) -> bool:
        """Handle the end of a job that writes marks; return True if the job was one of these."""
        written = [path for path, (writing, _) in self._unwritten.items() if writing == job_id]
        for path in written:
            del self._unwritten[path]
        is_own = job_id in self._writing
        self._writing.discard(job_id)
        return is_own

    def rate(self, stars: int) -> None:
        """Rate the selected runs; rating a run also clears its rejection."""
        self._change(
            tr("stars"),
            lambda marks: replace(marks, stars=stars, is_rejected=marks.is_rejected and not stars),
        )

    def star(self) -> None:
        """Give all selected runs a star, or remove the stars if all have some."""
        has_stars = all(entry.marks.stars for entry in self.chosen)
        self.rate(0 if has_stars else 1)

    def reject(self) -> None:
        """Reject all selected runs, or clear the rejection if all are rejected."""
        are_out = all(entry.marks.is_rejected for entry in self.chosen)
        self._change(
            tr("remove rejection") if are_out else tr("rejected"),
            lambda marks: replace(marks, is_rejected=not are_out),
        )

    def tag(self, add: Sequence[str], drop: Sequence[str]) -> None:
        """Add tags to the selected runs and remove others."""

        def changed(marks: Marks) -> Marks:
            kept = (tag for tag in (*marks.tags, *add) if tag not in drop)
            return replace(marks, tags=tuple(dict.fromkeys(kept)))

        self._change(tr("tags"), changed)

    def note(self, text: str) -> None:
        """Set the note of the selected runs."""
        self._change(tr("note"), lambda marks: replace(marks, note=text.strip()))

    def trash(self) -> None:
        """Move the selected runs to the trash, with an offer to undo."""
        there = (entry for entry in self.chosen if not entry.is_missing)
        pictures = [entry.path for entry in there if entry.deleted is None]
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

    def put_back(self) -> None:
        """Restore the selected runs from the trash."""
        inside = [entry.path for entry in self.chosen if entry.deleted is not None]
        if not inside:
            return
        deleting = Deleting(self._context, (), inside)
        self._context.edits.change(tr("restore"), before=True, after=False, apply=deleting.make)
        if not deleting.is_deleted:
            message = tr("{runs} restored.").format(runs=runs_in_words(len(inside)))
            self._context.toasts.tell(message)

    def forget(self) -> None:
        """Remove selected runs with missing files from the list."""
        library = self._storage.library
        gone = tuple(entry for entry in self.chosen if entry.is_missing)
        if not gone:
            return

        def make(forgotten: bool) -> None:
            if forgotten:
                library.forget([entry.path for entry in gone])
            else:
                library.recall(gone)

        self._context.edits.change(
            tr("remove from the library"), before=False, after=True, apply=make
        )

    def _change(self, name: str, change: Callable[[Marks], Marks]) -> None:
        before = {entry.path: entry.marks for entry in self.chosen}
        after = {path: change(marks) for path, marks in before.items()}
        self._context.edits.change(name, before, after, self._write)

    def _write(self, marks: Mapping[Path, Marks]) -> None:
        writing = self._storage.gallery.mark(marks)
        self._writing.add(writing)
        self._unwritten |= {path: (writing, said) for path, said in marks.items()}
        self.marked.emit(marks)


class Deleting:
    """Moves runs to the trash and back, as an undoable edit.

    Args:
        context: Services of the window.
        pictures: Pictures of the runs.
        inside: Their paths in the trash, if already deleted.
    """

    def __init__(
        self, context: WindowContext, pictures: Sequence[Path], inside: Sequence[Path] = ()
    ) -> None:
        self._context = context
        self._pictures = tuple(pictures)
        self._inside = tuple(inside)

    @property
    def is_deleted(self) -> bool:
        """Whether the runs are in the trash."""
        return bool(self._inside)

    def make(self, deleted: bool) -> None:
        """Delete or restore the runs; report a failure."""
        library = self._context.studio.library
        if deleted == self.is_deleted:
            return
        try:
            if deleted:
                self._inside = library.trash(self._pictures).inside
            else:
                self._pictures, self._inside = library.restore(self._inside), ()
        except StudioError as error:
            self._context.toasts.report(report_on(error, tr("Moving runs")))


class GalleryJobs:
    """Runs background jobs for the gallery and passes their results on when they end.

    Args:
        background_jobs: The queue, shared with other panels.
    """

    def __init__(self, background_jobs: BackgroundJobs) -> None:
        self._background_jobs = background_jobs
        self._running: dict[BackgroundJobId, Callable[[Any], object]] = {}

    def run(
        self, title: str, work: Callable[[Progress], Result], then: Callable[[Result], object]
    ) -> BackgroundJobId:
        """Start a job; return at once.

        Args:
            title: Named in an error message.
            work: Called on the thread of the jobs.
            then: Called on the GUI thread with the result, unless the job fails or is cancelled.
        """
        job_id = self._background_jobs.run(title, work)
        self._running[job_id] = then
        return job_id

    def cancel(self, job_id: BackgroundJobId) -> None:
        """Cancel a job before its next part."""
        self._background_jobs.cancel(job_id)

    def end(self, ended: BackgroundJobEnded) -> bool:
        """Pass on the result of a job that has ended; return whether it was one of these."""
        then = self._running.pop(ended.job_id, None)
        if then is not None and not (ended.error or ended.is_cancelled):
            then(ended.result)
        return then is not None
