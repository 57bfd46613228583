"""The dock of multiple-choice questions: answers, accuracies, methods compared, and asking."""

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.questions.question_asker import (
    AskEnded,
    AskProgressed,
    QuestionAsker,
    answerers_of,
)
from spatialstudio.application.questions.question_folder import AskedFolder, AskPlan
from spatialstudio.application.questions.question_run import AnsweredSet
from spatialstudio.application.questions.question_view import (
    AnsweredQuestion,
    QuestionView,
    answered_questions,
    read_view,
)
from spatialstudio.application.questions.questions import questions_of
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.multiple_choice import AnswerCost, Price
from spatialstudio.ui.evaluate.question_writing import QuestionWriting
from spatialstudio.ui.evaluate.widgets.ask_form import AskChoice, AskForm
from spatialstudio.ui.evaluate.widgets.question_biases import QuestionBiases
from spatialstudio.ui.evaluate.widgets.radar_chart import FEWEST_AXES, RadarChart, RadarLine
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import at_left, column, grow, pages, push_button
from spatialstudio.ui.widgets.dock_column import DockRoom
from spatialstudio.ui.widgets.row_table import RowTable
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

RIGHT_SIGNS = {True: "✓", False: "✗", None: "–"}  # noqa: RUF001 - a dash
"""Signs of right, wrong, and left out."""
MOST_LINES = 3
"""Methods in the radar chart."""


class Shown(Enum):
    """The pages of the panel."""

    ANSWERS = 0
    ACCURACY = 1
    BIASES = 2
    ASK = 3
    WRITE = 4


class QuestionsPanel(Panel):
    """Shows questions next to the picture with votes and reasons, and accuracies by sub-domain.

    Several runs, such as one for each method, are compared; the picked one is shown.
    """

    title = "Questions"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._views: dict[Path, QuestionView] = {}
        self._view: QuestionView | None = None
        self._counted: QuestionView | None = None
        self._rows: tuple[AnsweredQuestion, ...] = ()
        self._price: Price | None = None
        self._only_estimates = False
        questions = questions_of(context.studio)
        self._asker = QuestionAsker(
            questions, lambda: context.studio.judges, context.studio.bus.publish
        )
        self._state = TextLabel(
            tr("Open the answers of a run, ask about pictures, or write questions."), Tone.MUTED
        )
        self._segments = self._make_segments()
        self._biases = QuestionBiases()
        self._form = AskForm()
        self._form.show_answerers(answerers_of(context.studio))
        self._form.estimate_asked.connect(partial(self._ask, only_estimates=True))
        self._form.run_asked.connect(partial(self._ask, only_estimates=False))
        self._form.cancel_asked.connect(self._asker.cancel)
        self._writing = QuestionWriting(context, questions)
        self._writing.asking_prepared.connect(self._show_prepared)
        self._pages = pages(
            self._make_answers(),
            self._make_accuracy(),
            self._biases,
            DockRoom(self._form),
            DockRoom(self._writing),
        )
        column(self._segments, grow(self._pages), within=self, gap=0.4, edges=(0.9, 0.3, 0.9, 0.3))
        self._show_page(Shown.ANSWERS)

    def handle(self, event: object) -> None:
        """Show the progress and the answers of the run that is asked, and written questions."""
        self._writing.handle(event)
        match event:
            case AskProgressed():
                self._form.show_cost(self._progress_in_words(event))
            case AskEnded():
                self._end(event)

    def open_folder(self, folder: Path) -> None:
        """Read the answers of a run in the background, and show them."""
        self._context.reading.read(
            Subject.QUESTIONS,
            tr("Opening the answers"),
            partial(read_view, folder),
            self.show_view,
            self._fail,
        )

    def show_view(self, view: QuestionView) -> None:
        """Show a run; it is added to the methods that are compared."""
        self._views[view.folder] = view
        self._view = view
        done = sum(item.voted.is_answered for item in view.items)
        words = tr("{method}: {done} of {count} pictures answered by {answerer}.")
        self._state.setText(
            words.format(
                method=view.method,
                done=done,
                count=len(view.items),
                answerer=view.plan.answerer_id,
            )
        )
        self._pictures.show_rows([_picture_row(item) for item in view.items])
        self._questions.show_rows(())
        self._details.setText("")
        self._show_accuracy(view)
        self._count_biases()

    def _make_segments(self) -> Segments:
        segments = Segments(
            tr("Shown"),
            {
                Shown.ANSWERS: (tr("Answers"), tr("Each question with its votes and reasons")),
                Shown.ACCURACY: (tr("Accuracy"), tr("By sub-domain and method")),
                Shown.BIASES: (
                    tr("Biases"),
                    tr("Preferred letters, answers without the picture, defects of the data"),
                ),
                Shown.ASK: (tr("Ask"), tr("Ask an answerer about pictures")),
                Shown.WRITE: (tr("Write"), tr("Write and edit questions on the prompt")),
            },
        )
        segments.choice_picked.connect(self._show_page)
        return segments

    def _make_answers(self) -> QWidget:
        page = QWidget()
        open_button = push_button(
            tr("Open answers…"), self._ask_folder, tip=tr("Open the folder of a run of questions")
        )
        self._pictures = RowTable(
            tr("Pictures of the questions"), (tr("Picture"), tr("Right"), tr("Prompt"))
        )
        self._pictures.row_picked.connect(self._pick_picture)
        self._questions = RowTable(
            tr("Questions about the picture"),
            ("", tr("Sub-domain"), tr("Votes"), tr("Question")),
        )
        self._questions.row_picked.connect(self._pick_question)
        self._details = TextLabel()
        self._details.setAlignment(Qt.AlignmentFlag.AlignTop)
        column(
            at_left(open_button),
            self._state,
            grow(self._pictures, 2),
            grow(self._questions, 3),
            grow(DockRoom(self._details), 3),
            within=page,
            gap=0.6,
        )
        return page

    def _make_accuracy(self) -> QWidget:
        page = QWidget()
        self._methods = RowTable(
            tr("Methods, best first"),
            (tr("Method"), tr("Answerer"), tr("Overall"), tr("Basic"), tr("Spatial"), tr("Cost")),
        )
        self._methods.row_picked.connect(self._pick_method)
        self._radar = RadarChart(self._context.theme)
        self._accuracies = RowTable(
            tr("Accuracy by sub-domain"), (tr("Sub-domain"), tr("Accuracy"))
        )
        column(
            grow(self._methods, 2),
            grow(self._radar, 4),
            grow(self._accuracies, 3),
            within=page,
            gap=0.6,
        )
        return page

    def _show_page(self, shown: object) -> None:
        assert isinstance(shown, Shown)
        self._segments.show_choice(shown)
        self._pages.setCurrentIndex(shown.value)
        self._count_biases()

    def _show_prepared(self, made: AskedFolder) -> None:
        """Show the form of a run of questions about the open picture."""
        self._form.show_paths(made.data, made.pictures, made.answers)
        self._show_page(Shown.ASK)

    def _ask_folder(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, tr("Open answers"))
        if chosen:
            self.open_folder(Path(chosen))

    def _fail(self, report: ErrorReport) -> None:
        self._state.setText(f"{report.message} {report.hint}".rstrip())

    def _pick_picture(self, number: int) -> None:
        """Show a picture on the stage, and its questions."""
        if self._view is None:
            return
        item = self._view.items[number]
        self._rows = answered_questions(item, self._view.plan.settings)
        self._questions.show_rows([_question_row(each) for each in self._rows])
        self._details.setText(item.questions.prompt)
        if item.picture is not None:
            pictures = self._context.studio.pictures
            self._context.reading.read(
                Subject.STAGE,
                tr("Opening the picture"),
                partial(pictures.read, item.picture),
                pictures.show,
                self.problem_met.emit,
            )

    def _pick_question(self, number: int) -> None:
        self._details.setText(_details(self._rows[number]))

    def _pick_method(self, number: int) -> None:
        view = self._ranked[number]
        if view is not self._view:
            self.show_view(view)

    @property
    def _ranked(self) -> list[QuestionView]:
        """The open runs, best first."""
        return sorted(self._views.values(), key=lambda each: -(each.figures.overall or 0))

    def _show_accuracy(self, view: QuestionView) -> None:
        ranked = self._ranked
        rows = [_method_row(each) for each in ranked]
        self._methods.show_rows(rows, picked=ranked.index(view))
        axes = tuple(view.figures.sub_domains)
        shown = [view, *(each for each in ranked if each is not view)][:MOST_LINES]
        lines = [RadarLine(each.method, each.figures.sub_domains) for each in shown]
        self._radar.show_lines(axes, lines)
        self._radar.setVisible(len(axes) >= FEWEST_AXES)
        figures = {
            **view.figures.sub_domains,
            **view.figures.domains,
        }
        self._accuracies.show_rows([(name, _share(value)) for name, value in figures.items()])

    def _count_biases(self) -> None:
        """Show the biases of the shown run; counting those of its questions may take seconds."""
        view, is_shown = self._view, self._pages.currentIndex() == Shown.BIASES.value
        if view is None or view is self._counted or not is_shown:
            return
        self._counted = view
        words = tr("Counting keys and defects")
        self._biases.show_state(words)
        self._context.reading.read(
            Subject.QUESTION_BIASES,
            words,
            view.data_report,
            partial(self._show_biases, view),
            lambda report: self._biases.show_state(report.message),
        )

    def _show_biases(self, view: QuestionView, data: Mapping[str, Any]) -> None:
        leaves_out = view.plan.settings.rules.leaves_out_defects
        self._biases.show_report(view.biases, data, leaves_out_defects=leaves_out)

    def _ask(self, choice: AskChoice, *, only_estimates: bool) -> None:
        self._price = choice.price
        self._only_estimates = only_estimates
        plan = AskPlan(
            data=choice.data,
            pictures=choice.pictures,
            answerer_id=choice.answerer_id,
            model_key="",
            settings=choice.settings,
            method=choice.method,
            price=choice.price,
        )
        self._form.show_running(True)
        self._form.show_cost(tr("Reading the questions…"))
        self._asker.ask(choice.answers, plan, only_estimates=only_estimates)

    def _progress_in_words(self, event: AskProgressed) -> str:
        progress = event.progress
        words = tr("{done} of {count} pictures. So far: {cost}. Left: {left}.")
        return words.format(
            done=progress.done,
            count=progress.pictures,
            cost=cost_in_words(progress.cost, self._price),
            left=cost_in_words(progress.left, self._price),
        )

    def _end(self, ended: AskEnded) -> None:
        self._form.show_running(False)
        if ended.error is not None:
            self._form.show_cost(f"{ended.error.message} {ended.error.hint}".rstrip())
        elif ended.is_cancelled:
            self._form.show_cost(tr("Cancelled. Asking again continues the run."))
        if ended.error is None and not self._only_estimates:
            self.open_folder(ended.folder)
            self._show_page(Shown.ASK if ended.is_cancelled else Shown.ANSWERS)


def cost_in_words(cost: AnswerCost, price: Price | None) -> str:
    """Return replies and what is known of tokens, time and, with a price, money."""
    words = [tr("{replies} replies").format(replies=cost.replies)]
    if cost.tokens_in or cost.tokens_out:
        tokens = tr("{tokens_in} + {tokens_out} tokens")
        words.append(
            tokens.format(tokens_in=f"{cost.tokens_in:,}", tokens_out=f"{cost.tokens_out:,}")
        )
    if cost.seconds:  # unknown before the first reply
        words.append(tr("{seconds} s").format(seconds=f"{cost.seconds:.0f}"))
    if price is not None:
        words.append(f"{cost.money(price):.2f} {price.currency}")
    return ", ".join(words)


def _picture_row(item: AnsweredSet) -> tuple[str, str, str]:
    counted = [each for each in item.voted.is_right if each is not None]
    right = tr("not answered")
    if item.voted.is_answered:
        right = f"{sum(counted)}/{len(counted)}"
    return item.questions.id, right, item.questions.prompt


def _question_row(each: AnsweredQuestion) -> tuple[str, str, str, str]:
    votes = ", ".join(f"{letter} {count}" for letter, count in each.votes)
    return RIGHT_SIGNS[each.is_right], each.type, votes, each.question.stem


def _details(each: AnsweredQuestion) -> str:
    """Return a question with its options, votes and reasons."""
    votes = dict(each.votes)
    lines = [each.question.stem]
    for letter, option in each.question.options:
        marks = [tr("key")] if letter == each.question.key else []
        marks += [tr("votes: {count}").format(count=votes[letter])] if letter in votes else []
        lines.append(f"{letter}: {option}" + (f" ({', '.join(marks)})" if marks else ""))
    defects = [tr(defect.value) for defect in each.question.defects]
    if defects:
        lines.append(tr("Defects of the question: {defects}.").format(defects=", ".join(defects)))
    counted = Counter(each.reasons).items()
    reasons = [f"{count} × {reason}" if count > 1 else reason for reason, count in counted]  # noqa: RUF001 - a multiplication sign
    return "\n".join((*lines, "", *reasons))


def _method_row(view: QuestionView) -> tuple[str, ...]:
    figures = view.figures
    shares = (_share(value) for value in (figures.overall, figures.basic, figures.spatial))
    answerer = view.plan.answerer_id
    if view.plan.settings.is_blind:
        answerer = tr("{answerer}, blind").format(answerer=answerer)
    return view.method, answerer, *shares, cost_in_words(view.cost, view.plan.price)


def _share(value: float | None) -> str:
    return tr("none") if value is None else f"{value:.3f}"
