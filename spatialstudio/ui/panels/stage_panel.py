"""The stage: the picture, the baseline beside it, and everything that lies on them."""

from pathlib import Path

from PySide6.QtCore import QRectF, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from spatialstudio.application.engine.messages import EngineStopped, JobFailed
from spatialstudio.application.session import (
    BaselineChanged,
    MentionPicked,
    RunChanged,
    StepPicked,
    StoreFailed,
)
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import GenerationFailed
from spatialstudio.ui.bridge import FrameClock
from spatialstudio.ui.panel_api import Panel
from spatialstudio.ui.panels.stage_contents import picture_scene
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.empty_stage import EmptyStage
from spatialstudio.ui.widgets.notice_bar import NoticeBar
from spatialstudio.ui.widgets.picture_layers import Layer
from spatialstudio.ui.widgets.picture_view import WHOLE, PictureView


class StagePanel(Panel):
    """Shows the run at the picked step.

    Emits ``example_picked`` with a prompt, ``file_dropped`` with the path of what was dropped.
    """

    title = "Stage"
    example_picked = Signal(str)
    file_dropped = Signal(object)

    def __init__(self, studio: Studio, theme: Theme) -> None:
        super().__init__()
        self._session = studio.session
        self._layers = frozenset(Layer)
        self._notice = NoticeBar(theme)
        self._empty = EmptyStage(theme)
        self._empty.example_picked.connect(self.example_picked)
        self._picture = PictureView(theme, "Picture")
        self._beside = PictureView(theme, "Baseline picture")
        self._beside.hide()
        self._pictures = QWidget()
        self._pictures.hide()
        for view in (self._picture, self._beside):
            view.view_picked.connect(self._show_view)
        self._clock = FrameClock(self._draw, self)
        self._lay_out()
        self.setAcceptDrops(True)

    @property
    def pictures(self) -> QWidget:
        """Where the pictures are; replay keys work here."""
        return self._pictures

    def handle(self, event: object) -> None:
        """Follow the run, the picked step and word; tell of failures."""
        match event:
            case RunChanged() | BaselineChanged() | StepPicked() | MentionPicked():
                self._clock.request()
            case GenerationFailed() | JobFailed() | EngineStopped() | StoreFailed():
                self.show_error(event.error)

    def show_error(self, report: ErrorReport) -> None:
        """Tell of a failure over the stage."""
        self._notice.show_error(report)

    def clear_error(self) -> None:
        """Take the message away: something new has begun."""
        self._notice.hide()

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Show only these layers."""
        self._layers = layers
        self._clock.request()

    def show_smooth(self, smooth: bool) -> None:
        """Scale pictures smoothly, or show their pixels."""
        self._picture.show_smooth(smooth)
        self._beside.show_smooth(smooth)

    def fit(self) -> None:
        """Show the whole pictures."""
        self._show_view(QRectF(WHOLE))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Welcome files."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the first file dropped."""
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.file_dropped.emit(Path(paths[0]))

    def _show_view(self, view: QRectF) -> None:
        self._picture.show_view(view)
        self._beside.show_view(view)

    def _draw(self) -> None:
        run, baseline = self._session.run, self._session.baseline
        if run is None:
            return
        self._empty.hide()
        self._pictures.show()
        step, word = self._session.step, self._session.mention_id
        title = "Guided" if baseline else ("Picture" if run.request else "Your picture")
        self._picture.show_scene(picture_scene(run, step, word, self._layers, title))
        self._beside.setVisible(baseline is not None)
        if baseline is not None:
            scene = picture_scene(baseline, step, word, self._layers, "Baseline")
            self._beside.show_scene(scene)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self._pictures)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(em(1))
        row.addWidget(self._picture)
        row.addWidget(self._beside)
        column = QVBoxLayout(self)
        column.setContentsMargins(em(1), em(0.8), em(1), em(0.8))
        column.addWidget(self._notice)
        column.addWidget(self._empty, 1)
        column.addWidget(self._pictures, 1)
