"""Numbers, masks and arrays of runs, and whole runs: tables, archives, bundles and reports."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption


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
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.tables import npz_arrays
    from spatialstudio.adapters.storage.stores.json_codec import pack_arrays

    (run,) = runs
    return ExportFile(content=pack_arrays(npz_arrays(run)))


def _write_bundle(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.bundle import bundle_bytes

    return ExportFile(content=bundle_bytes(runs))


def _write_report(
    runs: Sequence[ExportedRun], look: ExportLook, _ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.report import report_bytes

    return ExportFile(content=report_bytes(runs, look, resources))


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
        help="Attention maps, PoS and masks as NumPy arrays.",
        formats=("npz",),
        write=_write_arrays,
        order=110,
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
