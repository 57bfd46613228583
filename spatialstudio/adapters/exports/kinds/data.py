"""Numbers, masks and arrays of runs, and whole runs: tables, archives, bundles and reports."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption
from spatialstudio.domain.run_data import RunData


def _write_table(
    runs: Sequence[ExportedRun], _look: ExportLook, ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.tables import csv_bytes, jsonl_bytes

    return ExportFile(content=csv_bytes(runs) if ending == "csv" else jsonl_bytes(runs))


def _write_masks(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.tables import coco_bytes

    return ExportFile(content=coco_bytes(runs))


def _write_arrays(
    runs: Sequence[ExportedRun], _look: ExportLook, ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.data_files import check_library, write_hdf5, write_npz

    check_library(ending)
    (data,) = _data_of(runs)
    write = write_npz if ending == "npz" else write_hdf5
    return ExportFile(stream=partial(write, data), notes=_missing(data))


def _write_numbers(
    runs: Sequence[ExportedRun], _look: ExportLook, ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.data_files import check_library, write_csv, write_parquet

    check_library(ending)
    data = _data_of(runs)
    write = write_csv if ending == "csv" else write_parquet
    notes = tuple(note for each in data for note in _missing(each))
    return ExportFile(stream=partial(write, data), notes=notes)


def _write_settings(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.settings_file import settings_bytes

    (run,) = runs
    return ExportFile(content=settings_bytes(run.record))


def _write_data(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.data_archive import write_archive

    data = _data_of(runs)
    notes = tuple(note for each in data for note in _missing(each))
    return ExportFile(stream=partial(write_archive, runs, data), notes=notes)


def _data_of(runs: Sequence[ExportedRun]) -> tuple[RunData, ...]:
    return tuple(run.data for run in runs if run.data is not None)


def _missing(data: RunData) -> tuple[str, ...]:
    return (f"{data.run}: {data.missing}",) if data.missing else ()


def _write_bundle(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.bundle import write_bundle

    has_layers = any(run.record.layer_files for run in runs)
    notes = (LAYERS_LEFT_OUT,) if has_layers else ()
    return ExportFile(stream=partial(write_bundle, runs), notes=notes)


def _write_bundle_with_layers(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.bundle import write_bundle

    notes = tuple(note for data in _data_of(runs) for note in _missing(data))
    return ExportFile(stream=partial(write_bundle, runs, with_layers=True), notes=notes)


def _write_report(
    runs: Sequence[ExportedRun], look: ExportLook, _ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.report import report_bytes

    return ExportFile(content=report_bytes(runs, look, resources))


LAYERS_LEFT_OUT = 'Recorded layers are left out; "Bundle with layers" contains them.'

KINDS = (
    ExportKind(
        id="table",
        label="Table",
        help="Numbers, one line per relation; all runs in one file.",
        formats=("csv", "jsonl"),
        write=_write_table,
        order=90,
        is_of_many=True,
    ),
    ExportKind(
        id="masks",
        label="Masks",
        help="COCO run-length encoding; all runs in one file.",
        formats=("json",),
        write=_write_masks,
        order=100,
        is_of_many=True,
    ),
    ExportKind(
        id="arrays",
        label="Arrays",
        help="Maps, recorded layers, PoS and masks, each with its axes, units and moment.",
        formats=("npz", "h5"),
        write=_write_arrays,
        order=110,
    ),
    ExportKind(
        id="numbers",
        label="Numbers",
        help="Every number by step, moment, word, relation and layer; all runs in one table.",
        formats=("csv", "parquet"),
        write=_write_numbers,
        order=112,
        is_of_many=True,
    ),
    ExportKind(
        id="settings",
        label="Settings",
        help="All settings and the environment, with a JSON schema.",
        formats=("json",),
        write=_write_settings,
        order=114,
    ),
    ExportKind(
        id="data",
        label="Data",
        help="Arrays, numbers and settings of the runs in one archive, with a README.",
        formats=("zip",),
        write=_write_data,
        order=116,
        is_of_many=True,
    ),
    ExportKind(
        id="bundle",
        label="Bundle",
        help="The files of the runs, to import into another installation.",
        formats=("zip",),
        write=_write_bundle,
        order=120,
        is_of_many=True,
    ),
    ExportKind(
        id="bundle-layers",
        label="Bundle with layers",
        help="A bundle that also contains the recorded layers of the runs.",
        formats=("zip",),
        write=_write_bundle_with_layers,
        order=122,
        is_of_many=True,
    ),
    ExportKind(
        id="report",
        label="Report",
        help="One HTML page; it opens without a network.",
        formats=("html",),
        write=_write_report,
        order=130,
        is_of_many=True,
        reads=frozenset({LookOption.COLOURS, LookOption.LAYERS, LookOption.MARK}),
    ),
)
