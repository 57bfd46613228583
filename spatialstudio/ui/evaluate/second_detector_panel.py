"""The selection of a second detector for evaluations."""

from dataclasses import replace

from PySide6.QtGui import QShowEvent

from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.run.presenters import NOBODY, detector_choices
from spatialstudio.ui.run.widgets.fields import ChoiceField
from spatialstudio.ui.widgets.box_layouts import column
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.texts import tr

NONE_HERE = "Lists the detectors in the models folder and in the Hugging Face cache."
USED = "Its boxes are a layer of the picture; disagreement lowers the confidence of verdicts."


class SecondDetectorPanel(Panel):
    """Lets the user select a second detector; the verdict panel then offers to evaluate again."""

    title = "Second detector"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._studio = context.studio
        self._is_listed = False
        self._field = ChoiceField(tr("Second detector"))
        self._field.choice_picked.connect(self._pick)
        self._note = TextLabel(tr(NONE_HERE), Tone.MUTED, small=True)
        label = TextLabel(tr("Second detector"), Tone.HEADING)
        label.setBuddy(self._field)
        column(label, self._field, self._note, within=self, gap=0.4)
        if context.settings.second_detector:
            self._list()

    def showEvent(self, event: QShowEvent) -> None:
        """List the detectors when the panel is first shown."""
        super().showEvent(event)
        if not self._is_listed:
            self._list()

    def _list(self) -> None:
        """List the detectors; restore the stored choice if available."""
        self._is_listed = True
        chosen = self._context.settings.second_detector
        models, damaged = self._studio.perception_models, self._studio.damaged_perception_models
        of_plugins = self._studio.plugins.adapter_ids("detector")
        choices = detector_choices(models, damaged, chosen, of_plugins)
        self._field.show_choices(choices, chosen)
        if any(choice.is_usable and choice.id == chosen for choice in choices):
            self._use(chosen)
        has_any = any(choice.is_usable and choice.id != NOBODY for choice in choices)
        self._note.setText(tr(USED if has_any else NONE_HERE))

    def _pick(self, detector_id: str) -> None:
        before = self._studio.judges.second_id or NOBODY
        self._context.edits.change(tr("change second detector"), before, detector_id, self._use)

    def _use(self, detector_id: str) -> None:
        """Use this second detector for evaluations from now on."""
        self._studio.judges = replace(self._studio.judges, second_id=detector_id or None)
        self._context.settings.second_detector = detector_id
        self._field.show_chosen(detector_id)
        self._context.window_signals.judges_chosen.emit()
