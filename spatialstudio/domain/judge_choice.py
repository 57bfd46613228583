"""Judge sets: the models that look at a picture and answer questions about it."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen

STICKER_DETECTOR_ID = "sticker-segmenter"
STICKER_DEPTH_ID = "sticker-depth"
UNSUITED = "A model of the judge set supports sticker pictures only, and this is not one."
"""Warning on the verdicts of sticker models on other pictures."""
MAX_NAME = 60
"""Characters in the name of a user-defined judge set."""


class JudgeTask(Enum):
    """The tasks in a judge set; the values are keys in files and results."""

    DETECTOR = "detector"
    SECOND_DETECTOR = "second_detector"
    SEGMENTER = "segmenter"
    DEPTH = "depth"
    ANSWERER = "answerer"


@frozen
class JudgeSetChoice:
    """The chosen models of a judge set: adapter ids, names of local models, or model folders.

    Attributes:
        set_id: Named judge set whose models fill the tasks without a model below; empty for none.
        detector_id: Detector; None for the default by the image's origin.
        second_id: Second detector; None for none.
        segmenter_id: Segmenter for detectors without masks; None for no masks.
        depth_id: Depth model; None for the sticker depth model with the sticker detector, else for
            none, as the sticker depth model does not generalise to other images.
        answerer_id: Question answerer of the DA-score; None for answers from the perception.
        cut: Score threshold for detections, [0, 1]; None for the threshold of its authors.
        is_unsuited: Whether the sticker models were chosen by hand for an image of another origin.
    """

    set_id: str = ""
    detector_id: str | None = None
    second_id: str | None = None
    segmenter_id: str | None = None
    depth_id: str | None = None
    answerer_id: str | None = None
    cut: float | None = None
    is_unsuited: bool = False

    def __post_init__(self) -> None:
        if self.cut is not None and not 0 <= self.cut <= 1:
            raise SettingsError(
                "The detection threshold must be between 0 and 1.", hint="Try 0.35, or omit it."
            )

    @property
    def depth_or_sticker_id(self) -> str | None:
        """The depth model, with the default for sticker images; None for none."""
        return self.depth_id or (STICKER_DEPTH_ID if self.knows_stickers_only else None)

    @property
    def knows_stickers_only(self) -> bool:
        """Whether only prompts about sticker objects can be evaluated."""
        return self.detector_id == STICKER_DETECTOR_ID

    @property
    def uses_sticker_models(self) -> bool:
        """Whether a sticker model does one of the tasks."""
        return not {STICKER_DETECTOR_ID, STICKER_DEPTH_ID}.isdisjoint(self.models.values())

    @property
    def models(self) -> Mapping[JudgeTask, str]:
        """The chosen model of each task that has one."""
        chosen = {
            JudgeTask.DETECTOR: self.detector_id,
            JudgeTask.SECOND_DETECTOR: self.second_id,
            JudgeTask.SEGMENTER: self.segmenter_id,
            JudgeTask.DEPTH: self.depth_or_sticker_id,
            JudgeTask.ANSWERER: self.answerer_id,
        }
        return {task: model for task, model in chosen.items() if model}


DEFAULT_JUDGE_SET = JudgeSetChoice()
STICKER_JUDGES = JudgeSetChoice(set_id="stickers", detector_id=STICKER_DETECTOR_ID)


@frozen
class Candidates:
    """The models that can do a task of a judge set.

    Attributes:
        models: Their names, preferred first.
        architectures: Class names of other models that are used where none of these is installed.
    """

    models: tuple[str, ...]
    architectures: tuple[str, ...] = ()


@frozen
class JudgeSetCard:
    """A named judge set.

    Attributes:
        id: Stable name in files and in the terminal: "open-vocabulary".
        label: Name in the window.
        help: One sentence about its use.
        tasks: Candidates by task; a set without an installed detector cannot be used, other tasks
            are left out where no candidate is installed.
        cut: Score threshold for detections, [0, 1]; None for the threshold of the authors.
        fault: Why a user-defined set cannot be used, as a clause; empty for a valid set.
    """

    id: str
    label: str
    help: str = ""
    tasks: Mapping[JudgeTask, Candidates]
    cut: float | None = None
    fault: str = ""


JUDGE_SET_CUT = "cut"
"""Key of the score threshold of a stored judge set, next to its tasks."""


def is_judge_set_name(name: str) -> bool:
    """Return True for a name of a user-defined judge set: printable, 1 to 60 characters."""
    return 0 < len(name) <= MAX_NAME and name.isprintable() and name == name.strip()


@frozen
class UsedJudgeSet:
    """The judge set of an evaluation, as stored with its verdicts.

    Attributes:
        id: Named judge set; empty for models chosen one by one.
        models: Name, revision and weight hash of the models, by task.
        cut: Chosen score threshold, [0, 1]; None for the threshold of the authors.
        is_unsuited: Whether the sticker models judged an image of another origin.
    """

    id: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    cut: float | None = None
    is_unsuited: bool = False

    @property
    def warning(self) -> str:
        """Warning on the verdicts; empty without one."""
        return UNSUITED if self.is_unsuited else ""


STICKERS = JudgeSetCard(
    id="stickers",
    label="Stickers",
    help="The embedded models; they recognise the objects of the sticker world only.",
    tasks={
        JudgeTask.DETECTOR: Candidates(models=(STICKER_DETECTOR_ID,)),
        JudgeTask.DEPTH: Candidates(models=(STICKER_DEPTH_ID,)),
    },
)

_GROUNDING_DINO = Candidates(
    models=("IDEA-Research/grounding-dino-base", "IDEA-Research/grounding-dino-tiny"),
    architectures=("GroundingDinoForObjectDetection",),
)
_DEPTH = Candidates(
    models=(
        "depth-anything/Depth-Anything-V2-Base-hf",
        "depth-anything/Depth-Anything-V2-Small-hf",
    ),
    architectures=("DepthAnythingForDepthEstimation", "DPTForDepthEstimation"),
)
_ANSWERER = Candidates(
    models=("Salesforce/blip-vqa-capfilt-large", "Salesforce/blip-vqa-base"),
    architectures=("BlipForQuestionAnswering",),
)
_RT_DETR = Candidates(
    models=("PekingU/rtdetr_r50vd", "PekingU/rtdetr_v2_r50vd"),
    architectures=(
        "RTDetrForObjectDetection",
        "RTDetrV2ForObjectDetection",
        "DetrForObjectDetection",
        "ConditionalDetrForObjectDetection",
        "DeformableDetrForObjectDetection",
        "YolosForObjectDetection",
    ),
)

OPEN_VOCABULARY = JudgeSetCard(
    id="open-vocabulary",
    label="Open vocabulary",
    help="Grounding DINO, SAM 2 and Depth Anything; finds any object that a prompt names.",
    tasks={
        JudgeTask.DETECTOR: Candidates(
            models=(*_GROUNDING_DINO.models, "google/owlv2-base-patch16-ensemble"),
            architectures=(
                *_GROUNDING_DINO.architectures,
                "Owlv2ForObjectDetection",
                "OwlViTForObjectDetection",
            ),
        ),
        JudgeTask.SEGMENTER: Candidates(
            models=(
                "facebook/sam2.1-hiera-base-plus",
                "facebook/sam2.1-hiera-small",
                "facebook/sam2.1-hiera-tiny",
                "facebook/sam-vit-base",
            ),
            architectures=("Sam2Model", "Sam2VideoModel", "SamModel"),
        ),
        JudgeTask.DEPTH: _DEPTH,
        JudgeTask.ANSWERER: _ANSWERER,
    },
)

COCO = JudgeSetCard(
    id="coco",
    label="COCO",
    help="Mask2Former and RT-DETR; finds the 80 object classes of COCO.",
    tasks={
        JudgeTask.DETECTOR: Candidates(
            models=(
                "facebook/mask2former-swin-small-coco-instance",
                "facebook/mask2former-swin-large-coco-instance",
                *_RT_DETR.models,
            ),
            architectures=("Mask2FormerForUniversalSegmentation", *_RT_DETR.architectures),
        ),
        JudgeTask.SECOND_DETECTOR: _RT_DETR,
        JudgeTask.DEPTH: _DEPTH,
        JudgeTask.ANSWERER: _ANSWERER,
    },
)

SPATIALBENCH_UC = JudgeSetCard(
    id="spatialbench-uc",
    label="SpatialBench-UC",
    help="The detectors and thresholds of SpatialBench-UC: COCO classes at a score of 0.5, and "
    "Grounding DINO; RT-DETR replaces Faster R-CNN, which needs torchvision.",
    tasks={
        JudgeTask.DETECTOR: _RT_DETR,
        JudgeTask.SECOND_DETECTOR: _GROUNDING_DINO,
    },
    cut=0.5,
)

JUDGE_SETS = (STICKERS, OPEN_VOCABULARY, COCO, SPATIALBENCH_UC)
"""The built-in judge sets; the default for other images than stickers is the first suitable one."""
