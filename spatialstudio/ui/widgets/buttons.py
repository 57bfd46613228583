"""Buttons built in one expression: text, style, tooltip, accessible name and slot."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QSize, Qt, QUrl, SignalInstance
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QPushButton, QToolButton

from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.texts import plain_tip

Slot = Callable[..., object] | SignalInstance


def push_button(
    text: str, do: Slot | None = None, *, kind: str = "", name: str = "", tip: str = ""
) -> QPushButton:
    """Return a button with a text.

    Args:
        text: Its label.
        do: Called when it is clicked.
        kind: Its style in the style sheet.
        name: Accessible name, where the text is not enough.
        tip: Tooltip.
    """
    button = QPushButton(text)
    _set_up(button, do, kind, name, tip)
    return button


def tool_button(
    text: str = "",
    do: Slot | None = None,
    *,
    kind: str = "",
    name: str = "",
    tip: str = "",
    icon_em: float | None = None,
) -> QToolButton:
    """Return a flat button; its text, if any, is next to its icon.

    Args:
        text: Its label.
        do: Called when it is clicked.
        kind: Its style in the style sheet.
        name: Accessible name, where the text is not enough.
        tip: Tooltip.
        icon_em: Side of its icon; None for the style's.
    """
    button = QToolButton()
    button.setText(text)
    if text and icon_em is not None:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    if icon_em is not None:
        button.setIconSize(QSize(em(icon_em), em(icon_em)))
    _set_up(button, do, kind, name, tip)
    return button


def action_button(action: QAction, text: str = "", kind: str = "") -> QPushButton:
    """Return a button for an action, enabled as it is; ``text`` may be shorter than its name."""
    name = action.text().rstrip("…")
    button = push_button(
        text or action.text(), action.trigger, kind=kind, name=name, tip=action.toolTip()
    )
    button.setEnabled(action.isEnabled())
    action.enabledChanged.connect(button.setEnabled)
    return button


def _set_up(button: QAbstractButton, do: Slot | None, kind: str, name: str, tip: str) -> None:
    if do is not None:
        button.clicked.connect(do)
    if kind:
        button.setProperty("kind", kind)
    button.setAccessibleName(name)
    button.setToolTip(plain_tip(tip))


class ThemedIcon(QObject):
    """Keeps the icon of a button in a colour of the theme; deleted along with the button.

    Args:
        button: Gets the icon.
        theme: Colours and icons.
        name: File name of the icon, without its suffix.
        role: The colour.
    """

    def __init__(
        self, button: QAbstractButton, theme: Theme, name: str, role: str = "text"
    ) -> None:
        super().__init__(button)
        self._button = button
        self._theme = theme
        self._icon = (name, role)
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self._button.setIcon(self._theme.icon(*self._icon))


class LinkButton(QPushButton):
    """Opens a web page with the desktop; only https addresses can be opened."""

    def __init__(self) -> None:
        super().__init__()
        self._address = ""
        self.setProperty("kind", "link")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self._open)

    def show_link(self, text: str, address: str) -> None:
        """Show a text; it can be clicked if the address is one of https. Hidden while empty."""
        self._address = address
        self.setText(text.replace("&", "&&"))
        self.setAccessibleName(text)
        self.setAccessibleDescription(address)
        self.setToolTip(plain_tip(address))
        self.setEnabled(is_page(address))
        self.setVisible(bool(text))

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl(self._address))


def is_page(address: str) -> bool:
    """Return True for a valid https address that names a host."""
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    return url.isValid() and url.scheme() == "https" and bool(url.host())
