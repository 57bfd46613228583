"""Opens a foreign picture: offers its settings, or evaluates it."""

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.pictures import ForeignPicture
from spatialstudio.application.session import OpenRun
from spatialstudio.application.storage.picture_settings import (
    NEEDS,
    OF_SCENE,
    PROMPT,
    RELATIONS,
    scene_to_take,
    usable_fields,
)
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import ModelNotFound, StoreError, StudioError
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.requirements import is_judged
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.ui.compose.sketch_panel import take_places
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.window_signals import OfferedSettings
from spatialstudio.ui.gallery.settings_comparison import NAMES, SettingsComparison
from spatialstudio.ui.widgets.texts import tr

LONGEST = 60
"""Maximum characters of a prompt in a message."""


def read_file(studio: Studio, path: Path) -> OpenRun | ForeignPicture:
    """Read a run's file or folder, or any picture, without opening it; thread-safe."""
    try:
        if path.is_dir() or studio.is_run(path):
            return studio.read_run(path)
    except (OSError, ValueError) as error:
        raise StoreError(
            "The file cannot be opened because its name is invalid.", hint="Rename or copy it."
        ) from error
    return studio.pictures.read(path)


def open_picture(context: WindowContext, picture: ForeignPicture) -> None:
    """Open a picture that belongs to no run.

    A Spatial Studio picture brings its prompt. Another is evaluated with the current prompt; a
    prompt in its metadata is offered. Without a current prompt or a model to evaluate with, it is
    only shown.

    Args:
        context: Services of the window.
        picture: The picture as read.

    Raises:
        ModelNotFound: There is no model to parse the prompt with.
    """
    pictures, scene = context.studio.pictures, context.studio.session.scene
    settings = picture.settings
    try:
        claim = pictures.claim_of(settings)
    except ModelNotFound:
        pictures.show(picture)
        raise
    if claim is not None and settings is not None and settings.record:
        context.studio.use_scene(claim)
        pictures.judge_picture(picture, claim)
    elif scene is not None and is_judged(scene):
        pictures.judge_picture(picture, scene)
        _offer(context, picture, claim)
    else:
        pictures.show(picture)
        _offer(context, picture, claim)


def _offer(context: WindowContext, picture: ForeignPicture, claim: SceneGraph | None) -> None:
    if claim is None:
        return
    text = claim.prompt.text
    short = text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()}…"
    context.toasts.offer(
        tr("The picture's metadata contains the prompt “{prompt}”").format(prompt=short),
        tr("Judge with it"),
        partial(_judge_picture, context, picture, claim),
    )


def _judge_picture(context: WindowContext, picture: ForeignPicture, claim: SceneGraph) -> None:
    context.studio.use_scene(claim)
    context.studio.pictures.judge_picture(picture, claim)


EVALUATE = "evaluate"
"""Id of the workspace that evaluates every picture."""


def offer_settings(context: WindowContext, picture: ForeignPicture, parent: QWidget) -> None:
    """Show a picture's settings next to the current ones; evaluate it if it has none.

    Args:
        context: Services of the window.
        picture: The picture as read.
        parent: Parent of the dialog.

    Raises:
        ModelNotFound: There is no model to parse the prompt with.
    """
    theirs = picture.settings
    if theirs is not None and theirs.left_out:
        context.toasts.tell(left_out_in_words(theirs))
    wants_rows = context.settings.workspace != EVALUATE
    rows = context.studio.compare_picture(theirs) if theirs and wants_rows else None
    if theirs is None or rows is None:
        open_picture(context, picture)
        return
    request = context.studio.storage.request_in(theirs)
    usable = usable_fields(theirs, [card.id for card in context.studio.models], request)
    dialog = SettingsComparison(picture.name, theirs.dialect, rows, usable, NEEDS, parent)
    dialog.fields_taken.connect(partial(_take, context, theirs, request))
    dialog.judging_asked.connect(partial(_judge, context, picture))
    dialog.open()


def left_out_in_words(theirs: PictureSettings) -> str:
    """Return a message on metadata that is too long to be used."""
    names = ", ".join(tr(NAMES.get(name, name)).lower() for name in theirs.left_out)
    return tr("Ignored because they are too long: {names}.").format(names=names)


def _judge(context: WindowContext, picture: ForeignPicture) -> None:
    context.window_signals.workspace_asked.emit(EVALUATE)
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
        context.window_signals.prompt_offered.emit(theirs.prompt)
    if RELATIONS in names and request is not None:
        _take_scene(context, scene_to_take(request))
        take_places(context, request)
    if names - OF_SCENE:
        context.window_signals.settings_offered.emit(OfferedSettings(theirs, names, request))


def _take_scene(context: WindowContext, scene: SceneGraph) -> None:
    """Use a picture's scene, including all manual edits."""
    before = context.studio.session.scene
    if before is not None and before != scene:
        context.edits.change(
            tr("load relations from picture"), before, scene, context.studio.use_scene
        )
