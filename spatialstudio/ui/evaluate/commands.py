"""Commands for a picture's view and its evaluation."""

from spatialstudio.ui.framework.command import Command, Menu
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
    *("clear_evidence", Menu.VIEW, "Clear highlighted evidence"),
    tip="Show the whole picture again; Esc on the picture does the same",
    starts_group=True,
)

JUDGE_AGAIN = Command(
    *("judge_again", Menu.RUN, "Judge the picture again", "Ctrl+J"),
    tip="Judge the open picture with the current prompt and judge set",
    starts_group=True,
)
KEEP_ADJUSTED = Command(
    *("keep_adjusted", Menu.EDIT, "Save the adjusted verdict"),
    tip="Save the adjusted verdict alongside the original one",
    starts_group=True,
)
JUDGED_AS_STORED = Command(
    *("judged_as_stored", Menu.EDIT, "Reset to the stored verdict"),
    tip="Discard the adjustments and restore the stored thresholds and instances",
)
DROP_ADJUSTED = Command(
    *("drop_adjusted", Menu.EDIT, "Delete the adjusted verdict"),
    tip="Keep only the checker's verdict",
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

ADJUSTING = (KEEP_ADJUSTED, JUDGED_AS_STORED, DROP_ADJUSTED)
COMMANDS = (FIT, *LAYER_COMMANDS, CLEAR_EVIDENCE, *ADJUSTING, JUDGE_AGAIN)
