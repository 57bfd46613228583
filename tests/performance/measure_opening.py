"""How long the window takes to be shown, and whether its memory stays flat over many runs.

The first opening reads files that the disk may not have at hand and compiles the program; those
after it are warm. Each is timed in a process of its own, from the start of the program's own work
until the window was painted and the prompt could be written. Run it on an idle machine:

    python -m tests.performance.measure_opening
"""

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OPENINGS = 7
LIMIT_S = 0.5
RUNS = 200
WARM_RUNS = 50
LIMIT_MB = 8.0
KB = 1024
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Where it is set nothing is ever warm: the program is compiled at every start."""


def open_once(home: Path) -> None:
    """Show the window and print the seconds until its first picture stood there."""
    began, began_cpu = time.perf_counter(), time.process_time()
    gc.disable()  # as the program does
    from spatialstudio.application.paths import StudioPaths
    from spatialstudio.application.studio import Studio
    from spatialstudio.ui.framework.window_settings import FILE_NAME, WindowSettings
    from spatialstudio.ui.window.app import FirstFrame, make_application, open_window

    application = make_application()
    studio = Studio.open("process", StudioPaths.within(home))
    window = open_window(application, studio, WindowSettings(home / FILE_NAME))

    def tell() -> None:
        wall, cpu = time.perf_counter() - began, time.process_time() - began_cpu
        sys.stdout.write(json.dumps({"seconds": wall, "cpu": cpu}) + "\n")
        application.quit()

    FirstFrame(window, tell)
    window.show()
    application.exec()
    window.close()


def memory_over_runs(home: Path) -> tuple[float, float]:
    """Let a window follow many runs; return its megabytes after the first fifty and at the end."""
    from PySide6.QtCore import QCoreApplication, QEvent

    from spatialstudio.ui.framework.window_settings import FILE_NAME, WindowSettings
    from spatialstudio.ui.window.app import make_application, open_window
    from tests.ui.scripted_engine import PROMPT, ScriptedEngine, studio_around

    application = make_application()
    engine = ScriptedEngine()
    studio = studio_around(engine, home)
    window = open_window(application, studio, WindowSettings(home / FILE_NAME))
    window.show()
    window.get_ready()
    window.prompt.use_prompt(PROMPT)
    after_warm = 0.0
    for run in range(RUNS):
        window.generation.use_seed(run)
        window.generation.generate()
        for job in engine.jobs:
            engine.play(job)
        engine.jobs.clear()
        while window.generation.is_running:
            application.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        if run == WARM_RUNS:
            after_warm = resident_mb()
    at_end = resident_mb()
    window.close()
    return after_warm, at_end


def resident_mb() -> float:
    """Return the memory of this process that is in use, in megabytes; Linux only."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / KB


def main() -> int:
    """Print both measurements; return 1 when one is over its limit."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.performance.measure_opening", folder]
        storage = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
        storage["PYTHONPYCACHEPREFIX"] = folder
        done = [
            subprocess.run(command, capture_output=True, check=True, env=storage)
            for _ in range(OPENINGS)
        ]
        took = [json.loads(each.stdout.splitlines()[0]) for each in done][1:]
        seconds = statistics.median(each["seconds"] for each in took)
        cpu = statistics.median(each["cpu"] for each in took)
        sys.stdout.write(f"window shown, warm, median: {seconds:.2f} s ({cpu:.2f} s of work)\n")
        warm, end = memory_over_runs(Path(folder) / "runs")
    sys.stdout.write(f"memory: {warm:.1f} MB after {WARM_RUNS} runs, {end:.1f} after {RUNS}\n")
    return int(seconds > LIMIT_S or end - warm > LIMIT_MB)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        open_once(Path(sys.argv[1]))
    else:
        sys.exit(main())
