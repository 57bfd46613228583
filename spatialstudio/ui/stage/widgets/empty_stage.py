"""The stage before the first picture: an illustration, an introduction and examples."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QPushButton, QScrollArea, QSizePolicy, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    LARGE,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.builders import Placed, centred, column, grow, push_button, row, space
from spatialstudio.ui.widgets.painting import SmallDrawing
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr


@frozen
class Example:
    """A prompt to start from.

    Attributes:
        prompt: Prompt text.
        seed: A seed with which the embedded model fails the prompt unguided and meets it guided.
    """

    prompt: str
    seed: int


EXAMPLES = (
    Example(prompt="a dog to the left of a car", seed=15),
    Example(prompt="a sun above a house", seed=1),
    Example(prompt="a clock to the right of a couch", seed=1),
)
WELCOME = (
    "Spatial Studio generates a picture from your prompt, guides its layout, shows the "
    "attention and judges the result. Start with an example, or drop a picture here to "
    "judge it."
)
DRAWING_EM = (13, 6.5)
COLUMN_EM, EDGE_EM = 26, 0.6
"""Width of the column, and its margins where there is room."""
NARROWEST_EM = 22
LOWEST_EM = 8
BLOB_TINT = 0.25
AS_BROKEN = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
AS_BROKEN.setHeightForWidth(True)
"""Size policy of wrapped text: height for width, no extra room requested."""


class SceneDrawing(SmallDrawing):
    """An illustration of two objects in a frame with an arrow between them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, DRAWING_EM)

    def draw(self, painter: QPainter) -> None:
        """Draw the frame, the objects and the arrow, in widget coordinates."""
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(frame, em(0.6), em(0.6))
        radius = frame.height() * 0.24
        middle = frame.center().y()
        left, right = frame.left() + frame.width() * 0.25, frame.left() + frame.width() * 0.75
        for hue, x in ((0, left), (1, right)):
            painter.setPen(QPen(self._theme.mention(hue), 2))
            painter.setBrush(self._theme.mention(hue, BLOB_TINT))
            painter.drawEllipse(QPointF(x, middle), radius, radius)
        ink = self._theme.colour("faint")
        painter.setPen(QPen(ink, 2, c=Qt.PenCapStyle.RoundCap))
        start, end = left + radius + em(0.8), right - radius - em(0.8)
        painter.drawLine(QPointF(start, middle), QPointF(end - em(0.3), middle))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        head, back = em(0.4), end - 1.5 * em(0.4)
        corners = ((end, middle), (back, middle - head), (back, middle + head))
        painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))


class EmptyStage(QScrollArea):
    """Shows the first steps and examples, scrolled where there is little room."""

    example_picked = Signal(str, int)
    sketch_asked = Signal()
    density_picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        content = QWidget()
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._drawing = SceneDrawing(theme)
        title = TextLabel(tr("Describe where things are"))
        title.setFont(font(LARGE * LARGE, bold=True))
        welcome = TextLabel(tr(WELCOME), Tone.MUTED)
        for words in (title, welcome):
            words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            words.setSizePolicy(AS_BROKEN)
        examples = [self._example_button(example) for example in EXAMPLES]
        self.setFocusProxy(examples[0])
        sketch = push_button(tr("Sketch the layout instead"), self.sketch_asked, kind="quiet")
        self._question = self._density_question()
        above = (Placed(stretch=2), centred(self._drawing), space(0.8), title, welcome, space(0.6))
        below = (centred(sketch), centred(self._question), Placed(stretch=3))
        self._column = column(*above, *examples, *below, within=content, gap=0.5)

    def ask_density(self, asked: bool) -> None:
        """Show or hide the question of which density to use."""
        self._question.setVisible(asked)

    def leave_room(self, height: int) -> None:
        """Reserve ``height`` pixels at the bottom for messages over the stage."""
        self.setViewportMargins(0, 0, 0, height)

    def minimumSizeHint(self) -> QSize:
        """Return a size smaller than the content needs, so that docks keep their sizes."""
        return QSize(em(NARROWEST_EM), em(LOWEST_EM))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Limit the column to a readable width; hide the illustration where the height is small."""
        super().resizeEvent(event)
        edge = em(EDGE_EM)
        self._column.setContentsMargins(0, edge, 0, edge)
        room = self.viewport().width()
        spare = max(room - self._column.minimumSize().width(), 0)
        side = max((room - em(COLUMN_EM)) // 2, min(edge, spare // 2))
        self._column.setContentsMargins(side, edge, side, edge)
        self._drawing.hide()
        words = self._column.heightForWidth(self.viewport().width())
        spare = self.viewport().height() - words
        self._drawing.setVisible(spare >= self._drawing.sizeHint().height() + em(1))

    def _density_question(self) -> QWidget:
        choices = Segments(
            tr("Window"),
            {
                False: (tr("Simple"), tr("Prompt, relations, one strength slider and Generate")),
                True: (tr("All controls"), tr("All settings, queue, charts and tables")),
            },
        )
        choices.show_choice(False)
        choices.choice_picked.connect(self.density_picked)
        both = QWidget()
        row(TextLabel(tr("Start with"), Tone.MUTED), grow(choices), within=both)
        both.hide()
        return both

    def _example_button(self, example: Example) -> QPushButton:
        name = tr("Example: {prompt}").format(prompt=example.prompt)
        return push_button(
            example.prompt,
            lambda: self.example_picked.emit(example.prompt, example.seed),
            name=name,
        )
