"""The dock that compares two methods on the same prompts and seeds."""

from functools import partial
from math import isnan

from PySide6.QtGui import QImage

from spatialstudio.application.benchmark.cell_pairs import (
    PASS,
    PSE,
    PairedMethods,
    changed_cells,
    compare_all,
)
from spatialstudio.application.benchmark.monitor import BenchmarkChanged, BenchmarkView
from spatialstudio.domain.benchmark_cells import CellTable
from spatialstudio.ui.benchmark.widgets.pair_list import PairList, PairRow
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.builders import column, grow, push_button, row
from spatialstudio.ui.widgets.fields import ChoiceBox
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import TextLabel, tr

MOST_PAIRS = 30
Pictures = dict[int, QImage]


class PairsPanel(Panel):
    """Shows the difference of two methods, its test, and the pictures that changed most."""

    title = "Comparison of methods"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._view: BenchmarkView | None = None
        self._first, self._second = ChoiceBox(tr("First method")), ChoiceBox(tr("Second method"))
        self._value = PASS
        self._values = Segments(
            tr("Compare by"),
            {
                PASS: (tr("Verdict"), tr("PASS against others, with McNemar's test")),
                PSE: (tr("PSE"), tr("Mean PSE of each picture")),
            },
        )
        self._values.show_choice(PASS)
        self._result = TextLabel()
        self._renew = push_button(tr("Compare"), self.compare, kind="primary")
        self.pairs = PairList(context.theme)
        self.pairs.cell_opened.connect(context.window_signals.cell_asked)
        self._values.choice_picked.connect(self._use_value)
        for box in (self._first, self._second):
            box.currentIndexChanged.connect(self._show_pairs)
        self._compared: tuple[PairedMethods, ...] = ()
        column(
            row(grow(self._first), TextLabel(tr("and"), wraps=False), grow(self._second), gap=0.5),
            row(grow(self._values), self._renew, gap=0.5),
            self._result,
            grow(self.pairs),
            within=self,
            gap=0.5,
        )
        self._take(context.benchmark.view)

    def handle(self, event: object) -> None:
        """Offer the methods of the open benchmark; comparing again is up to the user."""
        if isinstance(event, BenchmarkChanged):
            self._take(event.view)

    def compare(self) -> None:
        """Compare every two methods in the background, and show the chosen two."""
        if self._view is not None:
            self._context.reading.read(
                Subject.METHODS,
                tr("Comparing methods"),
                partial(compare_all, self._view.table, self._value),
                self._show_compared,
                self.problem_met.emit,
            )

    def _take(self, view: BenchmarkView | None) -> None:
        before = None if self._view is None else self._view.table.grid
        self._view = view
        if view is not None and view.table.grid is not before:
            self._compared = ()
            for place, box in enumerate((self._first, self._second)):
                box.blockSignals(True)
                box.clear()
                box.addItems(list(view.table.grid.methods))
                box.setCurrentIndex(min(place, box.count() - 1))
                box.blockSignals(False)
        self._show_state()

    def _use_value(self, value: str) -> None:
        self._value = value
        self._compared = ()
        self.compare()

    def _show_state(self) -> None:
        has_two = self._view is not None and len(self._view.table.grid.methods) > 1
        self._renew.setEnabled(has_two)
        if not has_two:
            self._result.setText(tr("Open a benchmark with two methods to compare them."))
        elif not self._compared:
            self._result.setText(tr("Compare the methods on the prompts and seeds that both have."))

    def _show_compared(self, compared: tuple[PairedMethods, ...]) -> None:
        self._compared = compared
        self._show_pairs()

    def _show_pairs(self) -> None:
        names = (self._first.currentText(), self._second.currentText())
        if self._view is None or not self._compared or names[0] == names[1]:
            self._result.setText(tr("Choose two different methods."))
            self.pairs.show_rows(())
            return
        found = next((e for e in self._compared if {e.first, e.second} == set(names)), None)
        if found is None:
            self._result.setText(tr("One of the methods has no judged picture."))
            self.pairs.show_rows(())
            return
        self._result.setText(compared_in_words(found))
        self._read_pairs(self._view.table, *names)

    def _read_pairs(self, table: CellTable, first: str, second: str) -> None:
        changes = changed_cells(table, first, second)
        cells = [
            (int(one), int(other), float(change))
            for one, other, change in zip(
                changes.first[:MOST_PAIRS],
                changes.second[:MOST_PAIRS],
                changes.change[:MOST_PAIRS],
                strict=True,
            )
        ]
        library = self._context.studio.library

        def read() -> Pictures:
            paths = {each: table.pictures.get(each) for pair in cells for each in pair[:2]}
            found = {cell: library.thumbnail(path) for cell, path in paths.items() if path}
            return {cell: rgb_image(own) for cell, own in found.items() if own is not None}

        def show(pictures: Pictures) -> None:
            self.pairs.show_rows([_row(table, pair, pictures) for pair in cells])

        self._context.reading.read(
            Subject.COMPARISON, tr("Reading pictures"), read, show, self.problem_met.emit
        )


def compared_in_words(found: PairedMethods) -> str:
    """Return a comparison in sentences."""
    difference = found.difference
    words = [
        tr("{second} − {first}: {difference} over {pairs} pairs.").format(  # noqa: RUF001 - minus
            second=found.second,
            first=found.first,
            difference=difference.text,
            pairs=f"{difference.n:,}",
        )
    ]
    if found.exact_p is not None and found.adjusted_p is not None:
        test = tr("Only {first} passes: {one}; only {second} passes: {other}.")
        words.append(
            test.format(
                first=found.first,
                second=found.second,
                one=found.only_first,
                other=found.only_second,
            )
        )
        p = tr("McNemar's exact p = {p}, {adjusted} after Holm's correction.")
        words.append(p.format(p=f"{found.exact_p:.3g}", adjusted=f"{found.adjusted_p:.3g}"))
    return " ".join(words)


def _row(table: CellTable, pair: tuple[int, int, float], pictures: Pictures) -> PairRow:
    first, second, change = pair
    _, prompt, seed = table.grid.place(first)
    remark = tr("seed {seed}").format(seed=table.grid.seeds[seed])
    if not isnan(change):
        remark += ", " + tr("PSE {change}").format(change=f"{change:+.2f}")
    return PairRow(
        text=table.grid.prompts[prompt].text,
        remark=remark,
        cells=(first, second),
        states=(table.state_of(first), table.state_of(second)),
        pictures=(pictures.get(first), pictures.get(second)),
    )
