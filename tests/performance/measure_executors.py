"""What executors cost: the same plan on engine processes and on a Ray of this machine.

    python -m tests.performance.measure_executors --pictures 24 --workers 2

Prints, for each executor, the time that engines spent on items over the pictures' own times of
drawing and judging, and the ratio of both executors. The first picture of each engine, which loads
the model, is left out.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from spatialstudio.adapters.storage.records.benchmark_files import DurableBenchmarkFiles
from spatialstudio.application.benchmark.benchmarks import benchmarks_of
from spatialstudio.application.benchmark.executors import EnginePlan, Executor, open_workers
from spatialstudio.application.benchmark.result_store import ResultStore
from spatialstudio.application.benchmark.runner import (
    BenchmarkProgress,
    BenchmarkRunner,
    ItemFiles,
)
from spatialstudio.application.studio import Studio

PLAN = """\
seeds = "0"
metrics = ["visor"]

[[prompts]]
set = "spatialbench-uc"
sample = {pictures}

[[methods]]
name = "psg"
guidance = "psg"
"""


def measure(home: Path, executor: Executor, workers: int) -> tuple[float, float]:
    """Run the plan; return the seconds of engines and of pictures, without each engine's first."""
    studio = Studio.open("process")
    benchmarks = benchmarks_of(studio)
    opened = benchmarks.open_plan(home / "plan.toml")
    store = ResultStore(home / executor.value, DurableBenchmarkFiles())
    store.begin(opened.plan.text, opened.prompts, overwrite=False)
    items = ItemFiles(opened, store, benchmarks.drawing)
    spent = dict[str, list[tuple[float, float]]]()

    def note(progress: BenchmarkProgress) -> None:
        record = store.item(progress.item) or {}
        own = record["seconds"] + record["judging_seconds"]
        for name, engine in progress.engines.items():
            known = spent.setdefault(name, [])
            if engine.items > len(known):
                known.append((engine.seconds, own))

    with open_workers(studio, EnginePlan(executor=executor, workers=workers)) as engines:
        BenchmarkRunner(items, studio.storage.store, engines.all, note).run()
    busy = sum(engine[-1][0] - engine[0][0] for engine in spent.values() if engine)
    return busy, sum(own for engine in spent.values() for _, own in engine[1:])


def main() -> None:
    """Measure both executors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=24)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    overheads = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "plan.toml").write_text(PLAN.format(pictures=options.pictures))
        for executor in Executor:
            busy, own = measure(home, executor, options.workers)
            overheads[executor] = busy / own
            sys.stdout.write(
                f"{executor.value}: {busy:.1f} s for pictures of {own:.1f} s: {busy / own:.3f}\n"
            )
    sys.stdout.write(f"ray over local: {overheads[Executor.RAY] / overheads[Executor.LOCAL]:.3f}\n")


if __name__ == "__main__":
    main()
