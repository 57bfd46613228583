"""See whether guidance makes the objects of a picture any worse, by a classifier held out.

    python -m tests.performance.compare_quality ROWS_FILE [--prompts N] [--seeds N]

The classifier of ``object_classifier`` looks at each object where the segmenter surely found it and
says how sure it is: the chance of its top class, and whether that is the object asked for. Prompts
of one object claim nothing that could be guided, so guiding them must change nothing: they are
drawn with the studio's guidance on and off all the same. What guidance does to objects shows in
prompts of two, those of SpatialBench-UC. One line a picture goes to ROWS_FILE; a second start goes
on from there. Intervals of a bootstrap over prompts, at 95 %.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER, object_number
from tests.performance.compare_guidance import prompts_of
from tests.performance.intervals import bootstrap, difference, ratio
from tests.performance.object_classifier import ObjectClassifier, class_chances, read_classifier
from tests.performance.prompt_lists import PAIR, single_prompts
from tests.performance.studio_pictures import METHODS, Drawn, Wanted, draw, show

SURE_SCORE = 0.5
Sums = list[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One picture: how many objects were asked for and seen, and what the classifier says."""

    prompt_id: str
    seed: int
    method: str
    asked: int
    seen: int
    top_chances: float
    recognised: int

    @property
    def key(self) -> tuple[str, int, str]:
        return self.prompt_id, self.seed, self.method


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines, one a picture")
    parser.add_argument("--prompts", type=int, default=72, help="of one object, and as many of two")
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    prompts = single_prompts()[: options.prompts] + prompts_of(PAIR, options.prompts)
    wanted = [
        Wanted(prompt=prompt, seed=seed, method=method)
        for seed in range(options.seeds)
        for prompt in prompts
        for method in METHODS
    ]
    done = read_rows(options.rows)
    missing = [picture for picture in wanted if picture.key not in {row.key for row in done}]
    segmenter = StickerSegmenter(WORLD_FOLDER.parent / StickerSegmenter.id)
    classifier = read_classifier()
    options.rows.parent.mkdir(parents=True, exist_ok=True)
    with options.rows.open("a", encoding="utf-8") as file:
        for number, drawn in enumerate(draw(missing, options.rows.parent / "runs"), 1):
            row = row_of(drawn, segmenter, classifier)
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()
            done.append(row)
            show(f"{number} of {len(missing)}: {row.key}")
    show("\n".join(table(done)))
    return 0


def read_rows(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [Row(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def row_of(drawn: Drawn, segmenter: StickerSegmenter, classifier: ObjectClassifier) -> Row:
    seen = segmenter.detect(drawn.image, drawn.scene.mentions)
    top_chances, recognised, found = 0.0, 0, 0
    for mention in drawn.scene.mentions:
        own = [each for each in seen.detections if each.mention_id == mention.id]
        best = max(own, key=lambda each: each.score, default=None)
        if best is None or best.score < SURE_SCORE:
            continue
        chances = class_chances(classifier, drawn.image, best.box)
        found += 1
        top_chances += float(chances.max())
        recognised += int(chances.argmax()) == object_number(mention.head)
    return Row(
        prompt_id=drawn.wanted.prompt.id,
        seed=drawn.wanted.seed,
        method=drawn.wanted.method,
        asked=len(drawn.scene.mentions),
        seen=found,
        top_chances=top_chances,
        recognised=recognised,
    )


def table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"{'':34}{'none':>24}{'PSG':>24}{'difference':>24}"
    for asked, kind in ((1, "one object"), (PAIR, "two objects")):
        some = [row for row in rows if row.asked == asked]
        for name, total, count in (
            ("mass of the top class", "top_chances", "seen"),
            ("recognised", "recognised", "seen"),
            ("seen", "seen", "asked"),
        ):
            none, psg = (sums_by_prompt(some, method, total, count) for method in METHODS)
            both = [(*before, *after) for before, after in zip(none, psg, strict=True)]
            cells = [bootstrap(ratio, none), bootstrap(ratio, psg), bootstrap(difference, both)]
            texts = "".join(f"{cell.percent:>24}" for cell in cells)
            yield f"{f'{kind}: {name}, %':34}{texts}"


def sums_by_prompt(rows: Sequence[Row], method: str, total: str, count: str) -> Sums:
    sums = []
    for prompt_id in sorted({row.prompt_id for row in rows}):
        own = [row for row in rows if (row.prompt_id, row.method) == (prompt_id, method)]
        sums.append(
            (sum(getattr(row, total) for row in own), sum(getattr(row, count) for row in own))
        )
    return sums


if __name__ == "__main__":
    sys.exit(main())
