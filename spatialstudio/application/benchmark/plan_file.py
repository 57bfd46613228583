"""Plan files: readable TOML, checked field by field with the line of each error.

    name = "Guidance on SpatialBench-UC"
    seeds = "0-3"

    [[prompts]]
    set = "spatialbench-uc"

    [[methods]]
    name = "plain"
    guidance = "none"

    [[methods]]
    name = "boxdiff"
    guidance = "boxdiff"
    steps = 30

A plan without ``[[judges]]`` is judged by the default judge set of each model.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from spatialstudio.domain.benchmark_plan import (
    BenchmarkPlan,
    JudgePlan,
    MethodPlan,
    PromptSetPlan,
    PromptSource,
)
from spatialstudio.domain.errors import SettingsError, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import LAYOUT, MAX_SEED
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.multiple_choice import PROTOCOLS, SHUFFLED, AskSettings
from spatialstudio.domain.refinement import REFINE_RULES, RefineRules, UpdateOrder
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.safe_files import is_path_component, read_regular
from spatialstudio.domain.scene import LoraUse
from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.science.metrics.choice_questions import CHOICES
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID

LARGEST_PLAN_BYTES = 1024 * 1024
MOST_SEEDS = 10_000
MOST_NESTING = 1000
"""Open brackets in a plan; deeper ones would exhaust the parser."""

REFINE_FIELDS = (
    "refine",
    "refine_rounds",
    "refine_rule",
    "refine_weights",
    "refine_attention",
)
"""Fields of a refined method: the preset of its rules, and changes of it."""

_RANGE = re.compile(r"(\d+)(?:\s*-\s*(\d+))?")
_HEADER = re.compile(r"\s*\[\[?\s*([\w.-]+)\s*\]\]?")
_TOML_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_KINDS: Mapping[type, str] = {
    str: "text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
T = TypeVar("T")


def read_plan(path: Path) -> BenchmarkPlan:
    """Read and check a plan file; files it names are found beside it.

    Raises:
        SettingsError: The file cannot be read, or a field is unknown or invalid; the message names
            the line.
    """
    try:
        text = read_regular(path, LARGEST_PLAN_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise SettingsError(
            f'The plan "{path}" cannot be read.',
            hint="Pass a TOML file; see benchmark plan --help.",
        ) from error
    return parse_plan(text, path)


def parse_plan(text: str, path: Path) -> BenchmarkPlan:
    """Parse the text of a plan; ``path`` names it in errors and locates the files it names.

    Raises:
        SettingsError: A field is unknown or invalid; the message names the line.
    """
    if text.count("[") + text.count("{") > MOST_NESTING:
        raise SettingsError(f'The plan "{path.name}" has too many brackets.', hint="Shorten it.")
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = _TOML_LINE.search(str(error))
        where = f", line {place[1]}" if place else ""
        reason = _TOML_LINE.sub("", str(error)).strip().rstrip(".")
        raise SettingsError(
            f"{path.name}{where}: {reason}.", hint="The plan must be valid TOML."
        ) from error
    return _Reader(text, path).plan(tables)


def parse_seeds(text: str) -> tuple[int, ...]:
    """Parse seeds such as "0-3" or "0, 5, 7-9"; duplicates are removed.

    Raises:
        SettingsError: The text is not a list of seeds, or lists too many.
    """
    seeds = list[int]()
    for part in (part.strip() for part in text.split(",")):
        found = _RANGE.fullmatch(part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last <= MAX_SEED or last - first >= MOST_SEEDS:
            raise SettingsError(
                f'"{text}" is not a list of seeds.',
                hint=f'Enter "0-3" or "0, 5, 7"; at most {MOST_SEEDS} seeds up to {MAX_SEED}.',
            )
        seeds.extend(range(first, last + 1))
    return tuple(dict.fromkeys(seeds))


@frozen
class _Place:
    """A table of the file: its name, and its position among tables of that name."""

    table: str = ""
    number: int = 0


class _Reader:
    """Reads the tables of one file, and raises errors with their lines."""

    def __init__(self, text: str, path: Path) -> None:
        self._text = text
        self._path = path

    def plan(self, tables: Mapping[str, Any]) -> BenchmarkPlan:
        top = _Place()
        known = {"name", "seeds", "metrics", "checker", "threads", "prompts", "methods", "judges"}
        known |= {"answerer", "protocol", "without_defects"}
        self._check_names(tables, known, top)
        methods = self._list(tables, "methods", self._method)
        judges = self._list(tables, "judges", self._judges, is_required=False)
        for name, each in (("methods", methods), ("judges", judges)):
            self._check_distinct([one.name for one in each], name)
        return BenchmarkPlan(
            name=self._value(tables, "name", str, top, self._path.stem),
            prompts=self._list(tables, "prompts", self._prompts),
            methods=methods,
            seeds=self._seeds(tables),
            judges=judges or (JudgePlan(),),
            metrics=self._metrics(tables),
            choice_answerer=self._choice_answerer(tables),
            asking=self._asking(tables),
            checker=self._value(tables, "checker", str, top, REPRODUCE.preset),
            threads=self._number(tables, "threads", top, least=1) or 1,
            text=self._text,
        )

    def _list(
        self,
        tables: Mapping[str, Any],
        name: str,
        read: Callable[[Mapping[str, Any], _Place], T],
        *,
        is_required: bool = True,
    ) -> tuple[T, ...]:
        listed = tables.get(name, [])
        is_list = isinstance(listed, list) and all(isinstance(each, dict) for each in listed)
        if not is_list or (is_required and not listed):
            self._refuse(
                f"at least one [[{name}]] is required", _Place(table=name), "", f"Add [[{name}]]."
            )
        return tuple(
            read(table, _Place(table=name, number=number)) for number, table in enumerate(listed)
        )

    def _prompts(self, table: Mapping[str, Any], place: _Place) -> PromptSetPlan:
        self._check_names(table, {"set", "file", "column", "sample", "sample_seed"}, place)
        source = self._choice(table, "set", PromptSource, place, None)
        file = self._value(table, "file", str, place, None)
        if source.needs_file and file is None:
            self._refuse(
                f'the set "{source.value}" needs a file', place, "set", 'Add file = "...".'
            )
        if not source.needs_file and file is not None:
            self._refuse(f'the set "{source.value}" is generated', place, "file", "Leave it out.")
        return PromptSetPlan(
            source=source,
            file=None if file is None else self._path.parent / Path(file).expanduser(),
            column=self._value(table, "column", str, place, ""),
            sample=self._number(table, "sample", place, least=1),
            sample_seed=self._number(table, "sample_seed", place) or 0,
        )

    def _method(self, table: Mapping[str, Any], place: _Place) -> MethodPlan:
        known = {"name", "model", "guidance", "preset", "strength", "guided_steps", "steps"}
        known |= {"guidance_scale", "width", "height", "sampler", "negative", "search", "particles"}
        self._check_names(table, known | {"lora", "options", *REFINE_FIELDS}, place)
        options = self._value(table, "options", dict, place, {})
        for name, value in options.items():
            if not isinstance(value, bool | int | float | str):
                self._refuse(f'the option "{name}" must be one value', place, "options", "")
        return MethodPlan(
            name=self._name(table, place),
            model_id=self._value(table, "model", str, place, ""),
            guidance=self._value(table, "guidance", str, place, LAYOUT),
            preset=self._choice(table, "preset", Preset, place, Preset.RECOMMENDED),
            strength=self._value(table, "strength", float, place, None),
            guided_steps=self._number(table, "guided_steps", place, least=1),
            steps=self._number(table, "steps", place, least=1),
            guidance_scale=self._value(table, "guidance_scale", float, place, None),
            width=self._number(table, "width", place, least=1),
            height=self._number(table, "height", place, least=1),
            sampler=self._value(table, "sampler", str, place, ""),
            negative=self._value(table, "negative", str, place, ""),
            candidates=self._number(table, "search", place, least=1) or 1,
            particles=self._number(table, "particles", place, least=1),
            loras=tuple(self._lora(each, place) for each in self._texts(table, "lora", place)),
            options=options,
            refine=self._rules(table, place),
        )

    def _rules(self, table: Mapping[str, Any], place: _Place) -> RefineRules | None:
        preset, *changes = REFINE_FIELDS
        if preset not in table:
            for key in changes:
                if key in table:
                    self._refuse(
                        f'"{key}" needs "{preset}"',
                        place,
                        key,
                        f"Choose {', '.join(REFINE_RULES)}.",
                    )
            return None
        name = self._value(table, preset, str, place, None)
        if name not in REFINE_RULES:
            hint = f"Choose {', '.join(REFINE_RULES)}."
            self._refuse(f'"{preset}" must be a known name, not "{name}"', place, preset, hint)
        rules = REFINE_RULES[name]
        return replace(
            rules,
            rounds=self._number(table, "refine_rounds", place, least=1) or rules.rounds,
            order=self._choice(table, "refine_rule", UpdateOrder, place, rules.order),
            weighs_prompt=self._value(table, "refine_weights", bool, place, True),
            weighs_attention=self._value(table, "refine_attention", bool, place, True),
        )

    def _judges(self, table: Mapping[str, Any], place: _Place) -> JudgePlan:
        tasks = {
            "detector": "detector_id",
            "second_detector": "second_id",
            "segmenter": "segmenter_id",
            "depth": "depth_id",
            "answerer": "answerer_id",
        }
        self._check_names(table, {"name", "set", "cut", *tasks}, place)
        chosen = {
            field: self._value(table, task, str, place, None) for task, field in tasks.items()
        }
        try:
            choice = JudgeSetChoice(
                set_id=self._value(table, "set", str, place, ""),
                cut=self._value(table, "cut", float, place, None),
                **chosen,
            )
        except StudioError as error:
            self._refuse(error.message.rstrip("."), place, "cut", error.hint)
        return JudgePlan(name=self._name(table, place), choice=choice)

    def _seeds(self, tables: Mapping[str, Any]) -> tuple[int, ...]:
        given = tables.get("seeds", "0")
        if isinstance(given, list) and all(type(each) is int for each in given):
            given = ",".join(map(str, given))
        elif type(given) is int:
            given = str(given)
        try:
            return parse_seeds(given if isinstance(given, str) else "")
        except SettingsError as error:
            self._refuse("seeds must be a list of seeds", _Place(), "seeds", error.hint)

    def _metrics(self, tables: Mapping[str, Any]) -> tuple[str, ...]:
        given = self._texts(tables, "metrics", _Place())
        return tuple(name.strip() for each in given for name in each.split(",") if name.strip())

    def _choice_answerer(self, tables: Mapping[str, Any]) -> str:
        named: str = self._value(tables, "answerer", str, _Place(), PERCEPTION_ID)
        return "" if named == PERCEPTION_ID else named

    def _asking(self, tables: Mapping[str, Any]) -> AskSettings:
        named: str = self._value(tables, "protocol", str, _Place(), SHUFFLED)
        if named not in PROTOCOLS:
            hint = f"Choose {', '.join(PROTOCOLS)}."
            self._refuse(f'there is no protocol "{named}"', _Place(), "protocol", hint)
        if "protocol" in tables and not self._choice_answerer(tables):
            hint = "Add an answerer, or leave the protocol out: the perception answers once."
            self._refuse('"protocol" needs an answerer', _Place(), "protocol", hint)
        asking = PROTOCOLS[named]
        leaves_out = self._value(tables, "without_defects", bool, _Place(), False)
        return replace(asking, rules=replace(asking.rules, leaves_out_defects=leaves_out))

    def _lora(self, text: str, place: _Place) -> LoraUse:
        name, _, weight = text.rpartition(":") if ":" in text else (text, "", "1")
        try:
            return LoraUse(name=name, weight=float(weight))
        except ValueError:
            self._refuse(f'"{text}" is not a LoRA', place, "lora", 'Write "style:0.8".')

    def _name(self, table: Mapping[str, Any], place: _Place) -> str:
        name: str | None = self._value(table, "name", str, place, None)
        if name is None or not is_path_component(name) or name.startswith("."):
            self._refuse(
                f"each [[{place.table}]] needs a name that a folder can have",
                place,
                "name",
                'Add name = "...", without slashes.',
            )
        return name

    def _texts(self, table: Mapping[str, Any], key: str, place: _Place) -> list[str]:
        given = table.get(key, [])
        given = [given] if isinstance(given, str) else given
        if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
            self._refuse(f'"{key}" must be a list of texts', place, key, "")
        return given

    def _number(
        self, table: Mapping[str, Any], key: str, place: _Place, least: int = 0
    ) -> int | None:
        value: int | None = self._value(table, key, int, place, None)
        if value is not None and value < least:
            self._refuse(f'"{key}" must be at least {least}, not {value}', place, key, "")
        return value

    def _choice(
        self, table: Mapping[str, Any], key: str, kinds: Any, place: _Place, default: Any
    ) -> Any:
        text = self._value(table, key, str, place, None)
        if text is None and default is not None:
            return default
        known = {kind.value: kind for kind in kinds}
        if text not in known:
            given = f'not "{text}"' if text else "which is missing"
            self._refuse(
                f'"{key}" must be a known name, {given}', place, key, f"Choose {', '.join(known)}."
            )
        return known[text]

    def _value(
        self, table: Mapping[str, Any], key: str, kind: type, place: _Place, default: Any
    ) -> Any:
        if key not in table:
            return default
        value = table[key]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            wanted = _KINDS.get(kind, "a table")
            self._refuse(f'"{key}" must be {wanted}, not {value!r}', place, key, "")
        return value

    def _check_names(self, table: Mapping[str, Any], known: Iterable[str], place: _Place) -> None:
        for key in table:
            if key not in known:
                hint = f"Choose {', '.join(sorted(known))}."
                self._refuse(f'there is no field "{key}"', place, key, hint)

    def _check_distinct(self, names: Sequence[str], table: str) -> None:
        for number, name in enumerate(names):
            if name in names[:number]:
                place = _Place(table=table, number=number)
                self._refuse(f'the name "{name}" is used twice', place, "name", "Choose another.")

    def _refuse(self, fault: str, place: _Place, key: str, hint: str) -> NoReturn:
        line = _line_of(self._text, place, key)
        where = f"{self._path.name}, line {line}" if line else self._path.name
        raise SettingsError(f"{where}: {fault}.", hint=hint)


def _line_of(text: str, place: _Place, key: str) -> int:
    """Return the line of a key, or of its table's header; 0 if there is none."""
    table, count, header = "", -1, 0
    for number, line in enumerate(text.splitlines(), 1):
        if found := _HEADER.match(line):
            table = found[1]
            count += table == place.table
            if (table, count) == (place.table, place.number):
                header = number
            continue
        is_here = not place.table if not table else header and count == place.number
        is_own = table == place.table or table.startswith(f"{place.table}.")
        if is_here and is_own and key and re.match(rf'\s*"?{re.escape(key)}"?\s*[=.]', line):
            return number
    return header


def asks_questions(metrics: Sequence[str]) -> bool:
    """Return True if metrics of a plan, all if empty, ask multiple-choice questions."""
    return not metrics or any(name.partition(":")[0] == CHOICES for name in metrics)


@frozen
class PlanMeasures:
    """What a new plan measures.

    Attributes:
        metrics: Names of metrics; empty for all.
        choice_answerer: As in ``BenchmarkPlan``, or the id of the perception.
        protocol: Name of how the answerer is asked; the perception ignores it.
    """

    metrics: tuple[str, ...] = ()
    choice_answerer: str = ""
    protocol: str = SHUFFLED


ALL_METRICS = PlanMeasures()


def write_plan(
    name: str,
    sets: Sequence[PromptSetPlan],
    methods: Sequence[MethodPlan],
    seeds: str,
    judge_sets: Sequence[str] = (),
    measures: PlanMeasures = ALL_METRICS,
) -> str:
    """Return the text of a plan; fields at their defaults are left out.

    Args:
        name: Title in reports.
        sets: Prompt sets.
        methods: Methods, without search, LoRAs and options; refined ones by the rules of a preset.
        seeds: Seeds, as "0-3".
        judge_sets: Ids of judge sets; none for the default of each model.
        measures: Metrics, and the answerer of multiple-choice questions.
    """
    lines = [f"name = {_quoted(name)}", f"seeds = {_quoted(seeds)}"]
    if measures.metrics:
        lines.append(f"metrics = [{', '.join(map(_quoted, measures.metrics))}]")
    if measures.choice_answerer not in {"", PERCEPTION_ID}:
        lines.append(f"answerer = {_quoted(measures.choice_answerer)}")
        if measures.protocol != SHUFFLED:
            lines.append(f"protocol = {_quoted(measures.protocol)}")
    for each in sets:
        fields: dict[str, object] = {"set": each.source.value, "file": each.file}
        fields |= {"column": each.column, "sample": each.sample}
        lines += _table("prompts", fields)
    for method in methods:
        fields = {"name": method.name, "guidance": method.guidance, "model": method.model_id}
        fields |= {"strength": method.strength, "steps": method.steps}
        fields["refine"] = None if method.refine is None else method.refine.preset
        lines += _table("methods", fields)
    for judge_set in judge_sets:
        lines += _table("judges", {"name": judge_set, "set": judge_set})
    return "\n".join([*lines, ""])


def _table(name: str, fields: Mapping[str, object]) -> list[str]:
    """Return the lines of a table; fields without a value are left out."""
    written = {key: value for key, value in fields.items() if value not in (None, "")}
    texts = (
        f"{key} = {value}" if isinstance(value, int | float) else f"{key} = {_quoted(str(value))}"
        for key, value in written.items()
    )
    return ["", f"[[{name}]]", *texts]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
