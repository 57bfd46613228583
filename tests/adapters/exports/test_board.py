"""A storyboard leaves as a sheet, a film, arrays, or a table."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.exports.board import board_bytes, board_sheet
from spatialstudio.application.paths import resources_folder
from spatialstudio.application.themes import load_theme
from spatialstudio.domain.drawing import Raster, Text
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import BoardFrame, ExportLook

FONTS = resources_folder() / "fonts"


@pytest.fixture
def look():
    return ExportLook(palette=load_theme(resources_folder() / "themes" / "light.toml"))


@pytest.fixture
def frames():
    """Five frames of one run, each brighter than the one before."""
    return tuple(
        BoardFrame(
            id=str(step),
            step=step,
            caption=f"Step {step + 1} of 5, seed 7",
            prompt="a dog left of a car",
            picture=np.full((16, 16, 3), 40 * step, np.uint8),
            maps=(("dog", np.eye(4, dtype=np.float32)), ("car", np.ones((4, 4), np.float32))),
            hues=(0, 1),
            pos=(("dog left of car", step / 10),),
        )
        for step in range(5)
    )


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "gif", "apng"])
@pytest.mark.parametrize("is_marked", [True, False])
def test_a_storyboard_is_marked_as_generated_by_a_model(frames, look, ending, is_marked):
    content = board_bytes(frames, ending, replace(look, is_marked=is_marked), FONTS)
    assert (b"AlgorithmicMedia" in content) is is_marked


def words(drawing):
    return [item.text for item in drawing.items if isinstance(item, Text)]


def test_each_frame_has_its_picture_maps_and_numbers(frames, look):
    sheet = board_sheet(frames, look)
    rasters = [item for item in sheet.items if isinstance(item, Raster)]
    assert len(rasters) == 5 * (1 + 2)
    assert "Step 3 of 5, seed 7" in words(sheet)
    assert "dog left of car 0.40" in words(sheet)
    assert words(sheet).count("“a dog left of a car”") == 1


def test_the_fifth_frame_starts_a_row(frames, look):
    sheet = board_sheet(frames, look)
    corners = [item.at for item in sheet.items if isinstance(item, Raster) and item.width > 100]
    assert corners[4][0] == corners[0][0]
    assert corners[4][1] > corners[3][1]


def test_everything_lies_within_the_sheet(frames, look):
    sheet = board_sheet(frames, look)
    assert max(item.at[1] for item in sheet.items) <= sheet.height
    assert max(item.at[0] for item in sheet.items) <= sheet.width


@pytest.mark.parametrize(
    ("ending", "beginning"),
    [("png", b"\x89PNG"), ("svg", b"<"), ("pdf", b"%PDF"), ("gif", b"GIF8")],
)
def test_a_file_has_the_format_of_its_suffix(frames, look, ending, beginning):
    assert board_bytes(frames, ending, look, FONTS).startswith(beginning)


@pytest.mark.parametrize("ending", ["gif", "apng"])
def test_a_film_shows_the_frames_in_order(frames, look, ending):
    with Image.open(io.BytesIO(board_bytes(frames, ending, look, FONTS))) as film:
        assert film.n_frames == len(frames)
        assert not any(side % 2 for side in film.size)


def test_arrays_hold_pictures_and_maps(frames, look):
    with np.load(io.BytesIO(board_bytes(frames, "npz", look, FONTS))) as arrays:
        assert arrays["2/picture"][0, 0, 0] == 40
        assert arrays["1/map/dog"].shape == (4, 4)


def test_the_table_has_a_line_for_each_relation(frames, look):
    text = board_bytes(frames, "csv", look, FONTS).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["step"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert rows[4]["pos"] == "0.4"


def test_an_empty_board_is_rejected(look):
    with pytest.raises(ExportError):
        board_bytes((), "png", look, FONTS)
