"""The library's filter language over the cells of a benchmark."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

import numpy as np

from spatialstudio.application.gallery.library import read_filter
from spatialstudio.domain.benchmark_cells import STATE_OF, CellState, CellTable
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.library import (
    CLAIM_FIELDS,
    Condition,
    Field,
    Flag,
    Sign,
    Truth,
    Wanted,
    Whole,
    Word,
)
from spatialstudio.domain.scene import RelationType
from spatialstudio.domain.verdict import Outcome

FIELDS = (
    *(Field.VERDICT, Field.RELATION, Field.SUBJECT, Field.OBJECT, Field.PSE, Field.CONFIDENCE),
    *(Field.MODEL, Field.METHOD, Field.SEED, Field.TAG, Field.IS),
)
"""The fields that cells have."""
FLAGS = (Flag.JUDGED, Flag.GUIDED, Flag.MISSING)
_COMPARED: Mapping[Sign, np.ufunc] = {
    Sign.HAS: np.equal,
    Sign.LESS: np.less,
    Sign.AT_MOST: np.less_equal,
    Sign.MORE: np.greater,
    Sign.AT_LEAST: np.greater_equal,
}
_WORD = re.compile(r"\w+")


def filter_cells(table: CellTable, line: str) -> Whole:
    """Return the numbers of the cells that match a filter line, in order.

    Words are searched in the prompt, the abstention reasons and the causes of failures.

    Args:
        table: The cells.
        line: A filter line of the library; empty for all cells.

    Raises:
        SettingsError: The line is invalid, or a field does not apply to benchmarks.
    """
    wanted = read_filter(line)
    matcher = _Matcher(table)
    matches = np.ones(len(table.grid), bool)
    of_relation = [each for each in wanted.conditions if each.field in CLAIM_FIELDS]
    asked = [matcher.relations(each) for each in of_relation if not each.is_negated]
    if asked:
        matches &= reduce(np.logical_and, asked).any(1)
    for condition in of_relation:
        if condition.is_negated:
            matches &= ~matcher.relations(condition).any(1)
    for condition in wanted.conditions:
        if condition.field not in CLAIM_FIELDS:
            matches &= matcher.cells(condition) ^ condition.is_negated
    for word in wanted.words:
        matches &= matcher.word(word) ^ word.is_negated
    return np.flatnonzero(matches)


class _Matcher:
    """Matches single conditions against a table of N cells with at most R relations."""

    def __init__(self, table: CellTable) -> None:
        self._table = table
        self._method, self._prompt, self._seed = table.grid.places()

    def relations(self, condition: Condition) -> Truth:
        """Return (N, R) whether a relation of a cell matches."""
        if condition.field not in FIELDS:
            raise _inapplicable(condition.field)
        each = [self._relations(condition, wanted) for wanted in condition.wanted]
        found: Truth = reduce(np.logical_or, each)
        return found

    def cells(self, condition: Condition) -> Truth:
        """Return (N,) whether a cell matches."""
        if condition.field not in FIELDS:
            raise _inapplicable(condition.field)
        each = [self._cells(condition, wanted) for wanted in condition.wanted]
        found: Truth = reduce(np.logical_or, each)
        return found

    def word(self, word: Word) -> Truth:
        """Return (N,) whether a cell contains a word."""
        table, grid = self._table, self._table.grid
        is_match = _phrase_in if word.is_phrase else _prefix_in
        text = word.text.lower()
        prompts = [is_match(text, f"{each.text} {each.set_id}".lower()) for each in grid.prompts]
        matches = np.array(prompts, bool)[self._prompt]
        reasons = [n for n, each in enumerate(table.reasons) if is_match(text, each.lower())]
        if reasons:
            matches |= np.isin(table.reason, reasons).any(1)
        causes = {cause for cause in set(table.causes.values()) if is_match(text, cause.lower())}
        if causes:
            matches[[cell for cell, cause in table.causes.items() if cause in causes]] = True
        return matches

    def _relations(self, condition: Condition, wanted: Wanted) -> Truth:
        table = self._table
        match condition.field:
            case Field.VERDICT:
                assert isinstance(wanted, Outcome)
                return np.equal(table.outcome, STATE_OF[wanted])
            case Field.PSE | Field.CONFIDENCE:
                column = table.pse if condition.field is Field.PSE else table.confidence
                known = table.outcome != CellState.WAITING
                compared = _COMPARED[condition.sign](column, np.float32(str(wanted)))
                return np.array(known & compared, bool)
        text = str(wanted)

        def has(relation: tuple[RelationType, str, str]) -> bool:
            kind, subject, other = relation
            if condition.field is Field.RELATION:
                return kind.id == text
            return text in (subject if condition.field is Field.SUBJECT else other).lower()

        return self._stated(has)

    def _stated(self, has: Callable[[tuple[RelationType, str, str]], bool]) -> Truth:
        grid = self._table.grid
        by_prompt = np.zeros((len(grid.prompts), grid.most_relations), bool)
        for place, relations in enumerate(grid.relations):
            by_prompt[place, : len(relations)] = [has(each) for each in relations]
        return by_prompt[self._prompt]

    def _cells(self, condition: Condition, wanted: Wanted) -> Truth:
        grid, text = self._table.grid, str(wanted).lower()
        match condition.field:
            case Field.SEED:
                is_match: Truth = _COMPARED[condition.sign](np.array(grid.seeds), float(text))
                return is_match[self._seed]
            case Field.METHOD:
                methods = [name.lower() for name in grid.methods]
                is_exact = text in methods
                matches = (text == name if is_exact else text in name for name in methods)
                return _any(matches)[self._method]
            case Field.MODEL:
                return _any(text in name.lower() for name in grid.models)[self._method]
            case Field.TAG:
                tags = (any(tag.startswith(text) for tag in each.tags) for each in grid.prompts)
                return _any(tags)[self._prompt]
        match wanted:
            case Flag.JUDGED:
                return self._table.is_judged
            case Flag.GUIDED:
                return _any(each != UNGUIDED for each in grid.guidance)[self._method]
            case Flag.MISSING:
                return ~np.isfinite(self._table.seconds)
        names = ", ".join(f"is:{flag.value}" for flag in FLAGS)
        raise SettingsError(f'"is:{text}" does not apply to benchmarks.', hint=f"Use {names}.")


def _any(values: Iterable[bool]) -> Truth:
    return np.fromiter(values, bool)


def _prefix_in(text: str, words: str) -> bool:
    """Return True if a word starts with the text; one with other signs is searched anywhere."""
    if not _WORD.fullmatch(text):
        return text in words
    return any(each.startswith(text) for each in _WORD.findall(words))


def _phrase_in(text: str, words: str) -> bool:
    return text in words


def _inapplicable(field: Field) -> SettingsError:
    names: Sequence[str] = [each.value for each in FIELDS]
    return SettingsError(
        f'"{field.value}" does not apply to benchmarks.', hint=f"Available: {', '.join(names)}."
    )
