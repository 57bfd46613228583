"""The start of an audit session: pictures, sample, question and rater."""

from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QFileDialog, QFormLayout, QWidget

from spatialstudio.application.audit.audits import ALLOCATIONS, GOLD_HINTS, PUBLISHED_ALLOCATION
from spatialstudio.application.audit.sessions import SessionPlan, preview_sample
from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.audit import AuditItem, StratifiedSample, Stratum
from spatialstudio.domain.audit_session import LARGEST_SCORE, USUAL_TOLERANCE, AuditTask, GoldItem
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.ui.audit.widgets.figure_table import FigureTable
from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.run.widgets.fields import Choice, ChoiceField, count_field
from spatialstudio.ui.widgets.builders import column, grow, push_button, row
from spatialstudio.ui.widgets.fields import EditLine
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE_EM = (46, 44)
MOST_PICTURES, LARGEST_SEED = 100_000, 2**31 - 1
USUAL_SIZE, USUAL_SEED = 200, 42
CORRECT = "Correct answers…"


class Source(Enum):
    """Where the pictures come from."""

    LIBRARY = "library"
    RUNS = "runs"
    SAMPLE = "sample"


SOURCES = {
    Source.LIBRARY: ("Library", "Judged pictures of the library that match a filter"),
    Source.RUNS: ("Recorded runs", "Run folders of SpatialBench-UC, as benchmarks write them"),
    Source.SAMPLE: ("Sample file", "All pictures of a sample, such as that of another rater"),
}
TASKS = {
    AuditTask.VERDICT: ("Pass or fail", "PASS, FAIL or UNDECIDABLE for each picture"),
    AuditTask.SCORE: ("Score", "A score from 0 to 100 for each picture"),
    AuditTask.PREFERENCE: ("Preference", "The better of two pictures of the same prompt"),
}
ALLOCATION_TEXTS = {
    PUBLISHED_ALLOCATION: "Equal strata, as published",
    "proportional": "In proportion to the strata",
    "neyman": "Neyman: more where verdicts are uncertain",
    "equal": "Equal strata, at random",
}


class StartDialog(TitledDialog):
    """Lets the rater choose pictures and sample, and starts the session. Emits ``started``.

    Args:
        context: Services of the window.
        parent: The window.
    """

    started = Signal()

    def __init__(self, context: WindowContext, parent: QWidget | None) -> None:
        super().__init__(tr("New audit"), parent)
        self._context = context
        self._desk = context.studio.storage.audit_desk
        self._source, self._task = Source.LIBRARY, AuditTask.VERDICT
        self._paths: tuple[Path, ...] = ()
        self._correct: tuple[GoldItem, ...] = ()
        self._population: tuple[AuditItem, ...] = ()
        self._problem = ""
        self._make_fields()
        self._lay_out()
        self._read_population()

    def _make_fields(self) -> None:
        self._sources = Segments(tr("Pictures"), {k: _said(v) for k, v in SOURCES.items()})
        self._sources.show_choice(self._source)
        self._sources.choice_picked.connect(self._take_source)
        self._filter = EditLine(placeholderText=tr("All judged pictures; e.g. model:sd15"))
        self._filter.setAccessibleName(tr("Filter"))
        self._filter.editingFinished.connect(self._read_population)
        self._choose = push_button("", self._ask_paths)
        self._files = TextLabel(tone=Tone.MUTED, small=True)
        self._tasks = Segments(tr("Question"), {k: _said(v) for k, v in TASKS.items()})
        self._tasks.show_choice(self._task)
        self._tasks.choice_picked.connect(self._take_task)
        self._rater = EditLine(placeholderText=tr("Your name or initials"))
        self._rater.setAccessibleName(tr("Rater"))
        self._rater.textChanged.connect(self._enable)
        self._size = count_field(tr("Number of pictures"), MOST_PICTURES, value=USUAL_SIZE)
        self._seed = count_field(tr("Seed"), LARGEST_SEED, minimum=0, value=USUAL_SEED)
        self._allocation = ChoiceField(tr("Allocation"))
        names = (PUBLISHED_ALLOCATION, *ALLOCATIONS)
        choices = [Choice(id=name, title=tr(ALLOCATION_TEXTS[name])) for name in names]
        self._allocation.show_choices(tuple(choices), PUBLISHED_ALLOCATION)
        self._repeats = count_field(tr("Repeated pictures"), MOST_PICTURES, minimum=0)
        self._gold = count_field(tr("Gold items"), MOST_PICTURES, minimum=0, enabled=False)
        tolerance = {"minimum": 0, "value": int(USUAL_TOLERANCE), "prefix": "± "}
        self._tolerance = count_field(tr("Tolerance"), int(LARGEST_SCORE), **tolerance)
        self._tolerance.setToolTip(tr("Largest error of a score that counts as correct"))
        self._gold_file = push_button(tr(CORRECT), self._ask_gold)
        self._blind = QCheckBox(tr("Blind: show verdicts only at the end"))
        self._blind.setChecked(True)
        self._counts = FigureTable(tr("Counts by stratum"))
        self._summary = TextLabel(tone=Tone.MUTED)
        self._start = push_button(tr("Start"), self._begin, kind="primary")
        self._start.setDefault(True)
        for field in (self._size, self._seed):
            field.valueChanged.connect(self._preview)
        self._allocation.choice_picked.connect(self._preview)

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for name, field in (
            (tr("Pictures"), self._sources),
            ("", row(grow(self._filter), self._choose, gap=0.5)),
            ("", self._files),
            (tr("Question"), self._tasks),
            (tr("Rater"), self._rater),
            (tr("Sample"), row(self._size, grow(self._allocation), gap=0.5)),
            (tr("Seed"), self._seed),
            (tr("Shown twice"), self._repeats),
            (tr("Gold items"), row(grow(self._gold), self._tolerance, self._gold_file, gap=0.5)),
            ("", self._blind),
        ):
            form.addRow(name, field)
        buttons = self.buttons(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self._start, QDialogButtonBox.ButtonRole.ActionRole)
        parts = (form, grow(self._counts), self._summary, buttons)
        column(*parts, within=self, gap=0.7, edges=(1.2, 1, 1.2, 1))
        give_room(self, SIZE_EM)
        self._show_source()
        self._offer_gold()

    @property
    def _plan(self) -> SessionPlan:
        is_whole = self._source is Source.SAMPLE
        names = ", ".join(map(_name_of, self._paths))
        return SessionPlan(
            rater=self._rater.text(),
            task=self._task,
            size=None if is_whole else self._size.value(),
            seed=self._seed.value(),
            allocation=self._allocation.currentData(),
            repeats=self._repeats.value(),
            gold=self._gold.value() if self._correct else 0,
            tolerance=float(self._tolerance.value()),
            is_blind=self._blind.isChecked(),
            population=self._filter.text() if self._source is Source.LIBRARY else names,
        )

    def _take_source(self, source: Source) -> None:
        self._source, self._paths = source, ()
        self._show_source()
        self._read_population()

    def _take_task(self, task: AuditTask) -> None:
        self._task, self._correct = task, ()
        self._offer_gold()
        self._preview()

    def _offer_gold(self) -> None:
        """Ask for correct answers to the question; those to another one are dropped."""
        count = len(self._correct)
        words = tr("1 correct answer") if count == 1 else tr("{count} correct answers")
        self._gold_file.setText(words.format(count=count) if count else tr(CORRECT))
        self._gold_file.setToolTip(tr(GOLD_HINTS[self._task]))
        self._gold.setEnabled(bool(count))
        self._tolerance.setVisible(self._task is AuditTask.SCORE)

    def _show_source(self) -> None:
        is_library = self._source is Source.LIBRARY
        self._filter.setVisible(is_library)
        self._choose.setVisible(not is_library)
        is_sample = self._source is Source.SAMPLE
        self._choose.setText(tr("Choose a sample…") if is_sample else tr("Add a run…"))
        for field in (self._size, self._allocation):
            field.setEnabled(not is_sample)
        self._files.show_text("\n".join(map(_name_of, self._paths)))

    def _ask_paths(self) -> None:
        if self._source is Source.SAMPLE:
            kinds = tr("Samples (*.csv *.votes)")
            name, _ = QFileDialog.getOpenFileName(self, tr("Choose a sample"), "", kinds)
            self._paths = (Path(name),) if name else self._paths
        else:
            name = QFileDialog.getExistingDirectory(self, tr("Add a run"))
            self._paths = (*self._paths, Path(name)) if name else self._paths
        self._show_source()
        self._read_population()

    def _ask_gold(self) -> None:
        kinds = tr("Answers (*.csv *.json *.votes)")
        name, _ = QFileDialog.getOpenFileName(self, tr("Correct answers"), "", kinds)
        if not name:
            return
        try:
            self._correct = self._desk.audits.gold_items(Path(name), self._task)
        except StudioError as error:
            self._summary.setText(_in_words(report_on(error, tr("Reading the answers"))))
            return
        self._offer_gold()

    def _read_population(self) -> None:
        desk, line, paths = self._desk, self._filter.text(), self._paths
        is_library = self._source is Source.LIBRARY
        if not is_library and not paths:
            self._show_population(())
            return
        work: Callable[[], tuple[AuditItem, ...]] = partial(desk.library_population, line)
        if not is_library:
            work = partial(desk.file_population, paths)
        title = tr("Reading the pictures")
        self._summary.setText(tr("Reading the pictures…"))
        self._context.reading.read(Subject.AUDIT, title, work, self._show_population, self._say)

    def _show_population(self, population: tuple[AuditItem, ...]) -> None:
        self._population, self._problem = population, ""
        self._preview()

    def _say(self, report: ErrorReport) -> None:
        self._population, self._problem = (), _in_words(report)
        self._counts.show_rows((), ())
        self._summary.setText(self._problem)
        self._enable()

    def _preview(self, *_: object) -> None:
        """Show how many pictures each stratum gives."""
        self._enable()
        if not self._population:
            self._counts.show_rows((), ())
            if self._problem:
                return
            words = {
                Source.LIBRARY: tr("No stored picture with a verdict matches the filter."),
                Source.RUNS: tr("Add the folders of recorded runs."),
                Source.SAMPLE: tr("Choose a sample file or a session."),
            }
            self._summary.setText(words[self._source])
            return
        try:
            sample = preview_sample(self._population, self._plan)
        except StudioError as error:
            self._say(report_on(error, tr("Sampling")))
            return
        self._show_counts(sample)

    def _show_counts(self, sample: StratifiedSample) -> None:
        rows = [
            (_name_of_stratum(key), key.verdict.value, str(drawn), str(all_))
            for key, (drawn, all_) in sorted(sample.sizes.items(), key=lambda each: each[0].key)
        ]
        columns = (tr("Method and relation"), tr("Verdict"), tr("Drawn"), tr("Of"))
        self._counts.show_rows(columns, rows)
        words = tr("{drawn} of {count} pictures in {strata} strata.")
        if self._task is AuditTask.PREFERENCE:
            words = tr("Pairs of {count} pictures, with the same prompt and relation.")
        self._summary.setText(
            words.format(
                drawn=len(sample.drawn), count=len(self._population), strata=len(sample.sizes)
            )
        )

    def _enable(self, *_: object) -> None:
        self._start.setEnabled(bool(self._population) and bool(self._rater.text().strip()))

    def _begin(self) -> None:
        try:
            self._desk.start(self._population, self._plan, self._correct)
        except StudioError as error:
            self._summary.setText(_in_words(report_on(error, tr("Starting the session"))))
            return
        QTimer.singleShot(0, self.started.emit)
        self.accept()


def _in_words(report: ErrorReport) -> str:
    return f"{report.message} {report.hint}"


def _said(texts: tuple[str, str]) -> tuple[str, str]:
    text, tip = texts
    return tr(text), tr(tip)


def _name_of_stratum(stratum: Stratum) -> str:
    return f"{stratum.method} · {stratum.relation.replace('_', ' ')}"


def _name_of(path: Path) -> str:
    """Return the name of a file or a run; evaluations are folders within the run."""
    return f"{path.parent.name}/{path.name}" if path.is_dir() else path.name
