"""Compare guidance methods on the sticker model at equal numbers of UNet calls.

    python -m tests.performance.compare_methods ROWS_FILE [--prompts N] [--seeds N] [--only ID ...]

Every picture takes 30 calls, a guiding pass counted as one: 20 steps of which 10 are guided, or 30
steps without guidance, or two pictures of 15 steps of which the better is kept (its verifier is the
segmenter that also makes the figures, so they flatter it). "psg, resting" and "psg, reusing" take
what they need; the table tells how many. Prompts and seeds are the same for all. A line a picture
goes to ROWS_FILE; a second start goes on from there. The table, in Markdown, is printed at the end,
and after Ctrl+C for what there is.

"Found" is a detection of both objects at the checker's threshold, "placed" compares centres as
VISOR does, of all pictures; PSE is that of the embedded segmenter's masks. Intervals at 95 %:
Wilson for shares, a bootstrap over prompts for PSE.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean

import torch

from spatialstudio.application.evaluate.evaluate_image import perceive_image
from spatialstudio.application.evaluate.judge_choice import make_judge_set
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.studio import Studio
from spatialstudio.domain.generation import (
    PSG,
    CandidateScore,
    CaptureSettings,
    GenerationRequest,
    GuidanceSettings,
    StepEvent,
)
from spatialstudio.domain.judge_choice import STICKER_JUDGES
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.science.guidance.methods.infsplign import InfSplignLoss
from spatialstudio.science.guidance.noise_search import ranked, score_candidate
from spatialstudio.science.metrics.visor import visor_picture
from tests.fakes import events_of
from tests.performance.intervals import bootstrap, ratio, wilson
from tests.performance.prompt_lists import spatialbench_prompts

STEPS, PLAIN_STEPS, SEARCH_STEPS = 20, 30, 15
ATTENTION_ONLY = CaptureSettings(attention_every=STEPS, preview_every=0)

SPATIAL, PRESENT = "infsplign, spatial", "infsplign, + presence"
_INFSPLIGN = GUIDANCE_METHODS["infsplign"]
ABLATIONS = (
    replace(_INFSPLIGN, id=SPATIAL, make_loss=lambda _: InfSplignLoss(presence=0, balance=0)),
    replace(_INFSPLIGN, id=PRESENT, make_loss=lambda _: InfSplignLoss(balance=0)),
)

guided = partial(GuidanceSettings, strength=10.0)
correcting = partial(GuidanceSettings, strength=100.0, decay=1.0, every=2, last_step=999)

VARIANTS: dict[str, GuidanceSettings] = {
    "none": GuidanceSettings(),
    "best of two": GuidanceSettings(),
    "psg": guided(method_id=PSG),
    "psg + presence 0.1": guided(method_id="psg-presence", options={"presence_weight": 0.1}),
    "psg + presence 0.3": guided(method_id="psg-presence", options={"presence_weight": 0.3}),
    "psg + presence 1": guided(method_id="psg-presence"),
    "psg, paper form": guided(method_id=PSG, options={"paper_loss": True}),
    "psg, resting": guided(method_id=PSG, goal=0.95),
    "psg, reusing": guided(method_id=PSG, reuses_prediction=True),
    "psg, objects only": guided(method_id=PSG, names_only=True),
    SPATIAL: correcting(method_id=SPATIAL),
    PRESENT: correcting(method_id=PRESENT),
    "infsplign, + balance": correcting(method_id="infsplign"),
    "boxdiff": guided(method_id="boxdiff"),
    "attend and excite": guided(method_id="attend-excite"),
    "weighted presence": guided(method_id="weighted-presence"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One picture and what came of it."""

    method: str
    prompt_id: str
    seed: int
    found: bool
    placed: bool
    pse: float
    calls: int
    final_pos: float
    seconds: float

    @property
    def key(self) -> tuple[str, str, int]:
        return self.method, self.prompt_id, self.seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was made of one picture."""

    score: CandidateScore
    found: bool
    placed: bool
    calls: int
    final_pos: float


class Bench:
    """Draws with the embedded model and looks with the embedded segmenter."""

    def __init__(self) -> None:
        self._studio = Studio.open("inline")
        self._card = self._studio.model()
        self._backend = self._studio._registry.backend(self._card.backend_id)
        self._judges = replace(
            make_judge_set(self._studio._registry, STICKER_JUDGES), perturber=None, store=None
        )

    def row(self, method: str, prompt_id: str, text: str, seed: int) -> Row:
        started = time.process_time()
        self._studio.use_scene(self._studio.parse_for_model(text))
        request = with_values(
            self._studio.new_request(seed=seed, steps=STEPS),
            guidance=VARIANTS[method],
            capture=ATTENTION_ONLY,
        )
        match method:
            case "none":
                drawn = [self._draw(with_values(request, steps=PLAIN_STEPS))]
            case "best of two":
                half = with_values(request, steps=SEARCH_STEPS)
                drawn = [self._draw(half), self._draw(with_values(half, seed=seed + 1000))]
            case _:
                drawn = [self._draw(request)]
        best = ranked(one.score for one in drawn)[0]
        kept = next(one for one in drawn if one.score is best)
        return Row(
            method=method,
            prompt_id=prompt_id,
            seed=seed,
            found=kept.found,
            placed=kept.placed,
            pse=best.pse,
            calls=sum(one.calls for one in drawn),
            final_pos=kept.final_pos,
            seconds=time.process_time() - started,
        )

    def _draw(self, request: GenerationRequest) -> Seen:
        token = CancelFlag()
        *events, finished = events_of(self._backend, request, self._card, token)
        steps = [event for event in events if isinstance(event, StepEvent)]
        scene, image = request.scene, finished.image
        seen = perceive_image(image, scene, self._judges, token)
        (relation,) = scene.relations
        boxes = [
            [d.box for d in seen.detections_of(end) if d.score >= REPRODUCE.detection_score]
            for end in relation.ends
        ]
        picture = visor_picture("", relation.type, *boxes)
        return Seen(
            score=score_candidate(scene, request.sampling.seed, seen, REPRODUCE),
            found=picture.has_both,
            placed=picture.is_correct,
            calls=len(steps) + sum(step.guiding_passes for step in steps),
            final_pos=min(steps[-1].pos.values(), default=0.5),
        )


def main() -> int:
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines, one a picture")
    parser.add_argument("--prompts", type=int, default=40, help="spread over the 200")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    options = parser.parse_args()
    listed = spatialbench_prompts()
    prompts = [listed[n * len(listed) // options.prompts] for n in range(options.prompts)]
    wanted = [
        (method, prompt.id, prompt.text, seed)
        for seed in range(options.seeds)
        for prompt in prompts
        for method in options.only
    ]
    keys = {(method, prompt_id, seed) for method, prompt_id, _, seed in wanted}
    for variant in ABLATIONS:
        GUIDANCE_METHODS.register(variant)
    with suppress(KeyboardInterrupt):
        draw_missing(options.rows, wanted)
    show("\n".join(table([row for row in read_rows(options.rows) if row.key in keys])))
    return 0


def draw_missing(path: Path, wanted: Sequence[tuple[str, str, str, int]]) -> None:
    """Draw what has no row yet, a whole line at a time."""
    done = read_rows(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(map(line_of, done)), encoding="utf-8")
    known, bench = {row.key for row in done}, Bench()
    with path.open("a", encoding="utf-8") as file:
        for method, prompt_id, text, seed in wanted:
            if (method, prompt_id, seed) not in known:
                file.write(line_of(bench.row(method, prompt_id, text, seed)))
                file.flush()


def line_of(row: Row) -> str:
    return json.dumps(asdict(row)) + "\n"


def read_rows(path: Path) -> list[Row]:
    """Read what there is; a line that was cut off in the middle is drawn again."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [Row(**json.loads(line)) for line in lines if line.endswith("\n")]


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a Markdown table, 95 % intervals in brackets."""
    count = len({(row.prompt_id, row.seed) for row in rows})
    yield f"Up to {count} pictures a method, same prompts and seeds; shares in %, PSE x 100."
    yield ""
    yield "| method | pictures | both found | found and placed | PSE | last PoS | calls | CPU s |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for method in dict.fromkeys(row.method for row in rows):
        own = [row for row in rows if row.method == method]
        ids = sorted({row.prompt_id for row in own})
        sums = [
            (sum(row.pse for row in own if row.prompt_id == i), sum(r.prompt_id == i for r in own))
            for i in ids
        ]
        cells = (
            method,
            str(len(own)),
            wilson(sum(row.found for row in own), len(own)).percent,
            wilson(sum(row.placed for row in own), len(own)).percent,
            bootstrap(ratio, sums).percent,
            f"{mean(row.final_pos for row in own):.3f}",
            f"{mean(row.calls for row in own):.1f}",
            f"{mean(row.seconds for row in own):.2f}",
        )
        yield f"| {' | '.join(cells)} |"


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
