"""The menu bar: menus of all commands, workspaces, tools, and the search."""

from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QMainWindow,
    QMenu,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.framework.actions import Actions, KeysOfOthers
from spatialstudio.ui.framework.command import Menu, Scope
from spatialstudio.ui.framework.command_button import ICON_EM, command_button
from spatialstudio.ui.framework.workspace import Workspace
from spatialstudio.ui.widgets.builders import SPACE, row, space, tool_button
from spatialstudio.ui.widgets.texts import tr
from spatialstudio.ui.window.dock_layout import DockLayout

SWITCHES = (
    framework_commands.STAGE_ONLY,
    framework_commands.DARK,
    framework_commands.SETTINGS,
    framework_commands.SHORTCUTS,
)
"""Buttons hidden in a narrow bar; menus and search contain them as well."""
KEPT_LONGER = 2
"""How many of them stay while the others are hidden."""

HIDES_SOME, HIDES_SWITCHES, MERGES_WORKSPACES = 2, 3, 4
"""Stages of a narrow bar."""


class WindowBar(QObject):
    """Fills the menu bar of a window.

    Where it is narrow, the search loses its text, buttons are hidden, the menus merge into one, and
    at last the workspaces do.

    Args:
        window: The window with the menu bar.
        actions: Content of the menus.
        dock_layout: Its docks are listed in the View menu.
        workspaces: Each gets a button.
    """

    def __init__(
        self,
        window: QMainWindow,
        actions: Actions,
        dock_layout: DockLayout,
        workspaces: tuple[Workspace, ...],
    ) -> None:
        super().__init__(window.menuBar())
        self._actions = actions
        self._dock_layout = dock_layout
        self._docks = QMenu(tr("&Docks"), window)
        self._docks.aboutToShow.connect(self._list_docks)
        self._bar = window.menuBar()
        self._menus = tuple(self._menu_of(menu) for menu in Menu)
        self._menu_of_all = QMenu(tr("&Menu"), self._bar)
        for each in self._menus:
            self._menu_of_all.addMenu(each)
        self._corner = corner = QWidget(self._bar)
        self._tools = QStackedWidget()
        self._pages = {each.id: self._page_of_tools(each) for each in workspaces}
        self._switches = [command_button(actions[command], "icon") for command in SWITCHES]
        self._search = self._search_button()
        self._segments = [command_button(actions[each.command], "segment") for each in workspaces]
        self._chooser = self._workspace_chooser(workspaces)
        self._row = row(
            self._tools,
            space(0.4),
            *self._segments,
            self._chooser,
            space(0.4),
            *self._switches,
            self._search,
            within=corner,
            gap=0.2,
            edges=(0, 0.1, 0.5, 0),  # aligned with the menus
        )
        self._keep_keys_out()
        self._give_room()
        corner.show()
        self._bar.installEventFilter(self)

    def show_workspace(self, workspace: Workspace) -> None:
        """Mark the active workspace and show its tools."""
        self._actions[workspace.command].setChecked(True)
        self._tools.setCurrentWidget(self._pages[workspace.id])
        self._chooser.setText(self._actions[workspace.command].text())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._give_room()
        return super().eventFilter(watched, event)

    def take_down(self) -> None:
        """Clear the menu bar."""
        self._bar.removeEventFilter(self)
        for menu in self._bar.findChildren(QMenu):
            menu.deleteLater()
        self._corner.hide()
        self._corner.deleteLater()
        self._docks.deleteLater()
        self._bar.clear()

    def _page_of_tools(self, workspace: Workspace) -> QWidget:
        """Return a workspace's tools; all pages have one width, so that nothing else moves."""
        page = QWidget()
        tools = (command_button(self._actions[command], "icon") for command in workspace.tools)
        row(SPACE, *tools, within=page, gap=0)
        self._tools.addWidget(page)
        return page

    def _keep_keys_out(self) -> None:
        own = self._actions.of_scope(Scope.WINDOW)
        places = [scope for scope in Scope if scope is not Scope.WINDOW]
        others = [action for place in places for action in self._actions.of_scope(place)]
        for button in self._corner.findChildren(QToolButton):
            KeysOfOthers(others, own, button)

    def _give_room(self) -> None:
        """Fit the bar to its width, at the cost of as little as needed."""
        one = (self._menu_of_all,)
        many = self._menus
        for menus, stage in ((many, 0), (many, 1), (many, 2), (many, 3), (one, 3), (one, 4)):
            self._show_menus(menus)
            self._hide_buttons(stage)
            if self._bar.sizeHint().width() <= self._bar.width():
                return

    def _show_menus(self, menus: tuple[QMenu, ...]) -> None:
        wanted = [menu.menuAction() for menu in menus]
        if self._bar.actions() != wanted:
            self._bar.clear()
            self._bar.addActions(wanted)

    def _hide_buttons(self, stage: int) -> None:
        """Hide the text of the search, the last switches, all, and the workspaces, in stages."""
        for place, button in enumerate(self._switches):
            is_kept = stage < (HIDES_SWITCHES if place < KEPT_LONGER else HIDES_SOME)
            button.setVisible(is_kept)
        for button in self._segments:
            button.setVisible(stage < MERGES_WORKSPACES)
        self._chooser.setVisible(stage >= MERGES_WORKSPACES)
        style = Qt.ToolButtonStyle
        words = style.ToolButtonTextBesideIcon if stage == 0 else style.ToolButtonIconOnly
        self._search.setToolButtonStyle(words)
        self._row.activate()
        self._bar.setCornerWidget(self._corner, Qt.Corner.TopRightCorner)  # updates its geometry

    def _menu_of(self, menu: Menu) -> QMenu:
        made = QMenu(tr(menu.value), self._bar)
        made.aboutToShow.connect(partial(self._actions.draw_icons, menu))
        for command, action in self._actions.of_menu(menu):
            if command.starts_group:
                made.addSeparator()
            made.addAction(action)
            if command == framework_commands.RESET_LAYOUT:
                made.addMenu(self._docks)
        return made

    def _list_docks(self) -> None:
        self._docks.clear()
        self._docks.addActions(self._dock_layout.switches)

    def _workspace_chooser(self, workspaces: tuple[Workspace, ...]) -> QToolButton:
        """Return a button with a menu of the workspaces."""
        button = tool_button(kind="segment", name=tr("Workspace"))
        menu = QMenu(button)
        menu.addActions([self._actions[each.command] for each in workspaces])
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button

    def _search_button(self) -> QToolButton:
        action = self._actions[framework_commands.PALETTE]
        button = tool_button("", action.trigger, kind="search", name=action.text(), icon_em=ICON_EM)

        def show_action() -> None:
            button.setIcon(action.icon())
            button.setToolTip(action.toolTip())
            button.setText(self._actions.keys_in_words(framework_commands.PALETTE) or tr("Find"))

        action.changed.connect(show_action)
        show_action()
        return button
