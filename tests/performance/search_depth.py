"""See how often a search puts one object in front of another, against a single picture.

    python -m tests.performance.search_depth ROWS_FILE [--prompts N] [--searches N]

Draws each prompt ("a cat in front of a car") from 8 seeds a search, without guidance, ranks the
pictures as the studio's search does, by PSE along estimated depth, and judges them all by another
judge: both objects found by the segmenter, and the feet of their sprites, matched to the pixels, in
the right order. That judge shares no net with the depth estimate that chose. It is first tried on
painted pairs, whose order is known. One line a picture goes to ROWS_FILE; a second start goes on
from there. Wilson intervals at 95 % for the searches, for single pictures those of a bootstrap
over prompts.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from spatialstudio.adapters.stickers.training.scenes import SceneSettings, draw_scene, paint
from spatialstudio.adapters.stickers.vocabulary import object_number
from spatialstudio.domain.generation import CandidateScore
from spatialstudio.domain.scene import IN_FRONT_OF
from spatialstudio.science.guidance.noise_search import ranked, score_candidate
from tests.performance.intervals import bootstrap, ratio, wilson
from tests.performance.match_sprites import is_nearer
from tests.performance.prompt_lists import PAIR, depth_prompts
from tests.performance.studio_pictures import METHODS, Drawn, Wanted, draw, show

CANDIDATES = 8
SHOWN_COUNTS = (2, 4, CANDIDATES)
PAINTED_SEED = 71
PAIRS_ON_GROUND = SceneSettings(perspective_share=1.0, count_weights=(0.0, 1.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One picture: what the search makes of it, and whether the other judge finds it right."""

    prompt_id: str
    score: CandidateScore
    is_right: bool

    @property
    def search(self) -> tuple[str, int]:
        return self.prompt_id, self.score.seed // CANDIDATES


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines, one a picture")
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--searches", type=int, default=2, help="a prompt")
    parser.add_argument("--painted", type=int, default=200, help="pairs to try the judge on")
    options = parser.parse_args()
    done = read_rows(options.rows)
    known = {(row.prompt_id, row.score.seed) for row in done}
    wanted = [
        Wanted(prompt=prompt, seed=seed, method=METHODS[0])
        for prompt in depth_prompts(options.prompts)
        for seed in range(options.searches * CANDIDATES)
        if (prompt.id, seed) not in known
    ]
    options.rows.parent.mkdir(parents=True, exist_ok=True)
    with options.rows.open("a", encoding="utf-8") as file:
        for number, drawn in enumerate(draw(wanted, options.rows.parent / "runs"), 1):
            row = row_of(drawn)
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()
            done.append(row)
            show(f"{number} of {len(wanted)}: {row.prompt_id} {row.score.seed} {row.is_right}")
    show("\n".join(table(done)))
    show(f"the judge on painted pairs, %  {judge_painted(options.painted)}")
    return 0


def read_rows(path: Path) -> list[Row]:
    if not path.exists():
        return []
    stored = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Row(**{**row, "score": CandidateScore(**row["score"])}) for row in stored]


def row_of(drawn: Drawn) -> Row:
    assert drawn.evaluation is not None
    perception, checker = drawn.evaluation.perception, drawn.evaluation.checker
    score = score_candidate(drawn.scene, drawn.wanted.seed, perception, checker)
    return Row(
        prompt_id=drawn.wanted.prompt.id,
        score=score,
        is_right=score.found == PAIR and stands_right(drawn),
    )


def stands_right(drawn: Drawn) -> bool:
    (relation,) = drawn.scene.relations
    heads = {mention.id: mention.head for mention in drawn.scene.mentions}
    first, second = (object_number(heads[end]) for end in relation.ends)
    assert first is not None
    assert second is not None
    return is_nearer(drawn.image, first, second) is (relation.type is IN_FRONT_OF)


def table(rows: Sequence[Row]) -> Iterator[str]:
    searches: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        searches[row.search].append(row)
    yield f"{len(rows)} pictures of {len(searches)} searches"
    by_prompt: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        by_prompt[row.prompt_id].append(row.is_right)
    single = bootstrap(ratio, [(sum(right), len(right)) for right in by_prompt.values()])
    yield f"right order, single pictures, % {single.percent}"
    for count in SHOWN_COUNTS:
        best = [best_of(search, count).is_right for search in searches.values()]
        yield f"right order, best of {count}, %       {wilson(sum(best), len(best)).percent}"


def best_of(search: Sequence[Row], count: int) -> Row:
    first = sorted(search, key=lambda row: row.score.seed)[:count]
    (best, *_) = ranked(row.score for row in first)
    return next(row for row in first if row.score.seed == best.seed)


def judge_painted(count: int) -> str:
    """Try the judge on painted pairs; the farther one is painted first."""
    rng = np.random.default_rng(PAINTED_SEED)
    right = 0
    for _ in range(count):
        scene = draw_scene(rng, PAIRS_ON_GROUND)
        farther, nearer = (placement.number for placement in scene.placements)
        picture = paint(scene, PAIRS_ON_GROUND.side).pixels
        right += is_nearer(picture, nearer, farther) is True
    return wilson(right, count).percent


if __name__ == "__main__":
    sys.exit(main())
