"""How fast a run of 50 steps can be scrubbed with all layers and heads of the embedded model.

A picture is drawn for real with every head of every layer on disk, and measured by layer and step.
Then keys go through the steps, one layer chosen: the stage and the heat map must have been painted
before the next key is pressed. Run it on an idle machine:

    python -m tests.performance.measure_layer_steps
"""

import resource
import sys
import time
import tracemalloc
from dataclasses import replace

from PySide6.QtWidgets import QDockWidget

from spatialstudio.application.inspect.layer_table import MOST_BLOCK_BYTES, measure_layers
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
    Painted,
    inspecting_window,
    run_until,
    timed,
    told,
)

MEBIBYTE = 1024**2
MOST_MEASURING_BYTES = 3 * MOST_BLOCK_BYTES
"""Limit on arrays while layers are measured: a block, its copy and the numbers."""


def draw_layers(studio: Studio, window: MainWindow) -> None:
    """Draw a run that records every head of every layer."""
    window.prompt.use_prompt(PROMPT)
    request = with_values(studio.new_request(seed=SEED), steps=STEPS)
    capture = replace(request.capture, detail=AttentionDetail.EVERYTHING)
    studio.generate(replace(request, capture=capture), with_baseline=False)
    run_until(lambda: studio.session.run is not None and studio.session.run.is_over)


def measured(studio: Studio) -> tuple[float, int]:
    """Measure the layers again, outside the window: seconds, and most bytes allocated at once."""
    run = studio.session.run
    began = time.perf_counter()
    measure_layers(run, studio.storage.read_layer)
    took = time.perf_counter() - began
    tracemalloc.start()
    measure_layers(run, studio.storage.read_layer)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return took, most


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
        picture, scrubber = window.findChild(PictureView), window.findChild(StepScrubber)
        run_until(lambda: scrubber.value() == STEPS - 1)
        watched = [Painted(picture), Painted(heat.surface.viewport())]
        moves = [commands.PREVIOUS] * (STEPS - 1) + [commands.NEXT] * (STEPS - 1)
        acts = [window.context.actions[move].trigger for move in moves * LAPS]
        scrubbed = timed(acts, watched)
        took, most = measured(studio)
    rate = 1000 / scrubbed[:, 0].mean()
    stored = sum(file.size_bytes for file in run.attention_files)
    heads = max(file.heads for file in run.attention_files)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sys.stdout.write(
        f"{len(run.attention_files)} layers, up to {heads} heads, {STEPS} steps, "
        f"{stored / MEBIBYTE:.0f} MiB on disk\n"
        f"measured in {took:.2f} s with at most {most / MEBIBYTE:.1f} MiB of arrays at once\n"
        f"scrubbing with stage and heat map: {rate:.0f} steps/s; "
        f"{rate / LEAST_STEPS_A_SECOND:.2f} times what is asked\n"
        f"peak memory of the window's process: {peak / MEBIBYTE:.0f} MiB\n"
    )
    sys.stdout.write(told("from step to picture and heat map", scrubbed))
    return int(rate < LEAST_STEPS_A_SECOND or most > MOST_MEASURING_BYTES)


if __name__ == "__main__":
    sys.exit(main())
