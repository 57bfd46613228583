"""Choice of the best method while drawing (OPSE): no more pictures than its certainty needs.

All methods that may still be the best draw the same prompt and seed; prompts and seeds follow in a
random order. A method that is worse with certainty draws nothing more.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from spatialstudio.application.benchmark.item_queue import ItemQueue
from spatialstudio.application.benchmark.runner import ItemFiles
from spatialstudio.domain.benchmark_plan import PlannedItem
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.benchmark.opse import ERROR, Race

PASS = "pass"
ALWAYS_MEASURED = (PASS, "pse")
Column = Mapping[str, PlannedItem]
"""The items of one prompt and seed, by method."""
ScoreOf = Callable[[PlannedItem], float | None]
"""Returns the score of a picture, in [0, 1]; None if it is not drawn."""


class MethodRace(ItemQueue):
    """Gives out the items of the methods that may still be the best.

    An engine that would wait for the others of a prompt and seed begins the next ones, so that at
    most one picture per engine is drawn in excess. A failed picture has the score 0.

    Args:
        items: The items of a plan.
        score_of: Reads the score of a picture.
        error: Largest probability of dropping the best method, (0, 1).
        seed: Order of prompts and seeds.

    Attributes:
        names: The methods.
        race: The comparison so far.
    """

    def __init__(
        self, items: Sequence[PlannedItem], score_of: ScoreOf, error: float = ERROR, seed: int = 0
    ) -> None:
        super().__init__(())
        self.names = tuple(dict.fromkeys(item.method.name for item in items))
        self.race = Race(len(self.names), error)
        columns = _columns(items, self.names)
        order = np.random.default_rng(seed).permutation(len(columns))
        self._columns = [columns[place] for place in order]
        self._score_of = score_of
        self._ended: set[str] = set()
        self._judged = self._begun = 0

    @property
    def is_over(self) -> bool:
        """Whether no item waits, none can come back, and no prompt is left to begin."""
        with self._changed:
            is_last = self.race.is_decided or self._begun == len(self._columns)
            return is_last and super().is_over

    def end(self, item: PlannedItem) -> None:
        """Count a taken item as done or failed, and compare the methods."""
        with self._changed:
            self._ended.add(item.key)
            self._go_on()
            super().end(item)

    def take(self) -> PlannedItem | None:
        """Return the next item; None if none waits now."""
        with self._changed:
            self._go_on()
            while not self._waiting and self._begins():
                self._go_on()
            return super().take()

    def _go_on(self) -> None:
        """Compare the methods on complete columns; begin the next one if all are compared."""
        while not self.race.is_decided:
            if self._judged == self._begun and not self._begins():
                return
            column = self._columns[self._judged]
            if any(not self._is_known(column[name]) for name in self._open):
                return
            self.race.add([self._score(column[name]) for name in self.names])
            self._judged += 1
            self._leave_out_dropped()
        self._waiting.clear()

    def _leave_out_dropped(self) -> None:
        begun = self._columns[self._judged : self._begun]
        wanted = {column[name].key for column in begun for name in self._open}
        self._waiting = deque(item for item in self._waiting if item.key in wanted)

    def _begins(self) -> bool:
        """Let the items of the next column wait; return False at the end."""
        if self.race.is_decided or self._begun == len(self._columns):
            return False
        column = self._columns[self._begun]
        self._begun += 1
        new = {column[name].key: column[name] for name in self._open}
        self._waiting.extend(item for item in new.values() if not self._is_known(item))
        return True

    @property
    def _open(self) -> tuple[str, ...]:
        return tuple(
            name for name, is_open in zip(self.names, self.race.is_open, strict=True) if is_open
        )

    def _is_known(self, item: PlannedItem) -> bool:
        return item.key in self._ended or self._score_of(item) is not None

    def _score(self, item: PlannedItem) -> float:
        score = self._score_of(item)
        return 0.0 if score is None else score


def score_reader(items: ItemFiles, value: str) -> ScoreOf:
    """Return a function that reads the score of a picture by the first judge set.

    Args:
        items: The items and their files.
        value: "pass", or a value of relations: "pse", "visor". A picture has the mean over them.

    Raises:
        SettingsError: The metrics of the plan do not contain the value.
    """
    if value not in {*ALWAYS_MEASURED, *items.metrics.rules}:
        raise SettingsError(
            f'The plan does not measure "{value}".', hint="Add it to metrics, or choose another."
        )
    known: dict[str, float] = {}

    def score_of(item: PlannedItem) -> float | None:
        if item.key not in known and items.is_done(item):
            job = items.job(item, items.opened.plan.judges[0])
            record = items.store.judged(item.key, items.judge_id(job))
            known[item.key] = _mean_score(record["row"]["verdicts"], value) if record else 0.0
        return known.get(item.key)

    return score_of


def _mean_score(verdicts: Sequence[Mapping[str, Any]], value: str) -> float:
    is_pass = value == PASS
    values = (
        each["outcome"] == Outcome.PASS.value if is_pass else each[value] for each in verdicts
    )
    return fmean(map(float, values))


def _columns(items: Sequence[PlannedItem], names: Sequence[str]) -> list[Column]:
    """Return the prompts and seeds that every method can draw, with relations to judge."""
    columns = dict[tuple[str, int], dict[str, PlannedItem]]()
    for item in items:
        if item.request is not None and item.request.scene.relations:
            columns.setdefault((item.prompt.id, item.seed), {})[item.method.name] = item
    return [column for column in columns.values() if len(column) == len(names)]
