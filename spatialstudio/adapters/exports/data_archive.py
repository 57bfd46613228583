"""Arrays, numbers and settings of runs in one zip archive with a README."""

from collections.abc import Sequence
from typing import BinaryIO, cast
from zipfile import ZIP_DEFLATED, ZipFile

from spatialstudio.adapters.exports.data_files import write_csv, write_npz
from spatialstudio.adapters.exports.settings_file import SCHEMA_FILE, schema_bytes, settings_bytes
from spatialstudio.domain.export import ExportedRun
from spatialstudio.domain.run_data import MEASURES, RunData

_README = """\
# Data of {count} from Spatial Studio

| file | content |
|---|---|
| `numbers.csv` | every number by run, step, moment, word, relation and layer, one per line |
| `runs/*/arrays.npz` | arrays of a run; the array `about` states axes, units and moments |
| `runs/*/settings.json` | settings and environment of a run |
| `settings.schema.json` | JSON schema of the settings |

Read the arrays of a run with NumPy:

    import json, numpy as np
    arrays = np.load("runs/{first}/arrays.npz")
    about = json.loads(str(arrays["about"]))
    for name in arrays.files:
        print(name, about["arrays"].get(name, {{}}).get("axes"))

"before" and "after" are the readings before and after a step's updates; a step without updates has
one reading, which is listed under both. `layer/NAME` holds every recorded step of a layer,
`layer_before/NAME` the readings of the same layer before the updates of the steps on which guidance
was due; its first axis, due_step, has only those steps, listed as `steps` in "about". In
`self_attention/NAME`, [step, row, column] is the map of where that place attends, the mean over
heads; it is there if it was recorded. Maps are attention probabilities, not rescaled. x grows to
the right, y grows down; steps count from 0. A missing reading is NaN.

| measure | unit | meaning |
|---|---|---|
{measures}
{runs}
{missing}"""


def write_archive(
    runs: Sequence[ExportedRun], collected: Sequence[RunData], file: BinaryIO
) -> None:
    """Write the archive of some runs; arrays are written block by block."""
    names = [f"{number:04}_{data.run}" for number, data in enumerate(collected)]
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr("README.md", _readme(names, collected))
        archive.writestr(SCHEMA_FILE, schema_bytes())
        with archive.open("numbers.csv", "w", force_zip64=True) as member:
            write_csv(collected, cast("BinaryIO", member))
        for name, run, data in zip(names, runs, collected, strict=True):
            archive.writestr(f"runs/{name}/settings.json", settings_bytes(run.record))
            with archive.open(f"runs/{name}/arrays.npz", "w", force_zip64=True) as member:
                write_npz(data, member)


def _readme(names: Sequence[str], collected: Sequence[RunData]) -> str:
    measures = [f"| `{name}` | {unit} | {text} |" for name, (unit, text) in MEASURES.items()]
    runs = [
        f"- `{name}`: {' '.join(str(data.about['prompt']).split())}"
        for name, data in zip(names, collected, strict=True)
    ]
    missing = [f"Not included: {data.run}: {data.missing}" for data in collected if data.missing]
    return _README.format(
        count="1 run" if len(names) == 1 else f"{len(names)} runs",
        first=names[0] if names else "NAME",
        measures="\n".join(measures) + "\n",
        runs="\n".join(runs),
        missing="\n".join(missing),
    )
