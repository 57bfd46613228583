"""The evidence of a verdict on the picture, with a draggable band and selectable boxes."""

from PySide6.QtCore import QLineF, QPointF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QMouseEvent, QPainter

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Axis
from spatialstudio.ui.evaluate.widgets.evidence_marks import (
    NOTHING,
    BandMark,
    BoxMark,
    EvidenceScene,
)
from spatialstudio.ui.evaluate.widgets.evidence_painter import EvidencePainter
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.picture_label import PictureLabels
from spatialstudio.ui.widgets.stage_overlay import PicturePlace, StageOverlay

REACH_EM = 0.4
PULSE_MS, PULSES = 700, 2
WIDEST = 0.5
"""Largest half width of a band, as a fraction of the picture's side."""


@frozen(kw_only=False)
class HeldEdge:
    """A grabbed edge of a band.

    Attributes:
        axis: Axis along which it moves.
        middle: Centre of the band, as a fraction of the picture's side.
    """

    axis: Axis
    middle: float


class EvidenceOverlay(StageOverlay):
    """Shows marks on the picture.

    Emits ``margin_picked`` with half the width of a band, as a fraction of the picture's side,
    while its edge is dragged, and ``candidate_picked`` with the key of a box that is clicked.
    """

    margin_picked = Signal(float)
    candidate_picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._scene = NOTHING
        self._held: HeldEdge | None = None
        self._pulse = QVariantAnimation(self)
        self._pulse.setDuration(PULSE_MS)
        self._pulse.setLoopCount(PULSES)
        self._pulse.setStartValue(0.0)
        self._pulse.setKeyValueAt(0.5, 1.0)
        self._pulse.setEndValue(0.0)
        self._pulse.valueChanged.connect(self.changed)

    @property
    def scene(self) -> EvidenceScene:
        """The shown marks."""
        return self._scene

    def show_scene(self, scene: EvidenceScene) -> None:
        """Show these marks; newly highlighted ones pulse once."""
        if scene == self._scene:
            return
        if not scene.is_lit:
            self._pulse.stop()
        elif not self._scene.is_lit or scene.boxes != self._scene.boxes:
            self._pulse.start()
        self._scene = scene
        self.changed.emit()

    def draw(self, painter: QPainter, place: PicturePlace, labels: PictureLabels) -> None:
        """Draw the marks, and label only them while the rest is dimmed."""
        if self._scene.is_lit:
            labels.clear()
        is_pulsing = self._pulse.state() is QVariantAnimation.State.Running
        pulse = float(self._pulse.currentValue()) if is_pulsing else 0.0
        EvidencePainter(self._theme, self._scene, place, pulse).draw(painter, labels)

    def press(self, event: QMouseEvent, place: PicturePlace) -> bool:
        """Grab the edge of a band, or select a candidate; return True if either was hit."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return False
        spot = event.position()
        if (edge := self._edge_at(spot, place)) is not None:
            self._held = edge
            return True
        if (mark := self._candidate_at(spot, place)) is not None:
            self.candidate_picked.emit(mark.key)
            return True
        return False

    def move(self, event: QMouseEvent, place: PicturePlace) -> bool:
        """Drag the grabbed edge; return True over an edge or a candidate."""
        spot = event.position()
        if self._held is None:
            can_take = self._edge_at(spot, place) is not None
            return can_take or self._candidate_at(spot, place) is not None
        share = place.to_share(spot)
        along = share.x() if self._held.axis is Axis.X else share.y()
        self.margin_picked.emit(min(abs(along - self._held.middle), WIDEST))
        return True

    def release(self, event: QMouseEvent, place: PicturePlace) -> None:  # noqa: ARG002 - a hook
        """Release the edge."""
        self._held = None

    def words(self) -> str:
        """Return a description of the marks."""
        return self._scene.words

    def _edge_at(self, spot: QPointF, place: PicturePlace) -> HeldEdge | None:
        painter = EvidencePainter(self._theme, self._scene, place)
        for mark in self._scene.bands:
            for edge in painter.edges(mark):
                if _distance(edge, spot) <= em(REACH_EM):
                    return HeldEdge(mark.band.axis, self._middle(mark))
        return None

    def _middle(self, mark: BandMark) -> float:
        side = self._scene.width if mark.band.axis is Axis.X else self._scene.height
        return (mark.band.start + mark.band.stop) / 2 / side

    def _candidate_at(self, spot: QPointF, place: PicturePlace) -> BoxMark | None:
        """Return the smallest candidate at a point, as it may lie within a larger one."""
        painter = EvidencePainter(self._theme, self._scene, place)
        under = [
            mark
            for mark in self._scene.boxes
            if mark.key is not None and painter.rect(mark.box).contains(spot)
        ]
        return min(under, key=lambda mark: mark.box.area, default=None)


def _distance(edge: QLineF, spot: QPointF) -> float:
    """Return the distance of a point from a vertical or horizontal line."""
    return abs(spot.x() - edge.x1()) if edge.dx() == 0 else abs(spot.y() - edge.y1())
