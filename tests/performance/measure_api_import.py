"""How long ``import spatialstudio.api`` takes: ``python -m tests.performance.measure_api_import``.

Each import runs in a new interpreter and is timed inside it, in processor time, as other programs
may keep this one waiting; the first import compiles the module and is left out.
"""

import os
import statistics
import subprocess
import sys

IMPORTS = 15
LIMIT_MS = 50.0
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
PROGRAM = """
import time
began = time.process_time()
import spatialstudio.api
print((time.process_time() - began) * 1000)
"""


def import_once() -> float:
    """Return the milliseconds of one import."""
    command = [sys.executable, "-c", PROGRAM]
    env = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> int:
    """Print median and slowest import; fail above the limit."""
    import_once()
    times = [import_once() for _ in range(IMPORTS)]
    median = statistics.median(times)
    sys.stdout.write(f"median {median:.1f} ms, slowest {max(times):.1f} ms of {IMPORTS}\n")
    return median > LIMIT_MS


if __name__ == "__main__":
    sys.exit(main())
