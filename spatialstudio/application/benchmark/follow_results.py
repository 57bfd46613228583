"""Follows the folder of a benchmark and collects its results cell by cell."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

from spatialstudio.application.benchmark.gather import reason_of
from spatialstudio.application.benchmark.item_records import benchmark_item
from spatialstudio.application.benchmark.runner import ItemFiles
from spatialstudio.domain.benchmark_cells import (
    NO_REASON,
    STATE_OF,
    CellGrid,
    CellState,
    CellTable,
)
from spatialstudio.domain.benchmark_plan import JudgePlan, PlannedItem
from spatialstudio.domain.benchmark_ports import Record
from spatialstudio.domain.safe_files import is_inside
from spatialstudio.domain.scene import RelationType
from spatialstudio.domain.verdict import Outcome

BATCH = 500
"""Items read between two snapshots."""
MOST_NAMES = 1000
"""Distinct reasons or devices of a folder; further ones are left out."""
SETTLED_S = 2.0
"""Age of a folder's time stamp from which an equal one means that nothing was written."""
KINDS = ("items", "judged", "failed")

Relations = tuple[tuple[RelationType, str, str], ...]


class ResultFollower:
    """Reads what is new in the folder of a benchmark.

    Args:
        items: The items of the plan and their files.
        judges: The judge set whose verdicts are read.
    """

    def __init__(self, items: ItemFiles, judges: JudgePlan) -> None:
        self._items = items
        self._judges = judges
        self._unjudged = set[str]()
        self._known: dict[str, frozenset[str]] = dict.fromkeys(KINDS, frozenset())
        self._stamps: dict[str, int] = {}
        self._cells: dict[str, list[int]] = defaultdict(list)
        self._planned: dict[str, PlannedItem] = {}
        for cell, item in enumerate(items.opened.items):
            self._cells[item.key].append(cell)
            self._planned[item.key] = item
        self._table = self._with_unusable(CellTable.empty(grid_of(items)))

    @property
    def table(self) -> CellTable:
        """The cells as last read."""
        return self._table

    @property
    def unjudged(self) -> int:
        """Number of pictures, as last read, that are left to judge and are not left cells."""
        return len(self._unjudged)

    def read(self, check: Callable[[], object]) -> Iterator[CellTable]:
        """Yield a table after each batch of new results; nothing if there are none.

        Args:
            check: Called before each batch; raises ``Cancelled`` to stop.
        """
        keys = sorted(self._changed())
        for start in range(0, len(keys), BATCH):
            check()
            self._table = self._with_results(keys[start : start + BATCH])
            yield self._table

    def _changed(self) -> set[str]:
        """Return the keys of the plan whose files appeared or disappeared."""
        changed = set[str]()
        for kind in KINDS:
            folder = self._items.store.folder / kind
            stamp = folder.stat().st_mtime_ns if folder.is_dir() else 0
            is_settled = time.time_ns() - stamp > SETTLED_S * 1e9
            if self._stamps.get(kind) == stamp and is_settled:
                continue
            names = self._items.store.names(kind)
            changed |= {name.partition(".")[0] for name in names ^ self._known[kind]}
            self._known[kind], self._stamps[kind] = names, stamp
        return changed & self._cells.keys()

    def _with_unusable(self, table: CellTable) -> CellTable:
        """Mark the items that cannot be drawn."""
        causes = {
            cell: item.error.message
            for cell, item in enumerate(self._items.opened.items)
            if item.error is not None
        }
        state = table.state.copy()
        state[list(causes)] = CellState.UNUSABLE
        return replace(table, state=state, causes=causes)

    def _with_results(self, keys: Sequence[str]) -> CellTable:
        writer = TableWriter(self._table)
        for key in keys:
            item = self._planned[key]
            if item.request is not None:
                self._write(writer, item)
        return writer.table()

    def _write(self, writer: "TableWriter", item: PlannedItem) -> None:
        """Write the results of an item to its cells; damaged files count as missing."""
        store, cells = self._items.store, self._cells[item.key]
        record = store.item(item.key)
        failure = store.failure(item.key)
        writer.clear(cells)
        self._unjudged.discard(item.key)
        if record is not None and failure is None and not self._is_judged(item):
            self._unjudged.add(item.key)
        try:
            if record is not None:
                writer.write_picture(cells, record, store.folder)
                judge_id = self._items.judge_id(self._items.job(item, self._judges))
                judged = store.judged(item.key, judge_id)
                if judged is not None:
                    writer.write_verdicts(cells, judged)
                    return
        except (KeyError, TypeError, ValueError, AttributeError, OSError):
            writer.clear(cells)
        if failure is not None:
            writer.write_failure(cells, failure.message)

    def _is_judged(self, item: PlannedItem) -> bool:
        """Return True if all judge sets have judged an item; of the shown one its cells tell.

        Cells without relations do not tell, as they have no outcome.
        """
        assert item.request is not None
        has_outcome = bool(item.request.scene.relations)
        judges = self._items.opened.plan.judges
        asked = (each for each in judges if not (has_outcome and each == self._judges))
        jobs = (self._items.job(item, each) for each in asked)
        names = (f"{item.key}.{self._items.judge_id(job)}" for job in jobs)
        return self._known["judged"].issuperset(names)


class TableWriter:
    """Copies a table and writes results to the copy.

    Args:
        table: It stays as it is.
    """

    def __init__(self, table: CellTable) -> None:
        self._grid = table.grid
        names = ("state", "outcome", "reason", "confidence", "pse", "seconds", "passes", "device")
        self._columns: dict[str, Any] = {name: getattr(table, name).copy() for name in names}
        self._reasons = list(table.reasons)
        self._devices = list(table.devices)
        self._pictures = dict(table.pictures)
        self._causes = dict(table.causes)

    def table(self) -> CellTable:
        """Return the copy with what was written."""
        return CellTable(
            grid=self._grid,
            reasons=tuple(self._reasons),
            devices=tuple(self._devices),
            pictures=self._pictures,
            causes=self._causes,
            **self._columns,
        )

    def clear(self, cells: list[int]) -> None:
        """Let cells wait."""
        for name, value in (("state", CellState.WAITING), ("outcome", CellState.WAITING)):
            self._columns[name][cells] = value
        self._columns["reason"][cells] = NO_REASON
        for cell in cells:
            self._pictures.pop(cell, None)
            self._causes.pop(cell, None)

    def write_picture(self, cells: list[int], record: Record, folder: Path) -> None:
        """Write the picture and cost of an item; raises ValueError for one outside the folder."""
        path = folder / str(record["picture"])
        if not is_inside(path, folder):
            raise ValueError("the picture is outside the folder")
        self._columns["state"][cells] = CellState.DRAWN
        self._columns["seconds"][cells] = float(record["seconds"])
        self._columns["passes"][cells] = float(record["passes"])
        self._columns["device"][cells] = _index(self._devices, str(record["device"]))
        self._pictures.update(dict.fromkeys(cells, path))

    def write_verdicts(self, cells: list[int], judged: Record) -> None:
        """Write the verdicts of an item; raises KeyError, TypeError or ValueError if damaged."""
        joint = judged["row"]["outcome"]
        pairs = list(zip(judged["row"]["verdicts"], judged["records"], strict=True))
        for slot, (verdict, record) in enumerate(pairs[: self._grid.most_relations]):
            reason = reason_of(record)
            place = (cells, slot)
            self._columns["outcome"][place] = STATE_OF[Outcome(verdict["outcome"])]
            self._columns["confidence"][place] = float(verdict["confidence"])
            self._columns["pse"][place] = float(verdict.get("pse", nan))
            self._columns["reason"][place] = _index(self._reasons, reason) if reason else NO_REASON
        if joint is not None:
            self._columns["state"][cells] = STATE_OF[Outcome(joint)]

    def write_failure(self, cells: list[int], message: str) -> None:
        """Write why an item failed."""
        self._columns["state"][cells] = CellState.FAILED
        self._causes.update(dict.fromkeys(cells, message))


def _index(names: list[str], name: str) -> int:
    """Return the index of a name, appended if it is new; -1 if there are too many."""
    if name in names:
        return names.index(name)
    if len(names) >= MOST_NAMES:
        return NO_REASON
    names.append(name)
    return len(names) - 1


def grid_of(items: ItemFiles) -> CellGrid:
    """Return the axes of a plan."""
    opened = items.opened
    scenes = {item.prompt.id: item for item in reversed(opened.items) if item.request}
    return CellGrid(
        prompts=opened.prompts,
        methods=tuple(each.name for each in opened.plan.methods),
        models=tuple(each.model_id for each in opened.plan.methods),
        guidance=tuple(each.guidance for each in opened.plan.methods),
        seeds=opened.plan.seeds,
        relations=tuple(_relations_of(scenes.get(each.id)) for each in opened.prompts),
    )


def _relations_of(item: PlannedItem | None) -> Relations:
    if item is None or item.request is None:
        return ()
    scene = item.request.scene
    stated = (benchmark_item(item, scene, relation) for relation in scene.relations)
    return tuple((each.relation_type, each.subject, each.object) for each in stated)
