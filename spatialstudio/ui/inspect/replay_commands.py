"""Binds the replay commands: playback, a step range, a second run, the storyboard."""

from functools import partial

from spatialstudio.ui.framework.command import (
    Command,
    Menu,
    Scope,
)

_replay = partial(Command, menu=Menu.REPLAY)

LOOP = _replay(
    "loop",
    text="Loop",
    keys="Shift+L",
    icon="loop",
    is_switch=True,
    starts_group=True,
    scope=Scope.STAGE,
)
PING_PONG = _replay(
    "ping_pong",
    text="Play back and forth",
    icon="ping_pong",
    is_switch=True,
    scope=Scope.STAGE,
)
FASTER = _replay("faster", text="Play faster", keys="Shift+Up", scope=Scope.STAGE)
SLOWER = _replay("slower", text="Play slower", keys="Shift+Down", scope=Scope.STAGE)

RANGE_FROM = _replay(
    "range_from",
    text="Set range start",
    keys="[",
    tip="PoS is averaged over the range; Shift+drag on the chart does the same",
    starts_group=True,
    scope=Scope.STAGE,
)
RANGE_TO = _replay("range_to", text="Set range end", keys="]", scope=Scope.STAGE)
NO_RANGE = _replay("no_range", text="Clear the range", keys="\\", scope=Scope.STAGE)
ZOOM_IN = _replay("zoom_steps_in", text="Zoom in on the steps", keys="Alt++", scope=Scope.STAGE)
ZOOM_OUT = _replay("zoom_steps_out", text="Zoom out of the steps", keys="Alt+-", scope=Scope.STAGE)
ALL_STEPS = _replay("all_steps", text="Show all steps", keys="Alt+0", scope=Scope.STAGE)

SECOND_BASELINE = _replay(
    "beside_baseline",
    text="Compare with the baseline",
    tip="Show the same seed without guidance on the same steps; it is generated if none is stored",
    starts_group=True,
)
SECOND_SEED = _replay(
    "beside_seed",
    text="Compare with the next seed",
    tip="Generate the next seed with the same settings and align its steps",
)
SECOND_RUN = _replay(
    "beside_run",
    text="Compare with a stored run…",
    icon="compare",
    tip="You can also drop a run file onto the chart",
)
SECOND_NONE = _replay("beside_none", text="Close the second run")
SECOND_ON_STAGE = _replay(
    "beside_on_stage",
    text="Show the second run on the stage",
    keys="C",
    tip="Show picture and maps of the second run side by side with the first",
    is_switch=True,
    scope=Scope.STAGE,
)
LANES_TOGETHER = _replay(
    "lanes_together", text="Both runs in one plot", is_switch=True, starts_group=True
)
LANES_APART = _replay("lanes_apart", text="One plot per run", is_switch=True)
LANES_DIFFERENCE = _replay("lanes_difference", text="The difference", is_switch=True)

COPY_NUMBERS = Command(
    *("copy_numbers", Menu.EDIT, "Copy the numbers of all steps", "Ctrl+Alt+C"),
    tip="Entropy, centre, spread, overlap and PoS as tab-separated text",
)
PIN_FRAME = _replay(
    "pin_frame",
    text="Pin this step to the storyboard",
    keys="B",
    icon="pin",
    tip="Adds picture, maps and PoS of the step to the storyboard",
    starts_group=True,
)
EXPORT_BOARD = _replay(
    "export_board",
    text="Export the storyboard…",
    icon="export",
    tip="As a sheet, a video, arrays or a table",
)
CLEAR_BOARD = _replay("clear_board", text="Clear the storyboard", icon="trash")

COMMANDS = (
    *(LOOP, PING_PONG, FASTER, SLOWER),
    *(RANGE_FROM, RANGE_TO, NO_RANGE, ZOOM_IN, ZOOM_OUT, ALL_STEPS),
    *(SECOND_BASELINE, SECOND_SEED, SECOND_RUN, SECOND_NONE, SECOND_ON_STAGE),
    *(LANES_TOGETHER, LANES_APART, LANES_DIFFERENCE),
    *(PIN_FRAME, EXPORT_BOARD, CLEAR_BOARD),
    COPY_NUMBERS,
)
