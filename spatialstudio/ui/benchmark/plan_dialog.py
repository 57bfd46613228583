"""The dialog for a new benchmark: a form writes a readable plan, which is checked and estimated."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QScrollArea,
    QWidget,
)

from spatialstudio.application.benchmark.background_run import RunOrder
from spatialstudio.application.benchmark.cell_pairs import PASS, PSE
from spatialstudio.application.benchmark.executors import EnginePlan, Executor
from spatialstudio.application.benchmark.plan_file import PlanMeasures, asks_questions, write_plan
from spatialstudio.domain.benchmark_plan import PromptSetPlan, PromptSource, new_method
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.multiple_choice import SHUFFLED
from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column, grow, push_button, row
from spatialstudio.ui.widgets.fields import PLAIN_NUMBER, ChoiceBox, NumberBox, TextLine
from spatialstudio.ui.widgets.texts import TextLabel, Tone, plain_tip, tr

SIZE_EM = (64, 52)
FORM_EM = 28
LETTERS = 22
METHOD_ROWS, JUDGE_ROWS = 6.0, 3.5
"""Least heights of the lists, em."""
SUMMARY_LINES = 4
"""Room of the estimate, so that the form does not move when it arrives."""
CHECK_AFTER_MS = 500
"""After the last change."""
MOST_PROMPTS = 100_000


def set_titles() -> dict[PromptSource, str]:
    """Return the titles of the prompt sets."""
    return {
        PromptSource.SPATIALBENCH_UC: tr("SpatialBench-UC, 200 prompts"),
        PromptSource.VISOR: tr("VISOR, 25,280 prompts"),
        PromptSource.CONTRAST: tr("Contrast, 728 prompts"),
        PromptSource.COMPBENCH: tr("T2I-CompBench, your file"),
        PromptSource.GENEVAL: tr("GenEval position, your file"),
        PromptSource.HRS: tr("HRS-Bench, your file"),
        PromptSource.SPATIALGENEVAL: tr("SpatialGenEval, your file"),
        PromptSource.LIST: tr("A list: text, CSV or JSON Lines"),
    }


def protocol_titles() -> dict[str, str]:
    """Return the titles of the ways to ask multiple-choice questions."""
    return {
        SHUFFLED: tr("options shuffled"),
        "published": tr("as published"),
        "single": tr("each question alone"),
        "blind": tr("without the picture"),
    }


@frozen
class PlanChoices:
    """What the form offers.

    Attributes:
        methods: Id and label of each method, none first, Evaluate-and-Refine last.
        models: Id and title of each model; the embedded one first.
        judge_sets: Id and label of each judge set.
        metrics: Id and label of each metric.
        answerers: Id and label of each answerer of multiple-choice questions, the perception first.
        folder: Where new benchmarks are stored.
        last: The last run, whose extent and engines are proposed; None for none.
    """

    methods: tuple[tuple[str, str], ...]
    models: tuple[tuple[str, str], ...]
    judge_sets: tuple[tuple[str, str], ...]
    metrics: tuple[tuple[str, str], ...]
    answerers: tuple[tuple[str, str], ...]
    folder: Path
    last: RunOrder | None = None


class PlanDialog(TitledDialog):
    """Lets the user fill in a form or edit the plan's text; nothing is written before it begins.

    Emits ``check_asked`` with the text and the folder shortly after each change, and
    ``begin_asked`` with the text and the ``RunOrder``.

    Args:
        choices: What the form offers.
        parent: The window.
    """

    check_asked = Signal(str, object)
    begin_asked = Signal(str, object)

    def __init__(self, choices: PlanChoices, parent: QWidget | None) -> None:
        super().__init__(tr("New benchmark"), parent)
        self._choices = choices
        self._name = TextLine(tr("benchmark"))
        self._name.setAccessibleName(tr("Name"))
        self._set = ChoiceBox(tr("Prompts"))
        for source, title in set_titles().items():
            self._set.addItem(title, source.value)
        self._file = TextLine(placeholderText=tr("File with the prompts"))
        self._file.setAccessibleName(tr("File with the prompts"))
        self._browse = push_button(tr("Browse…"), self._ask_file, name=tr("Choose the file"))
        self._sample = NumberBox(
            maximum=MOST_PROMPTS,
            value=0,
            specialValueText=tr("all prompts"),
            suffix=tr(" prompts"),
            **PLAIN_NUMBER,
        )
        self._sample.setAccessibleName(tr("Sample"))
        self._sample.setToolTip(tr("A random sample of the set, always the same one"))
        self._methods = _checks(tr("Methods"), choices.methods, checked=2)
        self._model = _box(tr("Model"), choices.models)
        self._make_judging_fields()
        self._make_run_fields()
        self._seeds = TextLine("0-3")
        self._seeds.setAccessibleName(tr("Seeds"))
        self._folder = TextLine(str(choices.folder / self._name.text()))
        self._folder.setAccessibleName(tr("Folder"))
        self._text = QPlainTextEdit()
        self._text.setAccessibleName(tr("Plan"))
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPointSizeF(self.font().pointSizeF())
        self._text.setFont(fixed)
        self._text.setTabChangesFocus(True)
        self._summary = _estimate_label()
        self._smoke = push_button(
            tr("Smoke run"),
            lambda: self._begin(only_smoke=True),
            tip=tr("Draw and judge two pictures, then wait"),
        )
        self._start = push_button(
            tr("Start"), lambda: self._begin(only_smoke=False), kind="primary"
        )
        self._start.setDefault(True)
        self._timer = QTimer(self, singleShot=True, interval=CHECK_AFTER_MS)
        self._timer.timeout.connect(self._ask_check)
        self._lay_out()
        self._connect()
        self._write()
        give_room(self, SIZE_EM)

    @property
    def text(self) -> str:
        """The text of the plan."""
        return self._text.toPlainText()

    @property
    def folder(self) -> Path:
        """Folder of the benchmark."""
        return Path(self._folder.text().strip() or ".").expanduser()

    def show_summary(self, text: str, sentence: str) -> None:
        """Show the estimate of a text that is valid; ignored if it has changed since."""
        if text == self.text:
            self._show(sentence, Tone.PLAIN, is_valid=True)

    def show_problem(self, sentence: str) -> None:
        """Show why the plan is invalid."""
        self._show(sentence, Tone.WARNING, is_valid=False)

    def _show(self, sentence: str, tone: Tone, *, is_valid: bool) -> None:
        self._summary.setText(sentence)
        self._summary.setProperty("tone", tone.value)
        self._summary.style().polish(self._summary)
        self._smoke.setEnabled(is_valid)
        self._start.setEnabled(is_valid)

    def _make_judging_fields(self) -> None:
        """Make the fields of judge sets, metrics and the answerer of questions."""
        choices = self._choices
        self._judges = _checks(tr("Judge sets"), choices.judge_sets, checked=0, rows=JUDGE_ROWS)
        self._judges.setToolTip(tr("Without a choice, the default of the model judges"))
        self._metrics = _checks(tr("Metrics"), choices.metrics, checked=0, rows=JUDGE_ROWS)
        self._metrics.setToolTip(tr("Without a choice, all are computed"))
        self._answerer = _box(tr("Answerer"), choices.answerers)
        self._answerer.setToolTip(tr("Answers the questions of the metric Multiple choice"))
        self._protocol = _box(tr("Protocol"), tuple(protocol_titles().items()))
        self._protocol.setToolTip(tr("How a server or a model is asked the questions"))

    def _make_run_fields(self) -> None:
        """Make the fields of what is no part of the plan: extent and engines."""
        self._extent = _box(
            tr("Draw"),
            (
                ("", tr("every picture")),
                (PASS, tr("until the best by verdict is certain")),
                (PSE, tr("until the best by PSE is certain")),
            ),
        )
        self._extent.setToolTip(
            tr("Methods that are behind with certainty draw nothing more (OPSE)")
        )
        self._executor = _box(
            tr("Engines"),
            (
                (Executor.LOCAL.value, tr("this machine")),
                (Executor.RAY.value, tr("a Ray cluster")),
            ),
        )
        self._address = TextLine(placeholderText=tr("address"))
        self._address.setEnabled(False)
        self._address.setAccessibleName(tr("Address of the Ray cluster"))
        self._address.setToolTip(
            tr('"auto", or host and port, as "host:6379"; empty for a Ray on this machine')
        )
        if (last := self._choices.last) is not None:
            self._extent.setCurrentIndex(max(self._extent.findData(last.choose), 0))
            self._executor.setCurrentIndex(self._executor.findData(last.engines.executor.value))
            self._address.setText(last.engines.address)
            self._choose_executor()

    def _lay_out(self) -> None:
        form = QFormLayout()
        for title, field in (
            (tr("Name"), self._name),
            (tr("Prompts"), self._set),
            (tr("File"), row(grow(self._file), self._browse, gap=0.4)),
            (tr("Sample"), self._sample),
            (tr("Methods"), self._methods),
            (tr("Model"), self._model),
            (tr("Seeds"), self._seeds),
            (tr("Judge sets"), self._judges),
            (tr("Metrics"), self._metrics),
            (tr("Answerer"), self._answerer),
            (tr("Protocol"), self._protocol),
            (tr("Draw"), self._extent),
            (tr("Engines"), row(self._executor, grow(self._address), gap=0.4)),
            (tr("Folder"), row(grow(self._folder), self._folder_button(), gap=0.4)),
        ):
            form.addRow(title, field)
        fields, right = QWidget(), QWidget()
        fields.setLayout(form)
        form.setContentsMargins(0, 0, em(0.6), 0)
        left = QScrollArea(widgetResizable=True)
        left.setFrameShape(QFrame.Shape.NoFrame)
        left.setWidget(fields)
        left.setFixedWidth(em(FORM_EM))
        left.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        words = tr("The plan, a TOML file. Edit it for options that the form lacks.")
        column(TextLabel(words, tone=Tone.MUTED), grow(self._text), within=right, gap=0.4)
        buttons = self.buttons(QDialogButtonBox.StandardButton.Cancel)
        for button in (self._smoke, self._start):
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        column(
            grow(row(left, grow(right), gap=1.2)),
            self._summary,
            buttons,
            within=self,
            gap=0.8,
            edges=(1.2, 1, 1.2, 1),
        )

    def _folder_button(self) -> QWidget:
        return push_button(tr("Browse…"), self._ask_folder, name=tr("Choose the folder"))

    def _connect(self) -> None:
        self._name.textEdited.connect(self._follow_name)
        for line in (self._file, self._seeds):
            line.textEdited.connect(self._write)
        for box in (self._set, self._model, self._answerer, self._protocol):
            box.currentIndexChanged.connect(self._write)
        self._sample.valueChanged.connect(self._write)
        for checks in (self._methods, self._judges, self._metrics):
            checks.itemChanged.connect(self._write)
        self._executor.currentIndexChanged.connect(self._choose_executor)
        self._folder.textEdited.connect(self._check_soon)
        self._text.textChanged.connect(self._check_soon)

    def _follow_name(self, name: str) -> None:
        self._folder.setText(str(self._choices.folder / _as_folder(name)))
        self._write()

    def _write(self) -> None:
        """Write the plan that the form describes; edits of the text are lost."""
        source = PromptSource(self._set.currentData())
        self._file.setEnabled(source.needs_file)
        self._browse.setEnabled(source.needs_file)
        file = Path(self._file.text().strip()) if source.needs_file else None
        prompts = PromptSetPlan(source=source, file=file, sample=self._sample.value() or None)
        model = self._model.currentData()
        methods = [new_method(each, model) for each in _checked(self._methods) or [UNGUIDED]]
        metrics = tuple(_checked(self._metrics))
        asks = asks_questions(metrics)
        self._answerer.setEnabled(asks)
        self._protocol.setEnabled(asks and self._answerer.currentIndex() > 0)
        measures = PlanMeasures(
            metrics=metrics,
            choice_answerer=self._answerer.currentData() if asks else "",
            protocol=self._protocol.currentData(),
        )
        name, seeds = self._name.text().strip(), self._seeds.text().strip()
        judges = _checked(self._judges)
        self._text.setPlainText(write_plan(name, [prompts], methods, seeds, judges, measures))

    def _choose_executor(self) -> None:
        self._address.setEnabled(self._executor.currentData() == Executor.RAY.value)

    def _check_soon(self) -> None:
        self._show(tr("Checking the plan…"), Tone.MUTED, is_valid=False)
        self._timer.start()

    def _ask_check(self) -> None:
        self.check_asked.emit(self.text, self.folder)

    def _begin(self, *, only_smoke: bool) -> None:
        self._show(tr("Writing the plan…"), Tone.MUTED, is_valid=False)
        executor = Executor(self._executor.currentData())
        address = self._address.text().strip() if executor is Executor.RAY else ""
        order = RunOrder(
            folder=self.folder,
            engines=EnginePlan(executor=executor, address=address),
            only_smoke=only_smoke,
            choose=self._extent.currentData(),
        )
        self.begin_asked.emit(self.text, order)

    def _ask_file(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(self, tr("File with the prompts"))
        if chosen:
            self._file.setText(chosen)
            self._write()

    def _ask_folder(self) -> None:
        above = str(self.folder.parent)
        chosen = QFileDialog.getExistingDirectory(self, tr("Folder of the benchmark"), above)
        if chosen:
            self._folder.setText(str(Path(chosen) / _as_folder(self._name.text())))
            self._check_soon()


def _as_folder(name: str) -> str:
    """Return a name as one part of a path."""
    plain = "".join(each if each.isalnum() or each in " -_" else "-" for each in name).strip()
    return plain or "benchmark"


def _estimate_label() -> TextLabel:
    made = TextLabel()
    made.setAccessibleName(tr("Estimate"))
    made.setAlignment(Qt.AlignmentFlag.AlignTop)
    made.setMinimumHeight(SUMMARY_LINES * made.fontMetrics().lineSpacing())
    return made


def _box(name: str, choices: Sequence[tuple[str, str]]) -> ChoiceBox:
    box = ChoiceBox(name)
    box.setMinimumContentsLength(LETTERS)
    for key, title in choices:
        box.addItem(title, key)
    return box


def _checks(
    name: str, choices: Sequence[tuple[str, str]], checked: int, rows: float = METHOD_ROWS
) -> QListWidget:
    """Return a list to check, with the first ones checked."""
    made = QListWidget()
    made.setAccessibleName(name)
    made.setMinimumHeight(em(rows))
    for place, (key, title) in enumerate(choices):
        item = QListWidgetItem(title)
        item.setData(Qt.ItemDataRole.UserRole, key)
        item.setToolTip(plain_tip(key))
        state = Qt.CheckState.Checked if place < checked else Qt.CheckState.Unchecked
        item.setCheckState(state)
        made.addItem(item)
    made.setCurrentRow(0)
    return made


def _checked(checks: QListWidget) -> list[str]:
    items = [checks.item(row) for row in range(checks.count())]
    return [
        str(item.data(Qt.ItemDataRole.UserRole))
        for item in items
        if item.checkState() is Qt.CheckState.Checked
    ]
