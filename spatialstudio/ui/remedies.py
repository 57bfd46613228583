"""A button for each obstacle that the user can move out of the way."""

from functools import partial

from spatialstudio.domain.errors import ErrorReport, Obstacle
from spatialstudio.ui.commands.gallery import LIBRARY_FOLDER
from spatialstudio.ui.commands.generate import CHOOSE_MODEL, FIND_MODELS, MODELS_FOLDER
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.basic.toast_card import Offer


def report_with_remedies(context: WindowContext, report: ErrorReport) -> None:
    """Tell of a problem, with a button for what helps."""
    context.toasts.report(report, *remedies_for(context, report))


def remedies_for(context: WindowContext, report: ErrorReport) -> tuple[Offer, ...]:
    """Return what moves the obstacle of a problem; nothing where none is known."""
    match report.obstacle:
        case Obstacle.LIBRARY:
            return (folder_offer(context),)
        case Obstacle.MODEL:
            return _model_offers(context)
        case Obstacle.DETECTOR | None:
            return ()


def folder_offer(context: WindowContext) -> Offer:
    """Return the way to the setting that says where pictures are kept."""
    return Offer(tr("Choose a folder…"), context.actions[LIBRARY_FOLDER].trigger)


def _model_offers(context: WindowContext) -> tuple[Offer, ...]:
    """Return the ways to a model that can draw: the first there is, another, or a new one."""
    actions, models = context.actions, context.studio.models
    shown = Offer(tr("Show the models' folder"), actions[MODELS_FOLDER].trigger)
    if not models:
        return (shown, Offer(tr("Look again"), actions[FIND_MODELS].trigger))
    offers = (Offer(tr("Choose a model…"), actions[CHOOSE_MODEL].trigger), shown)
    settings = context.studio.keeping.drafts.newest.settings
    if settings is None or settings.model_id == models[0].id:
        return offers
    use = partial(context.switchboard.model_wanted.emit, models[0].id)
    return (Offer(tr("Use {model}").format(model=models[0].title), use), *offers)
