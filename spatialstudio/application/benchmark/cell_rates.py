"""Rates of a benchmark's cells with Wilson intervals, by method and relation, as bars."""

from collections.abc import Iterator
from enum import Enum

import numpy as np

from spatialstudio.domain.benchmark_cells import CellState, CellTable
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.library import Truth
from spatialstudio.science.statistics.intervals import share_interval


class RateFigure(Enum):
    """What is counted."""

    PASS_ALL = "pass"
    """PASS over all judged."""
    PASS_DECIDED = "pass-decided"
    """PASS over decided."""
    COVERAGE = "coverage"
    """Decided over all judged."""
    REASONS = "reasons"
    """Abstentions of each reason over all judged."""


class RateGroup(Enum):
    """How cells are grouped, beside their methods."""

    METHOD = "method"
    RELATION = "relation"
    TAG = "tag"


@frozen
class RateBar:
    """One rate.

    Attributes:
        method: Name of the method.
        group: Name of the relation, tag or reason; empty for all cells of the method.
        rate: The rate with its interval; NaN if nothing was counted.
        line: Filter line that finds its cells.
    """

    method: str
    group: str
    rate: Interval
    line: str


def rate_bars(table: CellTable, figure: RateFigure, group: RateGroup) -> tuple[RateBar, ...]:
    """Return the rates of all groups and methods; each relation of a picture counts.

    Rates of ``REASONS`` are by reason and method, whatever the group.
    """
    counter = _Counter(table, figure)
    groups = counter.by_reason() if figure is RateFigure.REASONS else counter.by(group)
    return tuple(
        RateBar(
            method=name,
            group=words,
            rate=counter.rate(method, is_member, is_counted),
            line=" ".join(filter(None, (f"method:{_quoted(name)}", term, "is:judged"))),
        )
        for words, term, is_member, is_counted in groups
        for method, name in enumerate(table.grid.methods)
    )


class _Counter:
    """Counts the relations of cells, as (N, R) truths."""

    def __init__(self, table: CellTable, figure: RateFigure) -> None:
        self._table = table
        outcome = table.outcome
        self._is_judged: Truth = outcome != CellState.WAITING
        is_pass: Truth = outcome == CellState.PASS
        is_decided: Truth = is_pass | (outcome == CellState.FAIL)
        is_of_decided = figure is RateFigure.PASS_DECIDED
        self._of: Truth = is_decided if is_of_decided else self._is_judged
        self._counted: Truth = is_decided if figure is RateFigure.COVERAGE else is_pass
        self._method, self._prompt, _ = table.grid.places()

    def rate(self, method: int, is_member: Truth, is_counted: Truth) -> Interval:
        of = self._of & is_member & (self._method == method)[:, None]
        return share_interval(int((is_counted & of).sum()), int(of.sum()))

    def by(self, group: RateGroup) -> Iterator[tuple[str, str, Truth, Truth]]:
        """Yield words, filter term, members and counted relations of each group."""
        every = np.ones_like(self._is_judged)
        grid = self._table.grid
        match group:
            case RateGroup.METHOD:
                yield "", "", every, self._counted
            case RateGroup.RELATION:
                kinds = {kind.id: kind for each in grid.relations for kind, _, _ in each}
                for kind_id, kind in kinds.items():
                    stated = [[own is kind for own, _, _ in each] for each in grid.relations]
                    is_member = self._spread(stated)
                    yield kind.phrase, f"relation:{kind_id}", is_member, self._counted
            case RateGroup.TAG:
                for tag in dict.fromkeys(tag for each in grid.prompts for tag in each.tags):
                    has = np.array([tag in each.tags for each in grid.prompts], bool)
                    is_member = np.broadcast_to(has[self._prompt][:, None], every.shape)
                    yield tag, f"tag:{_quoted(tag)}", is_member, self._counted

    def by_reason(self) -> Iterator[tuple[str, str, Truth, Truth]]:
        """Yield words, filter term, members and counted relations of each reason."""
        every = np.ones_like(self._is_judged)
        counts = [(self._table.reason == n).sum() for n in range(len(self._table.reasons))]
        for number in np.argsort(counts, kind="stable")[::-1]:
            reason = self._table.reasons[number]
            yield reason, f'"{reason}"', every, self._table.reason == number

    def _spread(self, stated: list[list[bool]]) -> Truth:
        """Return (N, R) from a list of truths of each prompt's relations."""
        by_prompt = np.zeros((len(stated), self._table.grid.most_relations), bool)
        for place, own in enumerate(stated):
            by_prompt[place, : len(own)] = own
        return by_prompt[self._prompt]


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text
