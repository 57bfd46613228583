"""The audit workspace: the voting screen in the centre, session and analysis around it."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.audit.commands import NEW
from spatialstudio.ui.framework.commands import AUDIT_WORKSPACE
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.workspace import RIGHT, DockPlan, Workspace
from spatialstudio.ui.widgets.dock_column import DockColumn

WIDTH_EM = 27
FIRST_DOCK = "audit_session"
"""Id of the dock that the others share a tab bar with."""


def make_centre(context: WindowContext) -> Panel:
    """Build the voting screen."""
    from spatialstudio.ui.audit.voting_panel import VotingPanel

    return VotingPanel(context)


def make_session(context: WindowContext) -> QWidget:
    """Build the dock of the session."""
    from spatialstudio.ui.audit.session_panel import SessionPanel

    return DockColumn(SessionPanel(context))


def make_agreement(context: WindowContext) -> QWidget:
    """Build the dock of confusion, agreement and the human study."""
    from spatialstudio.ui.audit.agreement_panel import AgreementPanel

    return DockColumn(AgreementPanel(context))


def make_risk(context: WindowContext) -> QWidget:
    """Build the dock of the risk-coverage curve."""
    from spatialstudio.ui.audit.risk_panel import RiskPanel

    return DockColumn(RiskPanel(context))


def make_calibration(context: WindowContext) -> QWidget:
    """Build the dock of the reliability diagram."""
    from spatialstudio.ui.audit.calibration_panel import CalibrationPanel

    return DockColumn(CalibrationPanel(context))


SESSION = DockPlan(id=FIRST_DOCK, title="Session", area=RIGHT, size_em=WIDTH_EM, make=make_session)


AGREEMENT = DockPlan(
    id="audit_agreement",
    title="Agreement",
    area=RIGHT,
    size_em=WIDTH_EM,
    make=make_agreement,
    tab_of=FIRST_DOCK,
)


RISK = DockPlan(
    id="audit_risk",
    title="Risk",
    area=RIGHT,
    size_em=WIDTH_EM,
    make=make_risk,
    tab_of=FIRST_DOCK,
)


CALIBRATION = DockPlan(
    id="audit_calibration",
    title="Calibration",
    area=RIGHT,
    size_em=WIDTH_EM,
    make=make_calibration,
    tab_of=FIRST_DOCK,
)


AUDIT = Workspace(
    id="audit",
    command=AUDIT_WORKSPACE,
    docks=(SESSION, AGREEMENT, RISK, CALIBRATION),
    tools=(NEW,),
    make_centre=make_centre,
    ready="Ready. Begin an audit, or continue a session.",
)
