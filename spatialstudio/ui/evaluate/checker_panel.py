"""The selection of the checker's preset for evaluations."""

from PySide6.QtGui import QShowEvent

from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.verdict import REPRODUCE, CheckerSettings
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.run.widgets.fields import Choice, ChoiceField
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

BUILT_IN = {
    "reproduce": "SpatialBench-UC as published",
    "recommended": "SpatialBench-UC, known faults corrected",
}


class CheckerPanel(Panel):
    """Lets the user select a preset of the checker, such as one that an audit calibrated."""

    title = "Checker settings"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._studio = context.studio
        self._preset = ChoiceField(tr("Preset of the checker"))
        self._preset.choice_picked.connect(self._pick)
        self._description = TextLabel(tone=Tone.MUTED, small=True)
        context.window_signals.preset_saved.connect(lambda _name: self._list())
        column(self._preset, self._description, within=self, gap=0.4)
        self._apply(context.settings.checker or REPRODUCE.preset)

    def showEvent(self, event: QShowEvent) -> None:
        """List the presets that other programs or the terminal saved."""
        super().showEvent(event)
        self._list()

    def _list(self) -> None:
        names = self._studio.storage.checker_presets.names
        choices = [Choice(id=name, title=tr(BUILT_IN.get(name, name))) for name in names]
        self._preset.show_choices(tuple(choices), self._studio.checker.preset)

    def _pick(self, name: str) -> None:
        before = self._studio.checker.preset
        self._context.edits.change(tr("change checker settings"), before, name, self._use)

    def _use(self, name: str) -> None:
        """Use a preset for evaluations from now on."""
        if self._apply(name):
            self._context.settings.checker = name
            self._context.window_signals.judges_chosen.emit()

    def _apply(self, name: str) -> bool:
        try:
            settings = self._studio.storage.checker_presets.settings(name)
        except StudioError as error:
            self._context.toasts.report(report_on(error, tr("Reading the checker settings")))
            self._list()
            return False
        self._studio.checker = settings
        self._description.setText(summary_of(settings))
        self._list()
        return True


def summary_of(settings: CheckerSettings) -> str:
    """Return the main thresholds of checker settings in words."""
    words = tr("Margin {margin}, minimum score {score}, minimum confidence {confidence}.")
    return words.format(
        margin=f"{settings.margin:g}",
        score=f"{settings.detection_score:g}",
        confidence=f"{settings.min_confidence:g}",
    )
