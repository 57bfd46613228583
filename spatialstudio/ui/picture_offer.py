"""A picture that came from outside: offers the settings that it tells, else has it judged."""

from functools import partial
from pathlib import Path

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
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.ui.dialogs.settings_comparison import SettingsComparison
from spatialstudio.ui.opening import open_picture
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.switchboard import OfferedSettings
from spatialstudio.ui.texts import tr

EVALUATE = "evaluate"
"""Id of the workspace in which every picture is judged."""


def offer_picture(context: WindowContext, path: Path, parent: QWidget) -> None:
    """Show what a picture tells beside what is set now; judge it when it tells nothing.

    Args:
        context: Of the window.
        path: The picture.
        parent: Stands behind the dialog.

    Raises:
        ImageError: The file cannot be read.
    """
    if context.settings.workspace == EVALUATE:
        open_picture(context, path)
        return
    rows = context.studio.compare_picture(path)
    theirs = context.studio.keeping.metadata.read(path)
    if rows is None or theirs is None:
        open_picture(context, path)
        return
    request = context.studio.keeping.request_in(theirs)
    usable = usable_fields(theirs, [card.id for card in context.studio.models], request)
    dialog = SettingsComparison(path.name, theirs.dialect, rows, usable, NEEDS, parent)
    dialog.fields_taken.connect(partial(_take, context, theirs, request))
    dialog.judging_asked.connect(partial(_judge, context, path))
    dialog.open()


def _judge(context: WindowContext, path: Path) -> None:
    try:
        open_picture(context, path)
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
