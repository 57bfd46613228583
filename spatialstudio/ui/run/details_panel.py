"""What the open run was made with."""

from PySide6.QtWidgets import QVBoxLayout

from spatialstudio.application.session import RunChanged
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.run.run_facts import facts_of
from spatialstudio.ui.widgets.fact_list import FactList
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.texts import tr


class DetailsPanel(Panel):
    """Shows seed, model, time and folder of the open run."""

    title = "Details"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._waiting = TextLabel(tr("Seed, time and folder of the open run."), Tone.MUTED)
        self._facts = FactList()
        self._clock = VisibleFrameClock(self._draw, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._waiting)
        column.addWidget(self._facts)

    def handle(self, event: object) -> None:
        """Follow the run."""
        match event:
            case RunChanged():
                self._clock.request()

    def _draw(self) -> None:
        if (run := self._session.run) is not None:
            self._waiting.hide()
            self._facts.show_facts(facts_of(run))
