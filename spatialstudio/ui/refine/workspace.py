"""The dock of the DA-score's assertions."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.workspace import BOTTOM, DockPlan
from spatialstudio.ui.widgets.dock_column import DockColumn

HEIGHT_EM = 16


def make_assertions(context: WindowContext) -> QWidget:
    """Build the scrolled dock of assertions."""
    from spatialstudio.ui.refine.assertions_panel import AssertionsPanel

    return DockColumn(AssertionsPanel(context))


ASSERTIONS = DockPlan(
    id="assertions",
    title="Assertions",
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_assertions,
    tab_of="what_if",
)
