"""The checker's preset is chosen in the window, stored, undone, and used from then on."""

from dataclasses import replace

from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.ui.evaluate.checker_panel import CheckerPanel
from spatialstudio.ui.run.widgets.fields import ChoiceField


def test_a_saved_preset_is_chosen_stored_and_undone(context, studio, qtbot):
    panel = CheckerPanel(context)
    qtbot.addWidget(panel)
    studio.storage.checker_presets.save("strict", replace(REPRODUCE, min_confidence=0.9), {})
    context.window_signals.preset_saved.emit("strict")
    field = panel.findChild(ChoiceField)
    assert [field.itemData(place) for place in range(field.count())] == [
        "reproduce",
        "recommended",
        "strict",
    ]
    field.setCurrentIndex(2)
    assert studio.checker.min_confidence == 0.9
    assert context.settings.checker == "strict"
    context.edits.undo()
    assert studio.checker == REPRODUCE
    assert field.currentData() == "reproduce"


def test_a_deleted_preset_falls_back_to_the_published_one(context, studio, qtbot):
    context.settings.checker = "gone"
    shown = []
    context.toasts.toast_raised.connect(shown.append)
    panel = CheckerPanel(context)
    qtbot.addWidget(panel)
    assert studio.checker == REPRODUCE
    assert "gone" in shown[0].message
