"""Opens pictures from elsewhere: judged by what they claim, or by what stands in the prompt."""

from functools import partial
from pathlib import Path

from spatialstudio.application.pictures import ForeignPicture
from spatialstudio.application.session import OpenRun
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import ModelNotFound, StoreError
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.texts import tr

LONGEST = 60
"""Characters of a prompt that fit into a message."""


def read_file(studio: Studio, path: Path) -> OpenRun | ForeignPicture:
    """Read a run's file or folder, or any picture; from any thread, nothing is opened.

    Raises:
        StoreError: The run is damaged, or the path cannot be opened.
        ImageError: The file is not a picture that can be read.
    """
    try:
        if path.is_dir() or studio.is_run(path):
            return studio.read_run(path)
    except (OSError, ValueError) as error:
        raise StoreError(
            "The file cannot be opened: its name cannot be used.", hint="Rename or copy it."
        ) from error
    return studio.pictures.read(path)


def open_picture(context: WindowContext, picture: ForeignPicture) -> None:
    """Open a picture that no run belongs to.

    One of our own brings its prompt along. Another is judged by the prompt that stands there; when
    it tells one itself, that is offered. Without any it is shown until somebody says what it shows;
    so it is where there is no model to judge it.

    Args:
        context: Of the window.
        picture: As it was read.

    Raises:
        ModelNotFound: There is no model, so that nobody can read what it claims.
    """
    pictures, scene = context.studio.pictures, context.studio.session.scene
    told = picture.told
    try:
        claim = pictures.claim_of(told)
    except ModelNotFound:
        pictures.show(picture)
        raise
    if claim is not None and told is not None and told.record:
        context.studio.edit_scene(claim)
        pictures.judge_picture(picture, claim)
    elif scene is not None and scene.relations:
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
        tr("The picture tells a prompt of its own: “{prompt}”").format(prompt=short),
        tr("Judge by it"),
        partial(_judge, context, picture, claim),
    )


def _judge(context: WindowContext, picture: ForeignPicture, claim: SceneGraph) -> None:
    context.studio.edit_scene(claim)
    context.studio.pictures.judge_picture(picture, claim)
