"""Commands for the prompt, its relations and the layout sketch."""

from spatialstudio.ui.framework.command import (
    Command,
    Menu,
    Scope,
)

CHANGE_RELATION = Command(
    *("change_relation", Menu.COMPOSE, "Change the relation…", "R"),
    tip="Open the relation wheel of the selected relation",
)
SWAP = Command(
    *("swap_things", Menu.COMPOSE, "Swap subject and object", "X"),
    tip="Exchange subject and object of the selected relation",
)
MUTE = Command(
    *("mute_relation", Menu.COMPOSE, "Mute or unmute relation", "Shift+X"),
    tip="Guidance ignores a muted relation; it is still measured and judged",
)
COUNTERFACTUAL = Command(
    *("counterfactual", Menu.COMPOSE, "Generate counterfactual prompt"),
    tip="Swap the objects' roles and invert the relations",
)
HEAVIER = Command(
    *("heavier", Menu.COMPOSE, "Increase relation weights of word", "Ctrl+Up"),
    tip="Increase the guidance weight of all relations of the object at the cursor",
    starts_group=True,
    scope=Scope.PROMPT,
)
LIGHTER = Command(
    *("lighter", Menu.COMPOSE, "Decrease relation weights of word", "Ctrl+Down"),
    tip="Decrease the guidance weight of all relations of the object at the cursor",
    scope=Scope.PROMPT,
)
EARLIER_PROMPT = Command(
    *("earlier_prompt", Menu.COMPOSE, "Previous prompt", "Alt+Up"),
    tip="Restore the previously used prompt",
    starts_group=True,
    scope=Scope.PROMPT,
)
LATER_PROMPT = Command(
    *("later_prompt", Menu.COMPOSE, "Next prompt", "Alt+Down"), scope=Scope.PROMPT
)
SKETCH = Command(
    *("sketch", Menu.COMPOSE, "Layout sketch", "Ctrl+L"),
    tip="Arrange objects on the stage; the prompt is updated",
    is_switch=True,
    starts_group=True,
)
ADD_THING = Command(
    *("add_thing", Menu.COMPOSE, "Add an object to the sketch…", "Ctrl+Shift+T"),
    tip="Add a named object to the layout sketch; the prompt is updated",
)
REMOVE_THING = Command(
    *("remove_thing", Menu.COMPOSE, "Remove the object from the sketch", "Del"),
    tip="Remove the selected object from the layout sketch; the prompt is updated",
    scope=Scope.SKETCH,
)

HOLD_PLACE = Command(
    *("hold_place", Menu.COMPOSE, "Hold or free the object's place", "H"),
    tip="The picture should have the selected object where the sketch shows it, or anywhere",
    scope=Scope.SKETCH,
)
HOLD_PLACES = Command(
    *("hold_places", Menu.COMPOSE, "Hold all places of the sketch"),
    tip="The picture should have every object where the sketch shows it",
)
FREE_PLACES = Command(
    *("free_places", Menu.COMPOSE, "Free all places of the sketch"),
    tip="Only the relations count, not the places of the sketch",
)

COMMANDS = (
    *(CHANGE_RELATION, SWAP, MUTE, COUNTERFACTUAL),
    *(HEAVIER, LIGHTER, EARLIER_PROMPT, LATER_PROMPT),
    *(SKETCH, ADD_THING, REMOVE_THING, HOLD_PLACE, HOLD_PLACES, FREE_PLACES),
)


LAYOUTS = Command(
    *("layouts", Menu.COMPOSE, "Start from a layout template…", "Ctrl+Shift+L", "layout"),
    tip="Choose one of twelve layouts; replaces the prompt",
    starts_group=True,
)
