"""Creates docks on demand, and arranges them as planned or as the user left them."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QWidget

from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.window_settings import LAYOUT_VERSION, Density
from spatialstudio.ui.framework.workspace import (
    BOTTOM,
    LEFT,
    RIGHT,
    DockArea,
    DockPlan,
    Workspace,
)
from spatialstudio.ui.theme.theme import LOW_WINDOW_EM, em
from spatialstudio.ui.widgets.dock_column import DockTitle, FramedDock
from spatialstudio.ui.widgets.texts import tr

USUAL_SIZE_EM = (90, 56)
"""Size of a window in which docks have their planned sizes."""
NARROW_EM = 52
"""In a window narrower than this, docks share places, as in one that is too low."""
LOW, NARROW = "low", "narrow"
SHARING: dict[tuple[str, ...], tuple[DockArea, ...]] = {
    (): (),
    (LOW,): (BOTTOM,),
    (NARROW,): (LEFT, RIGHT),
    (LOW, NARROW): (LEFT, RIGHT, BOTTOM),
}
"""Areas whose docks share one tab bar in such a window."""
MOST_GROWTH = 1.3
WIDEST_SHARE, HIGHEST_SHARE = 0.34, 0.38
"""Maximum share of the window for a side dock and a bottom dock; keeps the stage largest."""
BROADEST_SHARE = 0.6
"""Maximum share of the bottom width for a dock with a planned width."""


class DockLayout:
    """Maintains one dock for each plan.

    Args:
        window: The window with the docks.
        context: Passed to the content of the docks.
        serve: Registers each new panel of a dock.
    """

    def __init__(
        self, window: QMainWindow, context: WindowContext, serve: Callable[[Panel, DockPlan], None]
    ) -> None:
        self._window = window
        self._context = context
        self._serve = serve
        self._docks: dict[str, QDockWidget] = {}
        self._shed = QWidget(window)  # Qt would lay out every child dock of the window
        self._shed.hide()
        self._up: Workspace | None = None
        self._density = Density.FULL
        self._cramped: tuple[str, ...] = ()
        self._are_hidden = False
        self._outgrown: set[str] = set()

    @property
    def switches(self) -> tuple[QAction, ...]:
        """Actions that show or hide each dock of the workspace."""
        return tuple(self._docks[plan.id].toggleViewAction() for plan in self._plans)

    @property
    def _plans(self) -> tuple[DockPlan, ...]:
        """The plans of the visible workspace."""
        return () if self._up is None else self._up.docks

    def make(self, plan: DockPlan) -> QDockWidget:
        """Return the dock of a plan with its content; created at the first call."""
        dock = self._frame_of(plan)
        if dock.widget() is None:
            content = plan.make(self._context)
            policy = content.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            content.setSizePolicy(policy)
            dock.setWidget(content)
            content.setHidden(dock.visibleRegion().isEmpty())
            dock.visibilityChanged.connect(content.setVisible)
            panels = content.findChildren(Panel)
            for panel in [content, *panels] if isinstance(content, Panel) else panels:
                self._serve(panel, plan)
        return dock

    def put_up(self, workspace: Workspace, density: Density) -> None:
        """Replace the visible docks by those of a workspace."""
        self.keep_layout()
        is_seen = self._window.updatesEnabled()
        self.enable_updates(False)
        try:
            self._shed_docks()
            self._clear_tabs()
            self._up, self._density, self._are_hidden = workspace, density, False
            self._cramped = self._cramped_now()
            stored = self._context.settings.layout_of(self._layout_name())
            if stored.isEmpty() or not self._restore(workspace, stored):
                self._arrange(workspace)
            if self._layout_name() in self._outgrown:
                self._outgrown.discard(self._layout_name())
                self.size_docks()
            self._name_tabs()
        finally:
            self.enable_updates(is_seen)

    def enable_updates(self, is_on: bool) -> None:
        """Turn the updates of the window on or off, also of floating docks, which Qt leaves out."""
        self._window.setUpdatesEnabled(is_on)
        for dock in self._docks.values():
            if is_on or dock.isFloating():
                dock.setUpdatesEnabled(is_on)

    def outgrow(self, workspaces: Sequence[Workspace]) -> None:
        """Resize docks for a changed text size: visible ones at once, others when shown."""
        self.size_docks()
        self._outgrown = {
            _layout_name(each, density, cramped)
            for each in workspaces
            for density in Density
            for cramped in SHARING
        } - {self._layout_name()}

    def take_down(self) -> None:
        """Delete all docks."""
        self._shed_docks()  # else restoreState finds them, not their successors
        self._docks = {}
        self._shed.deleteLater()
        self._up = None

    def _shed_docks(self) -> None:
        for dock in self._docks.values():
            self._window.removeDockWidget(dock)
            dock.setParent(self._shed)

    def put_back(self) -> None:
        """Reset the docks of all workspaces to their planned layout."""
        if (workspace := self._up) is not None:
            self._up = None
            self._context.settings.forget_layouts()
            self.put_up(workspace, self._density)

    def bring_up(self, plan: DockPlan) -> QWidget:
        """Show a dock of the visible workspace in front of others; return its content.

        A hidden dock at the bottom gets its planned height, or that of the docks that it joins.
        """
        dock = self.make(plan)
        was_hidden = dock.isHidden()
        dock.show()
        dock.raise_()
        if was_hidden and plan.area is BOTTOM and not plan.is_across:
            way = Qt.Orientation.Vertical
            tabs = (each for each in self._window.tabifiedDockWidgets(dock) if each.isVisible())
            height = max((self._fitting(plan.size_em, way), *(each.height() for each in tabs)))
            self._window.resizeDocks([dock], [height], way)
        return dock.widget()

    def hide_all(self, hidden: bool) -> None:
        """Hide all docks, or restore the hidden ones."""
        if hidden == self._are_hidden or self._up is None:
            return
        if hidden:
            self.keep_layout()
            self._are_hidden = True
            for plan in self._up.docks:
                self._docks[plan.id].hide()
        else:
            self.put_up(self._up, self._density)

    def keep_layout(self) -> None:
        """Store the layout of the visible docks."""
        if self._up is not None and not self._are_hidden:
            layout = self._window.saveState(LAYOUT_VERSION)
            self._context.settings.keep_layout(self._layout_name(), layout)

    def _frame_of(self, plan: DockPlan) -> QDockWidget:
        if plan.id not in self._docks:
            dock = FramedDock(self._context.theme, tr(plan.title), self._shed)
            dock.setObjectName(plan.id)
            bare = plan.is_across  # a low dock has no room for a title
            dock.setTitleBarWidget(QWidget() if bare else DockTitle(self._context.theme, dock))
            dock.hide()
            self._docks[plan.id] = dock
        return self._docks[plan.id]

    def _tab_bars(self) -> list[QTabBar]:
        ours = Qt.FindChildOption.FindDirectChildrenOnly
        return self._window.findChildren(QTabBar, options=ours)

    def _clear_tabs(self) -> None:
        """Hide the tab bars of removed docks: Qt forgets some on restoreState (6.10)."""
        for tabs in self._tab_bars():
            while tabs.count():
                tabs.removeTab(0)
            tabs.hide()

    def _name_tabs(self) -> None:
        """Set the accessible names of Qt's tab bars."""
        for tabs in self._tab_bars():
            tabs.setAccessibleName(tr("Docks in this place"))
            tabs.setElideMode(Qt.TextElideMode.ElideNone)  # tabs that do not fit are scrolled
            tabs.setUsesScrollButtons(True)

    def _layout_name(self) -> str:
        up = self._up
        return "" if up is None else _layout_name(up, self._density, self._cramped)

    def _restore(self, workspace: Workspace, layout: QByteArray) -> bool:
        """Restore a stored layout; return False if it does not contain all docks.

        The docks must not be placed yet; see ``_clear_tabs``. Docks of plugins that the layout does
        not contain are added at their planned place.
        """
        for plan in workspace.docks:
            self._frame_of(plan).setParent(self._window)
            self._make_in_place(plan)
        if not self._window.restoreState(layout, LAYOUT_VERSION):
            return False
        nowhere = Qt.DockWidgetArea.NoDockWidgetArea
        left_out = [
            plan
            for plan in workspace.docks
            if self._window.dockWidgetArea(self._docks[plan.id]) is nowhere
        ]
        if not all(plan.plugin for plan in left_out):
            return False
        for plan in left_out:
            self._place(plan)
        return True

    def _make_in_place(self, plan: DockPlan) -> None:
        """Build a dock's content in place: Qt restyles all that is reparented."""
        if self._window.isVisible() or not plan.can_wait:
            self.make(plan)

    def _arrange(self, workspace: Workspace) -> None:
        for plan in workspace.docks:
            self._place(plan)
        self.size_docks()
        for plan in workspace.docks:
            if self._front_of(plan) == plan:
                self._docks[plan.id].raise_()

    def _place(self, plan: DockPlan) -> None:
        """Add a dock at its planned place."""
        dock = self._frame_of(plan)
        dock.setFloating(False)
        if plan.is_across:
            self._window.addDockWidget(plan.area, dock, Qt.Orientation.Vertical)
        else:
            self._window.addDockWidget(plan.area, dock)
        self._make_in_place(plan)
        if (front := self._front_of(plan)) != plan:
            self._window.tabifyDockWidget(self._docks[front.id], dock)
        dock.setVisible(self._is_wanted(plan))

    def _cramped_now(self) -> tuple[str, ...]:
        is_low = self._window.height() < em(LOW_WINDOW_EM)
        is_narrow = self._window.width() < em(NARROW_EM)
        return (LOW,) * is_low + (NARROW,) * is_narrow

    def _is_wanted(self, plan: DockPlan) -> bool:
        return plan.in_simple or self._density is Density.FULL

    def _front_of(self, plan: DockPlan) -> DockPlan:
        """Return the plan whose tab bar a dock joins; the plan itself if it stands alone."""
        sharing = SHARING[self._cramped]
        for other in self._plans:
            does_share = plan.area in sharing and other.area in sharing
            is_before = other.id == plan.tab_of or does_share
            if is_before and (other == plan or self._is_wanted(other)):
                return other
        return plan

    def size_docks(self) -> None:
        """Resize the visible docks to their planned sizes, as the window allows."""
        for plan in self._plans:
            front = self._front_of(plan)
            down = front.area is BOTTOM
            way = Qt.Orientation.Vertical if down else Qt.Orientation.Horizontal
            size = em(plan.size_em) if front.is_across else self._fitting(self._asked(front), way)
            self._window.resizeDocks([self._docks[plan.id]], [size], way)
        self._share_breadth()

    def _asked(self, front: DockPlan) -> float:
        """Return the largest planned size of the docks that share a tab bar by their plans."""
        tabs = (each for each in self._plans if each.tab_of == front.id and self._is_wanted(each))
        return max((front.size_em, *(each.size_em for each in tabs)))

    def take_window(self) -> None:
        """Arrange docks for the window's initial size, except where the user arranged them."""
        if self._up is not None and self._cramped != self._cramped_now():
            workspace, self._up = self._up, None
            self.put_up(workspace, self._density)
        if self._context.settings.layout_of(self._layout_name()).isEmpty():
            self.size_docks()

    def _fitting(self, size_em: float, way: Qt.Orientation) -> int:
        """Return the planned size, larger in a large window, limited to a dock's share."""
        size, usual, share = self._window.width(), USUAL_SIZE_EM[0], WIDEST_SHARE
        if way is Qt.Orientation.Vertical:
            size, usual, share = self._window.height(), USUAL_SIZE_EM[1], HIGHEST_SHARE
        growth = min(max(size / em(usual), 1.0), MOST_GROWTH)
        return round(min(em(size_em) * growth, size * share))

    def _share_breadth(self) -> None:
        """Distribute the width of the bottom area among its docks."""
        if self._up is None or LOW in self._cramped:
            return
        plans = [plan for plan in self._up.docks if plan.area is BOTTOM and not plan.is_across]
        growth = max(self._window.width() / em(USUAL_SIZE_EM[0]), 1.0)
        wanted = {plan.id: em(plan.breadth_em) * growth for plan in plans if plan.breadth_em}
        room = self._window.width() * (1 - WIDEST_SHARE)
        most = room * BROADEST_SHARE if len(wanted) == 1 else room
        scale = min(1.0, most / max(sum(wanted.values()), 1))
        sizes = {name: round(size * scale) for name, size in wanted.items()}
        rest = [plan.id for plan in plans if plan.id not in sizes and self._front_of(plan) == plan]
        left = self._window.width() - self._breadth_of_left() - sum(sizes.values())
        sizes |= dict.fromkeys(rest, left // max(len(rest), 1))  # Qt distributes the rest itself
        docks = [self._docks[name] for name in sizes]
        self._window.resizeDocks(docks, list(sizes.values()), Qt.Orientation.Horizontal)

    def _breadth_of_left(self) -> int:
        """Return the planned width of the left docks, next to which the bottom docks start."""
        planned = max((plan.size_em for plan in self._plans if plan.area is LEFT), default=0)
        return self._fitting(planned, Qt.Orientation.Horizontal)


def _layout_name(workspace: Workspace, density: Density, cramped: tuple[str, ...]) -> str:
    return "-".join((workspace.id, density.value, *cramped))
