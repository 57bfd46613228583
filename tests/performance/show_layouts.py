"""Lay out pictures of ``compare_layouts`` or ``follow_sketches`` with their outcomes, to look at.

    python -m tests.performance.show_layouts FOLDER SHEET.png --only pairs --variants none psg ours

A row for each prompt or layout, a column for each variant, by default all that have rows.
``--only`` takes prompts whose id begins so; ``--not-passed VARIANT`` those that fail in that
variant. Discs are the sketched places, numbered as the objects of the prompt; below are the
outcomes, or how far each object is from its place, in percent of the side.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from tests.performance.compare_layouts import has_passed
from tests.performance.follow_sketches import DISC_SHARE, STILL_NEAR, distances_of
from tests.performance.picture_sheets import SheetPicture, picture_sheet
from tests.performance.shared_rows import Values, grouped, read_rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of rows and pictures")
    parser.add_argument("sheet", type=Path, help="PNG file")
    parser.add_argument("--only", default="", help="beginning of the ids")
    parser.add_argument("--variants", nargs="+")
    parser.add_argument("--count", type=int, default=12, help="rows of the sheet")
    parser.add_argument("--not-passed", metavar="VARIANT")
    options = parser.parse_args()
    rows = [row for row in read_rows(options.folder) if row["id"].startswith(options.only)]
    variants = options.variants or list(dict.fromkeys(row["variant"] for row in rows))
    chosen = []
    for _, own in grouped(sorted(rows, key=lambda row: row["id"]), "id"):
        by_variant = {row["variant"]: row for row in own}
        shown = by_variant.get(options.not_passed)
        if options.not_passed is None or (shown is not None and not is_good(shown)):
            chosen.append((own[0]["text"], [by_variant.get(each) for each in variants]))
    sheet_of(options.folder, variants, chosen[: options.count]).save(options.sheet, optimize=True)
    return 0


def sheet_of(
    folder: Path, variants: Sequence[str], rows: Sequence[tuple[str, Sequence[Values | None]]]
) -> Image.Image:
    """Lay out the stored pictures of rows."""
    return picture_sheet(
        variants,
        [(text, [row and sheet_picture(folder, row) for row in own]) for text, own in rows],
    )


def sheet_picture(folder: Path, row: Values) -> SheetPicture:
    path = folder / "pictures" / f"{row['id']}-{row['variant']}.png"
    discs = [(x, y, size * DISC_SHARE) for x, y, size in row.get("places", ())]
    return SheetPicture(
        image=np.array(Image.open(path)), mark=mark_of(row), is_good=is_good(row), discs=discs
    )


def is_good(row: Values) -> bool:
    """Say whether all relations pass, or all objects are near their places."""
    if "places" in row:
        return all(each is not None and each <= STILL_NEAR for each in distances_of(row))
    return has_passed(row)


def mark_of(row: Values) -> str:
    """Name the first reason of each outcome, or the distances in percent of the side."""
    if "places" in row:
        return ", ".join(
            "missing" if each is None else f"{100 * each:.0f}" for each in distances_of(row)
        )
    pairs = zip(row["outcomes"], row["reasons"], strict=True)
    return ", ".join(reason or outcome for outcome, reason in pairs) or str(row["found"])


if __name__ == "__main__":
    sys.exit(main())
