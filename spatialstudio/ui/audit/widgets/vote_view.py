"""The voting screen: one sentence, one picture or two, and the answers."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QPushButton, QWidget

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.audit_session import LARGEST_SCORE, AuditTask
from spatialstudio.ui.run.widgets.fields import share_field
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.theme.theme import LARGE, Theme, font
from spatialstudio.ui.widgets.builders import SPACE, action_button, column, flow, grow, row
from spatialstudio.ui.widgets.fields import EditLine, Slider
from spatialstudio.ui.widgets.picture_layers import PictureScene
from spatialstudio.ui.widgets.picture_region import WHOLE
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

MIDDLE_SCORE = LARGEST_SCORE / 2
CLOSE_UP = QRectF(0.25, 0.25, 0.5, 0.5)
NO_PICTURE = "This picture cannot be read. Skip it, or vote UNDECIDABLE."


class ScoreField(QWidget):
    """A score from 0 to 100, by slider or as a number. Emits ``entered`` on Return."""

    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.slider = Slider(orientation=Qt.Orientation.Horizontal, maximum=int(LARGEST_SCORE))
        self.slider.setAccessibleName(tr("Score slider"))
        name = tr("Score from 0 to 100")
        self.number = share_field(name, LARGEST_SCORE, decimals=1, singleStep=1.0)
        self.slider.valueChanged.connect(self._follow_slider)
        self.number.valueChanged.connect(self._follow_number)
        self.setFocusProxy(self.number)
        row(grow(self.slider), self.number, within=self, gap=0.6)

    def show_score(self, score: float) -> None:
        """Show a score."""
        self.number.setValue(score)
        self.number.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def _follow_slider(self, value: int) -> None:
        if value != int(self.number.value()):
            self.number.setValue(value)

    def _follow_number(self, value: float) -> None:
        self.slider.setValue(int(value))


class VoteView(QWidget):
    """Shows the claim and the pictures of a vote, without anything that the checker said.

    Args:
        theme: Colours.
        answers: The actions of each task, in the order of their buttons.
        others: The actions of every task: skip, undo, note, zoom.
    """

    def __init__(
        self,
        theme: Theme,
        answers: Mapping[AuditTask, Sequence[QAction]],
        others: Sequence[QAction],
    ) -> None:
        super().__init__()
        self._claim = TextLabel(tone=Tone.HEADING)
        self._claim.setFont(font(LARGE, bold=True))
        self._claim.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._question = TextLabel(tone=Tone.MUTED)
        self._question.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._verdict = TextLabel(tone=Tone.MUTED)
        self._verdict.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        names = (tr("Picture"), tr("Second picture"))
        self.pictures = tuple(PictureView(theme, name, has_marginals=False) for name in names)
        for picture, other in zip(self.pictures, reversed(self.pictures), strict=True):
            picture.view_picked.connect(picture.show_view)
            picture.view_picked.connect(other.show_view)
        self._missing = TextLabel(tr(NO_PICTURE), Tone.WARNING)
        self._missing.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._state = TextLabel(tone=Tone.MUTED)
        self._state.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.score = ScoreField()
        self._answers = {task: QWidget() for task in answers}
        for task, actions in answers.items():
            row(SPACE, *_buttons(actions), SPACE, within=self._answers[task], gap=0.6)
        self._others = flow(*_buttons(others, kind="quiet"), gap=0.5)
        self.note = EditLine(placeholderText=tr("Note on the next vote; Return goes back"))
        self.note.setAccessibleName(tr("Note"))
        self.note.returnPressed.connect(self.setFocus)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._lay_out()

    def show_vote(
        self, task: AuditTask, claim: str, pictures: Sequence[RgbImage | None], verdict: str
    ) -> None:
        """Show the next claim with its pictures.

        Args:
            task: The question.
            claim: The claim, one sentence.
            pictures: (H, W, 3) uint8 each; None for one that cannot be read.
            verdict: The checker's verdict in a session that is not blind; else empty.
        """
        self._claim.setText(claim)
        self._verdict.show_text(verdict)
        self._question.setText(tr(QUESTIONS[task]))
        for view, pixels in zip(self.pictures, (*pictures, None), strict=False):
            view.show_scene(PictureScene(picture=pixels))
            view.show_view(WHOLE)
        self.pictures[1].setVisible(len(pictures) > 1)
        self._missing.setVisible(any(pixels is None for pixels in pictures))
        self.score.setVisible(task is AuditTask.SCORE)
        self.score.show_score(MIDDLE_SCORE)
        for each, buttons in self._answers.items():
            buttons.setVisible(each is task)
        for part in (self._others, self.note):
            part.show()
        self.note.clear()
        self._state.clear()
        is_score = task is AuditTask.SCORE
        self.setFocusProxy(self.score if is_score else None)  # type: ignore[arg-type]
        self.setFocus()

    def show_state(self, words: str) -> None:
        """Show what is known of the vote, or how to vote."""
        self._state.setText(words)

    def show_review(self, claim: str, picture: RgbImage | None, verdict: str) -> None:
        """Show a picture of a finished session with its verdicts."""
        self.show_vote(AuditTask.VERDICT, claim, [picture], verdict)
        self._question.clear()
        for part in (*self._answers.values(), self._others, self.note):
            part.hide()

    def zoom(self) -> None:
        """Switch between the whole picture and its middle at twice the size."""
        is_whole = self.pictures[0].view == WHOLE
        for view in self.pictures:
            view.show_view(CLOSE_UP if is_whole else WHOLE)

    def ask_note(self) -> None:
        """Focus the note."""
        self.note.setFocus()

    def _lay_out(self) -> None:
        pictures = row(*(grow(view) for view in self.pictures), gap=0.8)
        foot = row(grow(self.note), gap=0.6)
        column(
            self._claim,
            self._question,
            self._verdict,
            grow(pictures),
            self._missing,
            self._state,
            self.score,
            *self._answers.values(),
            foot,
            self._others,
            within=self,
            gap=0.5,
            edges=(1, 0.6, 1, 0.8),
        )


QUESTIONS = {
    AuditTask.VERDICT: "Does the picture show this?",
    AuditTask.SCORE: "How well does the picture show this, from 0 to 100?",
    AuditTask.PREFERENCE: "Which picture shows this better?",
}


def _buttons(actions: Sequence[QAction], kind: str = "") -> list[QPushButton]:
    """Return buttons with the keys of their actions."""
    buttons = []
    for action in actions:
        keys = action.shortcut().toString()
        button = action_button(action, f"{action.text()}  {keys}" if keys else "", kind)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        buttons.append(button)
    return buttons
