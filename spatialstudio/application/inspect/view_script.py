"""Export of an attention map view as a Python script that needs only this package."""

from collections.abc import Sequence

from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import (
    LayerChoice,
    MapScale,
    Moment,
)
from spatialstudio.domain.scene import MentionId

TRACE_ENDING = ".strace"
PAIR = 2

_HEAD = '''\
"""Attention to {title} at step {number} of {count}{when}, a view of Spatial Studio."""

from pathlib import Path

{imports}

RUN = Path({path!r})
WORDS = {words!r}
STEP = {step}  # from 0
SCALE = MapScale.{scale}
SHADES = " .:-=+*#%@"

studio = Studio.open("inline")
run = studio.open_run(RUN)
'''

_STEP_MAPS = """\
maps = run.steps[STEP].attention_at(Moment.{moment}).maps
peak = peak_of([run])
"""

_LAYER_MAPS = """\
CHOICE = LayerChoice(layers=frozenset({layers!r}), head={head!r})
events = []
studio.bus.subscribe(events.append)
studio.storage.layer_maps.average([run], CHOICE)
studio.storage.layer_maps.wait()
averaged = [event for event in events if isinstance(event, LayersAveraged)]
for missing in events:
    if isinstance(missing, LayersMissing):
        raise SystemExit(f"{{missing.error.message}} {{missing.error.hint}}")
maps = averaged[0].at(STEP)
peak = peak_of_averages(averaged)
"""

_SHOW = """\
for word, text in WORDS.items():
    top = top_of(maps[word], SCALE, peak)
    print(map_in_words(text, maps[word]))
    print(f"Full colour at {top:.4f}:")
    for row in maps[word]:
        print("".join(SHADES[min(round(value / top * 9), 9)] for value in row) if top else "")
"""

_RELATION = """\
relation = relation_between(run.scene, *WORDS)
if relation is not None:
    reading = read_relation(relation, run.scene, maps)
    print(reading.sentence, *reading.details, sep="\\n")
"""

_MODULE = "spatialstudio.application"


def view_script(
    run: OpenRun,
    words: Sequence[MentionId],
    step: int,
    scale: MapScale,
    choice: LayerChoice | None = None,
    moment: Moment = Moment.AFTER,
) -> str:
    """Return a script that opens a stored run and shows maps of some words at a step.

    Args:
        run: A stored run, with a path.
        words: Words to show.
        step: Step, from 0.
        scale: How the value drawn in full colour is chosen.
        choice: Layers to average from the stored maps; None for the maps of the step itself.
        moment: Reading of the shown maps.

    Raises:
        ValueError: The run is not stored.
    """
    if run.path is None:
        raise ValueError("Only stored runs can be opened by a script.")
    texts = {word.key: word.text for word in words_of(run.scene)}
    head = _HEAD.format(
        title=" and ".join(texts[word] for word in words).replace('"', "'").replace("\\", ""),
        number=step + 1,
        count=run.total_steps,
        when=f", {moment.value}" if _is_guided(run, step) else "",
        imports="\n".join(_imports(is_pair=len(words) == PAIR, has_choice=choice is not None)),
        path=str(run.path.with_suffix(TRACE_ENDING)),
        words={str(word): texts[word] for word in words},
        step=step,
        scale=scale.name,
    )
    maps = _STEP_MAPS.format(moment=moment.name)
    if choice is not None:
        maps = _LAYER_MAPS.format(layers=sorted(choice.layers), head=choice.head)
    relation = _RELATION if len(words) == PAIR else ""
    return "\n".join(part for part in (head + maps, _SHOW, relation, "studio.close()\n") if part)


def _is_guided(run: OpenRun, step: int) -> bool:
    return any(event.is_guided for event in run.steps if event.step == step)


def _imports(*, is_pair: bool, has_choice: bool) -> list[str]:
    reading = {"map_in_words", "top_of"}
    lines = []
    if has_choice:
        lines.append(
            f"from {_MODULE}.inspect.layer_maps import "
            "LayersAveraged, LayersMissing, peak_of_averages"
        )
    else:
        reading |= {"peak_of"}
    if is_pair:
        reading |= {"read_relation", "relation_between"}
    lines.append(f"from {_MODULE}.inspect.map_reading import {', '.join(sorted(reading))}")
    lines.append(f"from {_MODULE}.studio import Studio")
    kinds = "LayerChoice, MapScale" if has_choice else "MapScale, Moment"
    lines.append(f"from spatialstudio.domain.attention import {kinds}")
    return lines
