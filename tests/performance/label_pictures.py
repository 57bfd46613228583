"""Generated pictures that were labelled by eye, and how the segmenter does on them.

    python -m tests.performance.label_pictures draw FOLDER [--pictures N]
    python -m tests.performance.label_pictures label LINES_FILE
    python -m tests.performance.label_pictures score

``draw`` makes pictures of one to four objects, every other one guided, stores them as sheets in the
golden data with a line each in ``labels.jsonl``, and writes large numbered sheets to FOLDER for the
eye; it goes on where it was stopped. ``label`` takes what was typed while looking, a line a
picture: "17: cat, teddy bear" names all that a stranger would name, "18:" says that there is
nothing. Neither prompt nor answer of the segmenter is shown to who labels. ``score`` asks the
segmenter for every class in every labelled picture; an answer that it is sure of is right when the
label names it. The interval is that of a bootstrap over pictures, at 95 %.
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.vocabulary import (
    WORLD_FOLDER,
    object_number,
    sticker_objects,
)
from spatialstudio.domain.arrays import RgbImage
from tests.adapters.stickers.asking import mention_of, sure
from tests.performance.intervals import Figure, Floats, bootstrap
from tests.performance.prompt_lists import mixed_prompts
from tests.performance.studio_pictures import METHODS, Wanted, draw, show

LABELLED_FOLDER = Path(__file__).parents[1] / "golden" / "labelled_pictures"
LABELS_NAME = "labels.jsonl"
SIDE = 128
COLUMNS, ROWS = 5, 4
ON_SHEET = COLUMNS * ROWS
QUALITY = 90
ZOOM = 2
CAPTION_HEIGHT = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A picture and what is seen in it; None until someone has looked."""

    number: int
    prompt: str
    seed: int
    method: str
    visible: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is seen in a picture, and what the segmenter answers."""

    told: frozenset[str]
    answers: frozenset[str]

    @property
    def missed(self) -> frozenset[str]:
        return self.told - self.answers

    @property
    def invented(self) -> frozenset[str]:
        return self.answers - self.told

    @property
    def sums(self) -> tuple[int, int, int]:
        """Right answers, all answers, all that is seen."""
        return len(self.answers & self.told), len(self.answers), len(self.told)


def main() -> int:
    options = parse_arguments()
    if options.command == "draw":
        draw_all(options.folder, options.pictures)
    elif options.command == "label":
        typed = read_typed(options.lines.read_text(encoding="utf-8").splitlines())
        write_labels(labelled(read_labels(), typed))
        missing = [label.number for label in read_labels() if label.visible is None]
        show(f"{len(typed)} labels taken, {len(missing)} missing {missing[:ON_SHEET]}")
    else:
        labels = [label for label in read_labels() if label.visible is not None]
        show("\n".join(score(labels, read_pictures(), WORLD_FOLDER.parent)))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("folder", type=Path, help="single pictures, and large sheets to look at")
    drawing.add_argument("--pictures", type=int, default=200)
    commands.add_parser("label").add_argument("lines", type=Path, help='lines such as "17: cat"')
    commands.add_parser("score")
    return parser.parse_args()


def draw_all(folder: Path, count: int) -> None:
    """Draw what is missing in the folder, then store all pictures and lines without labels."""
    if (LABELLED_FOLDER / LABELS_NAME).exists() and any(
        label.visible is not None for label in read_labels()
    ):
        sys.exit("There are labels already; they belong to the stored pictures. Remove them first.")
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{number:03d}.png" for number in range(count)]
    wanted = [
        Wanted(prompt=prompt, seed=7_000 + number, method=METHODS[number // 4 % 2])
        for number, prompt in enumerate(mixed_prompts(count))
    ]
    missing = [number for number, file in enumerate(files) if not file.exists()]
    drawn = draw((wanted[number] for number in missing), folder / "runs")
    for number, picture in zip(missing, drawn, strict=True):
        Image.fromarray(picture.image).save(files[number])
        show(f"{number + 1} of {count}")
    write_pictures([np.array(Image.open(file)) for file in files])
    write_labels(
        Label(number=number, prompt=each.prompt.text, seed=each.seed, method=each.method)
        for number, each in enumerate(wanted)
    )
    for number, sheet in enumerate(large_sheets(read_pictures()[:count])):
        sheet.save(folder / f"sheet_{number:02d}.png")


def write_pictures(pictures: Sequence[RgbImage]) -> None:
    LABELLED_FOLDER.mkdir(exist_ok=True)
    for start in range(0, len(pictures), ON_SHEET):
        sheet = Image.new("RGB", (COLUMNS * SIDE, ROWS * SIDE))
        for place, picture in enumerate(pictures[start : start + ON_SHEET]):
            row, column = divmod(place, COLUMNS)
            sheet.paste(Image.fromarray(picture), (column * SIDE, row * SIDE))
        file = LABELLED_FOLDER / f"sheet_{start // ON_SHEET:02d}.webp"
        sheet.save(file, quality=QUALITY, method=6)


def read_pictures() -> list[RgbImage]:
    """Cut the stored sheets into pictures, empty places at the end included."""
    pictures: list[RgbImage] = []
    for file in sorted(LABELLED_FOLDER.glob("sheet_*.webp")):
        sheet = np.array(Image.open(file).convert("RGB"))
        cells = sheet.reshape(ROWS, SIDE, COLUMNS, SIDE, 3).transpose(0, 2, 1, 3, 4)
        pictures += list(np.ascontiguousarray(cells).reshape(ON_SHEET, SIDE, SIDE, 3))
    return pictures


def large_sheets(pictures: Sequence[RgbImage]) -> list[Image.Image]:
    """Lay pictures out for the eye, each with its number."""
    width, height = SIDE * ZOOM + 4, SIDE * ZOOM + CAPTION_HEIGHT
    font = ImageFont.load_default(CAPTION_HEIGHT - 2)
    sheets = []
    for sheet_number in range(math.ceil(len(pictures) / ON_SHEET)):
        sheet = Image.new("RGB", (COLUMNS * width, ROWS * height), "white")
        pen = ImageDraw.Draw(sheet)
        start = sheet_number * ON_SHEET
        for place, picture in enumerate(pictures[start : start + ON_SHEET]):
            row, column = divmod(place, COLUMNS)
            corner = (column * width, row * height)
            pen.text(corner, str(start + place), font=font, fill="black")
            large = Image.fromarray(picture).resize((SIDE * ZOOM, SIDE * ZOOM))
            sheet.paste(large, (corner[0], corner[1] + CAPTION_HEIGHT))
        sheets.append(sheet)
    return sheets


def read_typed(lines: Iterable[str]) -> dict[int, tuple[str, ...]]:
    """Read lines such as "17: cat, teddy bear"; any name of an object will do."""
    typed = {}
    for line in filter(str.strip, lines):
        number, names = line.split(":")
        words = [name.strip() for name in names.split(",") if name.strip()]
        numbers = [object_number(word) for word in words]
        strange = [word for word, each in zip(words, numbers, strict=True) if each is None]
        if strange:
            sys.exit(f'"{line}": the world does not know {", ".join(strange)}.')
        things = sticker_objects()
        typed[int(number)] = tuple(things[each].name for each in numbers if each is not None)
    return typed


def labelled(labels: Sequence[Label], typed: Mapping[int, tuple[str, ...]]) -> list[Label]:
    return [replace(label, visible=typed.get(label.number, label.visible)) for label in labels]


def read_labels() -> list[Label]:
    lines = (LABELLED_FOLDER / LABELS_NAME).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Label(**{**row, "visible": None if row["visible"] is None else tuple(row["visible"])})
        for row in rows
    ]


def write_labels(labels: Iterable[Label]) -> None:
    text = "".join(json.dumps(asdict(label)) + "\n" for label in labels)
    (LABELLED_FOLDER / LABELS_NAME).write_text(text, encoding="utf-8")


def score(labels: Sequence[Label], pictures: Sequence[RgbImage], models: Path) -> Iterator[str]:
    segmenter = StickerSegmenter(models / StickerSegmenter.id)
    all_compared = [compared(segmenter, label, pictures[label.number]) for label in labels]
    missed = Counter(name for each in all_compared for name in each.missed)
    invented = Counter(name for each in all_compared for name in each.invented)
    figure = f1_of([each.sums for each in all_compared])
    yield f"class F1 on {len(labels)} labelled pictures, % {figure.percent}"
    yield f"missed:   {dict(missed.most_common())}"
    yield f"invented: {dict(invented.most_common())}"


def compared(segmenter: StickerSegmenter, label: Label, picture: RgbImage) -> Comparison:
    """Hold what the segmenter is sure of against what is seen."""
    return Comparison(told=frozenset(label.visible or ()), answers=answered(segmenter, picture))


def answered(segmenter: StickerSegmenter, picture: RgbImage) -> frozenset[str]:
    """Ask for every class; name those that the segmenter is sure of."""
    seen = segmenter.detect(picture, [mention_of(thing.name) for thing in sticker_objects()])
    return frozenset(str(mask.mention_id) for mask in sure(seen.masks))


def f1_of(sums: Sequence[tuple[int, int, int]]) -> Figure:
    return bootstrap(_f1, sums)


def _f1(sums: Floats) -> float:
    right, answers, told = sums
    return 2 * float(right / (answers + told)) if answers + told else 0.0


if __name__ == "__main__":
    sys.exit(main())
