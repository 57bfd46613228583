"""Seconds and memory that hostile files take until their sentence; Linux only.

Each is opened in a process of its own, in which the libraries were loaded and a sound picture was
read before. Seconds are counted from there; memory is the highest resident set above that moment.

    python -m tests.performance.measure_hostile_files [NAME]
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from spatialstudio.domain.errors import StudioError
from tests.security.hostile_archives import BUNDLES, TRACES
from tests.security.hostile_pictures import (
    LARGEST_PICTURES,
    METADATA,
    PICTURES,
    png_with,
    read_picture,
)
from tests.security.hostile_texts import TEXTS

HOSTILE = {**PICTURES, **LARGEST_PICTURES, **METADATA, **TRACES, **BUNDLES, **TEXTS}

LIMIT_S = 2.0
LIMIT_MB = 256.0
KB = 1024
WATCHDOG_S = 60
FORGET_PEAK = Path("/proc/self/clear_refs")


def open_once(name: str, folder: Path) -> None:
    """Write a hostile file in a process of its own, open it here and print what it took."""
    command = [sys.executable, "-m", "tests.performance.measure_hostile_files", "make", name]
    made = subprocess.run([*command, str(folder)], capture_output=True, check=True)
    path = Path(made.stdout.decode())
    sound = folder / "sound.png"
    sound.write_bytes(png_with())
    read_picture(sound)
    FORGET_PEAK.write_text("5", encoding="ascii")
    idle, began, sentence = memory_mb("VmRSS"), time.perf_counter(), ""
    try:
        HOSTILE[name].open(path)
    except StudioError as error:
        sentence = error.message
    seconds = time.perf_counter() - began
    told = {"seconds": seconds, "mb": memory_mb("VmHWM") - idle, "sentence": sentence}
    sys.stdout.write(json.dumps(told))


def memory_mb(kind: str) -> float:
    """Return the resident memory of this process ("VmRSS"), or its peak ("VmHWM"), in MB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(kind))
    return int(line.split()[1]) / KB


def measure(name: str) -> bool:
    """Open a hostile file in a process and print its row; return whether it is within limits."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.performance.measure_hostile_files", name, folder]
        try:
            done = subprocess.run(command, capture_output=True, check=True, timeout=WATCHDOG_S)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            sys.stdout.write(f"{name:44}{type(error).__name__}\n")
            return False
    told = json.loads(done.stdout)
    is_stated = bool(told["sentence"]) != HOSTILE[name].opens
    is_quick = told["seconds"] <= LIMIT_S and told["mb"] <= LIMIT_MB
    mark = " " if is_stated and is_quick else "!"
    shown = told["sentence"].replace(folder, "...")[:60] or "(opened)"
    sys.stdout.write(f"{name:44}{told['seconds']:6.2f} s{told['mb']:8.1f} MB {mark} {shown}\n")
    sys.stdout.flush()
    return is_stated and is_quick


def main(names: list[str]) -> int:
    """Print a table; return 1 when a file is over a limit."""
    results = [measure(name) for name in names or HOSTILE]
    over = results.count(False)
    sys.stdout.write(
        f"{len(results)} files, {len(LARGEST_PICTURES)} of them the largest that open: "
        f"{over} over {LIMIT_S:g} s or {LIMIT_MB:g} MB above idle\n"
    )
    return int(over > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        sys.stdout.write(str(HOSTILE[sys.argv[2]].make(Path(sys.argv[3]))))
    elif len(sys.argv) > 2:
        open_once(sys.argv[1], Path(sys.argv[2]))
    else:
        sys.exit(main(sys.argv[1:]))
