"""Sheets of pictures show every picture in its place with what came of it."""

import numpy as np
from PIL import Image

from tests.performance.picture_sheets import (
    CAPTION_WIDTH,
    MARGIN,
    MARK_HEIGHT,
    SIDE,
    SheetPicture,
    picture_sheet,
)
from tests.performance.show_layouts import mark_of, sheet_of


def grey(value):
    return np.full((64, 64, 3), value, dtype=np.uint8)


def test_pictures_stand_below_their_titles_and_beside_their_captions():
    picture = SheetPicture(image=grey(90), mark="PASS", is_good=True)
    sheet = picture_sheet(["none", "psg"], [("a cat", [None, picture]), ("a dog", [picture, None])])
    x, y = CAPTION_WIDTH + SIDE // 2, MARK_HEIGHT + SIDE // 2
    across, down = SIDE + MARGIN, SIDE + MARK_HEIGHT + MARGIN
    assert sheet.getpixel((x, y)) == sheet.getpixel((x + across, y + down)) == (255, 255, 255)
    assert sheet.getpixel((x + across, y)) == sheet.getpixel((x, y + down)) == (90, 90, 90)


def test_a_row_shows_its_stored_picture(tmp_path):
    (tmp_path / "pictures").mkdir()
    Image.fromarray(grey(40)).save(tmp_path / "pictures" / "pairs-0-psg.png")
    row = {"id": "pairs-0", "variant": "psg", "outcomes": ["UNDECIDABLE"], "reasons": ["missing"]}
    sheet = sheet_of(tmp_path, ["psg"], [("a cat", [row])])
    assert sheet.getpixel((CAPTION_WIDTH + 9, MARK_HEIGHT + 9)) == (40, 40, 40)
    assert mark_of(row) == "missing"


def test_a_sketched_row_tells_the_distances():
    row = {"places": [(0.5, 0.5, 0.3), (0.2, 0.2, 0.3)], "centres": [(0.5, 0.37), None]}
    assert mark_of(row) == "13, missing"
