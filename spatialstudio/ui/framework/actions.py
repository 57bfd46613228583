"""Builds a ``QAction`` per command and manages shortcuts and their scopes."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from spatialstudio.ui.framework.command import (
    Command,
    Menu,
    Scope,
)
from spatialstudio.ui.framework.window_settings import WindowSettings
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.texts import plain_tip, tr

OVERRIDING = frozenset({Scope.GALLERY, Scope.AUDIT})
"""Scopes whose shortcuts override the window's."""
NATIVE = QKeySequence.SequenceFormat.NativeText


class Actions(QObject):
    """One ``QAction`` per command, with the user's shortcut and a tinted icon.

    An unbound command is disabled, and an icon is drawn on first use, so the window opens sooner.
    Emits ``keys_changed`` when a shortcut changes and ``dressed`` when the icons are recoloured.

    Args:
        theme: Tints the icons.
        settings: Stores custom shortcuts.
        commands: All commands of the window, in the order of menus and palette.
    """

    keys_changed = Signal()
    dressed = Signal()

    def __init__(self, theme: Theme, settings: WindowSettings, commands: Iterable[Command]) -> None:
        super().__init__()
        self._theme = theme
        self._settings = settings
        self._bound: set[Command] = set()
        self._drawn: set[Command] = set()
        self._actions = {command: self._made(command) for command in commands}
        theme.changed.connect(self._dress)
        self._take_keys()

    def __getitem__(self, command: Command) -> QAction:
        self._draw_icon(command)
        return self._actions[command]

    def bind(self, command: Command, do: Callable[[], object]) -> None:
        """Set the callback of a command, replacing the previous one."""
        self._connect(command, lambda _checked: do())

    def bind_all(self, table: Mapping[Command, Callable[[], object]]) -> None:
        """Set the callbacks of several commands."""
        for command, do in table.items():
            self.bind(command, do)

    def bind_switch(self, command: Command, switch: Callable[[bool], object]) -> None:
        """Set the callback of a switch; it receives the new state, on user action only."""
        self._connect(command, lambda on: switch(on))  # else Qt may pass no state

    def use_stage_keys(self, widget: QWidget, *, without: tuple[Command, ...] = ()) -> None:
        """Enable the stage's shortcuts in a widget and its children."""
        for command, action in self._actions.items():
            if command.scope is Scope.STAGE and command not in without:
                widget.addAction(action)

    def of_scope(self, scope: Scope) -> tuple[QAction, ...]:
        """Return the actions with the given shortcut scope."""
        return tuple(action for command, action in self._actions.items() if command.scope is scope)

    def of_menu(self, menu: Menu) -> tuple[tuple[Command, QAction], ...]:
        """Return the commands and actions of a menu in order; see ``draw_icons``."""
        return tuple(pair for pair in self._actions.items() if pair[0].menu is menu)

    def draw_icons(self, menu: Menu) -> None:
        """Draw a menu's icons just before it opens."""
        for command, _action in self.of_menu(menu):
            self._draw_icon(command)

    def keys_in_words(self, command: Command) -> str:
        """Return the shortcut as displayed to the user; empty for none."""
        return self._actions[command].shortcut().toString(NATIVE)

    def clash(self, command: Command, keys: QKeySequence) -> Command | None:
        """Return another command whose shortcut equals these keys or shares a prefix with them."""
        if keys.isEmpty():
            return None
        for other, action in self._actions.items():
            taken = action.shortcut()
            if other == command or taken.isEmpty() or not may_meet(command, other):
                continue
            none = QKeySequence.SequenceMatch.NoMatch
            if keys.matches(taken) is not none or taken.matches(keys) is not none:
                return other
        return None

    def use_keys(self, command: Command, keys: QKeySequence) -> None:
        """Set and store a command's shortcut; an empty string removes it."""
        portable = keys.toString(QKeySequence.SequenceFormat.PortableText)
        self._settings.keep_keys(command.id, None if portable == command.keys else portable)
        self._take_keys()

    def use_usual_keys(self) -> None:
        """Reset all shortcuts to their defaults."""
        for command in self._actions:
            self._settings.keep_keys(command.id, None)
        self._take_keys()

    def _connect(self, command: Command, slot: Callable[[bool], object]) -> None:
        action = self._actions[command]
        if command in self._bound:
            action.triggered.disconnect()
        self._bound.add(command)
        action.triggered.connect(slot)
        action.setEnabled(True)

    def _made(self, command: Command) -> QAction:
        action = QAction(tr(command.text), self)
        action.setCheckable(command.is_switch)
        action.setEnabled(False)
        if command.scope is not Scope.WINDOW:
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        return action

    def _take_keys(self) -> None:
        for command, action in self._actions.items():
            chosen = self._settings.keys_of(command.id)
            action.setShortcut(QKeySequence(command.keys if chosen is None else chosen))
            tip = tr(command.tip) or tr(command.text).rstrip("…")
            keys = self.keys_in_words(command)
            action.setToolTip(plain_tip(f"{tip} ({keys})" if keys else tip))
        self.keys_changed.emit()

    def _draw_icon(self, command: Command) -> None:
        if command.icon and command not in self._drawn:
            self._drawn.add(command)
            self._actions[command].setIcon(self._theme.icon(command.icon))

    def _dress(self) -> None:
        drawn, self._drawn = self._drawn, set()
        for command in drawn:
            self._draw_icon(command)
        self.dressed.emit()


def may_meet(one: Command, other: Command) -> bool:
    """Return True if the shortcuts of two commands can be active in the same place."""
    return one.scope is other.scope or not OVERRIDING & {one.scope, other.scope}


class ScopedKeys(QObject):
    """Triggers scoped actions by key, ahead of other uses of the same keys in the window.

    Args:
        actions: Actions to trigger.
        widget: Where their shortcuts are active.
    """

    def __init__(self, actions: Sequence[QAction], widget: QWidget) -> None:
        super().__init__(widget)
        self._actions = tuple(actions)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() not in KEY_EVENTS:
            return super().eventFilter(watched, event)
        action = action_of(event, self._actions)
        if action is None:
            return super().eventFilter(watched, event)
        event.accept()
        if event.type() is QEvent.Type.KeyPress:
            action.trigger()
        return True


class KeysOfOthers(QObject):
    """Blocks other scopes' shortcuts in a widget inside the menu bar.

    Qt activates the shortcuts of an action in a menu wherever the menu bar is reachable: Space on a
    button would start playback, and an ambiguous digit would do nothing.

    Args:
        others: Actions of other scopes.
        own: Actions of the whole window, some with the same keys.
        widget: Where the other scopes' shortcuts are blocked.
    """

    def __init__(self, others: Sequence[QAction], own: Sequence[QAction], widget: QWidget) -> None:
        super().__init__(widget)
        self._others, self._own = tuple(others), tuple(own)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Consume the other scopes' keys; window actions take precedence, then the widget."""
        if not isinstance(event, QKeyEvent) or action_of(event, self._others) is None:
            return super().eventFilter(watched, event)
        if event.type() is QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        own = action_of(event, self._own)
        if event.type() is not QEvent.Type.KeyPress or own is None:
            return super().eventFilter(watched, event)
        own.trigger()
        return True


def action_of(event: QKeyEvent, actions: Sequence[QAction]) -> QAction | None:
    """Return the action whose shortcut matches the key event, or None."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = QKeySequence(QKeyCombination(modifiers, Qt.Key(event.key())))
    return next((each for each in actions if each.shortcut() == pressed), None)


KEY_EVENTS = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
"""Qt sends ShortcutOverride before it looks for a shortcut, then KeyPress."""
