"""Makes the actions of all commands: what is bound can be done, by menu, key, button or palette."""

from collections.abc import Callable, Iterable, Sequence

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
from spatialstudio.ui.widgets.text_label import plain_tip
from spatialstudio.ui.widgets.texts import tr

NATIVE = QKeySequence.SequenceFormat.NativeText


class Actions(QObject):
    """One ``QAction`` for each command, with the user's keys and an icon in the theme's ink.

    A command that nobody has bound is switched off, and an icon is drawn when it is first needed:
    the window opens sooner. Emits ``keys_changed`` when the user takes other keys, ``dressed`` when
    the icons have another ink.

    Args:
        theme: Tints the icons.
        settings: Where the user's own keys are kept.
        commands: All of the window, in the order of menus and palette.
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
        """Say what a command does; what it did before is forgotten."""
        self._connect(command, lambda _checked: do())

    def bind_switch(self, command: Command, switch: Callable[[bool], object]) -> None:
        """Say what a switch does; called with its new state, by the user's hand only."""
        self._connect(command, lambda on: switch(on))  # else Qt may pass no state

    def use_stage_keys(self, widget: QWidget, *, without: tuple[Command, ...] = ()) -> None:
        """Let the keys of the stage work in a widget and all within it."""
        for command, action in self._actions.items():
            if command.scope is Scope.STAGE and command not in without:
                widget.addAction(action)

    def of_scope(self, scope: Scope) -> tuple[QAction, ...]:
        """Return the actions whose keys work in one place."""
        return tuple(action for command, action in self._actions.items() if command.scope is scope)

    def of_menu(self, menu: Menu) -> tuple[tuple[Command, QAction], ...]:
        """Return a menu's actions in order; see ``draw_icons``."""
        return tuple(pair for pair in self._actions.items() if pair[0].menu is menu)

    def draw_icons(self, menu: Menu) -> None:
        """Give a menu its icons, as it is about to be seen."""
        for command, _action in self.of_menu(menu):
            self._draw_icon(command)

    def keys_in_words(self, command: Command) -> str:
        """Return the keys as they stand on the user's keyboard; empty for none."""
        return self._actions[command].shortcut().toString(NATIVE)

    def clash(self, command: Command, keys: QKeySequence) -> Command | None:
        """Return another command that these keys, or their beginning, belong to already."""
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
        """Give a command other keys, now and at the next start; empty ones take them away."""
        portable = keys.toString(QKeySequence.SequenceFormat.PortableText)
        self._settings.keep_keys(command.id, None if portable == command.keys else portable)
        self._take_keys()

    def use_usual_keys(self) -> None:
        """Give every command the keys it came with."""
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
    """Whether the keys of two commands can be heard in the same place."""
    return one.scope is other.scope or Scope.GALLERY not in (one.scope, other.scope)


class ScopedKeys(QObject):
    """Carries actions out by their keys, whatever else those keys do in the window.

    Args:
        actions: Whose keys are heard.
        widget: Where.
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
    """Keeps the keys of other places out of a widget in the menu bar.

    Qt holds what stands in a menu to be meant wherever the menu bar reaches: Space on a button
    would play, and a digit that means two things would do nothing.

    Args:
        others: Actions of other places.
        own: Actions of the whole window, some with the same keys.
        widget: Where the others' keys are not heard.
    """

    def __init__(self, others: Sequence[QAction], own: Sequence[QAction], widget: QWidget) -> None:
        super().__init__(widget)
        self._others, self._own = tuple(others), tuple(own)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim the others' keys; the window's action goes first, then the widget."""
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
    """Return the action whose shortcut was pressed; None for none."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    pressed = QKeySequence(QKeyCombination(modifiers, Qt.Key(event.key())))
    return next((each for each in actions if each.shortcut() == pressed), None)


KEY_EVENTS = (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress)
"""Qt asks before it looks for a shortcut, then presses the key."""
