"""Commands for benchmarks: plan, open, run, retry."""

from functools import partial

from spatialstudio.ui.framework.command import Command, Menu

_run = partial(Command, menu=Menu.RUN)

NEW = _run(
    "new_benchmark",
    text="New benchmark…",
    icon="plus",
    tip="Choose prompts, methods and seeds; see the estimate before it starts",
    starts_group=True,
)
OPEN = _run(
    "open_benchmark",
    text="Open a benchmark…",
    icon="folder",
    tip="Open a folder that a benchmark was written to, here or in the terminal",
)
START = _run(
    "start_benchmark",
    text="Start or resume the benchmark",
    icon="play",
    tip="Draw and judge what is not done, in a separate process",
)
PAUSE = _run(
    "pause_benchmark",
    text="Pause the benchmark",
    icon="pause",
    tip="Wait after the pictures in progress; models stay loaded",
)
DRAIN = _run(
    "drain_benchmark",
    text="Drain the benchmark",
    icon="stop_after",
    tip="Finish the pictures in progress, then end",
)
STOP = _run(
    "stop_benchmark",
    text="Stop the benchmark now",
    icon="cancel",
    tip="End at once; the pictures in progress start over later",
)
RETRY = _run(
    "retry_benchmark",
    text="Retry all failed pictures",
    icon="retry",
    tip="Draw the failed pictures of the open benchmark again",
)

EXPORT = _run(
    "export_benchmark",
    text="Export the report…",
    icon="export",
    tip="One HTML file with pictures; figures, comparisons or shown cells as CSV or LaTeX",
)
SAVE_FIGURE = _run(
    "save_benchmark_figure",
    text="Save the figure of pass rates…",
    tip="The bars of the dock Pass rates as SVG, PDF, PNG or CSV",
)

COMMANDS = (NEW, OPEN, START, PAUSE, DRAIN, STOP, RETRY, EXPORT, SAVE_FIGURE)
