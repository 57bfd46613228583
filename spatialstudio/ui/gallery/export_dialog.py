"""The export dialog: content, format and progress."""

from collections.abc import Iterable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialogButtonBox,
    QFormLayout,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QWidget,
)

from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.export import ExportKind, ExportLayer, LookOption, StudyChoice
from spatialstudio.domain.figure_template import DEFAULT_TEMPLATE, TEMPLATES, FigureTemplate
from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column, grow, push_button, row
from spatialstudio.ui.widgets.fields import ComboBox
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

SIZE_EM = (40, 27)
LIST_EM = 14
KIND = Qt.ItemDataRole.UserRole
LAYERS = {
    ExportLayer.MAPS: "Attention maps",
    ExportLayer.MASKS: "Masks",
    ExportLayer.BOXES: "Boxes",
    ExportLayer.MARGINALS: "Marginals",
}


@frozen
class ExportChoice:
    """The user's choice in the export dialog.

    Attributes:
        kind: Export kind.
        ending: File suffix: "png".
        layers: Layers drawn on the picture.
        theme: Name of the theme.
        is_marked: Whether pictures carry an AI-generation mark.
        template: Template of a figure for a paper.
        study: Numbers and groups of a study plot.
    """

    kind: ExportKind
    ending: str
    layers: frozenset[ExportLayer]
    theme: str
    is_marked: bool
    template: FigureTemplate = TEMPLATES[DEFAULT_TEMPLATE]
    study: StudyChoice = StudyChoice()


class ExportDialog(TitledDialog):
    """Lets the user choose an export; stays open to show its progress.

    Emits ``export_asked`` with an ``ExportChoice``, and ``cancel_asked`` to stop the export.

    Args:
        count: Number of runs.
        layers: Layers on the stage.
        themes: Theme names and titles; the first is selected.
        parent: The window.
    """

    export_asked = Signal(object)
    cancel_asked = Signal()

    def __init__(
        self,
        count: int,
        layers: frozenset[ExportLayer],
        themes: Mapping[str, str],
        parent: QWidget | None = None,
    ) -> None:
        title = tr("Export 1 run") if count == 1 else tr("Export {count} runs").format(count=count)
        super().__init__(title, parent)
        self._is_running = False
        self._kinds = _kind_list()
        self._meaning = TextLabel(tone=Tone.MUTED)
        self._form, self._colours, self._template = ComboBox(), ComboBox(), ComboBox()
        for name, template in TEMPLATES.items():
            self._template.addItem(f"{name} ({template.width:g} in)", name)
        for name, shown in themes.items():
            self._colours.addItem(shown, name)
        self._layers = {layer: QCheckBox(tr(text)) for layer, text in LAYERS.items()}
        for layer, box in self._layers.items():
            box.setChecked(layer in layers)
        self._marked = QCheckBox(tr("Label the file as AI-generated"))
        self._marked.setChecked(True)
        self._progress = QProgressBar(textVisible=False)
        self._progress.setAccessibleName(tr("Progress of the export"))
        self._progress_text = TextLabel(tone=Tone.MUTED)
        self._export = push_button(
            tr("Export…"), lambda: self.export_asked.emit(self.choice), kind="primary"
        )
        self._export.setDefault(True)
        self._lay_out()
        self._kinds.currentRowChanged.connect(self._follow_kind)
        self._kinds.setCurrentRow(0)
        give_room(self, SIZE_EM)

    @property
    def choice(self) -> ExportChoice:
        """The current choice."""
        return ExportChoice(
            kind=self._kind,
            ending=self._form.currentData(),
            layers=frozenset(each for each, box in self._layers.items() if box.isChecked()),
            theme=self._colours.currentData(),
            is_marked=self._marked.isChecked(),
            template=TEMPLATES[self._template.currentData()],
        )

    def show_kind(self, kind: ExportKind) -> None:
        """Select the export kind."""
        self._kinds.setCurrentRow(list(EXPORT_KINDS).index(kind))

    def show_marked(self, is_marked: bool) -> None:
        """Show whether exported files carry an AI-generation mark."""
        self._marked.setChecked(is_marked)

    def show_progress(self, done: int, total: int) -> None:
        """Show the export's progress."""
        self._begin(True)
        self._progress.setRange(0, total)
        self._progress.setValue(done)
        self._progress_text.setText(tr("{done} of {total}").format(done=done, total=total))

    def show_running(self, running: bool) -> None:
        """Show whether an export is running."""
        self._begin(running)
        self._progress.setRange(0, 0 if running else 1)
        self._progress_text.setText(tr("Writing…") if running else "")

    def reject(self) -> None:
        """Cancel the running export; close the dialog if there is none."""
        if self._is_running:
            self._progress_text.setText(tr("Cancelling…"))
            self.cancel_asked.emit()
        else:
            super().reject()

    @property
    def _kind(self) -> ExportKind:
        return EXPORT_KINDS[self._kinds.currentItem().data(KIND)]

    def _begin(self, running: bool) -> None:
        self._is_running = running
        self._progress.setVisible(running)
        for part in (self._kinds, self._options, self._export):
            part.setEnabled(not running)

    def _follow_kind(self) -> None:
        kind = self._kind
        self._meaning.setText(tr(kind.help))
        self._form.clear()
        for ending in kind.formats:
            self._form.addItem(ending.upper(), ending)
        self._form.setEnabled(len(kind.formats) > 1)
        self._show_rows(self._layers.values(), LookOption.LAYERS in kind.reads)
        self._show_rows((self._colours,), LookOption.COLOURS in kind.reads)
        self._show_rows((self._template,), LookOption.TEMPLATE in kind.reads)
        self._show_rows((self._marked,), LookOption.MARK in kind.reads)

    def _show_rows(self, fields: Iterable[QWidget], shown: bool) -> None:
        for field in fields:
            self._rows.setRowVisible(field, shown)

    def _lay_out(self) -> None:
        self._options = QWidget()
        self._rows = QFormLayout(self._options, verticalSpacing=em(0.5), horizontalSpacing=em(0.8))
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.addRow(self._meaning)
        fields = {
            tr("Format"): self._form,
            tr("Template"): self._template,
            tr("Colours"): self._colours,
        }
        for name, field in fields.items():
            field.setAccessibleName(name)
            self._rows.addRow(name, field)
        for place, box in enumerate(self._layers.values()):
            self._rows.addRow("" if place else tr("Layers"), box)
        self._rows.addRow(self._marked)
        buttons = self.buttons(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self._export, QDialogButtonBox.ButtonRole.ActionRole)
        column(
            grow(row(self._kinds, grow(self._options), gap=1.2)),
            self._progress,
            row(self._progress_text, buttons),
            within=self,
            gap=0.6,
            edges=(1, 1, 1, 0.8),
        )
        self._begin(False)


def _kind_list() -> QListWidget:
    kinds = QListWidget()
    kinds.setAccessibleName(tr("Export format"))
    kinds.setFixedWidth(em(LIST_EM))
    kinds.ensurePolished()  # otherwise row heights are computed before styling
    for kind in EXPORT_KINDS:
        item = QListWidgetItem(tr(kind.label))
        item.setData(KIND, kind.id)
        kinds.addItem(item)
    return kinds
