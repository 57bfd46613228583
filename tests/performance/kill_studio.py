"""Stop a program that draws, saves, rates and deletes at random moments; see that nothing is lost.

    python -m tests.performance.kill_studio [MOMENTS] [SEED]

A child process is a whole studio without a window: its queue is given ten pictures at a time, which
are drawn by a scripted engine, stored, judged, rated and every third deleted, without pause. It
tells of each thing when it is done, and is killed (SIGKILL) at a random moment. Then the folder
must hold all that was told: every picture whole, every rating, every request that was not done.
Moments can be tried in parts, with a seed of its own for each.
"""

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.adapters.storage.stores.state_files import PlainStateFiles
from spatialstudio.application.gallery.library import read_filter
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.session import RunStored
from spatialstudio.application.storage.storage import JOURNALS
from tests.ui.scripted_engine import PROMPT, ScriptedEngine, studio_around

MOMENTS = 200
MOST_WORDS = 60
LONGEST_S = 0.03
QUEUE = 10


@dataclass
class Told:
    """What a child said was done before it ended."""

    asked: set = field(default_factory=set)
    stored: dict = field(default_factory=dict)
    stars: dict = field(default_factory=dict)
    deleting: set = field(default_factory=set)


def work_without_end(folder, tell):
    """Ask for ten pictures at a time; draw, store, judge and rate each, delete every third."""
    engine = ScriptedEngine()
    studio = studio_around(engine, folder)
    studio.bus.subscribe(studio.apply_event)
    studio.bus.subscribe(lambda event: look_after(studio.library, event, tell))
    studio.start()
    studio.use_prompt(PROMPT)
    first = 0
    while True:
        requests = [studio.new_request(seed=first + place) for place in range(QUEUE)]
        first += QUEUE
        studio.queue.add(*requests)
        for request in requests:
            tell("asked", request.id)
        while studio.queue.running is not None:
            engine.play(engine.jobs.pop())


def look_after(library, event, tell):
    """Rate a picture that was just stored, and delete it when its turn has come."""
    if not isinstance(event, RunStored):
        return
    tell("stored", event.request_id, event.path)
    seed = library.entry(event.path).summary.seed
    library.rate([event.path], seed % 5 + 1)
    tell("stars", event.path, seed % 5 + 1)
    if seed % 3 == 0:
        tell("deleting", event.path)
        library.trash([event.path])


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
        pronounced = [lines.readline() for _ in range(words)]
        time.sleep(wait_s)  # noqa: TID251 - the moment is the point
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return _understood("".join([*pronounced, lines.read()]).splitlines())


def losses(folder, told):
    """Name all that was told and is not there, or is not whole."""
    paths = StudioPaths.within(folder)
    library = RunLibrary(paths.runs, paths.cache)
    library.refresh()
    store = RunFiles()
    thrown = {path for deletion in library.deletions() for path in deletion.paths}
    kept = [path for path, _ in told.stars.items() if path.exists()]
    waiting = PlainStateFiles().open_journal(paths.settings / JOURNALS).interrupted()
    remembered = {request.id for request in waiting}
    before = content(library)
    lost = [
        *(f"{path.name}: {fault.message}" for path, fault in faults_below(paths.runs, store)),
        *(
            f"the picture of {request_id}"
            for request_id, path in told.stored.items()
            if not path.exists() and not (path in thrown and path in told.deleting)
        ),
        *(f"the rating of {p.name}" for p in kept if store.marks(p).stars != told.stars[p]),
        *(
            f"the request {request_id}"
            for request_id in told.asked - remembered
            if library.of_request(request_id) is None
        ),
    ]
    library.reindex()
    if content(library) != before:
        lost.append("the index, built anew, says something else")
    library.close()
    return lost


def faults_below(folder, store):
    """Yield what is wrong with the pictures of a library, each with its picture."""
    for picture in folder.glob("[0-9]*/*/*.png"):
        yield from ((picture, fault) for fault in store.verify(picture))


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


def _say(pipe, words):
    os.write(pipe, ("\t".join(map(str, words)) + "\n").encode())


def _understood(lines):
    told = Told()
    for kind, *rest in (line.split("\t") for line in lines):
        if kind == "asked":
            told.asked.add(rest[0])
        elif kind == "stored":
            told.stored[rest[0]] = Path(rest[1])
        elif kind == "stars":
            told.stars[Path(rest[0])] = int(rest[1])
        else:
            told.deleting.add(Path(rest[0]))
    return told


def content(library):
    """Return all that a library lists, the deleted runs as well, to be compared."""
    lines = ("", "is:trashed")
    return [sorted(map(repr, library.entries(library.find(read_filter(x))))) for x in lines]


def main():
    moments = int(sys.argv[1]) if len(sys.argv) > 1 else MOMENTS
    stored, lost = try_moments(moments, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    sys.stdout.write(f"{moments} moments, {stored} pictures told as stored, {len(lost)} lost\n")
    sys.stdout.writelines(f"  {loss}\n" for loss in lost)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
