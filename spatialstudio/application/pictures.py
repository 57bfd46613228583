"""Pictures from elsewhere: shown, asked what they claim to show, and judged."""

from collections.abc import Callable
from pathlib import Path

from spatialstudio.application.engine.messages import EvaluateJob
from spatialstudio.application.flow.generate_image import new_request_id
from spatialstudio.application.judge_choice import JudgeChoice
from spatialstudio.application.session import OpenRun, RunState, Session
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId
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
        told: How it says that it was made; None when it does not.
    """

    name: str
    image: RgbImage
    told: PictureSettings | None


class Pictures:
    """Opens pictures that were not drawn here.

    Args:
        session: Where they are opened.
        submit: Has a picture judged.
        images: Reads picture files.
        metadata: Gives who reads what is told in them.
        read_scene: Reads a prompt for those who judge.
        judges: Tells who judges now.
    """

    def __init__(
        self,
        session: Session,
        submit: Callable[[EvaluateJob], None],
        images: Callable[[], ImageFiles],
        metadata: Callable[[], MetadataFiles],
        read_scene: Callable[[str], SceneGraph],
        judges: Callable[[], JudgeChoice],
    ) -> None:
        self._session = session
        self._submit = submit
        self._images = images
        self._metadata = metadata
        self._read_scene = read_scene
        self._judges = judges

    def read(self, path: Path) -> ForeignPicture:
        """Read a picture and how it says that it was made; from any thread, nothing is opened.

        Raises:
            ImageError: The file is not a picture that can be read.
        """
        told = self._metadata().read(path)
        return ForeignPicture(name=path.name, image=self._images().read(path), told=told)

    def claim_of(self, told: PictureSettings | None) -> SceneGraph | None:
        """Read the prompt that a picture tells; None when it claims nothing that can be judged.

        Raises:
            ModelNotFound: There is no model, so that nobody knows what can be judged.
        """
        if told is None or not told.prompt:
            return None
        try:
            scene = self._read_scene(told.prompt)
        except PromptError:
            return None
        return scene if scene.relations else None

    def show(self, picture: ForeignPicture) -> None:
        """Open a picture that nobody has said anything about yet."""
        run_id = new_request_id()
        run = OpenRun(id=run_id, scene=NO_CLAIM, image=picture.image, state=RunState.DONE)
        self._session.open(run)

    def judge(self, path: Path, scene: SceneGraph) -> RequestId:
        """Judge any picture against a scene, and open it in the session.

        Raises:
            ImageError: The file is not a picture that can be read.
        """
        return self.judge_image(self._images().read(path), scene)

    def judge_open(self, scene: SceneGraph) -> RequestId | None:
        """Judge the open picture against another scene; None when there is no picture."""
        run = self._session.run
        return None if run is None or run.image is None else self.judge_image(run.image, scene)

    def judge_image(self, image: RgbImage, scene: SceneGraph) -> RequestId:
        """Judge a picture that was read, (H, W, 3), against a scene, and open it."""
        request_id = new_request_id()
        self._session.open(OpenRun(id=request_id, scene=scene, image=image))
        self._submit(
            EvaluateJob(job_id=request_id, image=image, scene=scene, judges=self._judges())
        )
        return request_id
