"""Exports of the open benchmark: comparisons and the cells that match the filter."""

import csv

import pytest
from PySide6.QtWidgets import QFileDialog

from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.benchmark.benchmark_panel import BenchmarkPanel
from spatialstudio.ui.benchmark.report_exporting import ReportExporting
from tests.ui.benchmark.conftest import changed


@pytest.fixture
def export(context, shown, studio, monkeypatch):
    """Return a function that exports the cells that match a filter line by the menu."""
    view = changed().view
    monkeypatch.setattr(context.benchmark, "view", view)
    monkeypatch.setattr(context.benchmark, "open_studio", lambda: studio)
    monkeypatch.setattr(studio, "close", lambda: None)
    panel = shown(BenchmarkPanel(context))

    def made(target, kind, line=""):
        panel.use_line(line)
        kinds = panel.findChild(ReportExporting).kinds(view)
        (chosen,) = (each for each in kinds if each.startswith(kind) and target.suffix in each)
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(target), chosen))
        context.actions[commands.EXPORT].trigger()

    return made


def test_shown_cells_are_written_as_csv(export, qtbot, tmp_path):
    target = tmp_path / "cells.csv"
    export(target, "Shown cells", "verdict:pass method:psg")
    qtbot.waitUntil(target.is_file)
    lines = list(csv.DictReader(target.read_text().splitlines()))
    assert [(line["method"], line["seed"], line["state"]) for line in lines] == [
        ("psg", "0", "PASS"),
        ("psg", "1", "PASS"),
    ]
    assert {float(line["pse"]) for line in lines} == {0.8}
    assert lines[0]["picture"].endswith("4.png")


def test_shown_cells_are_written_as_latex(export, qtbot, tmp_path):
    target = tmp_path / "cells.tex"
    export(target, "Shown cells", "relation:above method:plain")
    qtbot.waitUntil(target.is_file)
    text = target.read_text()
    assert r"& plain & 0 & UNDECIDABLE & near\_boundary & 0.90 & 0.60 \\" in text
    assert r"& plain & 1 & WAITING & -- & -- & -- \\" in text
    assert "psg" not in text
