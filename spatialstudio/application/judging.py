"""Judging beyond the open run: many pictures, and recorded runs of a benchmark."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from spatialstudio.application.flow.evaluate_pictures import (
    JudgedPicture,
    PictureTask,
    evaluate_pictures,
)
from spatialstudio.application.flow.judge_records import judge_records
from spatialstudio.application.flow.sweep_thresholds import SweepRow, sweep_thresholds
from spatialstudio.application.registry import Registry
from spatialstudio.application.workshop import ModelWorkshop
from spatialstudio.domain.benchmark import RunReport
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import CHECKER_PRESETS, CheckerSettings

RECORDS_ID = "spatialbench-uc"


class Judging:
    """Judges here and now, without the engine; keeps nothing but what it is asked to write.

    Args:
        registry: Where the adapters are.
        read_scene: Reads a prompt.
        images_id: Who reads pictures.
    """

    def __init__(
        self, registry: Registry, read_scene: Callable[[str], SceneGraph], images_id: str
    ) -> None:
        self._registry = registry
        self._read_scene = read_scene
        self._images_id = images_id

    def checker(self, name: str) -> CheckerSettings:
        """Return the checker's settings by the name of a preset, or from a settings file.

        Raises:
            SettingsError: There is no such preset or file, or it cannot be used.
        """
        if name in CHECKER_PRESETS:
            return CHECKER_PRESETS[name]
        return self._registry.records(RECORDS_ID).read_settings(Path(name))

    def pictures(
        self, tasks: Sequence[PictureTask], settings: CheckerSettings, token: CancelToken
    ) -> Iterator[JudgedPicture]:
        """Judge many pictures here and now, one after the other; an error ends only its own.

        Raises:
            Cancelled: The token was cancelled.
        """
        workshop = ModelWorkshop(self._registry)
        return evaluate_pictures(
            tasks,
            self._registry.images(self._images_id),
            self._read_scene,
            lambda image, scene: workshop.evaluate(image, scene, token, settings),
        )

    def records(
        self, source: Path, target: Path, settings: CheckerSettings | None = None
    ) -> RunReport:
        """Judge a recorded run of a benchmark again, without any model.

        Args:
            source: The run's folder.
            target: Where verdicts and figures are written.
            settings: None for those that the run was judged with.

        Raises:
            StoreError: The folder holds no such run, or the target cannot be written.
            SettingsError: The run's settings cannot be used.
        """
        return judge_records(self._registry.records(RECORDS_ID), source, target, settings)

    def sweep(self, source: Path) -> tuple[SweepRow, ...]:
        """Tell what other thresholds would make of a recorded run.

        Raises:
            StoreError: The folder holds no such run.
            SettingsError: The run's settings cannot be used.
        """
        run = self._registry.records(RECORDS_ID).read(source)
        return sweep_thresholds(run, run.settings)

    def write_prompts(self, path: Path) -> None:
        """Write the prompts of the benchmark, drawn again from its recipe.

        Raises:
            StoreError: The file cannot be written.
        """
        self._registry.records(RECORDS_ID).write_prompts(path)
