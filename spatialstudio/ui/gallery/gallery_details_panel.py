"""The details of the current run: relations and verdicts, marks, generation settings."""

from collections.abc import Sequence
from datetime import UTC, datetime

from PySide6.QtWidgets import QLineEdit, QWidget

from spatialstudio.application.storage.storage import Reproduced
from spatialstudio.domain.judge_choice import UNSUITED
from spatialstudio.domain.library import LibraryEntry
from spatialstudio.ui.framework.command import Command
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.gallery_presenter import (
    claims_of,
    facts_of_entry,
    repetition_in_words,
    reproduction_in_words,
    selection_in_words,
    tags_in,
    trash_in_words,
)
from spatialstudio.ui.gallery.widgets.claim_list import ClaimList
from spatialstudio.ui.gallery.widgets.star_row import StarRow
from spatialstudio.ui.widgets.builders import SPACE, action_button, at_left, column, row
from spatialstudio.ui.widgets.fact_list import FactList
from spatialstudio.ui.widgets.fields import TextLine
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr


class GalleryDetailsPanel(Panel):
    """Shows the current run; edits apply to all selected runs."""

    title = "Run"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._view = context.gallery
        self._waiting = TextLabel(tr("Select a run to see its settings."), Tone.MUTED)
        self._prompt = TextLabel(tone=Tone.HEADING)
        self._many = TextLabel(tone=Tone.MUTED, small=True)
        self._claims = ClaimList(context.theme)
        self._warning = TextLabel(tr(UNSUITED), Tone.WARNING)
        self._stars = StarRow(context.theme)
        self._stars.stars_picked.connect(self._view.stars_picked)
        self._tags = TextLine(placeholderText=tr("Tags, separated by commas"))
        self._note = TextLine(placeholderText=tr("Note"))
        for field, name, write in (
            (self._tags, tr("Tags"), self._write_tags),
            (self._note, tr("Note"), self._write_note),
        ):
            field.setAccessibleName(name)
            field.editingFinished.connect(write)
            field.returnPressed.connect(self._view.grid_asked)
        self._again = TextLabel(tone=Tone.PLAIN)
        self._deleted = TextLabel(tone=Tone.MUTED)
        self._facts = FactList()
        self._missing = self._buttons(
            (commands.LOCATE, tr("Locate…")), (commands.FORGET, tr("Remove from the library"))
        )
        self._trashed = self._buttons((commands.RESTORE, tr("Restore")))
        self._content = QWidget()
        column(
            *(self._prompt, self._many, self._claims, self._warning),
            *(self._missing, self._deleted, self._trashed),
            at_left(self._stars),
            *(self._tags, self._note, self._again, self._facts),
            within=self._content,
            gap=0.6,
        )
        column(self._waiting, self._content, within=self)
        self._view.chosen_changed.connect(self._draw)
        self._view.tags_asked.connect(self._ask_for_tags)
        self._draw()

    def handle(self, event: object) -> None:
        """Show whether a reproduced run matches the original."""
        if isinstance(event, Reproduced):
            self._draw()

    def _draw(self) -> None:
        entry, count = self._view.current, len(self._view.ids)
        self._waiting.setVisible(entry is None)
        self._content.setVisible(entry is not None)
        if entry is None:
            return
        self._prompt.setText(entry.summary.prompt or tr("No prompt was recorded"))
        self._many.setText(selection_in_words(count, len(self._view.members)))
        self._many.setVisible(len(self._view.members) > 1)
        self._claims.show_claims(claims_of(entry))
        self._warning.setVisible(entry.is_unsuited)
        self._stars.show_stars(entry.marks.stars)
        self._show_text(self._tags, ", ".join(entry.marks.tags))
        self._show_text(self._note, entry.marks.note)
        self._facts.show_facts(facts_of_entry(entry))
        self._missing.setVisible(entry.is_missing)
        self._trashed.setVisible(entry.deleted is not None)
        deleted = entry.deleted and trash_in_words(entry.deleted, datetime.now(UTC))
        self._show_words(self._deleted, deleted or "")
        self._show_words(self._again, self._repetition_of(entry))

    def _repetition_of(self, entry: LibraryEntry) -> str:
        """Return the result of reproducing a run, on either the repetition or the original."""
        if entry.repetition is not None:
            return repetition_in_words(entry.summary.parent_run_id, entry.repetition)
        for again in self._context.studio.library.repetitions(entry.summary):
            if again.repetition is not None:
                return reproduction_in_words(again.repetition)
        return ""

    def _show_words(self, label: TextLabel, words: str) -> None:
        label.setText(words)
        label.setVisible(bool(words))

    def _show_text(self, field: QLineEdit, text: str) -> None:
        if not field.hasFocus() or not field.isModified():
            field.setText(text)

    def _ask_for_tags(self) -> None:
        self._tags.setFocus()
        self._tags.selectAll()

    def _write_tags(self) -> None:
        if (entry := self._view.current) is not None and self._tags.isModified():
            self._tags.setModified(False)
            before, after = entry.marks.tags, tags_in(self._tags.text())
            self._view.tags_written.emit(_without(after, before), _without(before, after))

    def _write_note(self) -> None:
        if self._note.isModified():
            self._note.setModified(False)
            self._view.note_written.emit(self._note.text())

    def _buttons(self, *named: tuple[Command, str]) -> QWidget:
        """Return a row of buttons for commands with short labels."""
        buttons = QWidget()
        actions = ((self._context.actions[command], text) for command, text in named)
        row(*(action_button(action, text) for action, text in actions), SPACE, within=buttons)
        return buttons


def _without(tags: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if tag not in others)
