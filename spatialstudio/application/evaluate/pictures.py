"""Imported images: read, opened and evaluated against a prompt."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.judge_choice import JudgeDefaults, no_detector_chosen
from spatialstudio.application.session import (
    OpenRun,
    RunState,
    Session,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ImageError, PromptError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId, new_request_id
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.library import PictureOrigin
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.ports import ImageFiles
from spatialstudio.domain.requirements import is_judged
from spatialstudio.domain.run_ports import MetadataFiles
from spatialstudio.domain.safe_files import open_regular
from spatialstudio.domain.scene import Prompt, SceneGraph
from spatialstudio.domain.verdict import Evaluation

IMAGE_AXES = 3
COLOURS = 3
NOBODY = "nobody"
NO_CLAIM = SceneGraph(prompt=Prompt(text=""), mentions=(), relations=(), extractor_id=NOBODY)
"""Empty scene of an image without a prompt."""


@frozen(eq=False)
class ForeignPicture:
    """An imported image. Created by ``Pictures.read``; may cross threads.

    Attributes:
        origin: The file.
        image: (H, W, 3) uint8 sRGB.
        settings: Generation settings from its metadata; None without metadata.
    """

    origin: PictureOrigin
    image: RgbImage
    settings: PictureSettings | None

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.origin.name

    @property
    def model_id(self) -> str:
        """Model in this application's metadata; empty without it."""
        return _model_of(self.settings)


class Pictures:
    """Opens imported images.

    Args:
        session: The session that opens them.
        submit: Submits a run with an image for evaluation by a judge set.
        images: Reads image files.
        metadata: Returns the reader of image metadata.
        readers: Readers of prompts: of any objects, and of the sticker models' objects.
        judges: Judge sets by the model of an image.
    """

    def __init__(
        self,
        session: Session,
        submit: Callable[[OpenRun, JudgeSetChoice], None],
        images: Callable[[], ImageFiles],
        metadata: Callable[[], MetadataFiles],
        readers: tuple[Callable[[str], SceneGraph], Callable[[str], SceneGraph]],
        judges: JudgeDefaults,
    ) -> None:
        self._session = session
        self._submit = submit
        self._images = images
        self._metadata = metadata
        self._read_any, self._read_stickers = readers
        self._judges = judges

    def read(self, path: Path) -> ForeignPicture:
        """Read an image and its metadata, from any thread, without opening it in the session.

        Raises:
            ImageError: The file is not a readable image.
        """
        settings = self._metadata().read(path)
        image = self._images().read(path)
        return ForeignPicture(origin=_origin_of(path, settings), image=image, settings=settings)

    def evaluated(
        self, path: Path, image: RgbImage, scene: SceneGraph, evaluation: Evaluation
    ) -> OpenRun:
        """Return an evaluated image file as a run that can be stored.

        Args:
            path: The file.
            image: (H, W, 3) uint8, as read from it.
            scene: Scene of its prompt.
            evaluation: Its evaluation.

        Raises:
            ImageError: The file is not a readable image.
        """
        settings = self._metadata().read(path)
        return OpenRun(
            id=new_request_id(),
            scene=scene,
            state=RunState.DONE,
            image=image,
            evaluation=evaluation,
            recorded_model_id=_model_of(settings),
            origin=_origin_of(path, settings),
        )

    def shows_stickers(self, path: Path) -> bool:
        """Return True if an image's metadata names a sticker model; False for other files."""
        try:
            return self._judges.draws_stickers(_model_of(self._metadata().read(path)))
        except ImageError:
            return False

    def claim_of(self, settings: PictureSettings | None) -> SceneGraph | None:
        """Read the prompt of an image's metadata; None if it states nothing to evaluate.

        Raises:
            ModelNotFound: No model is installed, so the known objects are undefined.
        """
        if settings is None or not settings.prompt:
            return None
        try:
            scene = self._read_scene(settings.prompt, _model_of(settings))
        except PromptError:
            return None
        return scene if is_judged(scene) else None

    def show(self, picture: ForeignPicture) -> None:
        """Open an imported image with an empty scene, before any evaluation."""
        run_id = new_request_id()
        run = OpenRun(
            id=run_id,
            scene=NO_CLAIM,
            image=picture.image,
            state=RunState.DONE,
            recorded_model_id=picture.model_id,
            origin=picture.origin,
        )
        self._session.open(run)

    def judge(self, path: Path, scene: SceneGraph) -> RequestId:
        """Evaluate an image file against a scene, and open it in the session.

        Raises:
            ImageError: The file is not a readable image.
        """
        return self.judge_picture(self.read(path), scene)

    def judge_picture(self, picture: ForeignPicture, scene: SceneGraph) -> RequestId:
        """Evaluate an imported image against a scene, and open it in the session."""
        run = OpenRun(
            id=new_request_id(),
            scene=scene,
            image=picture.image,
            recorded_model_id=picture.model_id,
            origin=picture.origin,
        )
        return self._judge(run)

    def scene_shown(self, path: Path, prompt: str) -> SceneGraph:
        """Read a prompt for an image, with the object names that its judge set knows.

        Raises:
            ImageError: The file is not a readable image.
            PromptError: The prompt is empty, or names an unknown object.
        """
        return self._read_scene(prompt, _model_of(self._metadata().read(path)))

    def judge_open(self, scene: SceneGraph) -> RequestId | None:
        """Evaluate the open image against a scene; None if no image is open.

        With the relations of its own scene a stored run keeps its file and its steps; with others
        the image is treated as an imported one.
        """
        run = self._session.run
        if run is None or run.image is None:
            return None
        if run.path is not None and claims_of(scene) == claims_of(run.scene):
            return self._judge(replace(run, state=RunState.WAITING, failure=None))
        origin = run.origin or PictureOrigin(name=run.path.name if run.path else "")
        other = OpenRun(
            id=new_request_id(),
            scene=scene,
            image=run.image,
            recorded_model_id=run.model_id,
            origin=origin,
        )
        return self._judge(other)

    def judge_run(self, run: OpenRun) -> None:
        """Evaluate the picture of a stored run without opening it; events of its id report the end.

        Raises:
            NoDetectorChosen: The judge set has no detector.
        """
        judges = self._judges.judges_of(run.model_id, run.scene)
        if judges.detector_id is None:
            raise no_detector_chosen()
        self._submit(run, judges)

    def _read_scene(self, text: str, model_id: str) -> SceneGraph:
        """Read a prompt for the judge set; sticker models know the objects of their world only."""
        is_limited = self._judges.judged_by_stickers(model_id)
        return self._read_stickers(text) if is_limited else self._read_any(text)

    def _judge(self, run: OpenRun) -> RequestId:
        judges = self._judges.judges_of(run.model_id, run.scene)
        if judges.detector_id is None:
            failure = report_on(no_detector_chosen(), "Judging the picture")
            self._session.open(replace(run, state=RunState.DONE, failure=failure))
            return run.id
        self._session.open(run)
        self._submit(run, judges)
        return run.id


def claims_of(scene: SceneGraph) -> tuple[object, ...]:
    """Return the part of a scene that affects verdicts; relation weights do not."""
    return scene.prompt.text, *((each.id, each.type, each.ends) for each in scene.relations)


def _origin_of(path: Path, settings: PictureSettings | None) -> PictureOrigin:
    try:
        with open_regular(path) as file:
            digest = sha256(file.read()).hexdigest()
    except OSError as error:
        raise ImageError(
            f'The file "{path}" cannot be read again.', hint="Check that it is still there."
        ) from error
    is_marked = settings is not None and settings.is_marked_as_generated
    name = path.name.encode("utf-8", "replace").decode()  # a name may not be valid text
    return PictureOrigin(name=name, sha256=digest, is_marked=is_marked)


def _model_of(settings: PictureSettings | None) -> str:
    """Return the model id in this application's metadata of an image; empty without it."""
    return settings.model if settings is not None and settings.record else ""


def pixels_of(image: Any) -> RgbImage:
    """Return an image as (H, W, 3) uint8.

    Args:
        image: A Pillow image, an array (H, W, 3), or a tensor (3, H, W); uint8, or floats in
            [0, 1].

    Raises:
        ImageError: The value is not an image.
    """
    if hasattr(image, "permute"):  # a tensor, as pipelines return it
        image = image.detach().float().cpu().permute(1, 2, 0)
    values = np.asarray(image.convert("RGB") if hasattr(image, "convert") else image)
    is_picture = values.ndim == IMAGE_AXES and values.shape[-1] == COLOURS and values.size > 0
    if is_picture and values.dtype.kind == "f" and values.min() >= 0 and values.max() <= 1:
        values = (values * np.iinfo(np.uint8).max).round().astype(np.uint8)
    if not is_picture or values.dtype != np.uint8:
        raise ImageError(
            "The array is not a valid picture.",
            hint="Pass an array of shape (H, W, 3), either uint8 or float in [0, 1].",
        )
    return np.ascontiguousarray(values)
