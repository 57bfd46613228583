"""Pictures from elsewhere: shown, asked what they claim to show, and judged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.judge_choice import JudgeDefaults, no_detector_chosen
from spatialstudio.application.jobs.messages import EvaluateJob
from spatialstudio.application.session import (
    OpenRun,
    RunState,
    Session,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ImageError, PromptError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId, new_request_id
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.ports import ImageFiles
from spatialstudio.domain.prompt import Prompt
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.run_ports import MetadataFiles

NOBODY = "nobody"
NO_CLAIM = SceneGraph(prompt=Prompt(text=""), mentions=(), relations=(), extractor_id=NOBODY)
"""What a picture shall show of which nobody has said anything."""


@frozen(eq=False)
class ForeignPicture:
    """A picture that was not drawn here. Made by ``Pictures.read``; may cross threads.

    Attributes:
        name: Of its file.
        image: (H, W, 3) uint8 sRGB.
        settings: How it says that it was made; None when it does not.
    """

    name: str
    image: RgbImage
    settings: PictureSettings | None


class Pictures:
    """Opens pictures that were not drawn here.

    Args:
        session: Where they are opened.
        submit: Has a picture judged.
        images: Reads picture files.
        metadata: Gives who reads what is told in them.
        readers: Read a prompt, of whatever things; and of those that sticker models draw.
        judges: Tells who judges the pictures of a model.
    """

    def __init__(
        self,
        session: Session,
        submit: Callable[[EvaluateJob], None],
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
        """Read a picture and how it says that it was made; from any thread, nothing is opened.

        Raises:
            ImageError: The file is not a picture that can be read.
        """
        settings = self._metadata().read(path)
        return ForeignPicture(name=path.name, image=self._images().read(path), settings=settings)

    def shows_stickers(self, path: Path) -> bool:
        """Say whether a picture's own record names a sticker model; not of what is no picture."""
        try:
            return self._judges.draws_stickers(_model_of(self._metadata().read(path)))
        except ImageError:
            return False

    def claim_of(self, settings: PictureSettings | None) -> SceneGraph | None:
        """Read the prompt that a picture tells; None when it claims nothing that can be judged.

        Raises:
            ModelNotFound: There is no model, so that nobody knows what can be judged.
        """
        if settings is None or not settings.prompt:
            return None
        try:
            scene = self._read_scene(settings.prompt, _model_of(settings))
        except PromptError:
            return None
        return scene if scene.relations else None

    def show(self, picture: ForeignPicture) -> None:
        """Open a picture that nobody has said anything about yet."""
        run_id = new_request_id()
        run = OpenRun(
            id=run_id,
            scene=NO_CLAIM,
            image=picture.image,
            state=RunState.DONE,
            recorded_model_id=_model_of(picture.settings),
        )
        self._session.open(run)

    def judge(self, path: Path, scene: SceneGraph) -> RequestId:
        """Judge any picture against a scene, and open it in the session.

        Raises:
            ImageError: The file is not a picture that can be read.
        """
        return self.judge_picture(self.read(path), scene)

    def judge_picture(self, picture: ForeignPicture, scene: SceneGraph) -> RequestId:
        """Judge a picture that was read against a scene, and open it."""
        return self._judge(picture.image, scene, _model_of(picture.settings))

    def scene_shown(self, path: Path, prompt: str) -> SceneGraph:
        """Read what a picture shall show, with the words that those know who judge it.

        Raises:
            ImageError: The file is not a picture that can be read.
            PromptError: The prompt is empty, or names what nobody would recognise.
        """
        return self._read_scene(prompt, _model_of(self._metadata().read(path)))

    def judge_open(self, scene: SceneGraph) -> RequestId | None:
        """Judge the open picture against another scene; None when there is no picture."""
        run = self._session.run
        return (
            None
            if run is None or run.image is None
            else self._judge(run.image, scene, run.model_id)
        )

    def _read_scene(self, text: str, model_id: str) -> SceneGraph:
        """Read a prompt for those who judge; the sticker models know the things of their world."""
        knows_stickers_only = self._judges.judges_of(model_id).knows_stickers_only
        return self._read_stickers(text) if knows_stickers_only else self._read_any(text)

    def _judge(self, image: RgbImage, scene: SceneGraph, model_id: str) -> RequestId:
        request_id = new_request_id()
        run = OpenRun(id=request_id, scene=scene, image=image, recorded_model_id=model_id)
        judges = self._judges.judges_of(model_id)
        if judges.detector_id is None:
            failure = report_on(no_detector_chosen(), "Judging the picture")
            self._session.open(replace(run, state=RunState.DONE, failure=failure))
            return request_id
        self._session.open(run)
        self._submit(EvaluateJob(job_id=request_id, image=image, scene=scene, judges=judges))
        return request_id


def _model_of(settings: PictureSettings | None) -> str:
    """Return the model that this program's own record in a picture names; empty without one."""
    return settings.model if settings is not None and settings.record else ""
