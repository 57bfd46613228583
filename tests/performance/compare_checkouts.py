"""Compare the speed of two checkouts of the program, in turns.

    python -m tests.performance.compare_checkouts OLD NEW [--pairs N] [--only NAME ...]

OLD and NEW are working trees (``git worktree add /tmp/old COMMIT``). Each measurement runs the
checkout's own script of this folder with this interpreter; old and new alternate and take turns to
go first, so that both meet the same machine. Prints the median of each side, and the median and
range of the ratios new / old of the pairs. On a busy machine the lines marked "work" or "cpu" are
the ones to compare: they count processor time, of the window's thread or of the process. Capture is
the share of processor time that recording adds to a run, in percent.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
NUMBER = r"(-?[\d.]+)"
SCRUBBED = "from key to picture and chart: 50th"


@dataclass(frozen=True, slots=True)
class Measurement:
    """A script of this folder, and the pattern of each figure in its output.

    ``runs`` is the number of runs for each pair that is asked for.
    """

    script: str
    figures: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    runs: int = 1

    def read(self, output: str) -> dict[str, float]:
        """Return the figures that the script printed.

        Raises:
            ValueError: one is missing.
        """
        found = {
            name: re.search(pattern, output, re.MULTILINE) for name, pattern in self.figures.items()
        }
        missing = [name for name, match in found.items() if match is None]
        if missing:
            raise ValueError(f"{self.script} printed no {', '.join(missing)}:\n{output}")
        return {name: float(match[1]) for name, match in found.items() if match}


MEASUREMENTS = {
    "heartbeat": Measurement(
        "measure_heartbeat",
        {
            "gap p99 [ms]": rf"^ +99 +{NUMBER}",
            "work p99 [ms]": rf"^ +99(?: +[\d.]+){{2}} +{NUMBER}",
            "work in one turn p99 [ms]": rf"^ +99(?: +[\d.]+){{3}} +{NUMBER}",
        },
    ),
    "opening": Measurement(
        "measure_opening",
        {
            "first frame [s]": rf'"seconds": {NUMBER}',
            "first frame, cpu [s]": rf'"cpu": {NUMBER}',
        },
        arguments=("{folder}",),
        runs=3,
    ),
    "scrubbing": Measurement(
        "measure_scrubbing",
        {
            "step p50 [ms]": rf"^{SCRUBBED} {NUMBER}",
            "step work p50 [ms]": rf"^{SCRUBBED} [\d.]+ ms \(work {NUMBER}",
            "step work p95 [ms]": rf"^{SCRUBBED}.* 95th [\d.]+ ms \(work {NUMBER}",
            "hovered word work p50 [ms]": rf"^from word to lit map: 50th .*?\(work {NUMBER}",
        },
    ),
    "capture": Measurement(
        "measure_capture",
        {
            "relation words [% cpu]": rf"^relation words: {NUMBER}",
            "relation words, previews [% cpu]": rf"^relation words, previews: {NUMBER}",
            "every word [% cpu]": rf"^every word: {NUMBER}",
        },
        arguments=("--pairs", "4"),
    ),
}


def main() -> None:
    """Print one line for every figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, default=list(MEASUREMENTS))
    options = parser.parse_args()
    show(f"{'':44} {'old':>8} {'new':>8} {'ratio':>6}   range of {options.pairs} pairs or more")
    for name in options.only:
        measurement = MEASUREMENTS[name]
        pairs = measured(measurement, (options.old, options.new), options.pairs)
        for line in lines(name, pairs):
            show(line)


def measured(
    measurement: Measurement, checkouts: Sequence[Path], pairs: int
) -> list[list[dict[str, float]]]:
    """Return (pairs, 2) figures of old and new; one run of each warms up and is left out."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for checkout in checkouts if measurement.runs > 1 else ():
            run(measurement, checkout, folder)
        for turn in range(pairs * measurement.runs):
            order = checkouts[:: -1 if turn % 2 else 1]
            figures = [run(measurement, checkout, folder) for checkout in order]
            found.append(figures[:: -1 if turn % 2 else 1])
    return found


def run(measurement: Measurement, checkout: Path, folder: str) -> dict[str, float]:
    """Run the script in a checkout, where its imports come from."""
    environment = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    environment |= {"PYTHONPATH": str(checkout.resolve()), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", f"tests.performance.{measurement.script}"]
    command += [argument.format(folder=folder) for argument in measurement.arguments]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    try:
        return measurement.read(done.stdout)
    except ValueError as error:
        raise SystemExit(f"{checkout}: {error}{done.stderr}") from None


def lines(name: str, pairs: Sequence[Sequence[Mapping[str, float]]]) -> Iterable[str]:
    """Return a line for each figure: median of old and of new, median and range of new / old."""
    for figure in pairs[0][0]:
        old, new = zip(*((before[figure], after[figure]) for before, after in pairs), strict=True)
        ratios = [after / before for before, after in zip(old, new, strict=True)]
        yield (
            f"{name + ': ' + figure:44} {median(old):8.2f} {median(new):8.2f}"
            f" {median(ratios):6.2f}   {min(ratios):.2f} to {max(ratios):.2f}"
        )


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
