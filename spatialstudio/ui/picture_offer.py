"""A picture that came from outside: offers the settings that it tells, else has it judged."""

from functools import partial

from PySide6.QtWidgets import QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.flow.take_settings import (
    NEEDS,
    OF_SCENE,
    PROMPT,
    RELATIONS,
    scene_to_take,
    usable_fields,
)
from spatialstudio.application.pictures import ForeignPicture
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.ui.dialogs.settings_comparison import NAMES, SettingsComparison
from spatialstudio.ui.opening import open_picture
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.switchboard import OfferedSettings
from spatialstudio.ui.texts import tr

EVALUATE = "evaluate"
"""Id of the workspace in which every picture is judged."""


def offer_picture(context: WindowContext, picture: ForeignPicture, parent: QWidget) -> None:
    """Show what a picture tells beside what is set now; judge it when it tells nothing.

    Args:
        context: Of the window.
        picture: As it was read.
        parent: Stands behind the dialog.

    Raises:
        ModelNotFound: There is no model, so that nobody can read what it claims.
    """
    theirs = picture.told
    if theirs is not None and theirs.left_out:
        context.toasts.tell(left_out_in_words(theirs))
    if theirs is None or context.settings.workspace == EVALUATE:
        open_picture(context, picture)
        return
    rows = context.studio.compare_picture(theirs)
    if rows is None:
        open_picture(context, picture)
        return
    request = context.studio.keeping.request_in(theirs)
    usable = usable_fields(theirs, [card.id for card in context.studio.models], request)
    dialog = SettingsComparison(picture.name, theirs.dialect, rows, usable, NEEDS, parent)
    dialog.fields_taken.connect(partial(_take, context, theirs, request))
    dialog.judging_asked.connect(partial(_judge, context, picture))
    dialog.open()


def left_out_in_words(theirs: PictureSettings) -> str:
    """Say what in a picture's metadata is too long to be used."""
    names = ", ".join(tr(NAMES.get(name, name)).lower() for name in theirs.left_out)
    return tr("Too long to be used, so left out: {names}.").format(names=names)


def _judge(context: WindowContext, picture: ForeignPicture) -> None:
    try:
        open_picture(context, picture)
    except StudioError as error:
        context.toasts.report(report_on(error, tr("Opening the picture")))


def _take(
    context: WindowContext,
    theirs: PictureSettings,
    request: GenerationRequest | None,
    names: frozenset[str],
) -> None:
    if PROMPT in names:
        context.switchboard.prompt_offered.emit(theirs.prompt)
    if RELATIONS in names and request is not None:
        _take_scene(context, scene_to_take(request))
    if names - OF_SCENE:
        context.switchboard.settings_offered.emit(OfferedSettings(theirs, names, request))


def _take_scene(context: WindowContext, scene: SceneGraph) -> None:
    """Work on a picture's scene, with all that was set in it by hand."""
    before = context.studio.session.scene
    if before is not None and before != scene:
        context.edits.change(tr("a picture's relations"), before, scene, context.studio.edit_scene)
