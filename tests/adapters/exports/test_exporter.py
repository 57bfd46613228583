"""Every kind of export of a real run holds what it promises."""

import base64
import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.exports import film
from spatialstudio.adapters.exports.annotated_picture import annotated_picture
from spatialstudio.adapters.exports.figure_parts import MARGIN
from spatialstudio.adapters.exports.film import SIDE, film_frames
from spatialstudio.adapters.exports.lettering import width_of, with_stand_ins
from spatialstudio.adapters.exports.sheets import (
    attention_sheet,
    curves,
    round_numbers,
    storyboard,
)
from spatialstudio.adapters.exports.tables import run_lengths
from spatialstudio.adapters.exports.write_pdf import pdf_bytes
from spatialstudio.adapters.storage.metadata.picture_texts import (
    SHOWS_GENERATED,
    XMP,
    read_texts,
    says_generated,
)
from spatialstudio.adapters.storage.metadata.reader import settings_in
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.exports import ExportOrder
from spatialstudio.application.paths import resources_folder
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.drawing import (
    Anchor,
    Line,
    Raster,
    Text,
)
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import BoardFrame, ExportKind, ExportLayer
from spatialstudio.domain.library import Marks
from spatialstudio.domain.scene import Prompt
from tests.adapters.exports.conftest import SAMPLE

PROMPT = "a photo of a dog to the left of a car"
FONTS, POS = resources_folder() / "fonts", "pos_first_before_updates"
FIGURES = tuple(EXPORT_KINDS[name] for name in ("annotated", "attention", "storyboard", "curves"))


@pytest.mark.parametrize("kind", FIGURES, ids=lambda kind: kind.id)
def test_text_in_svg_is_text_and_colours_come_from_the_theme(export, exports, kind):
    root = ElementTree.fromstring(export(kind, "svg"))
    texts = " ".join(node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text"))
    assert PROMPT in texts.replace("” ", "")
    assert "seed 7" in texts
    used = {node.get(name) for node in root.iter() for name in ("fill", "stroke")}
    assert used - {None, "none"} <= set(exports.look().palette.colours.values())


@pytest.mark.parametrize("kind", FIGURES, ids=lambda kind: kind.id)
def test_text_in_pdf_is_text_in_an_embedded_font(export, kind):
    content = export(kind, "pdf")
    assert content.startswith(b"%PDF-")
    assert b"/ToUnicode" in content
    assert b"/FontFile2" in content


@pytest.mark.parametrize("kind", FIGURES, ids=lambda kind: kind.id)
def test_a_figure_can_be_a_png(export, kind, tmp_path):
    export(kind, "png")
    with Image.open(tmp_path / "out.png") as image:
        assert min(image.size) > 200


def test_a_figure_of_a_chinese_prompt_keeps_its_letters(picture, exports):
    run = exports.read(picture)
    scene = run.record.request.scene
    scene = replace(scene, prompt=replace(scene.prompt, text="一只猫 🐈 \ud83d"))
    request = replace(run.record.request, scene=scene)
    odd = replace(run, record=replace(run.record, request=request))
    drawing = curves(odd, exports.look())
    assert any("一只猫" in getattr(item, "text", "") for item in drawing.items)
    assert pdf_bytes(drawing, FONTS).startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("kind", "ending", "is_stated"),
    [
        (EXPORT_KINDS["curves"], "pdf", True),
        (EXPORT_KINDS["curves"], "png", True),
        (EXPORT_KINDS["curves"], "svg", False),
        (EXPORT_KINDS["film"], "gif", True),
    ],
)
def test_letters_without_a_font_are_reported_and_drawn_as_boxes(
    exports, picture, tmp_path, kind, ending, is_stated
):
    lost = "\U00012000"  # a cuneiform sign
    record, events = RunFiles().load(picture)
    scene = replace(record.request.scene, prompt=Prompt(text=f"cat {lost} dog"))
    odd = replace(record, request=replace(record.request, scene=scene), evaluation=None)
    run = RunFiles().save(odd, events, tmp_path)
    notes = []
    order, target = ExportOrder(note=notes.append), tmp_path / f"out.{ending}"
    exports.export([run], kind, target, exports.look(), order)
    assert [lost in note and target.name in note for note in notes] == [True] * is_stated
    assert with_stand_ins(f"→ {lost}", FONTS) == "→ □"


@pytest.mark.parametrize(("ending", "is_stated"), [("png", True), ("gif", True), ("csv", False)])
def test_letters_of_a_storyboard_without_a_font_are_reported(exports, tmp_path, ending, is_stated):
    frame = BoardFrame(
        id="0",
        step=0,
        caption="\U00012000",
        prompt="",
        picture=np.zeros((8, 8, 3), np.uint8),
        maps=(),
        hues=(),
        pos=(),
    )
    notes = []
    order = ExportOrder(note=notes.append)
    exports.export_board([frame], tmp_path / f"board.{ending}", order)
    assert ["\U00012000" in note for note in notes] == [True] * is_stated


def test_nothing_is_written_into_the_margin_of_the_curves(picture, exports):
    drawing = curves(exports.read(picture), exports.look())
    texts = [item for item in drawing.items if isinstance(item, Text)]
    assert min(text.at[1] - text.size for text in texts) >= MARGIN
    assert max(text.at[1] for text in texts) <= drawing.height - MARGIN


def test_a_curve_has_the_colour_of_the_subject_as_in_the_window(picture, exports):
    run, look = exports.read(picture), exports.look()
    scene = run.record.request.scene
    subject, other = scene.relations[0].ends
    turned = replace(scene, relations=(replace(scene.relations[0], subject=other, object=subject),))
    record = replace(run.record, request=replace(run.record.request, scene=turned))
    drawing = curves(replace(run, record=record), look)
    drawn = {each.colour for each in drawing.items if isinstance(each, Line)}
    colours = [look.palette.mention(scene.hues[end]) for end in (other, subject)]
    assert [each in drawn for each in colours] == [True, False]


def with_words(run, prompt, phrases):
    """Give a run another prompt, and mentions of these phrases with the maps of its own."""
    scene = run.record.request.scene
    first = scene.mentions[0]
    more = [replace(first, id=f"m{9 + n}", phrase=phrase) for n, phrase in enumerate(phrases)]
    scene = replace(scene, prompt=Prompt(text=prompt), mentions=(*scene.mentions, *more))
    steps = [
        replace(step, attention=replace(maps, maps=maps.maps | dict.fromkeys(_ids(more), one)))
        for step in run.steps
        if (maps := step.attention) and (one := maps.maps[first.id]) is not None
    ]
    record = replace(run.record, request=replace(run.record.request, scene=scene))
    return replace(run, record=record, steps=tuple(steps))


def _ids(mentions):
    return [mention.id for mention in mentions]


@pytest.mark.parametrize(
    "draw",
    [
        annotated_picture,
        attention_sheet,
        storyboard,
        curves,
        lambda run, look: film_frames(run, look)[-1],
    ],
    ids=["annotated", "attention", "storyboard", "curves", "film"],
)
def test_a_figure_lies_within_its_bounds(exports, picture, draw):
    names = ["very large old wooden boat", "二つの大きな赤い車", *"abcdef"]
    drawing = draw(with_words(exports.read(picture), "a cat 猫" * 200, names), exports.look())
    for item in drawing.items:
        if isinstance(item, Raster):
            assert item.at[0] + item.width <= drawing.width
            assert item.at[1] + item.height <= drawing.height
        if isinstance(item, Text):
            is_start = item.anchor is Anchor.START
            assert item.at[0] + is_start * width_of(item.text, item.size) <= drawing.width
            assert item.at[1] <= drawing.height


def test_maps_in_a_film_do_not_cover_the_plot(exports, picture):
    run = with_words(exports.read(picture), "a cat", ["very large old wooden boat", *"abcdef"])
    frame = film_frames(run, exports.look())[-1]
    maps = [item for item in frame.items if isinstance(item, Raster)]
    assert len(maps) == 1 + len(run.record.request.scene.mentions)
    assert max(item.at[0] + item.width for item in maps) <= MARGIN + SIDE


def test_only_the_requested_layers_are_drawn(export, exports):
    bare = replace(exports.look(), layers=frozenset())
    boxes = replace(exports.look(), layers=frozenset({ExportLayer.BOXES}))
    assert export(EXPORT_KINDS["annotated"], "svg", bare).count(b"<image") == 1
    assert b"<polygon" in export(EXPORT_KINDS["annotated"], "svg", boxes)
    assert export(EXPORT_KINDS["annotated"], "svg").count(b"<image") > 1


def test_a_picture_has_metadata_and_a_clean_copy_has_none(export):
    assert settings_in(export(EXPORT_KINDS["picture"], "webp")).prompt == PROMPT
    assert settings_in(export(EXPORT_KINDS["clean"], "jpg")) is None


SHOWING = {
    "annotated png": (EXPORT_KINDS["annotated"], "png"),
    "annotated svg": (EXPORT_KINDS["annotated"], "svg"),
    "annotated pdf": (EXPORT_KINDS["annotated"], "pdf"),
    "attention": (EXPORT_KINDS["attention"], "png"),
    "storyboard": (EXPORT_KINDS["storyboard"], "png"),
    "gif": (EXPORT_KINDS["film"], "gif"),
    "apng": (EXPORT_KINDS["film"], "apng"),
    "picture": (EXPORT_KINDS["picture"], "png"),
}


@pytest.mark.parametrize(("kind", "ending"), SHOWING.values(), ids=SHOWING)
@pytest.mark.parametrize("is_marked", [True, False])
def test_exports_of_a_generated_picture_have_the_mark_unless_disabled(
    export, exports, kind, ending, is_marked
):
    content = export(kind, ending, replace(exports.look(), is_marked=is_marked))
    assert (b"rainedAlgorithmicMedia" in content) is is_marked


def test_a_figure_without_a_picture_and_a_clean_copy_have_no_mark(export):
    assert b"AlgorithmicMedia" not in export(EXPORT_KINDS["curves"], "svg")
    assert read_texts(export(EXPORT_KINDS["clean"], "png")) == {}


def test_the_mark_is_in_the_standard_place(export):
    packet = read_texts(export(EXPORT_KINDS["annotated"], "png"))[XMP]
    assert says_generated(packet)
    assert "compositeWithTrainedAlgorithmicMedia" in packet
    metadata = ElementTree.fromstring(export(EXPORT_KINDS["annotated"], "svg")).find(
        "{http://www.w3.org/2000/svg}metadata"
    )
    (description,) = metadata.iter("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}Description")
    assert SHOWS_GENERATED in description.attrib.values()


def test_the_mark_of_a_film_is_a_separate_box_in_mp4(monkeypatch, exports, picture, tmp_path):
    monkeypatch.setattr(film, "_mp4", lambda _frames: b"the film")
    (file,) = exports.export([picture], EXPORT_KINDS["film"], tmp_path / "out.mp4")
    box = file.read_bytes().removeprefix(b"the film")
    assert int.from_bytes(box[:4], "big") == len(box)
    assert box[4:24].hex() == b"uuid".hex() + "be7acfcb97a942e89c71999491e3afac"
    assert says_generated(box[24:].decode())


def test_a_report_marks_its_pictures(export):
    page = export(EXPORT_KINDS["report"], "html").decode()
    (source,) = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)
    assert b"AlgorithmicMedia" in base64.b64decode(source)


@pytest.mark.parametrize("ending", ["gif", "apng"])
def test_a_film_has_a_frame_for_each_step(export, picture, tmp_path, ending):
    export(EXPORT_KINDS["film"], ending)
    steps = len(RunFiles().load(picture)[0].trace)
    with Image.open(tmp_path / f"out.{ending}") as film:
        assert film.n_frames == steps


def test_a_table_has_a_line_for_each_relation(export):
    (row,) = csv.DictReader(io.StringIO(export(EXPORT_KINDS["table"], "csv").decode()))
    (line,) = export(EXPORT_KINDS["table"], "jsonl").splitlines()
    assert row["prompt"] == json.loads(line)["prompt"] == PROMPT
    assert float(row[POS]) == pytest.approx(json.loads(line)[POS])
    assert row["outcome"] in {"PASS", "FAIL", "UNDECIDABLE"}


def test_a_table_has_the_marks_of_the_user(export, picture):
    marks = Marks(stars=2, is_rejected=True, tags=("für Ada", "=draft"), note='nice,\n"odd"')
    RunFiles().mark(picture, marks)
    (row,) = csv.DictReader(io.StringIO(export(EXPORT_KINDS["table"], "csv").decode(), newline=""))
    (line,) = map(json.loads, export(EXPORT_KINDS["table"], "jsonl").splitlines())
    assert line["tags"] == ["für Ada", "=draft"]
    assert (line["stars"], line["is_rejected"], line["note"]) == (2, True, marks.note)
    assert (row["stars"], row["is_rejected"], row["note"]) == ("2", "True", marks.note)
    assert row["tags"] == "für Ada; =draft"


def unpacked(counts):
    """Read COCO's letters back into lengths of runs."""
    lengths, place = [], 0
    while place < len(counts):
        value = shift = 0
        more = True
        while more:
            bits = ord(counts[place]) - 48
            value |= (bits & 0x1F) << shift
            more = bool(bits & 0x20)
            place, shift = place + 1, shift + 5
        if bits & 0x10:
            value |= -1 << shift
        lengths.append(value + lengths[-2] if len(lengths) > 2 else value)
    return lengths


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_masks_are_encoded_as_coco_rle(share):
    mask = np.random.default_rng(3).random((37, 53)) < share
    packed = run_lengths(mask)
    lengths = unpacked(packed["counts"])
    values = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    assert packed["size"] == [37, 53]
    assert np.array_equal(values.reshape(53, 37).T, mask)


def test_a_known_mask_has_its_known_encoding():
    mask = np.zeros((4, 4), bool)
    mask[1:3, 1:3] = True
    assert run_lengths(mask)["counts"] == "52203"


def test_masks_and_arrays_equal_the_run(export, exports, picture, tmp_path):
    coco = json.loads(export(EXPORT_KINDS["masks"], "json"))
    run = exports.read(picture)
    masks = run.record.evaluation.perception.masks
    assert [note["area"] for note in coco["annotations"]] == [m.pixels.sum() for m in masks]
    export(EXPORT_KINDS["arrays"], "npz")
    arrays = np.load(tmp_path / "out.npz")
    assert np.array_equal(arrays["picture"], run.image)
    first = run.steps[0]
    assert arrays["map_before/m1"].shape[0] == len(arrays["captured_steps"])
    assert np.array_equal(arrays["map_before/m1"][0], first.attention.maps["m1"])
    assert arrays["pos_before/r1"][0] == pytest.approx(first.pos["r1"])
    assert not {"map/m1", "pos/r1"} & set(arrays)


class Links(HTMLParser):
    """Collects what a page asks for."""

    def __init__(self):
        super().__init__()
        self.asked = []
        self.text = []

    def handle_starttag(self, tag, attrs):
        self.asked += [v for k, v in attrs if k in {"src", "href"} and not v.startswith("data:")]
        self.asked += [tag] if tag in {"script", "link", "iframe"} else []

    def handle_data(self, data):
        self.text.append(data)


def test_a_report_is_one_file_without_external_resources(export):
    page = Links()
    page.feed(export(EXPORT_KINDS["report"], "html").decode())
    assert page.asked == []
    assert PROMPT in "".join(page.text)


def test_many_runs_are_exported_into_a_folder(exports, picture, tmp_path):
    files = exports.export([picture, SAMPLE], EXPORT_KINDS["clean"], tmp_path / "out")
    assert {file.parent for file in files} == {tmp_path / "out"}
    assert len(set(files)) == 2


def test_names_of_clean_copies_are_neutral_and_unique(exports, picture, tmp_path):
    files = [
        file
        for _ in range(2)
        for file in exports.export([picture, SAMPLE], EXPORT_KINDS["clean"], tmp_path)
    ]
    assert [file.name for file in files] == [f"picture_{number}.png" for number in range(1, 5)]


@pytest.mark.parametrize("kind", list(EXPORT_KINDS), ids=lambda kind: kind.id)
def test_a_wrong_suffix_is_rejected(exports, picture, tmp_path, kind):
    with pytest.raises(ExportError, match="cannot be written as") as caught:
        exports.export([picture], kind, tmp_path / "out.doc")
    assert kind.formats[0] in caught.value.hint


@pytest.mark.parametrize(
    ("last", "numbers"),
    [
        (1, (1,)),
        (4, (1, 2, 3, 4)),
        (20, (1, 5, 10, 15, 20)),
        (25, (1, 5, 10, 15, 20, 25)),
        (50, (1, 10, 20, 30, 40, 50)),
        (1000, (1, 200, 400, 600, 800, 1000)),
    ],
)
def test_tick_labels_of_steps_are_round_numbers(last, numbers):
    assert round_numbers(last, 8) == numbers


def test_names_on_the_picture_have_a_halo(export):
    boxes = EXPORT_KINDS["annotated"]
    assert b'paint-order="stroke"' in export(boxes, "svg")
    assert export(boxes, "pdf").startswith(b"%PDF")


def fail(*_):
    raise KeyError("label")


def test_an_export_kind_of_a_plugin_that_fails_names_the_plugin(export):
    kind = ExportKind(id="notes", label="Notes", help="Text.", formats=("txt",), write=fail)
    EXPORT_KINDS.register(kind, plugin="Note taking")
    try:
        with pytest.raises(ExportError) as caught:
            export(kind, "txt")
    finally:
        EXPORT_KINDS.unregister("notes")
    named = 'The export kind "notes" of the plugin "Note taking" failed: KeyError: \'label\'.'
    assert caught.value.message == named
