"""Kill `benchmark run` of the terminal at random moments; compare with an uninterrupted run.

    python -m tests.performance.kill_benchmark [KILLS] [SEED]

The embedded model draws prompts of SpatialBench-UC with two methods and two engines. The command is
killed (SIGKILL) again and again and continued, the last time to its end. Records and figures must
equal those of a run that was not killed, and no picture may be stored twice beyond those in flight
at a kill.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from spatialstudio.application.paths import HOME_VARIABLE

PLAN = """
name = "killed"
seeds = "0-1"

[[prompts]]
set = "spatialbench-uc"

[[methods]]
name = "none"
guidance = "none"

[[methods]]
name = "psg"
guidance = "psg"
"""
METHODS = ("none", "psg")
KILLS = 50
ENGINES = 2
WAIT_S = (2.0, 14.0)


def start(home, plan, out):
    """Start to draw a plan, or continue."""
    command = [sys.executable, "-m", "spatialstudio", "benchmark", "run", plan, "--out", out]
    return subprocess.Popen(
        [*map(str, command), "--workers", str(ENGINES)],
        env={**os.environ, HOME_VARIABLE: str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def results(out, method):
    """Return the records of a method as bytes, and its figures without times."""
    folder = next(out.rglob(f"{method}/eval/per_sample.jsonl")).parent
    figures = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    figures.pop("timestamp_utc")
    return (folder / "per_sample.jsonl").read_bytes(), figures


def kill_often(home, plan, out, kills, chance):
    """Kill the run so often; return how many kills met it."""
    met = 0
    while met < kills:
        process = start(home, plan, out)
        time.sleep(chance.uniform(*WAIT_S))  # noqa: TID251 - the moment is the point
        met += process.poll() is None
        process.kill()
        process.communicate()
        print(f"{met} kills, {count(out, 'items/*.json')} items", flush=True)  # noqa: T201
        if process.returncode == 0:
            break
    return met


def count(out, pattern):
    """Return the number of files below a folder."""
    return len([*out.glob(pattern)])


def main():
    kills, seed = (int(each) for each in (*sys.argv[1:], KILLS, 1)[:2])
    wrong = []
    with tempfile.TemporaryDirectory(prefix="kill") as folder:
        home, plan = Path(folder), Path(folder, "plan.toml")
        plan.write_text(PLAN, encoding="utf-8")
        killed, whole = home / "killed", home / "whole"
        met = kill_often(home, plan, killed, kills, random.Random(seed))
        for out in (killed, whole):
            process = start(home, plan, out)
            _, errors = process.communicate()
            wrong += [f"exit code {process.returncode}: {errors[-300:]}"] * bool(process.returncode)
        for method in METHODS:
            if results(killed, method) != results(whole, method):
                wrong.append(f"{method}: other results than without kills")
        if met < kills:
            wrong.append(f"the run ended after {met} of {kills} kills")
        items, pictures = count(whole, "items/*.json"), count(killed, "runs/**/*.png")
        if pictures > items + ENGINES * met:
            wrong.append("pictures were drawn twice")
    print(f"{met} kills, {items} items, {pictures - items} pictures in flight drawn again")  # noqa: T201
    print(*(wrong or ["results equal, nothing drawn twice"]), sep="\n")  # noqa: T201
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
