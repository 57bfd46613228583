"""Evaluation outside the open run: many images, and recorded benchmark runs.

An image that fails yields an error and does not stop the others.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.answer_cache import CachedAnswerer
from spatialstudio.application.evaluate.checker_presets import CheckerPresets
from spatialstudio.application.evaluate.crops import perturbed_crops
from spatialstudio.application.evaluate.evaluate_image import evaluate_image
from spatialstudio.application.evaluate.judge_choice import (
    PERTURBER_ID,
    JudgeDefaults,
    is_used,
    judge_set_names,
    make_judge_set,
    used_judge_set,
)
from spatialstudio.application.evaluate.metrics import DaModels, change_settings, score_assertions
from spatialstudio.application.inspect.inspection import judged_again
from spatialstudio.application.registry import Registry
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import (
    DA_PRESETS,
    DA_RECOMMENDED,
    Assertions,
    DaSettings,
)
from spatialstudio.domain.errors import (
    Cancelled,
    ErrorReport,
    ImageError,
    PromptError,
    SettingsError,
    StoreError,
)
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.judge_choice import DEFAULT_JUDGE_SET, JudgeSetChoice
from spatialstudio.domain.ports import CancelToken, ImageFiles, Perturber, QuestionAnswerer
from spatialstudio.domain.safe_files import MEBIBYTE, open_regular, parse_limited
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import (
    CheckerSettings,
    Evaluation,
)
from spatialstudio.science.questions.da_score import SCENE_ID, assertions_of
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID
from spatialstudio.science.refine.prompt_parts import in_prompt_order

if TYPE_CHECKING:
    from spatialstudio.application.evaluate.recorded_runs import SweepRow
    from spatialstudio.domain.audit import AuditFiles
    from spatialstudio.domain.benchmark import RunReport
    from spatialstudio.domain.ports import RecordedRuns

PICTURE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
PICTURE_COLUMN = "picture"
PROMPT_COLUMN = "prompt"
LARGEST_LIST_BYTES = 32 * MEBIBYTE
"""Largest size of a prompt file."""


@frozen
class PictureTask:
    """An image to evaluate.

    Attributes:
        path: Path of the image file.
        prompt: Prompt to evaluate against; None if unknown.
    """

    path: Path
    prompt: str | None


@frozen(eq=False)
class JudgedPicture:
    """The result for one image: an evaluation or an error.

    Attributes:
        task: The image.
        scene: Scene of the prompt; None if the prompt could not be read.
        image: (H, W, 3) uint8; None after an error.
        evaluation: None after an error.
        error: None after an evaluation.
    """

    task: PictureTask
    scene: SceneGraph | None = None
    image: RgbImage | None = None
    evaluation: Evaluation | None = None
    error: ErrorReport | None = None


def evaluate_pictures(
    tasks: Sequence[PictureTask],
    images: ImageFiles,
    read_scene: Callable[[str], SceneGraph],
    judge: Callable[[RgbImage, SceneGraph], Evaluation],
) -> Iterator[JudgedPicture]:
    """Evaluate images one after the other.

    Args:
        tasks: The images.
        images: Reads image files.
        read_scene: Reads prompts.
        judge: Evaluates one image.

    Raises:
        Cancelled: The user cancelled.
    """
    for task in tasks:
        scene = None
        try:
            scene = read_scene(_prompt_of(task))
            image = images.read(task.path)
            evaluation = judge(image, scene)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - one picture's failure must not end the others
            report = report_on(error, f'Judging "{task.path.name}"')
            yield JudgedPicture(task=task, scene=scene, error=report)
        else:
            yield JudgedPicture(task=task, scene=scene, image=image, evaluation=evaluation)


def list_tasks(
    paths: Sequence[Path], prompt: str | None, prompts: Mapping[str, str]
) -> tuple[PictureTask, ...]:
    """List the images in files and folders, each with its prompt.

    Args:
        paths: Files and folders; images of a folder are sorted by name.
        prompt: Prompt of all images without an individual prompt.
        prompts: Prompts by image name, with or without suffix.

    Raises:
        ImageError: No image was found.
    """
    pictures = [picture for path in paths for picture in _pictures_at(path)]
    if not pictures:
        raise ImageError(
            "There is no picture to judge.", hint="Pass picture files or folders of pictures."
        )
    return tuple(
        PictureTask(path=path, prompt=prompts.get(path.name, prompts.get(path.stem, prompt)))
        for path in pictures
    )


def read_prompts(path: Path) -> Mapping[str, str]:
    """Read a file that assigns prompts to images.

    Args:
        path: A CSV file, or JSON lines, with the fields "picture" and "prompt".

    Returns:
        Prompts by image name.

    Raises:
        PromptError: The file cannot be read.
    """
    try:
        with TextIOWrapper(open_regular(path, LARGEST_LIST_BYTES), "utf-8-sig") as file:
            lines = (line for line in file if line.strip())
            is_table = path.suffix.lower() == ".csv"
            rows = csv.DictReader(lines) if is_table else map(_parsed, lines)
            return {str(row[PICTURE_COLUMN]): str(row[PROMPT_COLUMN]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise PromptError(
            f'The prompts in "{path}" cannot be read.',
            hint='It must be CSV or JSON Lines with "picture" and "prompt".',
        ) from error


def _parsed(line: str) -> Any:
    return parse_limited(line.encode("utf-8", "surrogatepass"))


def _pictures_at(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(found for found in path.iterdir() if found.suffix.lower() in PICTURE_SUFFIXES)


def _prompt_of(task: PictureTask) -> str:
    if task.prompt is None:
        raise PromptError(
            f'There is no prompt for "{task.path.name}".',
            hint="Pass --prompt, or add the picture to the prompts file.",
        )
    return task.prompt


RECORDS_ID = "spatialbench-uc"
IMAGES_ID = "pillow"


@frozen
class DaModelChoice:
    """Ids of the models of the DA-score.

    Attributes:
        reader_id: An assertion reader; None for the scene's assertions alone.
        answerer_id: A question answerer; None for answers from the perception.
        settings: Settings of the DA-score.
        is_cached: Whether cached answers of the answerer to equal questions are used.
    """

    reader_id: str | None = None
    answerer_id: str | None = None
    settings: DaSettings = DA_RECOMMENDED
    is_cached: bool = True

    @property
    def name(self) -> str:
        """Name in results."""
        who = f"{self.reader_id or SCENE_ID}, {self.answerer_id or PERCEPTION_ID}"
        return f"{who}, {self.settings.preset}"


DEFAULT_DA_MODELS = DaModelChoice()


class Judging:
    """Evaluates without the engine, in the calling thread; writes only the requested files.

    Args:
        registry: Registry of adapters.
        read_scene: Reads a prompt.
        read_sticker_scene: Reads a prompt with the objects of the sticker world only.
        is_sticker_picture: Returns whether an image's metadata names a sticker model.
        defaults: Judge sets by the origin of an image.
        presets: Presets of the checker.
    """

    def __init__(
        self,
        registry: Registry,
        read_scene: Callable[[str], SceneGraph],
        read_sticker_scene: Callable[[str], SceneGraph],
        is_sticker_picture: Callable[[Path], bool],
        defaults: JudgeDefaults,
        presets: CheckerPresets,
    ) -> None:
        self._registry = registry
        self._presets = presets
        self._read_scene = read_scene
        self._read_sticker_scene = read_sticker_scene
        self._is_sticker_picture = is_sticker_picture
        self._defaults = defaults
        self._cached_answerers: dict[str, CachedAnswerer] = {}

    def checker(self, name: str, changes: Sequence[str] = ()) -> CheckerSettings:
        """Return the checker's settings of a preset or a settings file.

        Args:
            name: Name of the preset, or path of the file.
            changes: Settings to override, as "margin=0.05".

        Raises:
            SettingsError: There is no such preset, file or setting, or it is invalid.
        """
        return change_settings(self._presets.settings(name), changes)

    def da_settings(self, name: str, changes: Sequence[str] = ()) -> DaSettings:
        """Return the DA-score's settings of a preset.

        Args:
            name: Name of the preset.
            changes: Settings to override, as "temperature=2".

        Raises:
            SettingsError: There is no such preset or setting, or it is invalid.
        """
        if name not in DA_PRESETS:
            raise SettingsError(
                f'There is no DA-score preset "{name}".',
                hint=f"Available: {', '.join(DA_PRESETS)}.",
            )
        return change_settings(DA_PRESETS[name], changes)

    def pictures(
        self,
        tasks: Sequence[PictureTask],
        settings: CheckerSettings,
        token: CancelToken,
        da_models: DaModelChoice = DEFAULT_DA_MODELS,
        choice: JudgeSetChoice = DEFAULT_JUDGE_SET,
    ) -> Iterator[JudgedPicture]:
        """Evaluate images one after the other; an error affects only its image.

        Args:
            tasks: The images and their prompts.
            settings: Settings of the checker.
            token: Checked before each model call.
            da_models: Models of the DA-score.
            choice: The judge set.

        Raises:
            Cancelled: The token was cancelled.
            ModelNotFound: A chosen model is not installed.
        """

        def judge(is_sticker: bool, image: RgbImage, scene: SceneGraph) -> Evaluation:
            own = self._defaults.judges_for(choice, scene, is_sticker_picture=is_sticker)
            return self.scored_picture(image, scene, settings, own, token, da_models)

        for task in tasks:
            is_sticker = self._is_sticker_picture(task.path)
            yield from evaluate_pictures(
                [task],
                self._registry.images(IMAGES_ID),
                partial(self.read_scene, choice, is_sticker_picture=is_sticker),
                partial(judge, is_sticker),
            )

    def run(
        self,
        run: OpenRun,
        settings: CheckerSettings,
        token: CancelToken,
        da_models: DaModelChoice = DEFAULT_DA_MODELS,
        choice: JudgeSetChoice = DEFAULT_JUDGE_SET,
    ) -> OpenRun:
        """Return a run with its image evaluated by a judge set; nothing is drawn or stored.

        By the judge set of its evaluation, the run is evaluated from the stored perception.

        Args:
            run: A run with an image.
            settings: Settings of the checker.
            token: Checked before each model call.
            da_models: Models of the DA-score.
            choice: The judge set.

        Raises:
            StoreError: The run has no image.
            NoDetectorChosen: No detector is chosen, and no installed judge set suits the image.
            ModelNotFound: A chosen model is not installed.
            DetectorError: A model is damaged.
            Cancelled: The token was cancelled.
        """
        if run.image is None:
            raise StoreError("The run has no picture.", hint="Open another run.")
        is_sticker = self._defaults.draws_stickers(run.model_id)
        own = self._defaults.judges_for(choice, run.scene, is_sticker_picture=is_sticker)
        if run.evaluation and run.evaluation.judge_set and is_used(own, run.evaluation.judge_set):
            return judged_again(run, settings, da_models.settings)
        judged = self.scored_picture(run.image, run.scene, settings, own, token, da_models)
        return replace(run, evaluation=judged)

    def scored_picture(
        self,
        image: RgbImage,
        scene: SceneGraph,
        settings: CheckerSettings,
        choice: JudgeSetChoice,
        token: CancelToken,
        da_models: DaModelChoice = DEFAULT_DA_MODELS,
    ) -> Evaluation:
        """Evaluate one image, (H, W, 3) uint8, with its DA-score; see ``picture``."""
        evaluation = self.picture(image, scene, settings, choice, token)
        answerer_id = da_models.answerer_id or choice.answerer_id
        asked = self._da_models(replace(da_models, answerer_id=answerer_id))
        return score_assertions(image, scene, evaluation, asked, token)

    def picture(
        self,
        image: RgbImage,
        scene: SceneGraph,
        settings: CheckerSettings,
        choice: JudgeSetChoice,
        token: CancelToken,
    ) -> Evaluation:
        """Evaluate one image, (H, W, 3) uint8.

        Args:
            image: The image.
            scene: Scene of the prompt.
            settings: Settings of the checker.
            choice: The judge set.
            token: Checked before each model call.

        Raises:
            NoDetectorChosen: No detector is chosen.
            ModelNotFound: A chosen model is not installed.
            DetectorError: A model is damaged.
            Cancelled: The token was cancelled.
        """
        judges = make_judge_set(self._registry, choice)
        evaluation = evaluate_image(image, scene, judges, token, settings)
        return replace(evaluation, judge_set=used_judge_set(self._registry, choice))

    def read_scene(
        self, choice: JudgeSetChoice, text: str, *, is_sticker_picture: bool
    ) -> SceneGraph:
        """Read a prompt for a choice of judge set; sticker models know sticker objects only.

        Raises:
            PromptError: The prompt is empty, or names an unknown object.
        """
        is_limited = self._defaults.knows_stickers_only(
            choice, is_sticker_picture=is_sticker_picture
        )
        return self._read_sticker_scene(text) if is_limited else self._read_scene(text)

    @property
    def perturber(self) -> Perturber:
        """Perturber of images, as used by the checker."""
        return self._registry.perturber(PERTURBER_ID)

    def perturbed_crops(self, image: RgbImage, evidence: Evidence) -> tuple[RgbImage, ...]:
        """Return the perturbed crops behind a verdict, one for each perturbed answer.

        Args:
            image: (H, W, 3) uint8, the evaluated image.
            evidence: Evidence of one of its verdicts.
        """
        return perturbed_crops(image, evidence, self.perturber)

    def models_of(self, choice: JudgeSetChoice) -> Mapping[str, str]:
        """Return the chosen models' names by role, with revision and weight hash, for results.

        Without a chosen detector only sticker images are evaluated; the names are those for them.
        """
        return judge_set_names(self._registry, self._defaults.of_stickers(choice))

    def decompose(self, scene: SceneGraph, reader_id: str | None, token: CancelToken) -> Assertions:
        """Return the assertions of a prompt in the order of its words.

        Args:
            scene: Scene of the prompt.
            reader_id: Assertion reader; None to derive the assertions from the scene.
            token: Checked while waiting for a language model.

        Raises:
            Cancelled: The token was cancelled.
        """
        if reader_id is None:
            return in_prompt_order(assertions_of(scene), scene)
        return in_prompt_order(self._registry.assertion_reader(reader_id).read(scene, token), scene)

    def _da_models(self, choice: DaModelChoice) -> DaModels:
        reader, answerer = choice.reader_id, choice.answerer_id
        return DaModels(
            reader=self._registry.assertion_reader(reader) if reader else None,
            answerer=self._answerer(answerer, choice.is_cached) if answerer else None,
            settings=choice.settings,
        )

    def _answerer(self, answerer_id: str, is_cached: bool) -> QuestionAnswerer:
        answerer = self._registry.answerer(answerer_id)
        if self._registry.cache is None or not is_cached:
            return answerer
        cached = CachedAnswerer(answerer, self._registry.cache)
        return self._cached_answerers.setdefault(answerer_id, cached)

    @property
    def audit_files(self) -> "AuditFiles":
        """Reader and writer of audits of recorded runs."""
        return self._registry.audit_files(RECORDS_ID)

    @property
    def recorded_runs(self) -> "RecordedRuns":
        """Reader and writer of recorded runs."""
        return self._registry.records(RECORDS_ID)

    def records(
        self,
        source: Path,
        target: Path,
        settings: CheckerSettings | None = None,
        changes: Sequence[str] = (),
        *,
        overwrite: bool = False,
    ) -> "RunReport":
        """Re-evaluate a recorded benchmark run, without running a model.

        Args:
            source: Folder of the run.
            target: Output folder of verdicts and metrics.
            settings: None for the settings of the recorded run.
            changes: Settings to override, as for ``checker``.
            overwrite: Whether to replace earlier results.

        Raises:
            ExportError: The target is the run's own folder, or contains results.
            StoreError: The folder contains no such run, or the target is not writable.
            SettingsError: The settings are invalid.
        """
        from spatialstudio.application.evaluate.recorded_runs import judge_records

        records = self._registry.records(RECORDS_ID)
        return judge_records(records, source, target, settings, changes, overwrite=overwrite)

    def sweep(self, source: Path) -> "tuple[SweepRow, ...]":
        """Re-evaluate a recorded run over a grid of thresholds.

        Raises:
            StoreError: The folder contains no such run.
            SettingsError: The run's settings are invalid.
        """
        from spatialstudio.application.evaluate.recorded_runs import sweep_thresholds

        run = self._registry.records(RECORDS_ID).read(source)
        return sweep_thresholds(run, run.settings)

    def write_prompts(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the prompts of the benchmark, generated from its recipe.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """
        self._registry.records(RECORDS_ID).write_prompts(path, overwrite=overwrite)
