"""Rows of figures, one JSON line each, that several processes write and a later start completes.

The rows of a measurement lie in a folder: ``rows-0-of-2.jsonl`` holds those of the first of two
processes. A line that was cut off in the middle counts as missing, and so does a picture without a
line; both are made again by the next start, by any number of processes.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

KEY = ("id", "variant")
Values = dict[str, Any]
Task = TypeVar("Task")


def add_sharing_options(parser: argparse.ArgumentParser) -> None:
    """Add the folder and the options that share the work."""
    parser.add_argument("folder", type=Path, help="of rows and pictures")
    parser.add_argument("--workers", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--worker", type=_part, help="make one part only, as 0/2", metavar="I/N")
    parser.add_argument("--table", action="store_true", help="only print the table")


def _part(text: str) -> tuple[int, int]:
    number, of = map(int, text.split("/"))
    if not 0 <= number < of:
        raise argparse.ArgumentTypeError("The worker's number must be less than their count.")
    return number, of


def read_rows(folder: Path) -> list[Values]:
    """Read the rows of all processes; values of the same picture in several rows are joined."""
    rows: dict[tuple[str, str], Values] = {}
    for path in sorted(folder.glob("rows-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.endswith("}\n"):
                row = json.loads(line)
                rows.setdefault(key_of(row), {}).update(row)
    return list(rows.values())


def key_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return what identifies a picture: its prompt or layout, and how it was drawn."""
    return row[KEY[0]], row[KEY[1]]


def make_rows(
    options: argparse.Namespace,
    module: str,
    tasks: Sequence[Task],
    make: Callable[[Iterable[Task]], Iterable[Values]],
) -> None:
    """Make the missing rows in this process, or in as many as wanted.

    Args:
        options: As of ``add_sharing_options``.
        module: The module to start in other processes, with the arguments of this one.
        tasks: All tasks of the measurement, in the same order in every process.
        make: Makes the rows of the missing tasks of this process.
    """
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.workers > 1 and options.worker is None:
        started = [
            subprocess.Popen([sys.executable, "-P", "-m", module, *sys.argv[1:], "--worker", part])
            for part in (f"{number}/{options.workers}" for number in range(options.workers))
        ]
        codes = [process.wait() for process in started]
        if any(codes):
            sys.exit("A worker has failed; the next start goes on.")
        return
    number, of = options.worker or (0, 1)
    with (options.folder / f"rows-{number}-of-{of}.jsonl").open("a+", encoding="utf-8") as file:
        _end_line(file)
        for row in make(tasks[number::of]):
            file.write(json.dumps(row) + "\n")
            file.flush()


def _end_line(file: IO[str]) -> None:
    file.seek(0)
    text = file.read()
    if text and not text.endswith("\n"):
        file.write("\n")


def grouped(rows: Iterable[Values], *names: str) -> Iterator[tuple[tuple[Any, ...], list[Values]]]:
    """Group rows by some of their values, in the order of their first appearance."""
    groups: dict[tuple[Any, ...], list[Values]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    yield from groups.items()
