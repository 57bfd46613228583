"""Draw what the sticker model is known to fail at, for its card.

    python -m tests.performance.show_failures [--lines FILE] [--sheet FILE]

A line "62: bottles in pieces" tells the number of a labelled picture and what is wrong with it. Its
prompt is drawn again with the same seed and method by the weights that are shipped now, so that the
sheet can follow them: look at it, and take lines out that hold no longer.
"""

import argparse
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageDraw, ImageFont

from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER
from spatialstudio.domain.arrays import RgbImage
from tests.performance.label_pictures import LABELLED_FOLDER, SIDE, Label, read_labels
from tests.performance.prompt_lists import ListedPrompt
from tests.performance.studio_pictures import Wanted, draw

LINES_FILE = LABELLED_FOLDER / "failures.txt"
SHEET_FILE = WORLD_FOLDER.with_name("stickers") / "failures.png"
COLUMNS = 4
CELL = (SIDE + 40, SIDE + 60)
FONT_SIZE = 13
LETTERS = 24
COLOURS = 96


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=Path, default=LINES_FILE)
    parser.add_argument("--sheet", type=Path, default=SHEET_FILE)
    options = parser.parse_args()
    captions = read_captions(options.lines.read_text(encoding="utf-8").splitlines())
    with TemporaryDirectory() as runs:
        drawn = draw(wanted_again(read_labels(LABELLED_FOLDER), captions), Path(runs))
        pictures = [picture.image for picture in drawn]
    failure_sheet(pictures, list(captions.values())).save(options.sheet, optimize=True)
    return 0


def read_captions(lines: Iterable[str]) -> dict[int, str]:
    """Read what is wrong with which picture."""
    parts = (line.split(":", 1) for line in lines if line.strip())
    return {int(number): caption.strip() for number, caption in parts}


def wanted_again(labels: Sequence[Label], captions: Mapping[int, str]) -> list[Wanted]:
    """Ask for the captioned pictures in the order of their captions."""
    by_number = {label.number: label for label in labels}
    return [
        Wanted(
            prompt=ListedPrompt(str(number), by_number[number].prompt),
            seed=by_number[number].seed,
            method=by_number[number].method,
        )
        for number in captions
    ]


def failure_sheet(pictures: Sequence[RgbImage], captions: Sequence[str]) -> Image.Image:
    """Lay pictures out with their captions; each has few colours, so that the sheet is small."""
    width, height = CELL
    rows = -(-len(pictures) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * width, rows * height), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(FONT_SIZE)
    margin = (width - SIDE) // 2
    for place, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        row, column = divmod(place, COLUMNS)
        left, top = column * width, row * height
        few = Image.fromarray(picture).quantize(COLOURS, dither=Image.Dither.NONE).convert("RGB")
        sheet.paste(few, (left + margin, top + 4))
        text = textwrap.fill(caption, LETTERS)
        pen.multiline_text(
            (left + width // 2, top + SIDE + 8), text, "black", font, "ma", align="center"
        )
    return sheet


if __name__ == "__main__":
    sys.exit(main())
