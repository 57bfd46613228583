"""The status-line readout of map values under the pointer."""

from PySide6.QtCore import QPointF, Qt

from spatialstudio.application.session import StepPicked
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.stage.map_presenter import (
    map_selection,
    maps_at,
    place_in_words,
    shown_words,
)
from spatialstudio.ui.widgets.builders import row
from spatialstudio.ui.widgets.texts import (
    TextLabel,
    Tone,
    plain_tip,
    tr,
)

MOST_OF_THE_WINDOW = 0.7


class ReadoutPanel(Panel):
    """Shows the pixel under the pointer, and each map's value and share of mass there."""

    title = "Readout"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._maps = context.maps
        self._place: QPointF | None = None
        self._text = TextLabel(tone=Tone.MUTED, wraps=False)
        self._text.setMinimumWidth(1)  # a long text must not widen the window
        self._text.setAccessibleName(tr("Under the pointer"))
        context.stage.place_pointed.connect(self._point)
        self._maps.changed.connect(self._show)
        row(self._text, within=self, edges=(0.9, 0, 0.9, 0))
        self.hide()

    def handle(self, event: object) -> None:
        """Follow the step."""
        if isinstance(event, StepPicked):
            self._show()

    def _point(self, place: QPointF | None) -> None:
        self._place = place
        self._show()

    def _show(self) -> None:
        run, place = self._session.run, self._place
        if run is None or place is None:
            self._say("")
            return
        selection = map_selection(self._maps, run)
        maps, words = maps_at(run, self._session.step, selection), shown_words(run.scene, selection)
        x, y = place.x(), place.y()
        where = tr("x {x:.1%}   y {y:.1%}").format(x=x, y=y)
        if run.image is not None:
            height, width = run.image.shape[:2]
            where = f"x {int(x * width)}   y {int(y * height)}"
        self._say(f"{where}   {place_in_words(run.scene, maps, words, x, y)}".strip())

    def _say(self, text: str) -> None:
        room = round(self.window().width() * MOST_OF_THE_WINDOW)
        shown = self._text.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
        self._text.setText(shown)
        self._text.setToolTip(plain_tip(text))
        self._text.setAccessibleDescription(text)
        self.setVisible(bool(text))
