"""Stop a program that draws, saves, rates and deletes at random moments; see that nothing is lost.

    python -m tests.performance.kill_studio [MOMENTS] [SEED]

A child process keeps a queue, stores pictures, judges, rates and deletes them without pause, and
tells of each thing when it is done. It is killed (SIGKILL) at a random moment. Then the folder
must hold all that was told: every picture whole, every rating, every request that was not done.
"""

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from spatialstudio.adapters.library.run_library import RunLibrary
from spatialstudio.adapters.stores.run_files import RunFiles
from spatialstudio.adapters.stores.state_files import PlainStateFiles
from spatialstudio.application.flow.store_run import store_run
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    StepEvent,
)
from spatialstudio.domain.library import EVERYTHING, Marks
from spatialstudio.domain.perception import Perception
from spatialstudio.domain.verdict import Evaluation
from tests.fakes import scene_of

MOMENTS = 200
MOST_WORDS = 60
LONGEST_S = 0.03
QUEUE = 10


@dataclass
class Told:
    """What a child said was done before it ended."""

    asked: set = field(default_factory=set)
    ended: set = field(default_factory=set)
    stored: dict = field(default_factory=dict)
    stars: dict = field(default_factory=dict)
    deleting: set = field(default_factory=set)


def request_of(number):
    return GenerationRequest(
        id=f"r{number}", scene=scene_of(), backend_id="b", model=ModelRef(id="m"), seed=number
    )


def events_of(request):
    """Make what the engine says of a run, its picture noise."""
    noise = np.random.default_rng(request.seed).integers(0, 256, (96, 96, 3), np.uint8)
    step = StepEvent(request_id=request.id, step=0, total_steps=1, timestep=1.0, pos={})
    return (
        GenerationStarted(request_id=request.id, total_steps=1, token_spans=(), device="cpu"),
        replace(step, preview=noise.copy()),
        GenerationFinished(request_id=request.id, image=noise, seconds=1.0, peak_memory_bytes=1),
    )


def work_without_end(folder, tell):
    """Ask for ten pictures at a time, store, judge and rate each, delete every third."""
    library = RunLibrary(folder / "library", folder / "cache")
    journal = PlainStateFiles().open_journal(folder / "queue")
    month = folder / "library" / f"{datetime.now(UTC):%Y/%m}"
    number = 0
    while True:
        batch = [request_of(number + place) for place in range(QUEUE)]
        number += QUEUE
        for request in batch:
            journal.note(request)
            tell("asked", request.id)
        for request in batch:
            picture = store_run(request, events_of(request), None, RunFiles(), month)
            tell("stored", request.id, picture)
            RunFiles().judge(picture, _evaluation())
            journal.end(request.id)
            tell("ended", request.id)
            library.add(picture)
            library.mark(picture, Marks(stars=request.seed % 5 + 1, tags=("kept",)))
            tell("stars", picture, request.seed % 5 + 1)
            if request.seed % 3 == 0:
                tell("deleting", picture)
                library.throw([picture])


def killed_after(folder, words, wait_s):
    """Let a child tell of so many things, and go on for a moment; kill it, return what it told."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            work_without_end(folder, lambda *words: _say(writer, words))
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as lines:
        heard = [lines.readline() for _ in range(words)]
        time.sleep(wait_s)  # noqa: TID251 - the moment is the point
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return _understood("".join([*heard, lines.read()]).splitlines())


def losses(folder, told):
    """Name all that was told and is not there, or is not whole."""
    library = RunLibrary(folder / "library", folder / "cache")
    library.refresh()
    store, lost = RunFiles(), []
    for picture in (folder / "library").glob("[0-9]*/*/*.png"):
        faults = [fault for fault in store.verify(picture) if fault.part != "evaluation"]
        lost += [f"{picture.name}: {fault.message}" for fault in faults]
    thrown = {path for deletion in library.deletions() for path in deletion.paths}
    for request_id, picture in told.stored.items():
        if not picture.exists() and not (picture in thrown and picture in told.deleting):
            lost.append(f"the picture of {request_id}")
    for picture, stars in told.stars.items():
        if picture.exists() and store.marks(picture).stars != stars:
            lost.append(f"the rating of {picture.name}")
    journal = PlainStateFiles().open_journal(folder / "queue")
    waiting = {request.id for request in journal.interrupted()}
    lost += [f"the request {r}" for r in told.asked - told.ended - waiting]
    before = _content(library)
    library.reindex()
    if _content(library) != before:
        lost.append("the index, built anew, says something else")
    library.close()
    return lost


def try_moments(moments, seed):
    """Kill as many children as asked; return how much was stored, and what was lost."""
    chance, stored, lost = random.Random(seed), 0, []
    for _ in range(moments):
        folder = Path(tempfile.mkdtemp(prefix="kill"))
        told = killed_after(folder, chance.randint(1, MOST_WORDS), chance.uniform(0, LONGEST_S))
        stored += len(told.stored)
        lost += losses(folder, told)
        shutil.rmtree(folder)
    return stored, lost


def _evaluation():
    seen = Perception(image_sha256="", height=96, width=96, detections=(), masks=())
    return Evaluation(perception=seen, verdicts=())


def _say(pipe, words):
    os.write(pipe, ("\t".join(map(str, words)) + "\n").encode())


def _understood(lines):
    told = Told()
    for kind, *rest in (line.split("\t") for line in lines):
        if kind == "asked":
            told.asked.add(rest[0])
        elif kind == "ended":
            told.ended.add(rest[0])
        elif kind == "stored":
            told.stored[rest[0]] = Path(rest[1])
        elif kind == "stars":
            told.stars[Path(rest[0])] = int(rest[1])
        else:
            told.deleting.add(Path(rest[0]))
    return told


def _content(library):
    return sorted(map(repr, library.entries(library.find(EVERYTHING))))


def main():
    moments = int(sys.argv[1]) if len(sys.argv) > 1 else MOMENTS
    stored, lost = try_moments(moments, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    sys.stdout.write(f"{moments} moments, {stored} pictures told as stored, {len(lost)} lost\n")
    sys.stdout.writelines(f"  {loss}\n" for loss in lost)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
