"""The folder of a benchmark: its plan, its items by content, its failures and its runs.

    plan.toml            the plan
    prompts.jsonl        its prompts, as read when the benchmark began
    items/KEY.json       a finished picture: its run, cost and device
    attempts/KEY.json    the rounds so far of a refined item: run, cost and device of each
    judged/KEY.ID.json   its verdicts by one judge set, checker and choice of metrics
    failed/KEY.json      why it could not be drawn or judged
    runs/                the pictures, as run folders
    results/NAME/        a run folder of SpatialBench-UC for each method and judge set

Each file is complete or absent, so that a run continues wherever it was interrupted.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spatialstudio.domain.benchmark_plan import BenchmarkPrompt, StatedRelation
from spatialstudio.domain.benchmark_ports import BenchmarkFiles, Record
from spatialstudio.domain.errors import ErrorReport, SettingsError, StoreError, TargetExists
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.safe_files import MEBIBYTE, is_path_component, parse_limited, read_regular
from spatialstudio.domain.scene import relation_types
from spatialstudio.science.questions.spatialgeneval import read_set, set_row

PLAN_FILE = "plan.toml"
PROMPTS_FILE = "prompts.jsonl"
HOLD_FILE = "hold"
RESULTS_FOLDER = "results"
LONGEST_DETAILS = 8000
"""Characters of a stored traceback."""
LARGEST_ITEM_BYTES = 4 * MEBIBYTE
LARGEST_PROMPTS_BYTES = 64 * MEBIBYTE
_BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError)


@frozen
class Failure:
    """Why an item has no picture or no verdict.

    Attributes:
        key: The item.
        message: One sentence.
        hint: What to try.
    """

    key: str
    message: str
    hint: str = ""

    @property
    def cause(self) -> str:
        """The message without its numbers, so that equal failures form a group."""
        return cause_of(self.message)


def cause_of(message: str) -> str:
    """Return the message of a failure without its numbers."""
    words = ("#" if any(map(str.isdigit, word)) else word for word in message.split())
    return " ".join(words)


class ResultStore:
    """Reads and writes the folder of a benchmark.

    Args:
        folder: The folder.
        files: Writes files.
    """

    def __init__(self, folder: Path, files: BenchmarkFiles) -> None:
        self.folder = folder
        self.files = files

    @property
    def runs(self) -> Path:
        """Folder of the pictures."""
        return self.folder / "runs"

    @property
    def plan_file(self) -> Path:
        """The stored plan."""
        return self.folder / PLAN_FILE

    def begin(self, text: str, prompts: Sequence[BenchmarkPrompt], *, overwrite: bool) -> None:
        """Store plan and prompts; items of an earlier plan that it shares stay valid.

        Raises:
            TargetExists: Another plan is stored, and ``overwrite`` is False.
            StoreError: The folder cannot be written.
            SettingsError: The prompts and their questions are too large.
        """
        content = text.encode()
        if self.plan_file.exists() and not overwrite:
            if self._bytes(self.plan_file) != content:
                raise TargetExists([self.plan_file])
            return
        lines = prompts_content(prompts)
        if len(lines) > LARGEST_PROMPTS_BYTES:
            raise SettingsError(
                f"The prompts of the plan are larger than {LARGEST_PROMPTS_BYTES // MEBIBYTE} MB.",
                hint="Draw a sample.",
            )
        self.files.write(self.folder / PROMPTS_FILE, lines)
        self.files.write(self.plan_file, content)

    def prompts(self) -> tuple[BenchmarkPrompt, ...]:
        """Return the stored prompts.

        Raises:
            StoreError: The file is missing or damaged.
        """
        path = self.folder / PROMPTS_FILE
        try:
            lines = read_regular(path, LARGEST_PROMPTS_BYTES).splitlines()
            return tuple(_prompt_of(parse_limited(line)) for line in lines)
        except _BROKEN as error:
            raise StoreError(
                f'The folder "{self.folder}" contains no benchmark.',
                hint='Start one with "spatialstudio benchmark run PLAN --out DIR".',
            ) from error

    def item(self, key: str) -> Record | None:
        """Return a finished picture; None if there is none, or its file is damaged."""
        record = self._read(self._path("items", key))
        return record if record is not None and "picture" in record else None

    def add_item(self, key: str, record: Record) -> None:
        """Store a finished picture, and forget its failure.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        self.files.write(self._path("items", key), _json(record))

    def attempts(self, key: str) -> tuple[Record, ...]:
        """Return the rounds of a refined item, in order; none if their file is damaged."""
        listed = (self._read(self._path("attempts", key)) or {}).get("attempts")
        try:
            return tuple({**each, "picture": str(each["picture"])} for each in listed or ())
        except (TypeError, KeyError):
            return ()

    def add_attempts(self, key: str, records: Sequence[Record]) -> None:
        """Store the rounds of a refined item; earlier ones are replaced.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        self.files.write(self._path("attempts", key), _json({"attempts": list(records)}))

    def judged(self, key: str, judge_id: str) -> Record | None:
        """Return the verdicts of a picture by a judge set; None if there are none."""
        return self._read(self._path("judged", f"{key}.{judge_id}"))

    def add_judged(self, key: str, judge_id: str, record: Record) -> None:
        """Store the verdicts of a picture, and forget its failure.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        self.files.write(self._path("judged", f"{key}.{judge_id}"), _json(record))
        self._path("failed", key).unlink(missing_ok=True)

    def add_failure(self, key: str, error: ErrorReport) -> None:
        """Store why an item failed.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        details = error.details[-LONGEST_DETAILS:]
        record = {"key": key, "message": error.message, "hint": error.hint, "details": details}
        self.files.write(self._path("failed", key), _json(record))

    def failure(self, key: str) -> Failure | None:
        """Return why an item failed; None if it did not."""
        found = self._read(self._path("failed", key))
        if found is None:
            return None
        return Failure(
            key=key, message=str(found.get("message", "")), hint=str(found.get("hint", ""))
        )

    def names(self, kind: str) -> frozenset[str]:
        """Return the names of the stored "items", "judged" or "failed", without their suffix."""
        folder = self.folder / kind
        try:
            with os.scandir(folder) as entries:
                found = [entry.name for entry in entries]
        except OSError:
            return frozenset()
        return frozenset(name.removesuffix(".json") for name in found if name.endswith(".json"))

    def hold(self, kind: str) -> None:
        """Ask the process that runs the benchmark to "pause", or to end by "drain"."""
        self.files.write(self.folder / HOLD_FILE, kind.encode())

    def release(self) -> None:
        """Let a paused benchmark go on."""
        (self.folder / HOLD_FILE).unlink(missing_ok=True)

    @property
    def held(self) -> str:
        """What was asked by ``hold``; empty for nothing."""
        path = self.folder / HOLD_FILE
        content = self._bytes(path) if path.exists() else b""
        return (content or b"").decode("ascii", "replace")

    def results(self, name: str) -> Path:
        """Return the run folder of a method and judge set."""
        return self.folder / RESULTS_FOLDER / name

    def _path(self, kind: str, name: str) -> Path:
        if not is_path_component(name):
            raise ValueError("a key is one path component")
        return self.folder / kind / f"{name}.json"

    def _read(self, path: Path) -> Record | None:
        content = self._bytes(path)
        if content is None:
            return None
        try:
            record = parse_limited(content)
        except ValueError:
            return None
        return record if isinstance(record, dict) else None

    def _bytes(self, path: Path) -> bytes | None:
        try:
            return read_regular(path, LARGEST_ITEM_BYTES)
        except OSError:
            return None


def grouped(failures: Sequence[Failure]) -> Mapping[str, tuple[Failure, ...]]:
    """Return failures by cause, the most frequent first."""
    causes = {each.cause for each in failures}
    groups = {cause: tuple(each for each in failures if each.cause == cause) for cause in causes}
    return dict(sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])))


def prompts_content(prompts: Sequence[BenchmarkPrompt]) -> bytes:
    """Return prompts as lines of ``prompts.jsonl``."""
    return "".join(json.dumps(_prompt_line(prompt)) + "\n" for prompt in prompts).encode()


def _json(record: Record) -> bytes:
    return json.dumps(record, allow_nan=False).encode()


def _prompt_line(prompt: BenchmarkPrompt) -> Record:
    return {
        "prompt_id": prompt.id,
        "prompt": prompt.text,
        "set": prompt.set_id,
        "counterpart": prompt.counterpart_id,
        "tags": list(prompt.tags),
        **dict(_stated_fields(prompt.stated)),
        **({} if prompt.questions is None else {"questions": set_row(prompt.questions)}),
    }


def _stated_fields(stated: StatedRelation | None) -> Iterator[tuple[str, str]]:
    if stated is not None:
        yield "relation", stated.type.id
        yield "subject", stated.subject
        yield "object", stated.object


def _prompt_of(line: Mapping[str, Any]) -> BenchmarkPrompt:
    stated = None
    if "relation" in line:
        kind = relation_types[line["relation"]]
        stated = StatedRelation(type=kind, subject=line["subject"], object=line["object"])
    return BenchmarkPrompt(
        id=str(line["prompt_id"]),
        text=str(line["prompt"]),
        set_id=str(line["set"]),
        counterpart_id=str(line["counterpart"]),
        tags=tuple(map(str, line["tags"])),
        stated=stated,
        questions=read_set(line["questions"]) if "questions" in line else None,
    )
