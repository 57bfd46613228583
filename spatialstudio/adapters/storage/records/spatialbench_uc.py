"""Reader and writer of SpatialBench-UC run folders in the release's schema.

A run folder holds ``manifest.jsonl``, one line per generated picture, and ``eval/`` with
``per_sample.jsonl``, one line per judged picture, detections included. The path of an evaluation
folder inside a run, such as ``eval_precal_20260116_113552/``, is accepted instead of the run's.

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, and its release v1.0.1. Its evaluation
omits pictures that it cannot judge; here a picture without a record counts as an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from math import isfinite
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any

from spatialstudio.adapters.durable_files import written_together
from spatialstudio.adapters.safe_yaml import parse_yaml
from spatialstudio.adapters.storage.records.spatialbench_report import write_report
from spatialstudio.domain.benchmark import (
    BenchmarkItem,
    JudgedSample,
    RecordedRun,
    RecordedSample,
    RunReport,
)
from spatialstudio.domain.errors import SettingsError, StoreError
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    FileTooLarge,
    JsonTooLarge,
    parse_limited,
    read_regular,
)
from spatialstudio.domain.scene import (
    MentionId,
    Relation,
    RelationId,
    relation_types,
)
from spatialstudio.domain.verdict import (
    REPRODUCE,
    Box,
    CheckerSettings,
    Detection,
    Looks,
    Perception,
    Perturbation,
    PerturbationKind,
    StabilityMeasure,
)
from spatialstudio.domain.write_gate import FILE_GATE
from spatialstudio.science.benchmark.prompts import draw_prompts

CONFIG_FILE = "checker_config.yaml"
LARGEST_CONFIG_BYTES = 64 * 1024

OWN_TABLE = "spatial_studio"
SHARES = {
    "margin": ("geometry", "margin"),
    "detection_score": ("thresholds", "detection_score"),
    "min_area_fraction": ("thresholds", "min_area_fraction"),
    "ambiguity_delta": ("thresholds", "ambiguity_delta"),
    "max_overlap_iou": ("thresholds", "max_overlap_iou"),
    "min_stability": ("stability", "consistency_threshold"),
    "geometry_slope": ("confidence", "geom_slope"),
    **{
        name: (OWN_TABLE, name)
        for name in (
            *("min_agreement", "min_confidence", "near_distance", "far_distance"),
            *("between_margin", "depth_margin", "duplicate_containment"),
        )
    },
}
"""Our settings in [0, 1], with their keys in the file; the release knows the first seven."""
FLAGS = ("merges_duplicates", "decides_agreeing_instances", "overlap_bars_vertical")
MEASURE = "stability_measure"
"""Settings that the release does not know, in ``OWN_TABLE``."""

CHANGED_PRESET = f"{REPRODUCE.preset}, other thresholds"
"""Preset name of settings that differ from the published ones."""

WEIGHTS = ("detection", "geometry", "stability", "agreement")
AMOUNTS = ("factor", "sigma", "scale")
"""Keys for the amount of a perturbation, depending on its kind."""


def read_checker_config(path: Path) -> CheckerSettings:
    """Read a settings file; missing values default to the published ones.

    Raises:
        SettingsError: It cannot be read or holds an invalid value.
    """
    try:
        tables = parse_yaml(read_regular(path, LARGEST_CONFIG_BYTES).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f'The settings file "{path.name}" cannot be read.',
            hint="It must be a checker configuration of SpatialBench-UC, in YAML.",
        ) from error
    if not isinstance(tables, Mapping):
        raise _unusable("the file", tables)
    values: dict[str, Any] = {name: _flag(tables, name) for name in FLAGS}
    values |= {
        name: _share(_at(tables, *place), ".".join(place))
        for name, place in SHARES.items()
        if _at(tables, *place) is not None
    }
    settings = replace(
        REPRODUCE,
        weights=_weights(tables),
        perturbations=_perturbations(tables),
        stability_measure=_measure(tables),
        **values,
    )
    return settings if settings == REPRODUCE else replace(settings, preset=CHANGED_PRESET)


def _at(tables: Mapping[str, Any], *names: str) -> Any:
    found: Any = tables
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _flag(tables: Mapping[str, Any], name: str) -> bool:
    value = _at(tables, OWN_TABLE, name)
    if value is None:
        return bool(getattr(REPRODUCE, name))
    if not isinstance(value, bool):
        raise _unusable(f"{OWN_TABLE}.{name}", value)
    return value


def _measure(tables: Mapping[str, Any]) -> StabilityMeasure:
    value = _at(tables, OWN_TABLE, MEASURE)
    try:
        return REPRODUCE.stability_measure if value is None else StabilityMeasure(value)
    except ValueError as error:
        raise _unusable(f"{OWN_TABLE}.{MEASURE}", value) from error


def _weights(tables: Mapping[str, Any]) -> tuple[float, float, float, float]:
    table = _at(tables, "confidence", "weights")
    if table is None:
        return REPRODUCE.weights
    detection, geometry, stability, agreement = (
        _share(_at(tables, "confidence", "weights", name), f"confidence.weights.{name}")
        for name in WEIGHTS
    )
    return detection, geometry, stability, agreement


def _perturbations(tables: Mapping[str, Any]) -> tuple[Perturbation, ...]:
    if _at(tables, "stability", "enabled") is False:
        return ()
    listed = _at(tables, "stability", "perturbations")
    if listed is None:
        return REPRODUCE.perturbations
    if not isinstance(listed, list):
        raise _unusable("stability.perturbations", listed)
    return tuple(_perturbation(entry) for entry in listed)


def _perturbation(entry: Any) -> Perturbation:
    if isinstance(entry, Mapping):
        amounts = [entry[name] for name in AMOUNTS if name in entry]
        kinds = {kind.value: kind for kind in PerturbationKind}
        kind = kinds.get(str(entry.get("type")))
        if kind and len(amounts) == 1 and _is_number(amounts[0]) and amounts[0] > 0:
            return Perturbation(kind=kind, amount=float(amounts[0]))
    raise _unusable("stability.perturbations", entry)


def _share(value: Any, name: str) -> float:
    if not _is_number(value) or not 0 <= value <= 1:
        raise _unusable(name, value)
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _unusable(name: str, value: Any) -> SettingsError:
    return SettingsError(
        f'The value {short_repr(value)} is invalid for the setting "{name}".',
        hint="Fractions must be between 0 and 1; see checker_config.yaml of the release.",
    )


OBJECTS_FILE = Path("benchmarks") / "spatialbench-uc" / "objects.txt"


def read_objects(resources: Path) -> tuple[str, ...]:
    """Read the object names of the release, in its order.

    Raises:
        StoreError: The file is missing.
    """
    try:
        return tuple((resources / OBJECTS_FILE).read_text(encoding="utf-8").splitlines())
    except OSError as error:
        raise StoreError(
            f'The file "{OBJECTS_FILE.name}" is missing.', hint="Install Spatial Studio again."
        ) from error


MANIFEST_FILE = "manifest.jsonl"
RECORDS_FILE = "per_sample.jsonl"
METRICS_FILE = "metrics.json"
EVALUATION_FOLDER = "eval"
PRECALIBRATION_FOLDER = "eval_precal"
"""Start of the name of the folder with the verdicts before the calibration."""
LARGEST_BYTES = 64 * MEBIBYTE
MOST_VALUES = 1_000_000
"""Limit per file; a run of 800 pictures has 80,000."""
RELEASE_SIDE = 512
"""Picture side in pixels if its line gives no size."""
FAILED_DETECTOR: Mapping[str, Any] = {"type": "failed", "detections": ()}
"""Placeholder for a second detector of which only an agreement of one half is recorded."""

_BROKEN = (KeyError, TypeError, ValueError, AttributeError, OverflowError)


def build(surroundings: Surroundings) -> "SpatialBenchRuns":
    """Create the reader and writer."""
    return SpatialBenchRuns(surroundings.resources)


class SpatialBenchRuns:
    """Reads and writes run folders of SpatialBench-UC; implements ``RecordedRuns``."""

    id = "spatialbench-uc"

    def __init__(self, resources: Path) -> None:
        self._resources = resources

    def read(self, folder: Path) -> RecordedRun:
        """Read a run, or one evaluation of it.

        Raises:
            StoreError: The folder holds no such run, or its manifest is damaged.
            SettingsError: Its settings are invalid.
        """
        run_folder, evaluation = find_run(folder)
        records = dict(read_records(evaluation / RECORDS_FILE))
        manifest = read_manifest(run_folder / MANIFEST_FILE)
        try:
            samples = tuple(_sample(line, records) for line in manifest)
        except _BROKEN as error:
            raise _damaged(run_folder / MANIFEST_FILE) from error
        return RecordedRun(
            id=str(manifest[0].get("run_id", run_folder.name)),
            samples=samples,
            settings=_settings(evaluation / CONFIG_FILE, records),
            counts_full_reasons=_counts_full_reasons(evaluation),
        )

    def read_settings(self, path: Path) -> CheckerSettings:
        """Read a settings file of the release.

        Raises:
            SettingsError: It cannot be read or holds an invalid value.
        """
        return read_checker_config(path)

    def write(
        self,
        run: RecordedRun,
        judged: Sequence[JudgedSample],
        report: RunReport,
        folder: Path,
        *,
        overwrite: bool = False,
    ) -> None:
        """Write ``per_sample.jsonl``, ``metrics.json`` and the report's tables: all, or none.

        Raises:
            TargetExists: A file already exists and ``overwrite`` is False.
            StoreError: The folder cannot be written or is full.
        """
        write_report(run, judged, report, folder, overwrite=overwrite)

    def files_of(self, folder: Path) -> tuple[Path, ...]:
        """List the files of a run and of its evaluation.

        Raises:
            StoreError: The folder holds no such run.
        """
        run_folder, evaluation = find_run(folder)
        return tuple(path for home in {run_folder, evaluation} for path in home.iterdir())

    def write_prompts(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the release's ``prompts.jsonl``, generated again.

        Raises:
            TargetExists: The file already exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """
        content = draw_prompts(read_objects(self._resources))
        with FILE_GATE.passed(), written_together(path.parent, overwrite=overwrite) as write:
            write(path.name, content)


def find_run(folder: Path) -> tuple[Path, Path]:
    """Return the folders of the run and of the evaluation.

    Raises:
        StoreError: The folder holds no run, or the run has no such evaluation.
    """
    candidates = ((folder, folder / EVALUATION_FOLDER), (folder.parent, folder), (folder, folder))
    for run_folder, evaluation in candidates:
        if (run_folder / MANIFEST_FILE).exists() and (evaluation / RECORDS_FILE).exists():
            return run_folder, evaluation
    run = next((each for each in (folder, folder.parent) if (each / MANIFEST_FILE).exists()), None)
    others = sorted(path.parent.name for path in run.glob(f"*/{RECORDS_FILE}")) if run else []
    if others:
        name = EVALUATION_FOLDER if run == folder else folder.name
        raise StoreError(
            f'The run "{run}" has no evaluation "{name}".',
            hint=f"It has these evaluations: {', '.join(others)}. Choose one of them.",
        )
    raise StoreError(
        f'The folder "{folder}" contains no SpatialBench-UC run.',
        hint=f'It needs "{MANIFEST_FILE}" and "{EVALUATION_FOLDER}/{RECORDS_FILE}".',
    )


def read_manifest(path: Path) -> list[dict[str, Any]]:
    """Read the manifest; for a picture generated again, the last line counts."""
    lines = list(_json_lines(path))
    drawn = {str(line["sample_id"]): line for line in lines if line and "sample_id" in line}
    if not drawn or not all(line and "sample_id" in line for line in lines):
        raise _damaged(path)
    return list(drawn.values())


def _json_lines(path: Path) -> Iterator[dict[str, Any] | None]:
    """Read a file with one JSON object per line; None for a damaged line."""
    try:
        content = read_regular(path, LARGEST_BYTES)
    except FileTooLarge as error:
        raise _too_large(path) from error
    except OSError as error:
        raise _damaged(path) from error
    if sum(map(content.count, (b",", b":", b"[", b"{"))) > MOST_VALUES:
        raise _too_large(path)
    for line in BytesIO(content):
        if line.strip():
            value = _json_of(line, path)
            yield value if isinstance(value, dict) else None


def _json_of(line: bytes, path: Path) -> Any:
    try:
        return parse_limited(line.decode("utf-8", "replace").encode(), with_constants=True)
    except JsonTooLarge as error:
        raise _too_large(path) from error
    except ValueError:
        return None


def read_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the record of each judged picture; damaged lines are left out."""
    for record in _json_lines(path):
        if record is not None and "sample_id" in record:
            yield str(record["sample_id"]), record


def _sample(line: Mapping[str, Any], records: Mapping[str, dict[str, Any]]) -> RecordedSample:
    item = BenchmarkItem(
        id=line["prompt_id"],
        prompt=line["prompt"],
        relation_type=relation_types[line["relation"]],
        subject=line["object_a"],
        object=line["object_b"],
    )
    drawn = line["gen_params"]
    size = drawn.get("height", RELEASE_SIDE), drawn.get("width", RELEASE_SIDE)
    record = records.get(str(line["sample_id"]))
    try:
        looks, perception = _seen(record or {}, item, size)
    except _BROKEN:
        looks, perception = Looks(), None
    return RecordedSample(
        id=str(line["sample_id"]),
        item=item,
        seed=int(drawn["seed"]),
        relation=Relation(
            id=RelationId(item.id),
            type=item.relation_type,
            subject=MentionId(item.subject),
            object=MentionId(item.object),
        ),
        perception=perception,
        looks=looks,
        untouched=record or {},
    )


def _seen(
    record: Mapping[str, Any], item: BenchmarkItem, size: tuple[int, int]
) -> tuple[Looks, Perception]:
    detectors = record["detectors"]
    components = record["conf_components"]
    was_tested = record["conf"] > 0
    second = detectors.get("secondary")
    if second is None and was_tested and components["agreement"] < 1:
        second = FAILED_DETECTOR
    looks = Looks(
        second=_perception(second, item, size) if second else None,
        stability=components["stability"] if was_tested else None,
    )
    return looks, _perception(detectors["primary"], item, size)


def _perception(
    detector: Mapping[str, Any], item: BenchmarkItem, size: tuple[int, int]
) -> Perception:
    names = {name.lower(): name for name in (item.subject, item.object)}
    height, width = size
    return Perception(
        image_sha256="",
        height=height,
        width=width,
        detections=tuple(
            _detection(found, names, detector["type"]) for found in detector["detections"]
        ),
        masks=(),
    )


def _detection(found: Mapping[str, Any], names: Mapping[str, str], detector_id: str) -> Detection:
    left, top, right, bottom = (float(edge) for edge in found["box_xyxy"])
    label = found["label"]
    return Detection(
        mention_id=MentionId(names.get(label.lower(), label)),
        label=label,
        score=float(found["score"]),
        box=Box(left=left, top=top, right=right, bottom=bottom),
        detector_id=detector_id,
    )


def _settings(config: Path, records: Mapping[str, dict[str, Any]]) -> CheckerSettings:
    """Read the run's settings; without a settings file, the margin from its records."""
    if config.exists():
        return read_checker_config(config)
    margins = (_margin(record) for record in records.values())
    margin = next((margin for margin in margins if margin is not None), REPRODUCE.margin)
    if margin == REPRODUCE.margin:
        return REPRODUCE
    return replace(REPRODUCE, preset=CHANGED_PRESET, margin=margin)


def _margin(record: Mapping[str, Any]) -> float | None:
    try:
        return float(record["geometry"]["margin"])
    except _BROKEN:
        return None


def _counts_full_reasons(evaluation: Path) -> bool:
    """Return how a run's metrics count reasons; without metrics, decide by the folder name."""
    try:
        figures = parse_limited(read_regular(evaluation / METRICS_FILE, LARGEST_BYTES))
        return any("(" in reason for reason in figures["undecidable_reasons"])
    except (OSError, *_BROKEN):
        return evaluation.name.startswith(PRECALIBRATION_FOLDER)


def _too_large(path: Path) -> StoreError:
    return StoreError(
        f'The file "{path.name}" is too large, or nested too deeply, to open safely.',
        hint="Choose an output folder of SpatialBench-UC.",
    )


def _damaged(path: Path) -> StoreError:
    return StoreError(
        f'The file "{path.name}" is damaged or cannot be read.',
        hint="Restore it from the release, or remove truncated lines.",
    )
