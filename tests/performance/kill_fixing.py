"""Kill `fix`, `refine` and `repair` of the terminal at random moments; see that nothing is lost.

    python -m tests.performance.kill_fixing [MOMENTS] [SEED]

A picture that does not pass is drawn by the embedded model. Then a command of the terminal is
killed (SIGKILL) again and again, at a random moment or as soon as a new picture lies in the
library, which is before its verdict is stored; at last it runs to its end. After each kill,
the attempts that were judged before must still be stored, first and unchanged. At the end, every
picture of the library must be whole, and none may lie there beside the start and the attempts of
the loop: that would be a picture that was drawn again although its file was whole.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.adapters.storage.stores.state_files import PlainStateFiles
from spatialstudio.application.paths import HOME_VARIABLE, StudioPaths
from spatialstudio.application.storage.storage import FIXES, REFINEMENTS
from tests.performance.kill_studio import faults_below

PROMPT = "a cat above a dog and the dog to the left of a car"
COMMANDS = ("fix", "refine", "repair")
MOMENTS = 30
KILLS = 5
"""Kills of one loop, before it may run to its end."""
WAIT_S = (1.0, 14.0)
PAUSE_S = 0.005
AT_PICTURE = 0.6
"""Share of the kills at a new picture."""
ENOUGH_S = 300


class Case:
    """One command on one failed picture, in a home of its own.

    Args:
        home: Folder of the program's files, empty.
        command: "fix", "refine" or "repair".
        seed: Seed from which a failed picture is searched.
    """

    def __init__(self, home, command, seed):
        self._home, self._command, self._seed = home, command, seed
        self._paths = StudioPaths.within(home)
        self.start = self._failed_picture()

    def _popen(self, *words):
        environment = {**os.environ, HOME_VARIABLE: str(self._home), "OMP_NUM_THREADS": "1"}
        return subprocess.Popen(
            [sys.executable, "-m", "spatialstudio", *map(str, words)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _failed_picture(self):
        while True:
            words = ("generate", PROMPT, "--seed", self._seed, "--guidance", "none", "--json")
            answer = json.loads(self._popen(*words).communicate(timeout=ENOUGH_S)[0])
            if any(each["outcome"] != "PASS" for each in answer["verdicts"]):
                return Path(answer["picture"])
            self.pictures()[0].unlink()
            self._seed += 1

    def pictures(self):
        return sorted(self._paths.runs.glob("[0-9]*/*/*.png"))

    def killed_after(self, wait_s, *, at_picture):
        """Run the command and kill it; return whether it was still running.

        Args:
            wait_s: After so many seconds.
            at_picture: Whether to kill it earlier, as soon as there is a new picture.
        """
        process, before = self._popen(self._command, self.start), self.pictures()
        end = time.monotonic() + (ENOUGH_S if at_picture else wait_s)
        while process.poll() is None and time.monotonic() < end:
            if at_picture and self.pictures() != before:
                break
            time.sleep(PAUSE_S)  # noqa: TID251 - the moment is the point
        is_running = process.poll() is None
        process.kill()
        process.communicate()
        return is_running

    def finish(self):
        """Run the command to its end; return its exit code."""
        process = self._popen(self._command, self.start)
        _, errors = process.communicate(timeout=ENOUGH_S)
        return process.returncode, errors

    def judged(self):
        """Return the stored attempts that are judged, in order."""
        return [each for each in self._attempts() if _is_judged(each)]

    def has_unjudged_picture(self):
        """Return whether a whole picture of an attempt is stored and not judged."""
        known = {Path(each.picture) for each in self.judged()} | {self.start}
        return self._command != "repair" and bool(set(self.pictures()) - known)

    def _attempts(self):
        state = PlainStateFiles()
        folders = {"fix": (FIXES, state.read_fix), "refine": (REFINEMENTS, state.read_refinement)}
        if self._command not in folders:
            return ()
        name, read = folders[self._command]
        files = [*self._home.rglob(f"{name}/*.json")]
        return read(files[0]).attempts if files else ()

    def faults(self):
        """Name all that is wrong at the end."""
        broken = [f"{p.name}: {f.message}" for p, f in faults_below(self._paths.runs, RunFiles())]
        known = {Path(each.picture) for each in self._attempts()} | {self.start}
        extra = [] if self._command == "repair" else sorted(set(self.pictures()) - known)
        return broken + [f"{each.name} was drawn, and again" for each in extra]


def _is_judged(attempt):
    return bool(getattr(attempt, "outcomes", None)) or attempt.score is not None


def try_case(case, kills, chance):
    """Kill a case so often, then let it end; return kills that met it, found pictures, faults."""
    met, found, wrong = 0, 0, []
    for _ in range(kills):
        before = case.judged()
        at_picture = chance.random() < AT_PICTURE
        if not case.killed_after(chance.uniform(*WAIT_S), at_picture=at_picture):
            break
        met += 1
        if case.judged()[: len(before)] != before:
            wrong.append("judged attempts were lost")
        found += case.has_unjudged_picture()
    code, errors = case.finish()
    if code not in (0, 1):
        wrong.append(f"exit code {code}: {errors[-300:]}")
    return met, found, wrong + case.faults()


def main():
    moments, seed = (int(each) for each in (*sys.argv[1:], MOMENTS, 1)[:2])
    chance, wrong = random.Random(seed), []
    kills = dict.fromkeys(COMMANDS, 0)
    found = 0
    while sum(kills.values()) < moments:
        command = min(COMMANDS, key=lambda each: kills[each])
        with tempfile.TemporaryDirectory(prefix="kill") as home:
            case = Case(Path(home), command, chance.randrange(10_000))
            met, unjudged, faults = try_case(case, KILLS, chance)
        kills[command] += met or 1
        found += unjudged
        wrong += [f"{command}: {each}" for each in faults]
        print(f"{command}: {met} kills, {unjudged} pictures not judged yet", *faults, flush=True)  # noqa: T201
    print(kills, f"{found} kills left a picture that was not judged yet")  # noqa: T201
    print(*(wrong or ["no attempt lost, no whole picture drawn again"]), sep="\n")  # noqa: T201
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
