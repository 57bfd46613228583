"""What others wrote does not act: not in the terminal, nor in tables, pages, figures and tips."""

import ast
import csv
import io
import json
import logging
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument

from spatialstudio.adapters.exports.exporter import FileExporter
from spatialstudio.adapters.exports.write_svg import svg_bytes
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.exports import Exports
from spatialstudio.application.paths import resources_folder
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.cli import printing
from spatialstudio.cli.commands import run
from spatialstudio.domain.drawing import Drawing, Text
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.foreign_text import latex_text, shown, table_text
from spatialstudio.domain.library import Marks
from spatialstudio.domain.scene import Prompt
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    TextLabel,
    plain_tip,
)
from tests.cli import conftest as cli

registry, terminal = cli.registry, cli.terminal

RUN = Path(__file__).parents[1] / "golden" / "run_of_schema_1"
RESOURCES = resources_folder()
ESCAPES = (
    "\x1b[2J\x1b[31mred",
    "\x1b]0;title\x07",
    "\x1b]8;;http://example.org\x1b\\link",
    "\x9b31m",
    "a\rb",
    "a\nPASS: all",
    "a\x08\x08b",
    "\x7f",
    "\u202eevil\u202c",
    "\u2066a\u2069",
    "\u200fright",
    "\u2028line",
    "\u2029paragraph",
    "\x85",
    "\ufeffmark",
    "a\u200bb",
    "\U000e0041tag",
    "\x00",
)
HARMLESS = ("caf\u00e9", "\u732b", "\u0645\u0631", "\U0001f468\u200d\U0001f469", "a b")


def acting(text):
    """Return the characters that act; line breaks are those of the program."""
    bad = [*map(chr, (*range(32), *range(127, 160))), *"\u2028\u2029\ufeff\u200b\u200e\u200f\u061c"]
    bad += [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]
    return [c for c in text if (c in bad and c != "\n") or 0xE0000 <= ord(c) < 0xE0080]


@pytest.mark.parametrize("words", ESCAPES, ids=ascii)
def test_a_line_stays_one_line_without_control_characters(capsys, words):
    printing.show_lines([words])
    printing.show_progress(words)
    printing.complain(ErrorReport(title="t", message=words, hint=words))
    written = capsys.readouterr()
    assert acting(written.out + written.err) == []
    assert (written.out.count("\n"), written.err.count("\n")) == (1, 3)


@pytest.mark.parametrize("words", ESCAPES, ids=ascii)
def test_json_output_keeps_every_character(capsys, words):
    printing.show_json({"prompt": words})
    printing.show_row({"prompt": words})
    text = capsys.readouterr().out
    whole, _, row = text.removesuffix("\n").rpartition("\n")
    assert acting(text) == []
    assert json.loads(whole) == json.loads(row) == {"prompt": words}


@pytest.mark.parametrize("words", ESCAPES, ids=ascii)
def test_a_table_keeps_its_rows(capsys, words):
    printing.show_table([("prompt", "n"), (words, 1)])
    text = capsys.readouterr().out
    assert acting(text) == []
    assert len(list(csv.reader(io.StringIO(text)))) == 2


def test_details_are_printed_in_lines(capsys):
    report = ErrorReport(title="t", message="m", details="one\ntwo\x1b[0m")
    printing.complain(report, with_details=True)
    assert capsys.readouterr().err == "m\none\ntwo\\x1b[0m\n"


@pytest.mark.parametrize("words", HARMLESS)
def test_letters_of_all_scripts_stay(words):
    assert shown(words) == words


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\uff1d"])
def test_a_cell_is_text_to_a_spreadsheet(start):
    text = table_text([("a", "b"), (f"{start}1+1", -1.5)])
    _, (cell, number) = csv.reader(io.StringIO(text, newline=""))
    assert cell == f"'{start}1+1"
    assert number == "-1.5"


def test_a_heading_is_no_formula():
    assert table_text([("=1",)]) == "'=1\r\n"


# Cells that a spreadsheet would calculate.

FORMULAS = ("=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1", '"=1')
CALCULATED = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        Image.fromarray(np.full((16, 16, 3), 128, np.uint8)).save(folder / name)
    return folder


@pytest.mark.parametrize("prompt", FORMULAS)
def test_no_text_of_the_evaluation_table_is_a_formula(terminal, tmp_path, pictures, prompt):
    (pictures / "=cmd.png").write_bytes(b"no picture")
    done = terminal("evaluate", pictures, "--prompt", f"{prompt} a dog", "--csv")
    table = list(csv.reader(io.StringIO(done.out)))
    cells = [cell for row in table for cell in row]
    assert any("a dog" in cell for cell in cells)
    assert not [cell for cell in cells if _is_formula(cell)]


def _is_formula(cell):
    try:
        float(cell)
    except ValueError:
        return cell.lstrip(" ").startswith(CALCULATED)
    return False


# Commands.

NAME = "a\x1b[31m\u202e\nPASS.png"


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "{name}", "--prompt", "a dog left of a car"),
        ("evaluate", "{name}", "--prompt", "a dog left of a car", "--csv"),
        ("evaluate", "{name}", "--prompt", "a dog left of a car", "--json"),
        ("evaluate", "{name}", "--prompt", "a dog\x1b[31m left of a\u202e car"),
        ("parse", "a dog\x1b[31m left of a \u202e\ncat\x07"),
        ("parse", "--file", "{name}"),
        ("judge-records", "{name}", "--out", "{name}"),
        ("runs", "show", "{name}"),
        ("runs", "export", "{name}", "--out", "{name}"),
        ("runs", "import", "{name}"),
        ("runs", "list", "--library", "{name}"),
    ],
    ids=lambda words: " ".join(words[:2]).encode("unicode_escape").decode(),
)
def test_no_command_prints_control_characters(terminal, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text('{"id": "\x1b[31m", "prompt": "\x1b]0;x\x07 a dog"}\n')
    done = terminal(*(word.format(name=NAME) for word in words))
    assert done.out or done.err
    assert acting(done.out + done.err) == []
    rows = csv.reader(io.StringIO(done.out)) if "--csv" in words else done.out.splitlines()
    assert not any(row == "PASS.png" or row[0] == "PASS.png" for row in rows if row)


@pytest.mark.parametrize(
    "words",
    [[f"--{NAME}"], ["generate", "a cat", f"--{NAME}"], ["runs", "export", f"--as={NAME}"], [NAME]],
    ids=["program", "command", "value", "name"],
)
def test_undecodable_arguments_are_printed_escaped(capsys, words):
    with pytest.raises(SystemExit):
        run(words)
    written = capsys.readouterr()
    assert written.err
    assert acting(written.out + written.err) == []


def test_a_warning_of_the_log_is_printed_escaped(capsys):
    record = logging.LogRecord("s", logging.WARNING, "f", 1, "The file %s is odd.", (NAME,), None)
    printing.LogPrinter(logging.WARNING).handle(record)
    err = capsys.readouterr().err
    assert "is odd" in err
    assert acting(err) == []
    assert err.count("\n") == 1


def test_the_terminal_prints_the_log_by_itself(terminal, monkeypatch):
    monkeypatch.setattr(logging, "lastResort", None)
    terminal("doctor")
    assert isinstance(logging.lastResort, printing.LogPrinter)


# Pages and figures.


@pytest.mark.parametrize("words", [*ESCAPES, "<script>x</script>", '"><svg onload="x">', "]]>"])
def test_a_figure_escapes_text(words):
    text = Text(at=(1, 1), text=words, colour="#000000")
    drawing = Drawing(width=9, height=9, ground="#ffffff", title=words, items=(text,))
    root = ElementTree.fromstring(svg_bytes(drawing))
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        *("svg", "title", "rect", "text", "metadata")
    }
    assert acting("".join(root.itertext())) == []


@pytest.mark.parametrize("words", [*ESCAPES, "<img src=x>", "</h2><script>x</script>", "&lt;b&gt;"])
def test_a_page_escapes_text(words):
    exporter = FileExporter(RESOURCES)
    exports = Exports(store=RunFiles(), exporter=exporter, themes=RESOURCES / "themes")
    run = exports.read(RUN)
    prompt = Prompt(text=f"a dog {words}")
    scene = replace(run.record.request.scene, prompt=prompt, mentions=(), relations=())
    request = replace(run.record.request, scene=scene)
    record = replace(run.record, request=request, evaluation=None)
    run = replace(run, record=record, marks=Marks(note=words), evidence=())
    page = exports.exporter.make(
        [run], EXPORT_KINDS["report"], exports.look(), "html"
    ).content.decode()
    assert acting(page) == []
    assert (page.count("<script"), page.count("<img")) == (0, 1)
    assert "<b>" not in page


# Labels and tips of the window.

RICH = '<img src="file:///etc/hostname"><b>bold</b> &lt;a&gt;'


def test_labels_show_rich_text_as_it_is_written(qtbot):
    for label in (PlainLabel(RICH), TextLabel(RICH)):
        qtbot.addWidget(label)
        assert label.textFormat() is Qt.TextFormat.PlainText


@pytest.mark.parametrize("words", [RICH, "<html>", "a\n<b>c", "&lt;", "a < b", "x\n\n<i>"])
def test_tips_show_rich_text_as_it_is_written(words):
    document = QTextDocument()
    document.setHtml(plain_tip(words))
    assert document.toPlainText().replace("\u2028", "\n") == words


@pytest.mark.parametrize(
    "words", ["plain words", "two\nlines", "caf\u00e9 & tea", "\u201cquoted\u201d"]
)
def test_plain_tips_stay_as_they_are(words):
    assert plain_tip(words) == words


def test_the_length_of_a_tip_is_limited():
    assert len(plain_tip("word " * 100_000)) < 10_000


UI = Path(__file__).parents[2] / "spatialstudio" / "ui"
TEXTS = UI / "widgets" / "texts.py"
TIP_SETTERS = {"setToolTip", "setStatusTip", "setWhatsThis", "showText", "setInformativeText"}
OWN_WORDS = {"plain_tip", "tr", "toolTip"}
RICH_WIDGETS = {"QMessageBox", "QTextBrowser", "QErrorMessage", "QWhatsThis", "QInputDialog"}


def _sources():
    for path in sorted(UI.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def _called(node):
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_own(value):
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.Call) and _called(value) in OWN_WORDS
    )


def test_every_tip_is_from_the_program_or_escaped():
    found = [
        f"{path.relative_to(UI)}:{node.lineno}"
        for path, tree in _sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and (_called(node) in TIP_SETTERS or "ToolTipRole" in ast.unparse(node.args[2:]))
        and _called(node) != "data"
        and not any(_is_own(argument) for argument in node.args)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("names", "homes"),
    [({"QLabel"}, {TEXTS}), (RICH_WIDGETS, {UI / "framework" / "confirmation.py"})],
    ids=["labels", "boxes"],
)
def test_no_widget_guesses_whether_words_are_rich_text(names, homes):
    found = [
        f"{path.relative_to(UI)}:{node.lineno}"
        for path, tree in _sources()
        for node in ast.walk(tree)
        if path not in homes and isinstance(node, ast.Call) and _called(node) in names
    ]
    assert found == []


@pytest.mark.parametrize("text", ["[5cm] a dog", "* a dog"])
def test_no_cell_of_a_latex_table_is_an_argument_of_the_line_before(text):
    assert latex_text(text).startswith(f"{{{text[0]}}}")


def test_no_control_character_or_blank_line_gets_into_latex():
    assert latex_text("a\x1b[2J dog\n\nand a cat") == "a {[}2J dog  and a cat"
