"""The evidence of a verdict on the picture: marks, draggable bands and selectable boxes."""

from enum import Enum, auto

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPainterPath, QPen

from spatialstudio.domain.evidence import GapLine, MarginBand
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Axis
from spatialstudio.domain.verdict import Box
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.painting import draw_rounded
from spatialstudio.ui.widgets.picture_label import PictureLabels
from spatialstudio.ui.widgets.stage_overlay import PicturePlace, StageOverlay


class BoxStyle(Enum):
    """What a box on the picture stands for."""

    CHOSEN = auto()
    """The box used for the verdict."""
    GHOST = auto()
    """A candidate that can be selected."""
    SECOND = auto()
    """Detected by the second detector."""
    TRACE = auto()
    """Position of an object in a perturbed picture."""
    EMPTY = auto()
    """Frame of a missing object."""


@frozen
class BoxMark:
    """A box and its label.

    Attributes:
        box: Pixels.
        hue: Hue of its word.
        style: What it stands for.
        label: Its label; empty for none.
        key: Id emitted on a click; None for a box that cannot be selected.
        opacity: [0, 1].
    """

    box: Box
    hue: int
    style: BoxStyle
    label: str = ""
    key: object = None
    opacity: float = 1.0


@frozen
class BandMark:
    """The undecidable band of the subject's centre.

    Attributes:
        band: Position and width.
        centre_xy: The subject's centre.
        hue: Hue of the subject.
        label: Offset of the centre and the limit: "0.06 of 0.10"; empty if unknown.
        glows: Whether it decided the verdict.
        opacity: [0, 1].
        tint: A hue for the band; None for the default of an undecidable band.
    """

    band: MarginBand
    centre_xy: tuple[float, float]
    hue: int
    label: str = ""
    glows: bool = False
    opacity: float = 1.0
    tint: int | None = None


@frozen
class GapMark:
    """The shortest connection of two boxes, with its length as text."""

    gap: GapLine
    label: str


@frozen
class EvidenceScene:
    """All marks on one picture.

    Attributes:
        height: Height of the picture, pixels.
        width: Width of the picture, pixels.
        boxes: The last one on top.
        bands: Under the boxes.
        gap: For near and far only.
        hatched: Labelled areas.
        differing: Pairs of boxes whose difference is hatched.
        is_lit: Whether everything except the marks is dimmed.
        words: Description of the marks.
    """

    height: int = 1
    width: int = 1
    boxes: tuple[BoxMark, ...] = ()
    bands: tuple[BandMark, ...] = ()
    gap: GapMark | None = None
    hatched: tuple[tuple[Box, str], ...] = ()
    differing: tuple[tuple[Box, Box], ...] = ()
    is_lit: bool = False
    words: str = ""


NOTHING = EvidenceScene()


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

    Attributes:
        scene: The shown marks.
    """

    margin_picked = Signal(float)
    candidate_picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.scene = NOTHING
        self._held: HeldEdge | None = None
        self._pulse = QVariantAnimation(self, duration=PULSE_MS, startValue=0.0, endValue=0.0)
        self._pulse.setLoopCount(PULSES)
        self._pulse.setKeyValueAt(0.5, 1.0)
        self._pulse.valueChanged.connect(self.changed)

    def show_scene(self, scene: EvidenceScene) -> None:
        """Show these marks; newly highlighted ones pulse once."""
        if scene == self.scene:
            return
        if not scene.is_lit:
            self._pulse.stop()
        elif not self.scene.is_lit or scene.boxes != self.scene.boxes:
            self._pulse.start()
        self.scene = scene
        self.changed.emit()

    def draw(self, painter: QPainter, place: PicturePlace, labels: PictureLabels) -> None:
        """Draw the marks, and label only them while the rest is dimmed."""
        if self.scene.is_lit:
            labels.clear()
        is_pulsing = self._pulse.state() is QVariantAnimation.State.Running
        pulse = float(self._pulse.currentValue()) if is_pulsing else 0.0
        EvidencePainter(self._theme, self.scene, place, pulse).draw(painter, labels)

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
        return self.scene.words

    def _edge_at(self, spot: QPointF, place: PicturePlace) -> HeldEdge | None:
        painter = EvidencePainter(self._theme, self.scene, place)
        near = (
            HeldEdge(mark.band.axis, self._middle(mark))
            for mark in self.scene.bands
            if any(_distance(edge, spot) <= em(REACH_EM) for edge in painter.edges(mark))
        )
        return next(near, None)

    def _middle(self, mark: BandMark) -> float:
        side = self.scene.width if mark.band.axis is Axis.X else self.scene.height
        return (mark.band.start + mark.band.stop) / 2 / side

    def _candidate_at(self, spot: QPointF, place: PicturePlace) -> BoxMark | None:
        """Return the smallest candidate at a point, as it may lie within a larger one."""
        painter = EvidencePainter(self._theme, self.scene, place)
        under = [
            mark
            for mark in self.scene.boxes
            if mark.key is not None and painter.rect(mark.box).contains(spot)
        ]
        return min(under, key=lambda mark: mark.box.area, default=None)


def _distance(edge: QLineF, spot: QPointF) -> float:
    """Return the distance of a point from a vertical or horizontal line."""
    return abs(spot.x() - edge.x1()) if edge.dx() == 0 else abs(spot.y() - edge.y1())


DIMMED = 0.72
BAND_FILL, GLOWING_FILL = 0.12, 0.26
GLOW, PULSE_EM = 0.4, 1.0
PULSING = frozenset({BoxStyle.CHOSEN, BoxStyle.GHOST, BoxStyle.EMPTY})
DOT_EM, TICK_EM, GRIP_EM, NOTE_EM = 0.28, 0.35, 0.7, 1.0
LINES = {
    BoxStyle.CHOSEN: (2.5, Qt.PenStyle.SolidLine),
    BoxStyle.GHOST: (1.6, Qt.PenStyle.DotLine),
    BoxStyle.SECOND: (2.0, Qt.PenStyle.DashDotLine),
    BoxStyle.TRACE: (1.0, Qt.PenStyle.SolidLine),
    BoxStyle.EMPTY: (1.6, Qt.PenStyle.DashLine),
}


class EvidencePainter:
    """Paints one scene at one place.

    Args:
        theme: The colours.
        scene: The marks.
        place: Geometry of the picture.
        pulse: Phase of the highlight's pulse, [0, 1].
    """

    def __init__(
        self, theme: Theme, scene: EvidenceScene, place: PicturePlace, pulse: float = 0.0
    ) -> None:
        self._theme = theme
        self._scene = scene
        self._place = place
        self._pulse = pulse

    def rect(self, box: Box) -> QRectF:
        """Return the rectangle of a box in picture pixels, in widget coordinates."""
        return QRectF(self._point(box.left, box.top), self._point(box.right, box.bottom))

    def edges(self, mark: BandMark) -> tuple[QLineF, QLineF]:
        """Return the two edges of a band, in widget coordinates."""
        area = self._area(mark)
        if mark.band.axis is Axis.X:
            return (
                QLineF(area.topLeft(), area.bottomLeft()),
                QLineF(area.topRight(), area.bottomRight()),
            )
        return QLineF(area.topLeft(), area.topRight()), QLineF(
            area.bottomLeft(), area.bottomRight()
        )

    def draw(self, painter: QPainter, labels: PictureLabels) -> None:
        """Paint all marks and collect their labels, highlighted marks over the dimmed picture."""
        scene = self._scene
        if scene.is_lit:
            self._dim(painter)
        for band in scene.bands:
            painter.setOpacity(band.opacity)
            self._draw_band(painter, band)
        for mark in scene.boxes:
            painter.setOpacity(mark.opacity)
            self._draw_box(painter, mark, labels)
        painter.setOpacity(1.0)
        for pair in scene.differing:
            self._hatch(painter, self._difference(*pair))
        for area, label in scene.hatched:
            self._hatch(painter, self._path(area))
            labels.add_note(
                self.rect(area).center(), label, self._paper(self._theme.colour("text"))
            )
        for band in scene.bands:
            self._draw_dimension(painter, band, labels)
        if scene.gap is not None:
            self._draw_gap(painter, scene.gap, labels)

    def _point(self, x: float, y: float) -> QPointF:
        share = QPointF(x / self._scene.width, y / self._scene.height)
        return self._place.to_widget(share)

    def _area(self, mark: BandMark) -> QRectF:
        band = mark.band
        if band.axis is Axis.X:
            return QRectF(self._point(band.start, 0), self._point(band.stop, self._scene.height))
        return QRectF(self._point(0, band.start), self._point(self._scene.width, band.stop))

    def _dim(self, painter: QPainter) -> None:
        shade, holes = QPainterPath(), QPainterPath()
        shade.addRect(self._place.frame)
        for mark in self._scene.boxes:
            if mark.style is not BoxStyle.EMPTY:
                holes = holes.united(self._path(mark.box))
        painter.fillPath(shade.subtracted(holes), self._theme.colour("sunken", DIMMED))

    def _draw_box(self, painter: QPainter, mark: BoxMark, labels: PictureLabels) -> None:
        colour = self._theme.mention(mark.hue)
        width, style = LINES[mark.style]
        frame = self._place.frame
        area = self.rect(mark.box).intersected(frame).adjusted(1, 1, -1, -1)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self._pulse > 0 and mark.style in PULSING:
            painter.setPen(QPen(self._theme.mention(mark.hue, GLOW), em(PULSE_EM) * self._pulse))
            painter.drawRect(area)
        painter.setPen(QPen(colour, width, style))
        painter.drawRect(area)
        if mark.label and mark.style is BoxStyle.EMPTY:
            labels.add_note(area.center(), mark.label, self._paper(colour))
        elif mark.label:
            is_chosen = mark.style is BoxStyle.CHOSEN
            ink, raised = self._theme.on_mention(mark.hue), self._theme.colour("raised")
            colours = (colour, ink) if is_chosen else (raised, colour)
            labels.add_name(area, mark.label, colours, mark.opacity)

    def _draw_band(self, painter: QPainter, mark: BandMark) -> None:
        colour = self._tint(mark)
        fill = QColor(colour)
        fill.setAlphaF(GLOWING_FILL if mark.glows else BAND_FILL)
        painter.fillRect(self._area(mark), fill)
        glow = QColor(colour)
        glow.setAlphaF(GLOW)
        for edge in self.edges(mark):
            if mark.glows:
                painter.setPen(QPen(glow, em(0.4)))
                painter.drawLine(edge)
            painter.setPen(QPen(colour, 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(edge)
            self._draw_grip(painter, edge, colour)

    def _draw_grip(self, painter: QPainter, edge: QLineF, colour: QColor) -> None:
        """Draw the drag handle of an edge, in the middle of its visible part."""
        frame = self._place.frame
        middle = QPointF(
            edge.x1() if edge.dx() == 0 else frame.center().x(),
            edge.y1() if edge.dy() == 0 else frame.center().y(),
        )
        along, across = em(GRIP_EM), em(GRIP_EM) / 2.4
        size = (across, along) if edge.dx() == 0 else (along, across)
        grip = QRectF(middle.x() - size[0] / 2, middle.y() - size[1] / 2, *size)
        draw_rounded(
            painter, grip, self._theme.colour("raised"), QPen(colour, 1.5), radius=across / 2
        )

    def _draw_dimension(self, painter: QPainter, mark: BandMark, labels: PictureLabels) -> None:
        """Draw the subject's centre, and its distance from the middle of the band."""
        painter.setOpacity(mark.opacity)
        centre = self._point(*mark.centre_xy)
        middle = self._area(mark).center()
        is_across = mark.band.axis is Axis.X
        foot = QPointF(middle.x(), centre.y()) if is_across else QPointF(centre.x(), middle.y())
        ink = self._theme.colour("text")
        tick = em(TICK_EM)
        shift = QPointF(0, tick) if is_across else QPointF(tick, 0)
        for colour, width in ((self._theme.colour("raised"), 4.0), (ink, 1.5)):
            painter.setPen(QPen(colour, width))
            painter.drawLine(foot, centre)
            painter.drawLine(foot - shift, foot + shift)
        dot = em(DOT_EM)
        painter.setPen(QPen(self._theme.colour("raised"), 2))
        painter.setBrush(self._theme.mention(mark.hue))
        painter.drawEllipse(centre, dot, dot)
        if mark.label:
            aside = QPointF(0, em(NOTE_EM)) if is_across else QPointF(em(3), 0)
            spot = QLineF(foot, centre).center() + aside
            labels.add_note(spot, mark.label, self._paper(ink), mark.opacity)
        painter.setOpacity(1.0)

    def _draw_gap(self, painter: QPainter, mark: GapMark, labels: PictureLabels) -> None:
        ends = self._point(*mark.gap.start_xy), self._point(*mark.gap.stop_xy)
        ink = self._theme.colour("text")
        for colour, width in ((self._theme.colour("raised"), 4.0), (ink, 1.5)):
            painter.setPen(QPen(colour, width))
            painter.drawLine(*ends)
        painter.setBrush(ink)
        for end in ends:
            painter.drawEllipse(end, em(DOT_EM) / 2, em(DOT_EM) / 2)
        spot = QLineF(*ends).center() + QPointF(0, em(NOTE_EM))
        labels.add_note(spot, mark.label, self._paper(ink))

    def _hatch(self, painter: QPainter, path: QPainterPath) -> None:
        colour = self._theme.colour("unsure")
        painter.fillPath(path, self._theme.colour("raised", GLOWING_FILL))
        painter.fillPath(path, QBrush(colour, Qt.BrushStyle.BDiagPattern))
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    def _difference(self, one: Box, other: Box) -> QPainterPath:
        first, second = self._path(one), self._path(other)
        return first.subtracted(second).united(second.subtracted(first))

    def _path(self, box: Box) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self.rect(box))
        return path

    def _tint(self, mark: BandMark) -> QColor:
        tint = mark.tint
        return self._theme.colour("unsure") if tint is None else self._theme.mention(tint)

    def _paper(self, ink: QColor) -> tuple[QColor, QColor]:
        return self._theme.colour("raised"), ink
