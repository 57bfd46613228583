"""Adds the export kind "yolo": the detections of a run as labels in YOLO format.

One line per detection above the cut: "class x y w h", centre and size as fractions of the image
size. Classes are numbered by the first mention of their noun in the prompt.
"""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.plugin_api import (
    API_VERSION,
    ExportedRun,
    ExportError,
    ExportFile,
    ExportKind,
    ExportLook,
    Plugin,
)


def write(
    runs: Sequence[ExportedRun], _look: ExportLook, _ending: str, _resources: Path
) -> ExportFile:
    """Return the labels of one run.

    Raises:
        ExportError: The run is not evaluated.
    """
    (run,) = runs
    evaluation = run.record.evaluation
    if evaluation is None:
        raise ExportError("The run is not evaluated.", hint="Evaluate it, then export again.")
    scene, seen = run.record.request.scene, evaluation.perception
    heads = list(dict.fromkeys(mention.head for mention in scene.mentions))
    lines = list[str]()
    for mention in scene.mentions:
        for found in seen.detections_of(mention.id):
            x, y = found.box.center_xy
            shares = (
                x / seen.width,
                y / seen.height,
                found.box.width / seen.width,
                found.box.height / seen.height,
            )
            numbers = " ".join(f"{share:.6f}" for share in shares)
            lines.append(f"{heads.index(mention.head)} {numbers}\n")
    return ExportFile(content="".join(lines).encode())


KIND = ExportKind(
    id="yolo",
    label="YOLO labels",
    help="Boxes of the detections as training labels, a text file for each run.",
    formats=("txt",),
    write=write,
)

PLUGIN = Plugin(name="YOLO labels", api_version=API_VERSION, export_kinds=(KIND,))
