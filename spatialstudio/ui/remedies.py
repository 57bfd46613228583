"""A button for each obstacle that the user can move out of the way."""

from spatialstudio.domain.errors import ErrorReport, Obstacle
from spatialstudio.ui.commands.gallery import LIBRARY_FOLDER
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.basic.toast_card import Offer


def report_with_remedies(context: WindowContext, report: ErrorReport) -> None:
    """Tell of a problem, with a button for what helps."""
    context.toasts.report(report, *remedies_for(context, report))


def remedies_for(context: WindowContext, report: ErrorReport) -> tuple[Offer, ...]:
    """Return what moves the obstacle of a problem; nothing where none is known."""
    return (folder_offer(context),) if report.obstacle is Obstacle.LIBRARY else ()


def folder_offer(context: WindowContext) -> Offer:
    """Return the way to the setting that says where pictures are kept."""
    return Offer(tr("Choose a folder…"), context.actions[LIBRARY_FOLDER].trigger)
