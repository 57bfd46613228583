"""A picture with its overlays and the marginals that share its axes."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QImage,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from spatialstudio.domain.scene import Axis
from spatialstudio.ui.stage.widgets.map_painter import MapPainter
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.array_images import (
    heat_image,
    mask_image,
    mask_outline,
    rgb_image,
)
from spatialstudio.ui.widgets.painting import draw_text, painting
from spatialstudio.ui.widgets.picture_label import PictureLabels
from spatialstudio.ui.widgets.picture_layers import (
    BoxLayer,
    MaskLayer,
    PictureScene,
)
from spatialstudio.ui.widgets.picture_region import (
    WHOLE,
    dragged,
    kept_inside,
    zoomed,
)
from spatialstudio.ui.widgets.stage_overlay import PicturePlace, StageOverlay

if TYPE_CHECKING:  # plots are loaded after the first frame
    from spatialstudio.ui.stage.widgets.marginal_plot import MarginalPlot
    from spatialstudio.ui.widgets.plot_range import PlotRange

BAND_EM = 2.8
DEEP_BAND_EM = 4.6
"""Of marginals with cumulative curves."""
DEEPEST_SHARE = 0.2
"""Maximum share of the room for the marginals with their gap; keeps the picture largest."""
DIVIDER_WIDTH = 0.9
GAP_EM = 0.4
LEAST_EM = 4
TITLE_EM = 1.7
MASK_TINT = 0.22
ROUNDING_EM = 0.25


class PictureView(QWidget):
    """Shows one picture with its overlays.

    Emits ``view_picked`` with the visible region, as fractions of the picture, when the user zooms
    (wheel) or drags; a double click resets it. Emits ``place_pointed`` with the position under the
    pointer, as fractions of the picture, None when it leaves, and ``save_asked`` with a plot of the
    marginals to save. ``show_*`` never emit.

    Args:
        theme: Colours.
        name: Accessible name.
        has_marginals: Whether room for marginals is reserved; else the picture is centred.
    """

    view_picked = Signal(QRectF)
    place_pointed = Signal(object)
    save_asked = Signal(object)

    def __init__(self, theme: Theme, name: str, *, has_marginals: bool = True) -> None:
        super().__init__()
        self._theme = theme
        self._has_marginals = has_marginals
        self._scene = PictureScene()
        self._picture: QImage | None = None
        self._outlines: tuple[QPainterPath, ...] = ()
        self._view = QRectF(WHOLE)
        self._smooth = True
        self._grip: QPointF | None = None
        self._overlays: tuple[StageOverlay, ...] = ()
        self._held: StageOverlay | None = None
        self._marginals: dict[Axis, MarginalPlot] = {}
        self._placed: object = None
        self._maps = MapPainter(theme)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(em(LEAST_EM), em(LEAST_EM))
        self.setMouseTracking(True)
        theme.changed.connect(self.update)

    @property
    def view(self) -> QRectF:
        """The visible region, as fractions of the picture's sides."""
        return QRectF(self._view)

    def sizeHint(self) -> QSize:
        return QSize(em(26), em(26))

    def show_scene(self, scene: PictureScene) -> None:
        """Show a picture and its overlays."""
        if scene.picture is not self._scene.picture:
            self._picture = None if scene.picture is None else rgb_image(scene.picture)
        if scene.masks != self._scene.masks:
            self._outlines = tuple(mask_outline(mask.pixels) for mask in scene.masks)
        self._scene = scene
        self._maps.show_maps(scene.maps)
        self._show_marginals()
        self._redraw()

    def make_marginals(self) -> None:
        """Create the plots of the marginals, unless there are some: early or on demand."""
        if self._marginals:
            return
        from spatialstudio.ui.stage.widgets.marginal_plot import MarginalPlot

        for axis in (Axis.X, Axis.Y):
            plot = self._marginals[axis] = MarginalPlot(self._theme, axis)
            plot.setParent(self)
            plot.setCursor(Qt.CursorShape.ArrowCursor)
            plot.save_asked.connect(self.save_asked)
            plot.range_asked.connect(partial(self._follow_range, axis))
            plot.installEventFilter(self)

    def show_view(self, view: QRectF) -> None:
        """Set the visible region, as fractions of the picture's sides."""
        self._view = QRectF(view)
        self._place_marginals()
        self.update()

    def show_smooth(self, smooth: bool) -> None:
        """Scale the picture smoothly, or show its pixels."""
        self._smooth = smooth
        self.update()

    def show_overlays(self, overlays: tuple[StageOverlay, ...]) -> None:
        """Set the overlays; the last one is on top and receives mouse events first."""
        for overlay in self._overlays:
            overlay.changed.disconnect(self._redraw)
        self._overlays, self._held = overlays, None
        for overlay in overlays:
            overlay.changed.connect(self._redraw)
        self._redraw()

    @property
    def place(self) -> PicturePlace:
        """Geometry of the picture in this widget, for overlays."""
        frame = self.frame()
        return PicturePlace(frame, self._stretched(frame))

    def frame(self) -> QRectF:
        """Return the picture's rectangle, in widget coordinates."""
        ratio = self._picture.width() / self._picture.height() if self._picture else 1.0
        room = QSizeF(self.size()) - self._margins()
        room.setHeight(room.height() - em(TITLE_EM))
        width = max(min(room.width(), room.height() * ratio), 1.0)
        height = width / ratio
        left = (room.width() - width) / 2
        top = em(TITLE_EM) + max((room.height() - height) / 2, 0)
        return QRectF(round(left), round(top), round(width), round(height))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_marginals()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        frame, rounding = self.frame(), em(ROUNDING_EM)
        shape = QPainterPath()
        shape.addRoundedRect(frame, rounding, rounding)
        with painting(self) as painter:
            self._draw_title(painter, frame)
            painter.fillPath(shape, self._theme.colour("sunken"))
            painter.save()
            painter.setClipPath(shape)
            self._draw_inside(painter, frame)
            painter.restore()
            painter.setPen(QPen(self._theme.colour("line"), 1))
            painter.drawPath(shape)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self._picture is None or not event.angleDelta().y():
            event.ignore()
            return
        turned, place = event.angleDelta().y(), event.position()
        self._pick_view(zoomed(self._view, turned, place, self.frame()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        for overlay in reversed(self._overlays):
            if overlay.press(event, self.place):
                self._held = overlay
                return
        self._grip = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Emit the pointer's position; drag the grabbed overlay, or the picture."""
        self._point(event.position())
        if self._held is not None:
            self._held.move(event, self.place)
            return
        if self._grip is None:
            over = any(overlay.move(event, self.place) for overlay in reversed(self._overlays))
            hand, arrow = Qt.CursorShape.PointingHandCursor, Qt.CursorShape.ArrowCursor
            self.setCursor(hand if over else arrow)
            return
        moved, self._grip = event.position() - self._grip, event.position()
        self._pick_view(dragged(self._view, moved, self.frame()))

    def leaveEvent(self, event: QEvent) -> None:
        self.place_pointed.emit(None)
        super().leaveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._held is not None:
            self._held.release(event, self.place)
        self._grip = self._held = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: ARG002 - Qt's signature
        self._pick_view(QRectF(WHOLE))

    def _redraw(self) -> None:
        """Repaint and update the accessible description."""
        scene = self._scene
        overlaid = (overlay.words() for overlay in self._overlays)
        parts = (scene.title, scene.remark, scene.words or scene.waiting, *overlaid)
        words = " ".join(part for part in parts if part)
        if words != self.accessibleDescription():
            self.setAccessibleDescription(words)
        self.update()

    def _point(self, position: QPointF) -> None:
        inside = self._picture is not None and self.frame().contains(position)
        self.place_pointed.emit(self.place.to_share(position) if inside else None)

    def _margins(self) -> QSizeF:
        """Return the width and height of the marginals, including the gaps, in pixels."""
        if not self._has_marginals:
            return QSizeF(0, 0)
        deep = {crossing.axis for crossing in self._scene.crossings}
        width, height = (
            em(GAP_EM) + em(DEEP_BAND_EM if axis in deep else BAND_EM) for axis in (Axis.Y, Axis.X)
        )
        return QSizeF(width, height).boundedTo(QSizeF(self.size()) * DEEPEST_SHARE)

    def _pick_view(self, view: QRectF) -> None:
        self.show_view(view)
        self.view_picked.emit(view)

    def _draw_title(self, painter: QPainter, frame: QRectF) -> None:
        line = QRectF(frame.left(), frame.top() - em(TITLE_EM), frame.width(), em(TITLE_EM))
        line.adjust(0, 0, 0, -em(GAP_EM))
        low, title = Qt.AlignmentFlag.AlignBottom, self._scene.title
        draw_text(painter, line, title, (font(bold=True), self._theme.colour("text")), low)
        spare = line.width() - painter.fontMetrics().horizontalAdvance(title) - em()
        small, remarks = font(SMALL), (self._scene.remark, self._scene.brief_remark)
        advance = QFontMetrics(small).horizontalAdvance
        remark = next((each for each in remarks if advance(each) <= spare), "")
        look = (small, self._theme.colour("muted"))
        draw_text(painter, line, remark, look, low | Qt.AlignmentFlag.AlignRight)

    def _draw_inside(self, painter: QPainter, frame: QRectF) -> None:
        if self._picture is None:
            painter.setFont(font())
            painter.setPen(self._theme.colour("muted"))
            centred = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(frame.adjusted(em(), 0, -em(), 0), centred, self._scene.waiting)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, self._smooth)
            painter.drawImage(self._stretched(frame), self._picture)
        self._draw_depth(painter, frame)
        self._maps.draw(painter, self._stretched(frame))
        self._draw_dividers(painter, self._stretched(frame))
        for mask, outline in zip(self._scene.masks, self._outlines, strict=True):
            self._draw_mask(painter, frame, mask, outline)
        labels = PictureLabels(frame)
        for box in self._scene.boxes:
            self._draw_box(painter, frame, box, labels)
        painter.setOpacity(1.0)
        for overlay in self._overlays:
            painter.save()
            overlay.draw(painter, self.place, labels)
            painter.restore()
        labels.draw(painter)

    def _draw_dividers(self, painter: QPainter, whole: QRectF) -> None:
        """Draw the dividing lines of the crossings through the picture's rectangle ``whole``."""
        for crossing in self._scene.crossings:
            x = whole.left() + crossing.place * whole.width()
            y = whole.top() + crossing.place * whole.height()
            if crossing.axis is Axis.X:
                ends = QPointF(x, whole.top()), QPointF(x, whole.bottom())
            else:
                ends = QPointF(whole.left(), y), QPointF(whole.right(), y)
            for role, width in (("raised", DIVIDER_WIDTH * 4), ("text", DIVIDER_WIDTH)):
                painter.setPen(QPen(self._theme.colour(role, 0.8), width))
                painter.drawLine(*ends)

    def _show_marginals(self) -> None:
        scene = self._scene
        if scene.profiles:
            self.make_marginals()
        for plot in self._marginals.values():
            plot.setVisible(bool(scene.profiles))
            if scene.profiles:
                plot.show_profiles(scene.profiles, scene.crossings)
        self._place_marginals()

    def _place_marginals(self) -> None:
        """Lay out the marginals next to the picture, with the same visible range."""
        if not self._scene.profiles:
            return
        ratio = self._picture.size().toTuple() if self._picture else None
        deep_axes = frozenset(crossing.axis for crossing in self._scene.crossings)
        given = (self.size().toTuple(), ratio, deep_axes, self._view.getRect(), em())
        if given == self._placed:  # as at nearly every step of a run
            return
        self._placed = given
        frame, margins, gap = self.frame(), self._margins(), em(GAP_EM)
        deep, wide = margins.height() - gap, margins.width() - gap
        areas = {
            Axis.X: QRectF(frame.left(), frame.bottom() + gap, frame.width(), deep),
            Axis.Y: QRectF(frame.right() + gap, frame.top(), wide, frame.height()),
        }
        starts = {Axis.X: self._view.left(), Axis.Y: self._view.top()}
        for axis, plot in self._marginals.items():
            plot.setGeometry(areas[axis].toRect().adjusted(-1, -1, 1, 1))  # its border's pixel
            shown = replace(plot.range, start=starts[axis], span=self._view.width())
            if shown != plot.range:
                plot.show_range(shown)

    def _follow_range(self, axis: Axis, wanted: "PlotRange") -> None:
        """Show the range of the picture that a marginal plot requests."""
        view, side = self._view, wanted.length
        moved = QRectF(0, 0, side, side)
        moved.moveCenter(view.center())
        if axis is Axis.X:
            moved.moveLeft(wanted.first)
        else:
            moved.moveTop(wanted.first)
        self._pick_view(kept_inside(moved))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Clear the pointer's position while it is on the marginals."""
        if event.type() is QEvent.Type.Enter:
            self.place_pointed.emit(None)
        return super().eventFilter(watched, event)

    def _draw_depth(self, painter: QPainter, frame: QRectF) -> None:
        if (depth := self._scene.depth) is not None:
            painter.setOpacity(depth.opacity)
            heat = heat_image(depth.nearness, self._theme.heat_table())
            painter.drawImage(self._stretched(frame), heat)
            painter.setOpacity(1.0)

    def _draw_mask(
        self, painter: QPainter, frame: QRectF, mask: MaskLayer, outline: QPainterPath
    ) -> None:
        whole = self._stretched(frame)
        painter.setOpacity(mask.opacity)
        painter.drawImage(whole, mask_image(mask.pixels, self._theme.mention(mask.hue, MASK_TINT)))
        height, width = mask.pixels.shape
        place = QTransform.fromTranslate(whole.left(), whole.top())
        place.scale(whole.width() / width, whole.height() / height)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        pen = QPen(self._theme.mention(mask.hue), 1.5, c=Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPath(place.map(outline))

    def _draw_box(
        self, painter: QPainter, frame: QRectF, layer: BoxLayer, labels: PictureLabels
    ) -> None:
        if self._picture is None:
            return
        whole = self._stretched(frame)
        across = whole.width() / self._picture.width()
        down = whole.height() / self._picture.height()
        box = QRectF(
            QPointF(whole.left() + layer.box.left * across, whole.top() + layer.box.top * down),
            QPointF(whole.left() + layer.box.right * across, whole.top() + layer.box.bottom * down),
        )
        box = box.intersected(frame).adjusted(1, 1, -1, -1)
        painter.setOpacity(layer.opacity)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        style = Qt.PenStyle.DashLine if layer.is_rival else Qt.PenStyle.SolidLine
        painter.setPen(QPen(self._theme.mention(layer.hue), 2, style))
        painter.drawRect(box)
        colours = self._theme.mention(layer.hue), self._theme.on_mention(layer.hue)
        labels.add_name(box, layer.label, colours, layer.opacity)

    def _stretched(self, frame: QRectF) -> QRectF:
        """Return the rectangle of the whole picture when the frame shows a region of it."""
        width, height = frame.width() / self._view.width(), frame.height() / self._view.height()
        left = frame.left() - self._view.left() * width
        return QRectF(left, frame.top() - self._view.top() * height, width, height)
