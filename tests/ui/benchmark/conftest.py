"""Panels of benchmarks with tables made by hand."""

from pathlib import Path

import pytest

from spatialstudio.application.benchmark.monitor import BenchmarkChanged, BenchmarkView
from spatialstudio.domain.benchmark_cells import CellState
from spatialstudio.domain.benchmark_plan import (
    BenchmarkPlan,
    MethodPlan,
    PromptSetPlan,
    PromptSource,
)
from tests.benchmark_cells import FAIL, PASS, UNDECIDABLE, grid, judged

STATES = [PASS, FAIL, UNDECIDABLE, CellState.WAITING, PASS, PASS, CellState.FAILED, FAIL]


def changed(axes=None, states=STATES, held="", folder=Path("/bench")):
    """Return the event of an open benchmark."""
    table = judged(axes or grid(), states, folder)
    plan = BenchmarkPlan(
        name="Guidance",
        prompts=(PromptSetPlan(source=PromptSource.CONTRAST),),
        methods=tuple(MethodPlan(name=each) for each in table.grid.methods),
        seeds=table.grid.seeds,
    )
    view = BenchmarkView(folder=folder, plan=plan, judges="default", table=table, held=held)
    return BenchmarkChanged(view=view)


@pytest.fixture
def shown(qtbot):
    """Return a function that shows a panel and sends it an event."""

    def show(panel, event=None):
        qtbot.addWidget(panel)
        panel.resize(900, 600)
        panel.show()
        panel.handle(event or changed())
        return panel

    return show
