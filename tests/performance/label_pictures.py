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
label names it. Sure is a score of 0.5, and then the score that does best on other pictures, drawn
by earlier weights and labelled likewise. Intervals are those of a bootstrap over pictures, at 95 %.
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
from tests.adapters.stickers.asking import SURE_SCORE, mention_of
from tests.performance.intervals import Figure, Floats, bootstrap
from tests.performance.prompt_lists import mixed_prompts
from tests.performance.studio_pictures import METHODS, Wanted, draw, show

LABELLED_FOLDER = Path(__file__).parents[1] / "golden" / "labelled_pictures"
CALIBRATION_FOLDER = LABELLED_FOLDER.with_name("calibration_pictures")
LABELS_NAME = "labels.jsonl"
SIDE = 128
COLUMNS, ROWS = 5, 4
ON_SHEET = COLUMNS * ROWS
QUALITY = 90
ZOOM = 2
CAPTION_HEIGHT = 18
CUTS = tuple(percent / 100 for percent in range(50, 96))


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
        labels = labelled(read_labels(LABELLED_FOLDER), typed)
        write_labels(labels, LABELLED_FOLDER)
        missing = [label.number for label in labels if label.visible is None]
        show(f"{len(typed)} labels taken, {len(missing)} missing {missing[:ON_SHEET]}")
    else:
        show("\n".join(score(LABELLED_FOLDER, (SURE_SCORE, best_cut(CALIBRATION_FOLDER)))))
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
        label.visible is not None for label in read_labels(LABELLED_FOLDER)
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
    write_pictures([np.array(Image.open(file)) for file in files], LABELLED_FOLDER)
    labels = (
        Label(number=number, prompt=each.prompt.text, seed=each.seed, method=each.method)
        for number, each in enumerate(wanted)
    )
    write_labels(labels, LABELLED_FOLDER)
    for number, sheet in enumerate(large_sheets(read_pictures(LABELLED_FOLDER)[:count])):
        sheet.save(folder / f"sheet_{number:02d}.png")


def write_pictures(pictures: Sequence[RgbImage], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for start in range(0, len(pictures), ON_SHEET):
        sheet = Image.new("RGB", (COLUMNS * SIDE, ROWS * SIDE))
        for place, picture in enumerate(pictures[start : start + ON_SHEET]):
            row, column = divmod(place, COLUMNS)
            sheet.paste(Image.fromarray(picture), (column * SIDE, row * SIDE))
        file = folder / f"sheet_{start // ON_SHEET:02d}.webp"
        sheet.save(file, quality=QUALITY, method=6)


def read_pictures(folder: Path) -> list[RgbImage]:
    """Cut the stored sheets into pictures, empty places at the end included."""
    pictures: list[RgbImage] = []
    for file in sorted(folder.glob("sheet_*.webp")):
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


def read_labels(folder: Path) -> list[Label]:
    lines = (folder / LABELS_NAME).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Label(**{**row, "visible": None if row["visible"] is None else tuple(row["visible"])})
        for row in rows
    ]


def write_labels(labels: Iterable[Label], folder: Path) -> None:
    text = "".join(json.dumps(asdict(label)) + "\n" for label in labels)
    (folder / LABELS_NAME).write_text(text, encoding="utf-8")


def score(folder: Path, cuts: Sequence[float]) -> Iterator[str]:
    """Tell how the shipped segmenter does on labelled pictures when so sure an answer counts."""
    answers = all_answers(folder)
    for cut in cuts:
        all_compared = [compared(label, best, cut) for label, best in answers]
        missed = Counter(name for each in all_compared for name in each.missed)
        invented = Counter(name for each in all_compared for name in each.invented)
        figure = f1_of([each.sums for each in all_compared])
        yield f"class F1 of scores from {cut}, {len(answers)} labelled pictures, % {figure.percent}"
        yield f"missed:   {dict(missed.most_common())}"
        yield f"invented: {dict(invented.most_common())}"


def best_cut(folder: Path) -> float:
    """Choose the least score that does best on the labelled pictures of a folder."""
    answers = all_answers(folder)

    def f1_from(cut: float) -> float:
        sums = [compared(label, best, cut).sums for label, best in answers]
        return _f1(np.sum(sums, axis=0, dtype=float))

    return max(CUTS, key=f1_from)


def all_answers(folder: Path) -> list[tuple[Label, dict[str, float]]]:
    """Ask the shipped segmenter for every class in each labelled picture of a folder."""
    segmenter = StickerSegmenter(WORLD_FOLDER.parent / StickerSegmenter.id)
    return [
        (label, best_scores(segmenter, picture)) for label, picture in labelled_pictures(folder)
    ]


def labelled_pictures(folder: Path) -> Iterator[tuple[Label, RgbImage]]:
    """Go through the pictures that someone has looked at."""
    pictures = read_pictures(folder)
    for label in read_labels(folder):
        if label.visible is not None:
            yield label, pictures[label.number]


def best_scores(segmenter: StickerSegmenter, picture: RgbImage) -> dict[str, float]:
    """Ask for every class; give each that is found the score of its best instance."""
    seen = segmenter.detect(picture, [mention_of(thing.name) for thing in sticker_objects()])
    best: dict[str, float] = {}
    for mask in seen.masks:
        best[str(mask.mention_id)] = max(mask.score, best.get(str(mask.mention_id), 0.0))
    return best


def compared(label: Label, best: Mapping[str, float], cut: float) -> Comparison:
    """Hold the answers whose score reaches the cut against what is seen."""
    answers = frozenset(name for name, score in best.items() if score >= cut)
    return Comparison(told=frozenset(label.visible or ()), answers=answers)


def f1_of(sums: Sequence[tuple[int, int, int]]) -> Figure:
    return bootstrap(_f1, sums)


def _f1(sums: Floats) -> float:
    right, answers, told = sums
    return 2 * float(right / (answers + told)) if answers + told else 0.0


if __name__ == "__main__":
    sys.exit(main())
