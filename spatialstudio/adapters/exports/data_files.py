"""Arrays and numbers of runs as files: NPZ, HDF5, CSV, Parquet, and settings as JSON.

Values are written block by block: a recorded layer never is in memory as a whole.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from typing import IO, Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.foreign_text import table_text
from spatialstudio.domain.run_data import MEASURES, Number, RunArray, RunData

ABOUT = "about"
FORMAT, VERSION = "spatialstudio-arrays", 1
ROWS_AT_ONCE = 10_000
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_TEXTS = frozenset(
    {"run", "moment", "layer", "word", "word_id", "relation", "relation_id", "measure", "unit"}
)


def about_json(data: RunData) -> str:
    """Return the description of a run's arrays as JSON."""
    whole = {
        "format": FORMAT,
        "version": VERSION,
        **data.about,
        "arrays": {array.name: array.about for array in data.arrays},
    }
    return json.dumps(whole, ensure_ascii=False, indent=1)


def write_npz(data: RunData, file: IO[bytes]) -> None:
    """Write all arrays of a run, and their description as the text array "about"."""
    with ZipFile(file, "w") as archive:
        about = np.array(about_json(data))
        _write_member(archive, ABOUT, about.shape, about.dtype, iter((about,)))
        for array in data.arrays:
            kind = np.dtype(array.dtype)
            _write_member(archive, array.name, array.shape, kind, array.blocks())


def _write_member(
    archive: ZipFile,
    name: str,
    shape: tuple[int, ...],
    kind: np.dtype[Any],
    blocks: Iterator[np.ndarray[Any, Any]],
) -> None:
    info = ZipInfo(f"{name}.npy", _EARLIEST)
    info.compress_type = ZIP_DEFLATED
    with archive.open(info, "w", force_zip64=True) as member:
        for part in npy_parts(shape, kind, blocks):
            member.write(part)


def npy_parts(
    shape: tuple[int, ...], kind: np.dtype[Any], blocks: Iterable[np.ndarray[Any, Any]]
) -> Iterator[bytes]:
    """Yield the bytes of a .npy file, the header and then block by block."""
    header = BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": kind.str, "fortran_order": False, "shape": shape}
    )
    yield header.getvalue()
    for block in blocks:
        yield np.ascontiguousarray(block, kind).tobytes()


def write_hdf5(data: RunData, file: BinaryIO) -> None:
    """Write all arrays of a run as HDF5; each dataset has its description as attributes."""
    h5py = import_module("h5py")
    with h5py.File(file, "w") as archive:
        archive.attrs[ABOUT] = about_json(data)
        for array in data.arrays:
            _write_dataset(archive, array)


def _write_dataset(archive: Any, array: RunArray) -> None:
    dataset = archive.create_dataset(array.name, array.shape, array.dtype)
    place = 0
    for block in array.blocks():
        if array.shape:
            dataset[place : place + len(block)] = block
            place += len(block)
        else:
            dataset[()] = block
    for name, value in array.about.items():
        if name not in {"shape", "dtype"}:
            is_plain = isinstance(value, str | int | float)
            dataset.attrs[name] = value if is_plain else json.dumps(value, ensure_ascii=False)
    for number, axis in enumerate(array.axes):
        dataset.dims[number].label = axis


def write_csv(runs: Sequence[RunData], file: BinaryIO) -> None:
    """Write the numbers of runs, one per line."""
    file.write(table_text([Number._fields]).encode())
    for rows in _batches(runs):
        file.write(table_text([_cells(row) for row in rows]).encode("utf-8", "replace"))


def write_parquet(runs: Sequence[RunData], file: BinaryIO) -> None:
    """Write the numbers of runs as a Parquet table with the meanings of the measures."""
    arrow = import_module("pyarrow")
    parquet = import_module("pyarrow.parquet")
    kinds = {"step": arrow.int64(), "is_guided": arrow.bool_()}
    kinds |= dict.fromkeys(_TEXTS, arrow.string())
    meanings = {measure: meaning for measure, (_, meaning) in MEASURES.items()}
    schema = arrow.schema(
        [(name, kinds.get(name, arrow.float64())) for name in Number._fields],
        metadata={"measures": json.dumps(meanings)},
    )
    with parquet.ParquetWriter(file, schema) as writer:
        for rows in _batches(runs):
            columns = dict(zip(Number._fields, zip(*rows, strict=True), strict=True))
            writer.write_table(arrow.table(columns, schema=schema))


def _batches(runs: Iterable[RunData]) -> Iterator[list[Number]]:
    rows = (row for data in runs for row in data.numbers())
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        yield batch


def _cells(row: Number) -> list[object]:
    return [int(value) if isinstance(value, bool) else value for value in row]


def check_library(ending: str) -> None:
    """Check that files of an extension can be written here.

    Raises:
        ExportError: The library is not installed.
    """
    name, other = _LIBRARIES.get(ending, ("", ""))
    if name and find_spec(name) is None:
        raise ExportError(
            f'A file "*.{ending}" needs the library {name}, which is not installed.',
            hint=f'Install "spatialstudio[data]", or choose {other}.',
        )


_LIBRARIES = {"h5": ("h5py", "NPZ"), "parquet": ("pyarrow", "CSV")}
"""The library of a format, and a format that needs none."""
