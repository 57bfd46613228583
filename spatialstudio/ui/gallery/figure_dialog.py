"""The figure composer: runs, words, steps and appearance of a figure, with a live preview."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QCheckBox,
    QDialogButtonBox,
    QFormLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from spatialstudio.application.gallery.figures import FigurePreview
from spatialstudio.domain.attention import MapScale, Moment
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.figure_template import (
    DEFAULT_TEMPLATE,
    LEAST_DPI,
    LEAST_TYPE,
    LEAST_WIDTH,
    MOST_DPI,
    MOST_TYPE,
    MOST_WIDTH,
    TEMPLATES,
    TITLES,
    FigureTemplate,
)
from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column, flow, grow, push_button, row
from spatialstudio.ui.widgets.fields import ComboBox, DecimalBox, EditLine, NumberBox
from spatialstudio.ui.widgets.texts import TextLabel, Tone, plain_tip, tr

SIZE_EM = (72, 46)
FORM_EM, CAPTION_LINES, MOST_VIEW_EM = 27, 5, 38
ROWS_SHOWN = 5
"""Rows of a list before it scrolls."""
PAUSE_MS = 150
"""Time without changes before the preview is drawn."""
VALUE = Qt.ItemDataRole.UserRole
LOST_ALL = "Not all runs have the chosen layers: the usual maps are shown."
LOST_SOME = "Chosen layers that not all runs have are left out."


LINE_BREAK = "\u200b"
"""Zero-width space, at which a name without spaces is wrapped."""


class CheckList(QListWidget):
    """A list of choices with check boxes. Emits ``edited`` when the user changes it.

    Args:
        name: For screen readers.
        can_move: Whether rows can be dragged to another position.
    """

    edited = Signal()

    def __init__(self, name: str, *, can_move: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWordWrap(True)  # names of layers differ at both ends and in the middle
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if can_move:
            self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.itemChanged.connect(lambda _item: self.edited.emit())
        self.model().rowsMoved.connect(lambda *_: self.edited.emit())

    @property
    def checked(self) -> tuple[str, ...]:
        """Values of the checked rows, from top to bottom."""
        items = [self.item(place) for place in range(self.count())]
        chosen = (item for item in items if item.checkState() is Qt.CheckState.Checked)
        return tuple(item.data(VALUE) for item in chosen)

    def show_choices(self, names: Mapping[str, str], checked: Sequence[str]) -> None:
        """Show rows.

        Args:
            names: Texts by value, in order.
            checked: Checked values.
        """
        with QSignalBlocker(self):
            self.clear()
            for value, name in names.items():
                item = QListWidgetItem(name.replace(".", f".{LINE_BREAK}"))
                item.setData(Qt.ItemDataRole.AccessibleTextRole, name)
                item.setData(VALUE, value)
                item.setToolTip(plain_tip(name))
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                is_on = value in checked
                item.setCheckState(Qt.CheckState.Checked if is_on else Qt.CheckState.Unchecked)
                self.addItem(item)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of all rows, at most that of ``ROWS_SHOWN`` rows of one line."""
        line = max(self.sizeHintForRow(0), em(1.6))
        rows = sum(self.visualItemRect(self.item(place)).height() for place in range(self.count()))
        height = min(max(rows, min(max(self.count(), 1), ROWS_SHOWN) * line), ROWS_SHOWN * line)
        return QSize(em(12), height + 2 * self.frameWidth() + em(0.4))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()  # rows wrap at another width


class FigureView(QWidget):
    """Shows a figure in the width of the room; a scroll area contains it."""

    def __init__(self) -> None:
        super().__init__()
        self._image = QImage()
        self.setAccessibleName(tr("Preview of the figure"))
        self.setMinimumWidth(em(14))

    @property
    def is_empty(self) -> bool:
        """Whether no figure is shown."""
        return self._image.isNull()

    def show_figure(self, content: bytes, description: str) -> None:
        """Show a PNG file; no content clears the view."""
        self._image = QImage.fromData(content) if content else QImage()
        self.setAccessibleDescription(description)
        self._fit()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the figure, centred at the top."""
        if self._image.isNull():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        size = self._shown_size()
        left = (self.width() - size.width()) / 2
        painter.drawImage(QRectF(left, 0, size.width(), size.height()), self._image)

    def _shown_size(self) -> QSize:
        width = min(self.width(), em(MOST_VIEW_EM), self._image.width())
        return QSize(width, round(width * self._image.height() / max(self._image.width(), 1)))

    def _fit(self) -> None:
        self.setMinimumHeight(self._shown_size().height())


class FigureDialog(TitledDialog):
    """Lets the user compose a figure; the caller draws the preview.

    Emits ``edited`` shortly after a change, ``template_picked`` with a name, and the requests of
    its buttons: ``open_asked``, ``save_asked``, ``latex_asked``, ``caption_asked``,
    ``export_asked``.

    Args:
        runs: Labels of the runs on offer by path.
        checked: Paths of the runs that are shown first.
        fonts: Fonts of this machine.
        parent: The window.
    """

    edited = Signal()
    template_picked = Signal(str)
    open_asked = Signal()
    save_asked = Signal()
    latex_asked = Signal()
    caption_asked = Signal()
    export_asked = Signal()

    def __init__(
        self,
        runs: Mapping[str, str],
        checked: Sequence[str],
        fonts: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Compose a figure"), parent)
        self._template_words: tuple[str, ...] = ()
        self._template_layers: tuple[str, ...] = ()
        self._lost_layers = ""
        self._make_fields(fonts)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.edited)
        self.edited.connect(lambda: self.show_notice(""))
        self._view = FigureView()
        self._problem = TextLabel(tone=Tone.MUTED)
        self._left_out = TextLabel(tone=Tone.WARNING)
        self._notice = TextLabel(tone=Tone.MUTED)
        self._caption = QPlainTextEdit(readOnly=True)
        self._caption.setAccessibleName(tr("Caption"))
        edge = 2 * (self._caption.document().documentMargin() + self._caption.frameWidth())
        lines = CAPTION_LINES * self._caption.fontMetrics().lineSpacing()
        self._caption.setFixedHeight(round(lines + edge))
        self._export = push_button(tr("Save figure…"), self.export_asked, kind="primary")
        self._export.setDefault(True)
        self._lay_out()
        self._connect()
        self.runs.show_choices(runs, checked)
        self.show_template(FigureTemplate())
        give_room(self, SIZE_EM)

    @property
    def chosen_runs(self) -> tuple[Path, ...]:
        """Pictures of the checked runs, from top to bottom."""
        return tuple(map(Path, self.runs.checked))

    @property
    def caption(self) -> str:
        """Caption of the last preview."""
        return self._caption.toPlainText()

    @property
    def width_inches(self) -> float:
        """Width of the figure, inches."""
        return round(self._width.value(), 3)

    @property
    def template(self) -> FigureTemplate:
        """The current choice.

        Raises:
            SettingsError: The steps are not numbers, or too many.
        """
        return FigureTemplate(
            words=self._words.checked,
            steps=steps_of(self._steps.text()),
            layers=self._layers.checked,
            scale=self._scale.currentData(),
            moment=self._moment.currentData(),
            has_curves=self._curves.isChecked(),
            has_footer=self._footer.isChecked(),
            width=self.width_inches,
            font=self._font.currentText(),
            type_size=round(self._type_size.value(), 1),
            dpi=self._dpi.value(),
        )

    def show_names(self, names: Sequence[str], current: str = DEFAULT_TEMPLATE) -> None:
        """Offer templates by name; the current one is selected without being applied."""
        with QSignalBlocker(self._template):
            self._template.clear()
            for name in names:
                built_in = TEMPLATES.get(name)
                shown = f"{tr(TITLES[name])} ({built_in.width:g} in)" if built_in else name
                self._template.addItem(shown, name)
            self._template.setCurrentIndex(self._template.findData(current))

    def show_template(self, template: FigureTemplate) -> None:
        """Show the values of a template."""
        self._template_words, self._template_layers = template.words, template.layers
        self._lost_layers = ""
        for field in self._fields.values():
            field.blockSignals(True)
        for items, chosen in ((self._words, template.words), (self._layers, template.layers)):
            offered = (items.item(place).data(VALUE) for place in range(items.count()))
            items.show_choices({name: name for name in (*offered, *chosen)}, chosen)
        self._steps.setText(", ".join(map(str, template.steps)))
        self._scale.setCurrentIndex(self._scale.findData(template.scale))
        self._moment.setCurrentIndex(self._moment.findData(template.moment))
        self._curves.setChecked(template.has_curves)
        self._footer.setChecked(template.has_footer)
        self._width.setValue(template.width)
        if self._font.findText(template.font) < 0:
            self._font.addItem(template.font)
        self._font.setCurrentText(template.font)
        self._type_size.setValue(template.type_size)
        self._dpi.setValue(template.dpi)
        for field in self._fields.values():
            field.blockSignals(False)
        self._pause.start()

    def show_preview(self, preview: FigurePreview) -> None:
        """Show a preview, and offer the words and layers of its runs."""
        words, layers = self._words.checked, self._layers.checked
        offered = dict.fromkeys((*preview.words, *words, *self._template_words))
        self._words.show_choices({w: w for w in offered}, words or self._template_words)
        self._layers.show_choices(
            {name: name for name in preview.layers}, layers or self._template_layers
        )
        self._template_words = self._template_layers = ()
        if set(layers) - set(preview.layers):
            self._lost_layers = tr(LOST_SOME if self._layers.checked else LOST_ALL)
            self._pause.start()  # draw without them
        self._form.setRowVisible(self._layers, bool(preview.layers))
        recorded = ", ".join(map(str, preview.steps))
        self._steps.setToolTip(plain_tip(tr("Recorded: {steps}").format(steps=recorded)))
        self._view.show_figure(preview.content, preview.caption)
        self._caption.setPlainText(preview.caption)
        self.show_problem(preview.problem)
        self._show_left_out([text for text in (*preview.notes, self._lost_layers) if text])

    def show_problem(self, text: str) -> None:
        """Show why the figure cannot be drawn; an empty text clears it."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))
        self._export.setEnabled(not text and not self._view.is_empty)

    def _show_left_out(self, notes: Sequence[str]) -> None:
        self._left_out.setText(" ".join(notes))
        self._left_out.setVisible(bool(notes))

    def _forget_lost_layers(self) -> None:
        self._lost_layers = ""

    def show_notice(self, text: str) -> None:
        """Show what a button did; the next change clears it."""
        self._notice.setText(text)
        self._notice.setVisible(bool(text))

    def _make_fields(self, fonts: Sequence[str]) -> None:
        self._template, self._font = ComboBox(), ComboBox()
        self._scale, self._moment = ComboBox(), ComboBox()
        self._font.addItems(list(fonts))
        for scale in MapScale:
            self._scale.addItem(tr(scale.value), scale)
        for moment in Moment:
            self._moment.addItem(tr(moment.value), moment)
        self.runs = CheckList(tr("Runs"), can_move=True)
        self._words, self._layers = CheckList(tr("Words")), CheckList(tr("Layers"))
        self._steps = EditLine(placeholderText=tr("Evenly spaced"))
        self._width = DecimalBox(
            minimum=LEAST_WIDTH, maximum=MOST_WIDTH, singleStep=0.25, decimals=3, suffix=" in"
        )
        self._type_size = DecimalBox(
            minimum=LEAST_TYPE, maximum=MOST_TYPE, singleStep=0.5, decimals=1, suffix=" pt"
        )
        self._dpi = NumberBox(minimum=LEAST_DPI, maximum=MOST_DPI, singleStep=50, suffix=" dpi")
        for number in (self._width, self._type_size, self._dpi):
            number.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
        self._curves = QCheckBox(tr("PoS curves"))
        self._footer = QCheckBox(tr("Settings below the figure"))
        self._fields: dict[str, QWidget] = {
            tr("Runs"): self.runs,
            tr("Words"): self._words,
            tr("Steps"): self._steps,
            tr("Layers"): self._layers,
            tr("Colour scale"): self._scale,
            tr("Guided steps"): self._moment,
            tr("Width"): self._width,
            tr("Font"): self._font,
            tr("Type size"): self._type_size,
            tr("PNG resolution"): self._dpi,
        }

    def _connect(self) -> None:
        self._template.activated.connect(
            lambda _row: self.template_picked.emit(self._template.currentData())
        )
        for items in (self.runs, self._words, self._layers):
            items.edited.connect(self._pause.start)
        for items in (self.runs, self._layers):
            items.edited.connect(self._forget_lost_layers)
        for combo in (self._scale, self._moment, self._font):
            combo.currentIndexChanged.connect(lambda _row: self._pause.start())
        for number in (self._width, self._type_size, self._dpi):
            number.valueChanged.connect(lambda _value: self._pause.start())
        for box in (self._curves, self._footer):
            box.toggled.connect(lambda _on: self._pause.start())
        self._steps.textEdited.connect(lambda _text: self._pause.start())

    def _lay_out(self) -> None:
        inner = QWidget()
        self._form = QFormLayout(inner, verticalSpacing=em(0.45), horizontalSpacing=em(0.8))
        self._form.setContentsMargins(0, 0, em(0.6), 0)
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._template.setAccessibleName(tr("Template"))
        self._form.addRow(tr("Template"), self._template)
        for name, field in self._fields.items():
            field.setAccessibleName(name)
            self._form.addRow(name, field)
            if field is self._words:
                hint = tr("None checked: the words of the relations")
                self._form.addRow("", TextLabel(hint, Tone.MUTED, wraps=False))
        self._form.addRow(self._curves)
        self._form.addRow(self._footer)
        self._form.setRowVisible(self._layers, False)
        side = QScrollArea(widgetResizable=True)
        side.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        side.setWidget(inner)
        side.setFixedWidth(em(FORM_EM))
        room = QScrollArea(widgetResizable=True)
        room.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        room.setWidget(self._view)
        texts = self._problem, self._left_out, self._caption, self._notice
        shown = column(grow(room), *texts, gap=0.5)
        files = flow(
            push_button(tr("Open template…"), self.open_asked),
            push_button(tr("Save template…"), self.save_asked),
            push_button(tr("Copy caption"), self.caption_asked),
            push_button(tr("Copy LaTeX"), self.latex_asked),
            gap=0.4,
        )
        buttons = self.buttons()
        buttons.addButton(self._export, QDialogButtonBox.ButtonRole.ActionRole)
        column(
            grow(row(side, grow(shown), gap=1.0)),
            row(grow(files), buttons),
            within=self,
            gap=0.6,
            edges=(1, 1, 1, 0.8),
        )
        self.show_problem("")
        self._show_left_out(())
        self.show_notice("")


def steps_of(text: str) -> tuple[int, ...]:
    """Read step numbers separated by commas or spaces; no text means evenly spaced steps.

    Raises:
        SettingsError: The text has other contents.
    """
    words = re.split(r"[\s,;]+", text.strip())
    if words == [""]:
        return ()
    if not all(word.isascii() and word.isdigit() and len(word) <= len("100000") for word in words):
        raise SettingsError(
            tr("The steps of a figure are whole numbers."), hint=tr("For example: 1, 5, 10, 20")
        )
    return tuple(map(int, words))
