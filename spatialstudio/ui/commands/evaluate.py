"""Commands for looking at a picture and at what was found in it."""

from spatialstudio.ui.commands.command import Command, Menu
from spatialstudio.ui.widgets.picture_layers import Layer

FIT = Command("fit", Menu.VIEW, "Fit the picture", "Z", "zoom_fit", starts_group=True)
SHOW_PICTURE = Command("show_picture", Menu.VIEW, "Show picture", "1", starts_group=True)
SHOW_MAPS = Command("show_maps", Menu.VIEW, "Show attention maps", "2")
SHOW_MASKS = Command("show_masks", Menu.VIEW, "Show masks", "3")
SHOW_BOXES = Command("show_boxes", Menu.VIEW, "Show boxes", "4")
SHOW_MARGINALS = Command("show_marginals", Menu.VIEW, "Show marginals", "5")
SHOW_DEPTH = Command("show_depth", Menu.VIEW, "Show depth", "6")
SHOW_BAND = Command("show_band", Menu.VIEW, "Show margin band", "7")
SHOW_CANDIDATES = Command("show_candidates", Menu.VIEW, "Show candidates", "8")
SHOW_SECOND = Command("show_second", Menu.VIEW, "Show second detector", "9")

CLEAR_EVIDENCE = Command(
    *("clear_evidence", Menu.VIEW, "Stop lighting evidence"),
    tip="Show the picture without dimming; Esc does so on the picture as well",
    starts_group=True,
)

LAYER_COMMANDS = {
    SHOW_PICTURE: Layer.PICTURE,
    SHOW_MAPS: Layer.MAPS,
    SHOW_MASKS: Layer.MASKS,
    SHOW_BOXES: Layer.BOXES,
    SHOW_MARGINALS: Layer.MARGINALS,
    SHOW_DEPTH: Layer.DEPTH,
    SHOW_BAND: Layer.BAND,
    SHOW_CANDIDATES: Layer.CANDIDATES,
    SHOW_SECOND: Layer.SECOND,
}

COMMANDS = (FIT, *LAYER_COMMANDS, CLEAR_EVIDENCE)
