"""Commands for saying what stands where: the prompt, its relations, the sketch."""

from spatialstudio.ui.framework.command import (
    Command,
    Menu,
    Scope,
)

CHANGE_RELATION = Command(
    *("change_relation", Menu.COMPOSE, "Pick another relation…", "R"),
    tip="Open the wheel of the picked relation",
)
SWAP = Command(
    *("swap_things", Menu.COMPOSE, "Swap the things", "X"),
    tip="Let the two things of the picked relation change places",
)
MUTE = Command(
    *("mute_relation", Menu.COMPOSE, "Mute or hear the relation", "Shift+X"),
    tip="Guidance passes a muted relation over; it is still measured and judged",
)
COUNTERFACTUAL = Command(
    *("counterfactual", Menu.COMPOSE, "Say it the other way round"),
    tip="The counterfactual prompt: things change roles, relations their direction",
)
HEAVIER = Command(
    *("heavier", Menu.COMPOSE, "Weigh the word's relations more", "Ctrl+Up"),
    tip="Guidance cares more for the relations of the thing at the cursor",
    starts_group=True,
    scope=Scope.PROMPT,
)
LIGHTER = Command(
    *("lighter", Menu.COMPOSE, "Weigh the word's relations less", "Ctrl+Down"),
    tip="Guidance cares less for the relations of the thing at the cursor",
    scope=Scope.PROMPT,
)
EARLIER_PROMPT = Command(
    *("earlier_prompt", Menu.COMPOSE, "Earlier prompt", "Alt+Up"),
    tip="Go back to a prompt that was drawn before",
    starts_group=True,
    scope=Scope.PROMPT,
)
LATER_PROMPT = Command(
    *("later_prompt", Menu.COMPOSE, "Later prompt", "Alt+Down"), scope=Scope.PROMPT
)
SKETCH = Command(
    *("sketch", Menu.COMPOSE, "Layout sketch", "Ctrl+L"),
    tip="Push things about on the stage; the prompt follows",
    is_switch=True,
    starts_group=True,
)
ADD_THING = Command(
    *("add_thing", Menu.COMPOSE, "Add a thing to the sketch…", "Ctrl+Shift+T"),
    tip="Name another thing and place it on the layout sketch; the prompt follows",
)
REMOVE_THING = Command(
    *("remove_thing", Menu.COMPOSE, "Remove the thing from the sketch", "Del"),
    tip="Take the marked thing from the layout sketch; the prompt follows",
    scope=Scope.SKETCH,
)

COMMANDS = (
    *(CHANGE_RELATION, SWAP, MUTE, COUNTERFACTUAL),
    *(HEAVIER, LIGHTER, EARLIER_PROMPT, LATER_PROMPT),
    *(SKETCH, ADD_THING, REMOVE_THING),
)


LAYOUTS = Command(
    *("layouts", Menu.COMPOSE, "Start from a layout…", "Ctrl+Shift+L", "layout"),
    tip="A dozen layouts; the prompt is written anew",
    starts_group=True,
)
