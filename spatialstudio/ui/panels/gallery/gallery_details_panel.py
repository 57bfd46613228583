"""The chosen run: what it claims and how that was judged, its marks, how it was made."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from spatialstudio.application.keeping import Reproduced
from spatialstudio.domain.library import LibraryEntry
from spatialstudio.ui.commands import gallery as commands
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.panels.contents.gallery_contents import (
    claims_of,
    facts_of_entry,
    reproduction_in_words,
    runs_in_words,
    tags_in,
)
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.fact_list import FactList
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.gallery.claim_list import ClaimList
from spatialstudio.ui.widgets.gallery.star_row import StarRow


class GalleryDetailsPanel(Panel):
    """Shows the current run; what is written here goes to all that are chosen."""

    title = "Run"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._view = context.gallery
        self._repeated = dict[Path, str]()
        self._waiting = TextLabel(tr("Choose a run to see how it was made."), Tone.MUTED)
        self._prompt = TextLabel(tone=Tone.HEADING)
        self._many = TextLabel(tone=Tone.MUTED, small=True)
        self._claims = ClaimList(context.theme)
        self._stars = StarRow(context.theme)
        self._stars.stars_picked.connect(self._view.stars_picked)
        self._tags = QLineEdit()
        self._tags.setAccessibleName(tr("Tags"))
        self._tags.setPlaceholderText(tr("Tags, divided by commas"))
        self._tags.editingFinished.connect(self._write_tags)
        self._tags.returnPressed.connect(self._view.grid_asked)
        self._note = QLineEdit()
        self._note.setAccessibleName(tr("Note"))
        self._note.setPlaceholderText(tr("Note"))
        self._note.editingFinished.connect(self._write_note)
        self._note.returnPressed.connect(self._view.grid_asked)
        self._again = TextLabel(tone=Tone.PLAIN)
        self._facts = FactList()
        self._missing = QWidget()
        self._content = QWidget()
        self._lay_out()
        self._view.chosen_changed.connect(self._draw)
        self._view.tags_asked.connect(self._ask_for_tags)
        self._draw()

    def handle(self, event: object) -> None:
        """Note whether a run that was drawn again came out the same."""
        match event:
            case Reproduced(first=first, comparison=comparison):
                self._repeated[first] = reproduction_in_words(comparison)
                self._draw()

    def _draw(self) -> None:
        entry, count = self._view.current, len(self._view.ids)
        self._waiting.setVisible(entry is None)
        self._content.setVisible(entry is not None)
        if entry is None:
            return
        self._prompt.setText(entry.summary.prompt or tr("No prompt is known"))
        chosen = tr("{runs} chosen; marks go to all of them").format(runs=runs_in_words(count))
        self._many.setText(chosen)
        self._many.setVisible(count > 1)
        self._claims.show_claims(claims_of(entry))
        self._stars.show_stars(entry.marks.stars)
        self._show_text(self._tags, ", ".join(entry.marks.tags))
        self._show_text(self._note, entry.marks.note)
        self._facts.show_facts(facts_of_entry(entry))
        self._missing.setVisible(entry.is_missing)
        self._show_repetition(entry)

    def _show_repetition(self, entry: LibraryEntry) -> None:
        words = self._repeated.get(entry.path)
        self._again.setVisible(words is not None)
        self._again.setText(words or "")

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

    def _lay_out(self) -> None:
        missing = QHBoxLayout(self._missing)
        missing.setContentsMargins(0, 0, 0, 0)
        for command, text in ((commands.LOCATE, tr("Locate…")), (commands.FORGET, tr("Forget"))):
            button = QPushButton(text)
            button.setToolTip(self._context.actions[command].toolTip())
            button.clicked.connect(self._context.actions[command].trigger)
            missing.addWidget(button)
        column = QVBoxLayout(self._content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.6))
        for part in (self._prompt, self._many, self._claims, self._missing):
            column.addWidget(part)
        column.addWidget(self._stars, 0, Qt.AlignmentFlag.AlignLeft)
        for part in (self._tags, self._note, self._again, self._facts):
            column.addWidget(part)
        own = QVBoxLayout(self)
        own.setContentsMargins(0, 0, 0, 0)
        own.addWidget(self._waiting)
        own.addWidget(self._content)


def _without(tags: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if tag not in others)
