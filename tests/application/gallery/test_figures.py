"""Previews, templates and LaTeX of figures for papers."""

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from spatialstudio.adapters.exports.exporter import FileExporter
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.exports import Exports
from spatialstudio.application.gallery.figures import Figures, latex_figure
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.figure_template import SCHEMA_FILE, TEMPLATES, FigureTemplate

SAMPLE = Path(__file__).parents[2] / "golden" / "run_of_schema_1"


@pytest.fixture
def exports():
    resources = resources_folder()
    return Exports(store=RunFiles(), exporter=FileExporter(resources), themes=resources / "themes")


@pytest.fixture
def picture(tmp_path):
    """The sample run, stored as files of today."""
    record, events = RunFiles().load(SAMPLE)
    return RunFiles().save(record, events, tmp_path / "library")


@pytest.fixture
def figures(exports, tmp_path):
    return Figures(exports, tmp_path / "figures")


@pytest.fixture
def look(exports):
    return replace(exports.look(), template=FigureTemplate(steps=()))


def test_a_preview_shows_the_figure_and_what_the_runs_offer(figures, picture, look):
    shown = figures.preview([picture], look)
    with Image.open(BytesIO(shown.content)) as image:
        assert image.width == pytest.approx(900, abs=2)
    assert shown.words == ("dog", "car")
    assert shown.steps
    assert "Cross-attention maps" in shown.caption
    assert shown.problem == ""


def test_a_preview_without_maps_says_why(figures, picture, look):
    template = replace(look.template, words=("zebra",))
    shown = figures.preview([picture], replace(look, template=template))
    assert shown.content == b""
    assert "No run has attention maps" in shown.problem
    assert shown.words == ("dog", "car")


def test_a_saved_template_is_read_by_name_or_by_path(figures):
    template = FigureTemplate(words=("cat",), width=5.0, has_footer=True)
    path = figures.folder / "mine.json"
    figures.save(template, path)
    assert figures.template("mine") == figures.template(str(path)) == template
    assert figures.names == (*TEMPLATES, "mine")
    assert json.loads((figures.folder / SCHEMA_FILE).read_text())["properties"]["width"]


@pytest.mark.parametrize("name", ["nothing", "../mine", "."])
def test_an_unknown_template_is_rejected(figures, name):
    with pytest.raises(SettingsError, match="cannot be read"):
        figures.template(name)


def test_latex_escapes_the_caption():
    made = latex_figure("“100 % of a_b” \\input{x}", "my figure.pdf", 3.25)
    assert r"\includegraphics[width=3.25in]{\detokenize{my figure.pdf}}" in made
    assert r"\caption{``100 \% of a\_b'' \textbackslash{}input\{x\}}" in made
    assert r"\label{fig:my-figure}" in made
    assert r"\begin{figure*}" in latex_figure("", "wide.pdf", 6.875)
