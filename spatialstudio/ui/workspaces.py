"""Workspaces: which docks are in sight. The stage, its picture, step and zoom stay."""

from dataclasses import dataclass
from enum import Enum

from spatialstudio.ui.actions import Command


class Dock(Enum):
    """The docks; the value is the title."""

    PROMPT = "Prompt"
    ATTENTION = "Attention over the steps"
    RESULT = "Verdict"


@dataclass(frozen=True, slots=True)
class Workspace:
    """One way to look at the work.

    Attributes:
        command: Chooses it.
        docks: What is in sight beside the stage.
    """

    command: Command
    docks: frozenset[Dock]


GENERATE = Workspace(Command.GENERATE_WORKSPACE, frozenset(Dock))
INSPECT = Workspace(Command.INSPECT_WORKSPACE, frozenset({Dock.ATTENTION, Dock.RESULT}))
EVALUATE = Workspace(Command.EVALUATE_WORKSPACE, frozenset({Dock.PROMPT, Dock.RESULT}))
STAGE_ONLY = Workspace(Command.STAGE_ONLY, frozenset())

WORKSPACES = (GENERATE, INSPECT, EVALUATE, STAGE_ONLY)
