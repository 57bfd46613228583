"""Rates of cells equal those of the report, and find their pictures."""

import pytest

from spatialstudio.application.benchmark.cell_rates import RateFigure, RateGroup, rate_bars
from spatialstudio.application.benchmark.export_report import (
    export_report,
    full_report,
    live_results,
)
from spatialstudio.application.benchmark.filter_cells import filter_cells
from spatialstudio.application.benchmark.follow_results import ResultFollower
from spatialstudio.domain.errors import SettingsError, StoreError
from tests.benchmark_cells import FAIL, PASS, UNDECIDABLE, grid, judged

TABLE = judged(grid(), [PASS, FAIL, UNDECIDABLE, 0, PASS, PASS, 5, FAIL])


@pytest.fixture
def drawn(bench):
    bench.write(seeds="0-1")
    items = bench.items()
    bench.runner(items).run()
    return items


def table_of(items):
    follower = ResultFollower(items, items.opened.plan.judges[0])
    list(follower.read(lambda: None))
    return follower.table


def rates(figure, group=RateGroup.METHOD, table=TABLE):
    return {(bar.method, bar.group): bar.rate for bar in rate_bars(table, figure, group)}


@pytest.mark.parametrize(
    ("figure", "plain", "psg"),
    [
        (RateFigure.PASS_ALL, (1 / 3, 3), (2 / 3, 3)),
        (RateFigure.PASS_DECIDED, (1 / 2, 2), (2 / 3, 3)),
        (RateFigure.COVERAGE, (2 / 3, 3), (1.0, 3)),
    ],
)
def test_rates_count_judged_cells(figure, plain, psg):
    made = rates(figure)
    assert [(each.value, each.n) for each in made.values()] == [plain, psg]


def test_reasons_are_counted_over_all_judged():
    assert rates(RateFigure.REASONS)["plain", "near_boundary"].value == pytest.approx(1 / 3)


def test_rates_equal_those_of_the_report(drawn):
    table = table_of(drawn)
    reports = {each.name: each for each in full_report(live_results(drawn)).reports}
    by_method = rates(RateFigure.PASS_ALL, table=table)
    by_relation = rates(RateFigure.COVERAGE, RateGroup.RELATION, table)
    phrases = {kind.id: kind.phrase for each in table.grid.relations for kind, _, _ in each}
    for name, report in reports.items():
        assert by_method[name, ""] == report.all.pass_all
        for kind, own in report.by_relation.items():
            assert by_relation[name, phrases[kind]] == own.coverage


def test_the_line_of_a_bar_finds_its_cells(drawn):
    table = table_of(drawn)
    for bar in rate_bars(table, RateFigure.PASS_ALL, RateGroup.RELATION):
        assert len(filter_cells(table, bar.line)) == bar.rate.n


def test_a_method_is_found_by_its_exact_name_first():
    table = judged(grid(methods=("psg", "psg-2")), [PASS] * 8)
    assert filter_cells(table, "method:psg").tolist() == [0, 1, 2, 3]
    assert len(filter_cells(table, "method:ps")) == 8


@pytest.mark.parametrize(
    ("suffix", "words"),
    [(".csv", "method,group"), (".tex", r"\begin{tabular}"), (".html", "<a href=")],
)
def test_a_report_is_exported_while_pictures_are_drawn(bench, drawn, suffix, words):
    target = bench.home / f"report{suffix}"
    export_report(lambda: bench.studio, drawn.store.folder, target)
    assert words in target.read_text()


def test_a_report_of_nothing_is_refused(bench):
    bench.items()
    with pytest.raises(StoreError, match="No picture is judged"):
        export_report(lambda: bench.studio, bench.home / "out", bench.home / "report.csv")


def test_an_unknown_kind_of_report_is_refused(bench, drawn):
    with pytest.raises(SettingsError, match=r"report\.docx"):
        export_report(lambda: bench.studio, drawn.store.folder, bench.home / "report.docx")
