"""How soon commands of the terminal stop at a signal that comes at a random moment.

    python -m tests.performance.measure_interrupts [MOMENTS] [SEED] [COMMAND ...]

Each command is first run to its end, then once for each moment: SIGINT, SIGTERM or SIGHUP is sent
between its start and its usual end. It must stop within a second, exit with 128 plus the number of
the signal, print no traceback, and leave only whole results behind. The first 50 ms are left out:
they belong to the interpreter, which has not reached the program yet.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.paths import HOME_VARIABLE

MOMENTS = 20
LIMIT_S = 1.0
ENDING_S = 2.0
"""For a program that has done its work and gives everything back."""
FIRST_MOMENT_S = 0.05
PROMPT = "a dog to the left of a car"
PROMPTS = 3000
PICTURES = 4
REPORT_FILES = 8
ANSWER = "answer"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "golden" / "spatialbench_run"

Check = Callable[[Path, str], str]


@dataclass(frozen=True)
class Command:
    """A command of the terminal.

    Attributes:
        words: What is typed.
        fault: Says what is half-written in the output folder or the answer; empty for nothing.
    """

    words: Sequence[str]
    fault: Check


@dataclass(frozen=True)
class Stopped:
    """How an interrupted command ended.

    Attributes:
        seconds: From the signal to the end of the process.
        fault: What is wrong; empty for nothing.
        is_late: Whether the command had done its work before the signal counted.
    """

    seconds: float
    fault: str
    is_late: bool = False


def commands_in(folder: Path, out: Path) -> Mapping[str, Command]:
    """Return the commands that are interrupted, with their input in ``folder``."""
    prompts = folder / "prompts.jsonl"
    rows = ({"id": number, "prompt": f"{PROMPT} and a cat"} for number in range(PROMPTS))
    prompts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    runs = folder / "runs"
    if not runs.exists():
        start(["generate", PROMPT, "--out", str(runs)], folder, folder / "made").wait()
        for number in range(PICTURES):
            shutil.copy(next(runs.glob("*.png")), folder / f"{number}.png")
    pictures = [str(folder / f"{number}.png") for number in range(PICTURES)]
    return {
        "generate": Command(["generate", PROMPT, "--out", str(out)], faulty_runs),
        "evaluate": Command(
            ["evaluate", *pictures, "--prompt", PROMPT, "--out", str(out / "rows.jsonl")],
            torn_rows,
        ),
        "judge-records": Command(
            ["judge-records", str(RECORDED), "--out", str(out / "judged")], mixed_set
        ),
        "parse": Command(["parse", "--file", str(prompts)], torn_lines),
        "corruption-study": Command(["corruption-study", str(runs)], leftovers),
        "export": Command(
            ["runs", "export", str(runs), "--out", str(out / "run.pdf")],
            torn_document,
        ),
    }


def faulty_runs(out: Path, _: str) -> str:
    """Say what is wrong with stored runs: each file belongs to a run that is whole."""
    pictures = sorted(out.rglob("*.png"))
    store = RunFiles()
    faults = [fault.message for picture in pictures for fault in store.verify(picture)]
    stems = {picture.stem for picture in pictures}
    odd = [path.name for path in files_in(out) if path.stem not in stems]
    return "; ".join([*faults, *odd])


def torn_rows(out: Path, _: str) -> str:
    """Say which file of rows is torn."""
    return "; ".join(filter(None, (torn_lines(out, path.read_text()) for path in files_in(out))))


def torn_lines(_: Path, text: str) -> str:
    """Say whether a text ends within a line, or holds one that is no JSON."""
    if text and not text.endswith("\n"):
        return "ends within a line"
    try:
        for line in text.splitlines():
            json.loads(line)
    except ValueError:
        return f"holds the line {line[:40]!r}"
    return ""


def mixed_set(out: Path, _: str) -> str:
    """Say whether some files of the judged run are missing."""
    names = [path.name for path in files_in(out)]
    is_whole = len(names) in {0, REPORT_FILES} and not any(name[0] == "." for name in names)
    return "" if is_whole else f"only {', '.join(names)}"


def torn_document(out: Path, _: str) -> str:
    """Say which document was cut."""
    cut = (path for path in files_in(out) if not path.read_bytes().rstrip().endswith(b"%%EOF"))
    return "; ".join(path.name for path in cut)


def leftovers(out: Path, _: str) -> str:
    """Say which files are there; none should be."""
    return ", ".join(path.name for path in files_in(out))


def files_in(folder: Path) -> list[Path]:
    """List all files below a folder, the hidden ones as well."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def start(words: Sequence[str], folder: Path, out: Path) -> subprocess.Popen[bytes]:
    """Start a command; its answer goes to a file in ``folder``."""
    out.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, HOME_VARIABLE: str(folder / "home"), "PYTHONPATH": str(ROOT)}
    with (folder / ANSWER).open("wb") as answer:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "spatialstudio", *words],
            cwd=folder,
            env=environment,
            stdout=answer,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def interrupt(
    command: Command, folder: Path, out: Path, wait_s: float, number: signal.Signals
) -> Stopped:
    """Start a command, send it a signal after a while, and look at what it leaves."""
    process = start(command.words, folder, out)
    time.sleep(wait_s)  # noqa: TID251 - the moment is the point
    process.send_signal(number)
    sent = time.perf_counter()
    _, complaint = process.communicate()
    seconds = time.perf_counter() - sent
    said = complaint.decode(errors="replace")
    is_late = process.returncode == 0 and seconds < ENDING_S
    faults = [command.fault(out, (folder / ANSWER).read_text())]
    if process.returncode != 128 + number and not is_late:
        faults.append(f"exit code {process.returncode}")
    if "Traceback" in said or "Error" in said or "Unexpected error" in said:
        faults.append(said.strip().splitlines()[-1])
    if seconds > LIMIT_S and not is_late:
        faults.append(f"{seconds:.1f} s")
    return Stopped(seconds, "; ".join(filter(None, faults)), is_late)


def usual_time(command: Command, folder: Path, out: Path) -> float:
    """Run a command to its end and return the seconds that it took."""
    began = time.perf_counter()
    process = start(command.words, folder, out)
    _, complaint = process.communicate()
    if process.returncode:
        raise SystemExit(f"{' '.join(command.words)}: {complaint.decode(errors='replace')}")
    shutil.rmtree(out)
    return time.perf_counter() - began


def measure(name: str, moments: int, chance: random.Random, folder: Path) -> list[Stopped]:
    """Interrupt a command at random moments, and print how it went."""
    out = folder / "out"
    command = commands_in(folder, out)[name]
    usual_s = usual_time(command, folder, out)
    stopped = []
    for _ in range(moments):
        wait_s = chance.uniform(FIRST_MOMENT_S, usual_s)
        number = chance.choice(SIGNALS)
        one = interrupt(command, folder, out, wait_s, number)
        shutil.rmtree(out)
        stopped.append(one)
        if one.fault:
            sys.stdout.write(f"  {name} after {wait_s:.2f} s, {number.name}: {one.fault}\n")
    in_time = [one.seconds for one in stopped if not one.is_late]
    sys.stdout.write(
        f"{name}: {usual_s:.1f} s, interrupted {len(in_time)} times, "
        f"stopped after {max(in_time, default=0):.2f} s at most, "
        f"{sum(bool(one.fault) for one in stopped)} faults\n"
    )
    sys.stdout.flush()
    return stopped


def main() -> int:
    """Measure all commands, or those that are named."""
    moments, seed, *names = [*sys.argv[1:], *(str(MOMENTS), "0")[len(sys.argv) - 1 :]]
    chance = random.Random(int(seed))
    folder = Path(tempfile.mkdtemp(prefix="interrupts"))
    stopped = [
        one
        for name in names or commands_in(folder, folder / "out")
        for one in measure(name, int(moments), chance, folder)
    ]
    shutil.rmtree(folder)
    return 1 if any(one.fault for one in stopped) else 0


if __name__ == "__main__":
    sys.exit(main())
