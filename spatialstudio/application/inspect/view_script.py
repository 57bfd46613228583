"""Export of an attention view as a Python script that needs only ``open_run``."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.application.inspect.self_attention import PlaceAttention
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import (
    AttentionFile,
    LayerChoice,
    MapScale,
    Moment,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.run_data import MOMENT_NAMES, layer_array_name
from spatialstudio.domain.scene import MentionId

TRACE_ENDING = ".strace"

_SCRIPT = '''\
"""Attention to {title} at step {number} of {count}{when}, a view of Spatial Studio."""

{imports}from spatialstudio.api import open_run

WORDS = {words!r}
STEP = {step}  # from 0
SHADES = " .:-=+*#%@"

{maps}
for word, text in WORDS.items():
    top = {top}
    print(f"{{text}}: sum {{maps[word].sum(dtype=float):.6f}}, full colour at {{top:.6f}}")
    for row in maps[word]:
        print("".join(SHADES[min(round(value / top * 9), 9)] for value in row) if top else "")

sentences, pos = run.read_maps(maps)
print(*sentences, sep="\\n")
for relation, value in pos.items():
    print(f"PoS of {{relation}}: {{value:.6f}}")
'''

_PLACE_SCRIPT = '''\
"""Self-attention of a place at step {number} of {count}{when}, a view of Spatial Studio."""

from spatialstudio.api import open_run

ROW, COLUMN = {cell!r}  # of the attending place
STEP = {step}  # from 0
SHADES = " .:-=+*#%@"

{opening}
recorded = run.arrays[{name!r}]
step = list(recorded.about["steps"]).index(STEP)
attention = recorded.read()[step, ROW, COLUMN].astype("float32")

peak = attention.max()
row, column = divmod(int(attention.argmax()), attention.shape[1])
print(f"sum {{attention.sum():.6f}}, peak {{peak:.6f}} at row {{row}}, column {{column}}")
for values in attention:
    print("".join(SHADES[round(float(value / peak * 9))] for value in values))
'''

_LAYERS_OPENED = """\
# The trace has no recorded layers: they are read from the folder {run_id!r} in LAYERS.
LAYERS = {folder!r}

run = open_run({path!r}, layers=LAYERS)
if run.data.missing:
    raise SystemExit(f"{{run.data.missing}} Searched: {{LAYERS}}")"""

_STEP_MAPS = """\
run = open_run({path!r})
recorded = {{name: run.arrays[name].read() for name in run.arrays if name.startswith("map_")}}
row = list(run.arrays["captured_steps"].read()).index(STEP)
maps = {{word: recorded[f"map_{moment}/{{word}}"][row] for word in WORDS}}
"""

_LAYER_MAPS = """\
{opening}
averaged = run.mean_over_layers({layers!r}, head={head!r}, moment={moment!r})
maps = {{word: averaged[word][{row}] for word in WORDS}}
"""

_NUMPY = "import numpy as np\n\n"
_STEP_PEAK = "peak = max(np.nanmax(values) for values in recorded.values())\n"
_LAYER_PEAK = "peak = max(np.max(values) for values in averaged.values())\n"

_TOPS = {
    MapScale.PER_MAP: "maps[word].max()",
    MapScale.SHARED: "peak",
    MapScale.ABSOLUTE: "1.0",
}
"""The value in full colour, as ``top_of`` chooses it."""


@frozen
class LayersToRead:
    """Recorded layers that a script averages.

    Attributes:
        choice: The layers and the head.
        folder: Cache of recorded layers, with a folder of each run.
    """

    choice: LayerChoice
    folder: Path


def view_script(
    run: OpenRun,
    words: Sequence[MentionId],
    step: int,
    scale: MapScale,
    layers: LayersToRead | None = None,
    moment: Moment = Moment.AFTER,
) -> str:
    """Return a script that opens a stored run and shows maps of some words at a step.

    Args:
        run: A stored run, with a path.
        words: Words to show.
        step: Step, from 0.
        scale: How the value drawn in full colour is chosen.
        layers: Recorded layers to average; None for the maps of the step itself.
        moment: Reading of the shown maps.

    Raises:
        ValueError: The run is not stored.
    """
    if run.path is None:
        raise ValueError("Only stored runs can be opened by a script.")
    texts = {word.key: word.text for word in words_of(run.scene)}
    is_shared = scale is MapScale.SHARED
    maps, peak = _reading(run, str(run.path.with_suffix(TRACE_ENDING)), layers, moment)
    return _SCRIPT.format(
        title=" and ".join(texts[word] for word in words).replace('"', "'").replace("\\", ""),
        number=step + 1,
        count=run.total_steps,
        when=f", {moment.value}" if _is_guided(run, step) else "",
        words={str(word): texts[word] for word in words},
        imports=_NUMPY if is_shared else "",
        step=step,
        maps=maps + peak if is_shared else maps,
        top=_TOPS[scale],
    )


def _reading(
    run: OpenRun, path: str, layers: LayersToRead | None, moment: Moment
) -> tuple[str, str]:
    """Return the lines that read the maps, and the line that finds the peak of all of them."""
    if layers is None:
        return _STEP_MAPS.format(path=path, moment=MOMENT_NAMES[moment]), _STEP_PEAK
    every = (run.request.capture.attention_every if run.request else 0) or 1
    maps = _LAYER_MAPS.format(
        opening=_opening(run, path, layers.folder),
        layers=sorted(layers.choice.layers),
        head=layers.choice.head,
        moment=MOMENT_NAMES[moment],
        row="STEP" if every == 1 else f"STEP // {every}",
    )
    return maps, _LAYER_PEAK


def place_script(
    run: OpenRun, file: AttentionFile, step: int, found: PlaceAttention, folder: Path
) -> str:
    """Return a script that opens a stored run and shows where a place attends.

    Args:
        run: A stored run, with a path.
        file: A layer's recorded self-attention, one of ``self_layers``.
        step: A recorded step, from 0.
        found: The shown attention.
        folder: Cache of recorded layers.

    Raises:
        ValueError: The run is not stored.
    """
    if run.path is None:
        raise ValueError("Only stored runs can be opened by a script.")
    if found.moment is Moment.BEFORE:
        same = (each for each in run.self_attention_files if each.layer == file.layer)
        file = next((each for each in same if each.steps_before), file)
    return _PLACE_SCRIPT.format(
        number=step + 1,
        count=run.total_steps,
        when=f", {found.moment.value}" if found.moment else "",
        cell=found.cell,
        step=step,
        opening=_opening(run, str(run.path.with_suffix(TRACE_ENDING)), folder),
        name=layer_array_name(file, is_self=True),
    )


def _opening(run: OpenRun, path: str, folder: Path) -> str:
    return _LAYERS_OPENED.format(run_id=run.id, folder=str(folder), path=path)


def _is_guided(run: OpenRun, step: int) -> bool:
    return any(event.is_guided for event in run.steps if event.step == step)
