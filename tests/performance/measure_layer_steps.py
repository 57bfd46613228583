"""How fast a run of 50 steps can be scrubbed with all layers and heads of the embedded model.

A picture is drawn for real with every head of every layer on disk, and measured by layer and step.
Then keys go through the steps, one layer chosen: the stage and the heat map must have been painted
before the next key is pressed. At last all arrays are exported. Run it on an idle machine:

    python -m tests.performance.measure_layer_steps
"""

import resource
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDockWidget

from spatialstudio.application.gallery.exports import ExportOrder
from spatialstudio.application.inspect.layer_table import MOST_BLOCK_BYTES, measure_layers
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.application.studio import Studio
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.run_settings import with_values
from spatialstudio.ui.inspect import commands
from spatialstudio.ui.inspect.layer_steps_panel import LayerStepsPanel
from spatialstudio.ui.inspect.widgets.layer_heat_map import LayerHeatMap
from spatialstudio.ui.inspect.widgets.replay_bar import StepScrubber
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.window.main_window import MainWindow
from tests.performance.measure_scrubbing import (
    LAPS,
    LEAST_STEPS_A_SECOND,
    PROMPT,
    SEED,
    STEPS,
    inspecting_window,
    run_until,
    timed,
    told,
)
from tests.ui.event_count import EventCount

MEBIBYTE = 1024**2
PAUSE_MS = 20
MOST_MEASURING_BYTES = 3 * MOST_BLOCK_BYTES
"""Limit on arrays while layers are measured: a block, its copy and the numbers."""


def draw_layers(studio: Studio, window: MainWindow) -> None:
    """Draw a run that records every head of every layer."""
    window.prompt.use_prompt(PROMPT)
    request = with_values(studio.new_request(seed=SEED), steps=STEPS)
    capture = replace(request.capture, detail=AttentionDetail.EVERYTHING)
    studio.generate(replace(request, capture=capture), with_baseline=False)
    run_until(
        lambda: studio.session.run is not None and studio.session.run.is_over,
        lambda: QTest.qWait(PAUSE_MS),  # leaves the processor to the engine
    )


def cost(work: Callable[[], object]) -> tuple[float, int]:
    """Do some work twice: seconds of the first time, most bytes allocated at once in the second."""
    began = time.perf_counter()
    work()
    took = time.perf_counter() - began
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return took, most


def in_words(figures: tuple[float, int]) -> str:
    took, most = figures
    return f"{took:.2f} s with at most {most / MEBIBYTE:.1f} MiB at once"


def main() -> int:
    """Print the figures; return 1 when one misses its goal."""
    with inspecting_window() as (studio, window):
        draw_layers(studio, window)
        dock = window.findChild(QDockWidget, "layer_steps")
        dock.show()
        dock.raise_()
        heat = window.panel(LayerStepsPanel).findChild(LayerHeatMap)
        run_until(heat.isVisible)
        heat.layer_picked.emit(0, False)
        run_until(lambda: len(heat.contents_shown.curves) > 1)
        run = studio.session.run
        picture = window.stage.findChild(PictureView)
        scrubber = window.findChild(StepScrubber)
        run_until(lambda: scrubber.value() == STEPS - 1)
        surfaces = picture, heat.surface.viewport()
        watched = [EventCount(each, QEvent.Type.Paint) for each in surfaces]
        moves = [commands.PREVIOUS] * (STEPS - 1) + [commands.NEXT] * (STEPS - 1)
        acts = [window.context.actions[move].trigger for move in moves * LAPS]
        scrubbed = timed(acts, watched)
        measuring = cost(lambda: measure_layers(run, studio.storage.read_layer))
        folder = run.path.parent / "export"
        folder.mkdir()
        target, order = folder / "arrays.npz", ExportOrder(overwrite=True)
        export = partial(studio.storage.exports.export, [run.path], EXPORT_KINDS["arrays"])
        exporting = cost(lambda: export(target, order=order))
        written = target.stat().st_size
    rate = 1000 / scrubbed[:, 0].mean()
    stored = sum(file.size_bytes for file in run.attention_files)
    heads = max(file.heads for file in run.attention_files)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(
        f"{len(run.attention_files)} layers, up to {heads} heads, {STEPS} steps, "
        f"{stored / MEBIBYTE:.0f} MiB on disk\n"
        f"measured in {in_words(measuring)}\n"
        f"{written / MEBIBYTE:.0f} MiB of arrays exported in {in_words(exporting)}\n"
        f"scrubbing with stage and heat map: {rate:.0f} steps/s; "
        f"{rate / LEAST_STEPS_A_SECOND:.2f} times what is asked\n"
        f"peak memory of the window's process: {peak / MEBIBYTE:.0f} MiB\n"
    )
    sys.stdout.write(told("from step to picture and heat map", scrubbed))
    most = measuring[1], exporting[1]
    return int(rate < LEAST_STEPS_A_SECOND or max(most) > MOST_MEASURING_BYTES)


if __name__ == "__main__":
    sys.exit(main())
