"""Measure a large library: building its index from files, and finding runs in it.

    python -m tests.performance.measure_library [RUNS] [--index-only]

The sidecars and pictures of real runs are written; traces, which the index does not read, are not.
Times are processor time, as others may use the machine, with wall time beside them.
"""

import random
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from spatialstudio.adapters.storage.library.index import IndexedRun
from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.adapters.storage.stores.sidecar import Sidecar, with_verdicts, write_sidecar
from spatialstudio.application.gallery.library import read_filter
from spatialstudio.domain.library import (
    ClaimSummary,
    Marks,
    RunSummary,
)
from spatialstudio.domain.scene import (
    ABOVE,
    BELOW,
    LEFT_OF,
    RIGHT_OF,
)
from spatialstudio.domain.verdict import (
    AbstentionReason,
    ConfidenceComponents,
    DepthMap,
    Evaluation,
    Measurement,
    Outcome,
    Perception,
    Verdict,
)

RUNS = 10_000
REPEATS = 5
LINES = (
    "",
    "verdict:fail relation:left model:sticker pos<0.6 cat",
    "cat -dog",
    "stars>=4 -is:rejected",
    "verdict:undecidable date>=2026-06",
    '"to the left"',
)
NOUNS = ("cat", "dog", "car", "tree", "house", "boat", "lamp", "chair", "bird", "clock")

SURE = ConfidenceComponents(detection=1.0, geometry=1.0, stability=1.0, agreement=1.0)
SEEN = Perception(
    image_sha256="",
    height=128,
    width=128,
    detections=(),
    masks=(),
    depth=DepthMap(values=np.random.default_rng(0).random((64, 64), np.float32), estimator_id=""),
)
"""About as many bytes as masks and depth of a real run."""


def sidecar(number, chance):
    """Make up a run."""
    kind = chance.choice((LEFT_OF, RIGHT_OF, ABOVE, BELOW))
    subject, other = chance.sample(NOUNS, 2)
    claim = ClaimSummary(
        relation_id="r1",
        type_id=kind.id,
        subject=subject,
        object=other,
        pos=chance.random(),
    )
    outcome = chance.choice(tuple(Outcome))
    verdict = Verdict(
        relation_id=claim.relation_id,
        outcome=outcome,
        confidence=chance.random(),
        components=SURE,
        measurement=Measurement(delta=0.1, margin=0.1, overlap=0.0, pos=0.5, pse=chance.random()),
        reason=AbstentionReason.UNSTABLE if outcome is Outcome.UNDECIDABLE else None,
    )
    summary = RunSummary(
        id=f"run{number}",
        request_id=f"request {number}",
        created=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=5 * number),
        prompt=f"a photo of a {subject} {kind.phrase} a {other} number {number}",
        model_id=chance.choice(("stickers", "sd-turbo")),
        seed=number,
        steps=20,
        method_id=chance.choice(("psg", "none")),
        strength=8.0,
        width=128,
        height=128,
        device="cpu",
        objects=(subject, other),
        claims=(claim,),
    )
    return Sidecar(
        summary=with_verdicts(summary, [verdict]),
        marks=Marks(stars=chance.randrange(6)),
        evaluation=Evaluation(perception=SEEN, verdicts=(verdict,)),
    )


def fill(root, count):
    """Write the files of a library."""
    chance = random.Random(0)
    for number in range(count):
        made = sidecar(number, chance)
        folder = root / f"{made.summary.created:%Y/%m}"
        folder.mkdir(parents=True, exist_ok=True)
        summary = replace(made.summary, id=f"run{number}")
        (folder / f"run{number}.png").write_bytes(b"")
        (folder / f"run{number}.json").write_bytes(write_sidecar(replace(made, summary=summary)))


def indexed(count):
    """Make up runs without files, for the time of finding alone."""
    chance = random.Random(0)
    for number in range(count):
        made = sidecar(number, chance)
        path = f"{made.summary.created:%Y/%m}/run{number}.png"
        yield IndexedRun(path=path, stamp="", summary=made.summary, marks=made.marks)


def timed(work):
    """Return processor and wall seconds of the best of some calls, and what the last gave."""
    best = (float("inf"), float("inf"))
    result = None
    for _ in range(REPEATS):
        wall, own = time.perf_counter(), time.process_time()
        result = work()
        best = min(best, (time.process_time() - own, time.perf_counter() - wall))
    return *best, result


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    root = Path(tempfile.mkdtemp(prefix="library"))
    has_files = "--index-only" not in sys.argv
    if has_files:
        fill(root / "library", count)
    library = RunLibrary(root / "library", root / "cache")
    wall, own = time.perf_counter(), time.process_time()
    if has_files:
        library.refresh()
    else:
        library._index.put(indexed(count))
    own, wall = time.process_time() - own, time.perf_counter() - wall
    sys.stdout.write(f"index of {count} runs: {own:.1f} s of processor time ({wall:.1f} s)\n")
    for line in LINES:
        wanted = read_filter(line)
        own, wall, ids = timed(lambda wanted=wanted: library.find(wanted))
        page, _, _ = timed(lambda ids=ids: library.entries(ids[:60]))
        sys.stdout.write(
            f"{own * 1000:7.1f} ms ({wall * 1000:7.1f})  60 entries {page * 1000:5.1f} ms"
            f"  {len(ids):6} found  {line}\n"
        )
    own, wall, _ = timed(library.refresh)
    sys.stdout.write(f"a look at unchanged folders: {own * 1000:.1f} ms\n")
    library.close()
    shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
