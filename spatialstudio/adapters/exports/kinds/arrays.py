"""Maps, PoS and masks as NumPy arrays."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook


def _write(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.tables import npz_arrays
    from spatialstudio.adapters.storage.stores.json_codec import pack_arrays

    (run,) = runs
    return ExportFile(content=pack_arrays(npz_arrays(run)))


KIND = ExportKind(
    id="arrays",
    label="Arrays",
    help="Attention maps, PoS and masks as NumPy arrays.",
    formats=("npz",),
    write=_write,
    order=110,
)
