"""Judging beyond the open run: many pictures, and recorded runs of a benchmark."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spatialstudio.application.evaluate.crops import perturbed_crops
from spatialstudio.application.evaluate.evaluate_image import evaluate_image
from spatialstudio.application.evaluate.evaluate_pictures import (
    JudgedPicture,
    PictureTask,
    evaluate_pictures,
)
from spatialstudio.application.evaluate.judge_choice import (
    PERTURBER_ID,
    judge_set_names,
    judges_by_origin,
    make_judge_set,
)
from spatialstudio.application.evaluate.metrics import DaModels, change_settings, score_assertions
from spatialstudio.application.registry import Registry
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import (
    DA_PRESETS,
    DA_RECOMMENDED,
    DaSettings,
)
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.judge_choice import DEFAULT_JUDGE_SET, JudgeSetChoice
from spatialstudio.domain.ports import CancelToken, Perturber
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import (
    CHECKER_PRESETS,
    CheckerSettings,
    Evaluation,
)
from spatialstudio.science.questions.da_score import SCENE_ID
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID

if TYPE_CHECKING:
    from spatialstudio.application.evaluate.recorded_runs import SweepRow
    from spatialstudio.domain.benchmark import RunReport

RECORDS_ID = "spatialbench-uc"
IMAGES_ID = "pillow"


@frozen
class DaModelChoice:
    """Who takes prompts apart and who answers, by id.

    Attributes:
        reader_id: An assertion reader; None for the scene alone.
        answerer_id: An answerer of questions; None for what was seen.
        settings: How answers become a score.
    """

    reader_id: str | None = None
    answerer_id: str | None = None
    settings: DaSettings = DA_RECOMMENDED

    @property
    def name(self) -> str:
        """What they are called in results."""
        who = f"{self.reader_id or SCENE_ID}, {self.answerer_id or PERCEPTION_ID}"
        return f"{who}, {self.settings.preset}"


DEFAULT_DA_MODELS = DaModelChoice()


class Judging:
    """Judges here and now, without the engine; keeps nothing but what it is asked to write.

    Args:
        registry: Where the adapters are.
        read_scene: Reads a prompt.
        read_sticker_scene: Reads a prompt that may name things of the sticker world only.
        is_sticker_picture: Whether a sticker model drew a picture, by the record in it.
    """

    def __init__(
        self,
        registry: Registry,
        read_scene: Callable[[str], SceneGraph],
        read_sticker_scene: Callable[[str], SceneGraph],
        is_sticker_picture: Callable[[Path], bool],
    ) -> None:
        self._registry = registry
        self._read_scene = read_scene
        self._read_sticker_scene = read_sticker_scene
        self._is_sticker_picture = is_sticker_picture

    def checker(self, name: str, changes: Sequence[str] = ()) -> CheckerSettings:
        """Return the checker's settings by the name of a preset, or from a settings file.

        Args:
            name: Of the preset, or the file's path.
            changes: Single settings that shall differ, as "margin=0.05".

        Raises:
            SettingsError: There is no such preset, file or setting, or it cannot be used.
        """
        if name in CHECKER_PRESETS:
            settings = CHECKER_PRESETS[name]
        else:
            settings = self._registry.records(RECORDS_ID).read_settings(Path(name))
        return change_settings(settings, changes)

    def da_settings(self, name: str, changes: Sequence[str] = ()) -> DaSettings:
        """Return the DA-score's settings by the name of a preset.

        Args:
            name: Of the preset.
            changes: Single settings that shall differ, as "temperature=2".

        Raises:
            SettingsError: There is no such preset or setting, or it cannot be used.
        """
        if name not in DA_PRESETS:
            raise SettingsError(
                f'There is no DA-score "{name}".', hint=f"Known are: {', '.join(DA_PRESETS)}."
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
        """Judge many pictures here and now, one after the other; an error ends only its own.

        Args:
            tasks: The pictures and their prompts.
            settings: Of the checker.
            token: Asked before each model call.
            da_models: Who takes prompts apart and who answers.
            choice: Who looks.

        Raises:
            Cancelled: The token was cancelled.
            ModelNotFound: A model that was chosen is not on this machine.
        """
        asked = self._da_models(da_models)

        def judge(own: JudgeSetChoice, image: RgbImage, scene: SceneGraph) -> Evaluation:
            evaluation = self.picture(image, scene, settings, own, token)
            return score_assertions(image, scene, evaluation, asked, token)

        for task in tasks:
            is_sticker = self._is_sticker_picture(task.path)
            own = judges_by_origin(choice, is_sticker_picture=is_sticker)
            yield from evaluate_pictures(
                [task],
                self._registry.images(IMAGES_ID),
                self._read_sticker_scene if own.knows_stickers_only else self._read_scene,
                partial(judge, own),
            )

    def picture(
        self,
        image: RgbImage,
        scene: SceneGraph,
        settings: CheckerSettings,
        choice: JudgeSetChoice,
        token: CancelToken,
    ) -> Evaluation:
        """Judge one picture, (H, W, 3) uint8, here and now.

        Args:
            image: The picture.
            scene: What it should show.
            settings: Of the checker.
            choice: Who looks.
            token: Asked before each model call.

        Raises:
            NoDetectorChosen: No detector is chosen.
            ModelNotFound: A model that was chosen is not on this machine.
            DetectorError: A model is damaged.
            Cancelled: The token was cancelled.
        """
        judges = make_judge_set(self._registry, choice)
        return evaluate_image(image, scene, judges, token, settings)

    def is_beyond_stickers(self, path: Path, choice: JudgeSetChoice) -> bool:
        """Say whether the sticker models were chosen for a picture that no sticker model drew."""
        return choice.knows_stickers_only and not self._is_sticker_picture(path)

    @property
    def perturber(self) -> Perturber:
        """Changes pictures a little, as the checker does to test an answer."""
        return self._registry.perturber(PERTURBER_ID)

    def perturbed_crops(self, image: RgbImage, evidence: Evidence) -> tuple[RgbImage, ...]:
        """Show the small changes behind a verdict, one crop for each of the evidence's answers.

        Args:
            image: (H, W, 3) uint8, the judged picture.
            evidence: Behind one of its verdicts.
        """
        return perturbed_crops(image, evidence, self.perturber)

    def models_of(self, choice: JudgeSetChoice) -> Mapping[str, str]:
        """Name those who look, for results: by what they do, with revision and weights' hash.

        Where no detector is chosen, sticker pictures alone are judged.
        """
        return judge_set_names(self._registry, judges_by_origin(choice, is_sticker_picture=True))

    def _da_models(self, choice: DaModelChoice) -> DaModels:
        reader, answerer = choice.reader_id, choice.answerer_id
        return DaModels(
            reader=self._registry.assertion_reader(reader) if reader else None,
            answerer=self._registry.answerer(answerer) if answerer else None,
            settings=choice.settings,
        )

    def records(
        self,
        source: Path,
        target: Path,
        settings: CheckerSettings | None = None,
        changes: Sequence[str] = (),
        *,
        overwrite: bool = False,
    ) -> "RunReport":
        """Judge a recorded run of a benchmark again, without any model.

        Args:
            source: The run's folder.
            target: Where verdicts and figures are written.
            settings: None for those that the run was judged with.
            changes: Single settings that shall differ, as for ``checker``.
            overwrite: Whether earlier results are replaced.

        Raises:
            ExportError: The target is the run's own folder, or results are there already.
            StoreError: The folder holds no such run, or the target cannot be written.
            SettingsError: The settings cannot be used.
        """
        from spatialstudio.application.evaluate.recorded_runs import judge_records

        records = self._registry.records(RECORDS_ID)
        return judge_records(records, source, target, settings, changes, overwrite=overwrite)

    def sweep(self, source: Path) -> "tuple[SweepRow, ...]":
        """Tell what other thresholds would make of a recorded run.

        Raises:
            StoreError: The folder holds no such run.
            SettingsError: The run's settings cannot be used.
        """
        from spatialstudio.application.evaluate.recorded_runs import sweep_thresholds

        run = self._registry.records(RECORDS_ID).read(source)
        return sweep_thresholds(run, run.settings)

    def write_prompts(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the prompts of the benchmark, drawn again from its recipe.

        Raises:
            TargetExists: The file is already there, and it is not to be replaced.
            StoreError: The file cannot be written.
        """
        self._registry.records(RECORDS_ID).write_prompts(path, overwrite=overwrite)
