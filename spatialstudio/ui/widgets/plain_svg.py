"""Rewrites drawings of Qt's SVG generator so that every viewer shows the same.

The generator writes shapes in their own coordinates under a transform, with strokes that do not
scale (``vector-effect``), and no clipping; MuPDF scales such strokes, and QtSvg fills the
rectangles of clip paths. Here the coordinates are those of the drawing, and lines end at the clip.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from xml.etree import ElementTree as Xml

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainterPath, QPolygonF, QTransform

NAMESPACES = {"": "http://www.w3.org/2000/svg", "xlink": "http://www.w3.org/1999/xlink"}
SVG = f"{{{NAMESPACES['']}}}"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
TRANSFORM, EFFECT = "transform", "vector-effect"
EDGES = ("x", "y", "width", "height")
FIXED_STROKE = "non-scaling-stroke"
TOKEN = re.compile(r"[MLC]|[-+.eE\d]+")
LEAST_LENGTH = 1e-9


def plain_svg(whole: str, parts: Sequence[tuple[str, QRectF]] = ()) -> str:
    """Return a drawing in plain shapes, with parts of drawings over it.

    Args:
        whole: A drawing of ``QSvgGenerator``.
        parts: Other ones of the same size, and the area that each is clipped to.
    """
    for prefix, name in NAMESPACES.items():
        Xml.register_namespace(prefix, name)
    root = Xml.fromstring(whole)
    _flatten(root, None)
    for drawing, area in parts:
        part = Xml.fromstring(drawing)
        _flatten(part, area)
        root.extend(part.findall(f"{SVG}g"))
    return HEAD + Xml.tostring(root, encoding="unicode")


def _flatten(root: Xml.Element, clip: QRectF | None) -> None:
    """Apply the transform of each group to its shapes; other children get it as it is."""
    for group in [each for each in root.iter(f"{SVG}g") if TRANSFORM in each.attrib]:
        written = group.attrib.pop(TRANSFORM)
        transform = _transform(written)
        children = list(group)
        for child in children:
            group.remove(child)
            path = _path(child) if child.get(EFFECT) == FIXED_STROKE else None
            if path is None:
                child.attrib.pop(EFFECT, None)
                child.set(TRANSFORM, written)
                group.append(child)
            else:
                group.extend(_shapes(group, child, transform.map(path), clip))


def _transform(written: str) -> QTransform:
    """Return the transform of "matrix(a,b,c,d,e,f)"."""
    return QTransform(*map(float, written.partition("(")[2].rstrip(") ").split(",")))


def _path(shape: Xml.Element) -> QPainterPath | None:
    """Return the outline of a shape; None for other elements."""
    path = QPainterPath()
    match shape.tag.removeprefix(SVG):
        case "rect":
            path.addRect(QRectF(*(float(shape.attrib[key]) for key in EDGES)))
        case "polyline" | "polygon":
            path.addPolygon(QPolygonF([*_points(shape.attrib["points"])]))
            if shape.tag.endswith("polygon"):
                path.closeSubpath()
        case "path":
            _read(shape.attrib["d"], path)
        case _:
            return None
    return path


def _points(written: str) -> Iterator[QPointF]:
    numbers = [float(each) for each in re.split(r"[\s,]+", written.strip()) if each]
    return (QPointF(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True))


def _read(data: str, path: QPainterPath) -> None:
    """Add the absolute moves, lines and curves that the generator writes."""
    tokens = iter(TOKEN.findall(data))
    command = "M"

    def point(first: str) -> QPointF:
        return QPointF(float(first), float(next(tokens)))

    for token in tokens:
        if token in "MLC":
            command = token
        elif command == "M":
            path.moveTo(point(token))
        elif command == "L":
            path.lineTo(point(token))
        else:
            path.cubicTo(point(token), point(next(tokens)), point(next(tokens)))


def _shapes(
    group: Xml.Element, shape: Xml.Element, path: QPainterPath, clip: QRectF | None
) -> Iterator[Xml.Element]:
    """Yield a shape as paths in the coordinates of the drawing, inside the clip."""
    fill = shape.get("fill", group.get("fill"))
    stroke = shape.get("stroke", group.get("stroke"))
    rule = shape.get("fill-rule")
    kept = {"fill": fill or "none", "stroke": stroke or "none"}
    if rule is not None:
        kept["fill-rule"] = rule
    if clip is None or clip.contains(path.boundingRect()):
        yield _element(kept, _written(path))
        return
    if kept["fill"] != "none":
        area = QPainterPath()
        area.addRect(clip)
        if inside := _written(path.intersected(area)):
            yield _element({**kept, "stroke": "none"}, inside)
    if kept["stroke"] != "none" and (lines := _clipped(path, clip)):
        yield _element({**kept, "fill": "none"}, lines)


def _element(attributes: dict[str, str], data: str) -> Xml.Element:
    return Xml.Element(f"{SVG}path", {**attributes, "d": data})


def _written(path: QPainterPath) -> str:
    """Return a path as moves and lines, and curves."""
    words = []
    for place in range(path.elementCount()):
        each = path.elementAt(place)
        if each.isMoveTo():
            words.append("M")
        elif each.isLineTo():
            words.append("L")
        elif each.isCurveTo():
            words.append("C")
        words.append(_pair(QPointF(each.x, each.y)))
    return " ".join(words)


def _pair(point: QPointF) -> str:
    return f"{point.x():.6g},{point.y():.6g}"


def _clipped(path: QPainterPath, clip: QRectF) -> str:
    """Return the outline of a path inside a rectangle; curves become lines."""
    words: list[str] = []
    for polygon in path.toSubpathPolygons():
        end = None
        for start, stop in pairwise(polygon.toList()):
            line = _inside(QLineF(start, stop), clip)
            if line is not None:
                words += [] if line.p1() == end else ["M", _pair(line.p1())]
                words += ["L", _pair(line.p2())]
            end = None if line is None else line.p2()
    return " ".join(words)


def _inside(line: QLineF, clip: QRectF) -> QLineF | None:
    """Return the part of a line inside a rectangle (Liang and Barsky 1984); None outside."""
    first, last = 0.0, 1.0
    for step, low, high in (
        (line.dx(), clip.left() - line.x1(), clip.right() - line.x1()),
        (line.dy(), clip.top() - line.y1(), clip.bottom() - line.y1()),
    ):
        if abs(step) < LEAST_LENGTH:
            if low > 0 or high < 0:
                return None
            continue
        enter, leave = sorted((low / step, high / step))
        first, last = max(first, enter), min(last, leave)
    if first > last:
        return None
    return QLineF(line.pointAt(first), line.pointAt(last))
