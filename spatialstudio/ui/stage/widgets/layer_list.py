"""The list of the picture's layers, one row each."""

from functools import partial

from PySide6.QtCore import QEvent, QObject, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QIcon, QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import column, grow, row, space, tool_button
from spatialstudio.ui.widgets.fields import Slider
from spatialstudio.ui.widgets.painting import painting
from spatialstudio.ui.widgets.picture_layers import (
    PLAIN_LOOK,
    Layer,
    LayerLook,
)
from spatialstudio.ui.widgets.roving_focus import DOWN_THE_ROWS, KEY_EVENTS, RovingFocus
from spatialstudio.ui.widgets.texts import PlainLabel, plain_tip, tr

FULL = 100
OWN_HUES = 3
"""Number of dots in the icon for a hue per word."""
HUES = ("Orange", "Violet", "Green", "Pink", "Blue", "Olive", "Brown", "Slate")
HUELESS = frozenset({Layer.PICTURE, Layer.DEPTH})
SWATCH_SIDE = 48
LEAST_OPACITY_EM, OPACITY_EM = 1.7, 2.6
OPACITY_STEP = 10
GAP_EM = 0.1
KEYS = "Up/Down: select. Left/Right: opacity. Space: show or hide. S: solo. H: colour."


class LayerRow(QWidget):
    """Lets the user toggle a layer, solo it, and choose its opacity and hue.

    Only its eye takes keyboard focus: Space toggles, left and right change the opacity, S solos the
    layer, H opens its hues.

    Emits ``shown_picked``, ``look_picked`` with a ``LayerLook`` and ``solo_picked``, on user action
    only.

    Args:
        theme: Colours and icons.
        layer: The layer.
        key: Shortcut of the eye.

    Attributes:
        eye: The toggle button, which takes keyboard focus.
    """

    shown_picked = Signal(bool)
    look_picked = Signal(object)
    solo_picked = Signal(bool)

    def __init__(self, theme: Theme, layer: Layer, key: str) -> None:
        super().__init__()
        self._theme = theme
        self._name = tr(layer.value)
        self._look = PLAIN_LOOK
        self.eye = self._eye_button()
        self._opacity = self._opacity_slider()
        self._hue = self._hue_button(layer)
        self._has_hue = layer not in HUELESS
        self._solo = self._solo_button()
        for part in (self._opacity, self._hue, self._solo):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._keys = {
            Qt.Key.Key_Left: lambda: self._change_opacity(-OPACITY_STEP),
            Qt.Key.Key_Right: lambda: self._change_opacity(OPACITY_STEP),
            Qt.Key.Key_S: lambda: self._solo.click(),
            Qt.Key.Key_H: lambda: self._open_hues(),
        }
        self.eye.installEventFilter(self)
        self._keys_label = PlainLabel(key)
        self._keys_label.setProperty("tone", "muted")
        parts = (grow(self.eye, 100), grow(self._opacity), self._hue, self._solo, self._keys_label)
        row(*parts, within=self, gap=GAP_EM)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def is_shown(self) -> bool:
        """Whether the layer is enabled."""
        return self.eye.isChecked()

    def show_shown(self, shown: bool) -> None:
        """Show whether the layer is enabled."""
        with QSignalBlocker(self.eye):
            self.eye.setChecked(shown)
        self._dress()

    def show_look(self, look: LayerLook) -> None:
        """Show the layer's look."""
        self._look = look
        with QSignalBlocker(self._opacity):
            self._opacity.setValue(round(look.opacity * FULL))
        for action in self._hue.menu().actions():
            if action.isCheckable():
                action.setChecked(action.data() == look.hue)
        self._dress()

    def show_solo(self, solo: bool) -> None:
        """Show whether the layer is soloed."""
        with QSignalBlocker(self._solo):
            self._solo.setChecked(solo)

    def show_all(self, shown: bool) -> None:
        """Show opacity, hue and solo controls, or the eye only."""
        self._opacity.setVisible(shown)
        self._hue.setVisible(shown and self._has_hue)
        self._solo.setVisible(shown)

    @property
    def breadth(self) -> int:
        """Minimum width with all controls, in pixels."""
        return self._breadth_of(self._opacity, self._hue, self._solo)

    def minimumSizeHint(self) -> QSize:
        """Return the size of the eye and its key; the other controls have shortcuts."""
        return QSize(self._breadth_of(), super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() not in KEY_EVENTS or event.modifiers():
            return super().eventFilter(watched, event)
        do = self._keys.get(Qt.Key(event.key()))
        if do is None:
            return super().eventFilter(watched, event)
        event.accept()
        if event.type() is QEvent.Type.KeyPress:
            do()
        return True

    def _breadth_of(self, *parts: QWidget) -> int:
        shown = (self.eye, self._keys_label, *parts)
        widths = (max(part.minimumSizeHint().width(), part.minimumWidth()) for part in shown)
        return sum(widths) + em(GAP_EM) * (len(shown) - 1)

    def _change_opacity(self, percent: int) -> None:
        self._opacity.setValue(self._opacity.value() + percent)

    def _open_hues(self) -> None:
        if self._hue.isVisible():
            self._hue.showMenu()

    def _eye_button(self) -> QPushButton:
        button = QPushButton(self._name)
        button.setProperty("kind", "layer")
        button.setCheckable(True)
        button.setChecked(True)
        button.setIconSize(QSize(em(), em()))
        button.setAccessibleName(tr("Show {layer}").format(layer=self._name.lower()))
        button.setAccessibleDescription(tr(KEYS))
        button.setToolTip(tr(KEYS))
        button.toggled.connect(self._dress)
        button.toggled.connect(self.shown_picked)
        return button

    def _opacity_slider(self) -> Slider:
        slider = Slider(
            accessibleName=tr("{layer} opacity").format(layer=self._name.lower()),
            maximum=FULL,
            value=FULL,
            minimumWidth=em(LEAST_OPACITY_EM),
            maximumWidth=em(OPACITY_EM),
        )
        slider.valueChanged.connect(self._pick_opacity)
        return slider

    def _hue_button(self, layer: Layer) -> QToolButton:
        name = tr("{layer} colour").format(layer=self._name.lower())
        button = tool_button(name=name, tip=name, icon_em=1)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        group = QActionGroup(menu)
        for hue, title in ((None, "Per word"), *enumerate(HUES)):
            action = QAction(tr(title), group, checkable=True, checked=hue is None)
            action.setData(hue)
            menu.addAction(action)
        group.triggered.connect(self._pick_hue)
        menu.aboutToShow.connect(self._dress_hues)
        button.setMenu(menu)
        keeps_room = button.sizePolicy()
        keeps_room.setRetainSizeWhenHidden(True)
        button.setSizePolicy(keeps_room)
        button.setHidden(layer in HUELESS)
        return button

    def _solo_button(self) -> QToolButton:
        name = tr("Show only {layer}").format(layer=self._name.lower())
        button = tool_button(name=name, tip=name, icon_em=1)
        button.setCheckable(True)
        button.toggled.connect(self.solo_picked)
        return button

    def _pick_opacity(self, percent: int) -> None:
        self._pick(LayerLook(opacity=percent / FULL, hue=self._look.hue))

    def _pick_hue(self, action: QAction) -> None:
        self._pick(LayerLook(opacity=self._look.opacity, hue=action.data()))

    def _pick(self, look: LayerLook) -> None:
        self._look = look
        self._dress()
        self.look_picked.emit(look)

    def _dress(self) -> None:
        shown = self.eye.isChecked()
        self.eye.setIcon(self._theme.icon("eye" if shown else "eye_off", _ink(shown)))
        self._solo.setIcon(self._theme.icon("solo", "muted"))
        self._hue.setIcon(self._swatch_of(self._look.hue))
        percent = f"{self._look.opacity:.0%}"
        self._opacity.setToolTip(plain_tip(tr("Opacity {percent}").format(percent=percent)))

    def _dress_hues(self) -> None:
        for action in self._hue.menu().actions():
            action.setIcon(self._swatch_of(action.data()))

    def _swatch_of(self, hue: int | None) -> QIcon:
        """Return a dot in a hue; several small dots stand for a hue per word."""
        pixmap = QPixmap(SWATCH_SIDE, SWATCH_SIDE)
        pixmap.fill(Qt.GlobalColor.transparent)
        side = SWATCH_SIDE / OWN_HUES
        edge = side / 2
        if hue is None:
            dots = {
                place: QRectF(place * side, side, side, side).adjusted(1, 1, -1, -1)
                for place in range(OWN_HUES)
            }
        else:
            dots = {hue: QRectF(pixmap.rect()).adjusted(edge, edge, -edge, -edge)}
        with painting(pixmap) as painter:
            painter.setPen(Qt.PenStyle.NoPen)
            for ink, dot in dots.items():
                painter.setBrush(self._theme.mention(ink))
                painter.drawEllipse(dot)
        return QIcon(pixmap)


def _ink(shown: bool) -> str:
    return "text" if shown else "faint"


class LayerList(QWidget):
    """Lets the user toggle layers, set their looks, and choose smooth scaling.

    All rows share one tab stop; up and down move between rows.

    Emits ``layers_picked`` with the frozen set of enabled layers, ``look_picked`` with a layer and
    its ``LayerLook``, ``solo_picked`` with the layer to solo, None for all, and
    ``smoothing_picked``, on user action only.
    """

    layers_picked = Signal(object)
    look_picked = Signal(object, object)
    solo_picked = Signal(object)
    smoothing_picked = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._rows: dict[Layer, LayerRow] = {}
        self._shows_all = True
        for place, layer in enumerate(Layer, 1):
            layer_row = self._rows[layer] = LayerRow(theme, layer, str(place))
            layer_row.shown_picked.connect(self._tell)
            layer_row.look_picked.connect(partial(self.look_picked.emit, layer))
            layer_row.solo_picked.connect(partial(self._pick_solo, layer))
        RovingFocus(self, DOWN_THE_ROWS).lead(*([row.eye] for row in self._rows.values()))
        self._smooth = QCheckBox(tr("Smooth scaling"))
        self._smooth.setChecked(True)
        self._smooth.toggled.connect(self.smoothing_picked)
        column(*self._rows.values(), space(0.3), self._smooth, within=self, gap=0.1)

    @property
    def layers(self) -> frozenset[Layer]:
        """The enabled layers."""
        return frozenset(layer for layer, row in self._rows.items() if row.is_shown)

    def row(self, layer: Layer) -> LayerRow:
        """Return the row of a layer."""
        return self._rows[layer]

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Show which layers are enabled."""
        for layer, layer_row in self._rows.items():
            layer_row.show_shown(layer in layers)

    def show_all(self, shown: bool) -> None:
        """Show all controls of the layers where there is room, or only their eyes."""
        self._shows_all = shown
        self._smooth.setVisible(shown)
        self._give_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._give_room()

    def show_solo(self, alone: Layer | None) -> None:
        """Show which layer is soloed; None for none."""
        for layer, layer_row in self._rows.items():
            layer_row.show_solo(layer is alone)

    def show_smooth(self, smooth: bool) -> None:
        """Show whether pictures are scaled smoothly."""
        with QSignalBlocker(self._smooth):
            self._smooth.setChecked(smooth)

    def _give_room(self) -> None:
        fits = self.width() >= max(row.breadth for row in self._rows.values())
        for layer_row in self._rows.values():
            layer_row.show_all(self._shows_all and fits)

    def _tell(self) -> None:
        self.layers_picked.emit(self.layers)

    def _pick_solo(self, layer: Layer, solo: bool) -> None:
        self.show_solo(layer if solo else None)
        self.solo_picked.emit(layer if solo else None)
