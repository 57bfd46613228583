"""The prompts of a plan: generated sets, copies of published benchmarks, and the user's lists."""

import csv
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from spatialstudio.application.questions.question_files import read_question_file
from spatialstudio.domain.benchmark_plan import (
    BenchmarkPrompt,
    PromptSetPlan,
    PromptSource,
    StatedRelation,
)
from spatialstudio.domain.errors import PromptError, SettingsError, StoreError
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited, read_regular
from spatialstudio.domain.scene import relation_types
from spatialstudio.science.benchmark.prompts import (
    contrast_prompts,
    draw_prompts,
    visor_prompts,
    word_tags,
)

COCO_FILE = Path("benchmarks") / "coco_names.txt"
SPATIALBENCH_FILE = Path("benchmarks") / "spatialbench-uc" / "objects.txt"
LARGEST_LIST_BYTES = 32 * MEBIBYTE
MOST_PROMPTS = 100_000
PROMPT_COLUMN = "prompt"
ID_COLUMNS = ("prompt_id", "id")
POSITION_TAG = "position"
HRS_LEVELS = 3

Prompts = tuple[BenchmarkPrompt, ...]


def read_prompt_sets(plans: Sequence[PromptSetPlan], resources: Path) -> Prompts:
    """Read the prompts of all sets of a plan, in order; ids are unique.

    Args:
        plans: The sets.
        resources: Folder of the shipped resources.

    Raises:
        PromptError: A file cannot be read, or holds no prompt.
        SettingsError: A sample is larger than its set, two sets share a prompt id, or there are
            too many prompts.
    """
    prompts = tuple(prompt for plan in plans for prompt in _sampled(plan, _all_of(plan, resources)))
    if len(prompts) > MOST_PROMPTS:
        raise SettingsError(
            f"A plan of {len(prompts)} prompts is too large.",
            hint=f"The maximum is {MOST_PROMPTS}; draw a sample.",
        )
    seen = set[str]()
    for prompt in prompts:
        if prompt.id in seen:
            raise SettingsError(
                f'Two prompts of the plan have the id "{prompt.id}".',
                hint="Remove the repeated prompt set, or change the ids of the list.",
            )
        seen.add(prompt.id)
    return prompts


def set_size(plan: PromptSetPlan, resources: Path) -> int:
    """Return the number of prompts of a whole set, which may be more than a plan can take.

    Args:
        plan: The set; its sample does not count.
        resources: Folder of the shipped resources.

    Raises:
        PromptError: The file cannot be read, or holds no prompt.
        SettingsError: The set needs a file.
    """
    return len(_all_of(plan, resources))


def _all_of(plan: PromptSetPlan, resources: Path) -> Prompts:
    match plan.source:
        case PromptSource.SPATIALBENCH_UC:
            return _spatialbench(draw_prompts(_names(resources / SPATIALBENCH_FILE)))
        case PromptSource.VISOR:
            return visor_prompts(_names(resources / COCO_FILE))
        case PromptSource.CONTRAST:
            return contrast_prompts()
    file = plan.file
    if file is None:
        raise SettingsError(
            f'The prompt set "{plan.source.value}" needs a file.', hint='Add file = "...".'
        )
    if plan.source is PromptSource.SPATIALGENEVAL:
        return _spatialgeneval(file)
    readers: Mapping[PromptSource, Callable[[PromptSetPlan, str], Iterator[BenchmarkPrompt]]] = {
        PromptSource.COMPBENCH: _compbench,
        PromptSource.GENEVAL: _geneval,
        PromptSource.HRS: _hrs,
        PromptSource.LIST: _list,
    }
    try:
        text = read_regular(file, LARGEST_LIST_BYTES).decode("utf-8-sig")
        prompts = tuple(readers[plan.source](plan, text))
    except (OSError, ValueError, KeyError, TypeError, IndexError, csv.Error) as error:
        raise _unreadable(file, plan.source) from error
    if not prompts:
        raise _unreadable(file, plan.source)
    return prompts


def _unreadable(file: Path, source: PromptSource) -> PromptError:
    hints = {
        PromptSource.COMPBENCH: "It must hold one prompt per line.",
        PromptSource.GENEVAL: 'It must be JSON Lines with "tag", "include" and "prompt".',
        PromptSource.HRS: "It must be CSV with a header, and the prompt in its first column.",
        PromptSource.LIST: "It must be .txt with a prompt per line, or .csv or .jsonl with "
        '"prompt"; name another column with column = "...".',
    }
    return PromptError(f'No prompts can be read from "{file}".', hint=hints[source])


def _sampled(plan: PromptSetPlan, prompts: Prompts) -> Prompts:
    """Return a sample without replacement, in the order of the set."""
    if plan.sample is None:
        return prompts
    if plan.sample > len(prompts):
        raise SettingsError(
            f"The prompt set has {len(prompts)} prompts, fewer than the sample of {plan.sample}.",
            hint="Reduce the sample, or leave it out.",
        )
    drawn = random.Random(plan.sample_seed).sample(range(len(prompts)), plan.sample)
    return tuple(prompts[place] for place in sorted(drawn))


def _spatialbench(content: bytes) -> Prompts:
    lines = (parse_limited(line) for line in content.splitlines())
    return tuple(_spatialbench_prompt(line, PromptSource.SPATIALBENCH_UC) for line in lines)


def _spatialbench_prompt(line: Mapping[str, Any], source: PromptSource) -> BenchmarkPrompt:
    return BenchmarkPrompt(
        id=line["prompt_id"],
        text=line["prompt"],
        set_id=source.value,
        counterpart_id=line["counterfactual"]["prompt_id"],
        tags=tuple(map(str, line["difficulty_tags"])),
        stated=StatedRelation(
            type=relation_types[line["relation"]],
            subject=line["object_a"]["name"],
            object=line["object_b"]["name"],
        ),
    )


def _names(file: Path) -> tuple[str, ...]:
    try:
        return tuple(file.read_text(encoding="utf-8").splitlines())
    except OSError as error:
        raise PromptError(
            f'The file "{file.name}" is missing.', hint="Install Spatial Studio again."
        ) from error


def _compbench(plan: PromptSetPlan, text: str) -> Iterator[BenchmarkPrompt]:
    stem = plan.file.stem if plan.file else ""
    for number, line in enumerate(_filled(text)):
        yield BenchmarkPrompt(id=f"{stem}_{number:06d}", text=line, set_id=plan.source.value)


def _geneval(plan: PromptSetPlan, text: str) -> Iterator[BenchmarkPrompt]:
    """Yield the position prompts; the metadata lists the reference object first."""
    lines = [_object(line) for line in _filled(text)]
    for number, line in enumerate(line for line in lines if line["tag"] == POSITION_TAG):
        reference, placed = line["include"]
        relation = placed["position"][0].replace(" ", "_")
        stated = StatedRelation(
            type=relation_types[relation], subject=placed["class"], object=reference["class"]
        )
        yield BenchmarkPrompt(
            id=f"geneval_position_{number:05d}",
            text=line["prompt"],
            set_id=plan.source.value,
            tags=word_tags(stated.subject, stated.object),
            stated=stated,
        )


def _spatialgeneval(file: Path) -> Prompts:
    """Return the prompts with their questions, tagged with their kinds of scenes."""
    try:
        sets = read_question_file(file)
    except StoreError as error:
        raise PromptError(error.message, hint=error.hint) from error
    for each in sets:
        if not each.prompt.strip():
            raise PromptError(f'The questions "{each.id}" of "{file}" have no prompt.')
    return tuple(
        BenchmarkPrompt(
            id=each.id,
            text=each.prompt.strip(),
            set_id=PromptSource.SPATIALGENEVAL.value,
            tags=(each.scene,),
            questions=each,
        )
        for each in sets
    )


def _hrs(plan: PromptSetPlan, text: str) -> Iterator[BenchmarkPrompt]:
    _, *rows = [row for row in csv.reader(StringIO(text)) if row]
    for number, row in enumerate(rows):
        level = HRS_LEVELS * number // len(rows) + 1
        yield BenchmarkPrompt(
            id=f"hrs_spatial_{number:05d}",
            text=row[0],
            set_id=plan.source.value,
            tags=(f"level_{level}",),
        )


def _list(plan: PromptSetPlan, text: str) -> Iterator[BenchmarkPrompt]:
    file, column = plan.file, plan.column or PROMPT_COLUMN
    assert file is not None
    suffix = file.suffix.lower()
    rows: Iterator[Mapping[str, Any]]
    if suffix == ".csv":
        rows = iter(csv.DictReader(StringIO(text)))
    elif suffix == ".jsonl":
        rows = map(_object, _filled(text))
    else:
        rows = ({column: line} for line in _filled(text))
    for number, row in enumerate(rows):
        own = (row[name] for name in ID_COLUMNS if row.get(name) not in {None, ""})
        prompt_id = str(next(own, f"{file.stem}_{number:06d}"))
        if {"counterfactual", "object_a", "object_b", "difficulty_tags"} <= row.keys():
            yield replace(_spatialbench_prompt(row, plan.source), id=prompt_id)
        else:
            if not isinstance(row[column], str) or not row[column].strip():
                raise ValueError(f"line {number + 1} has no prompt")
            yield BenchmarkPrompt(id=prompt_id, text=row[column].strip(), set_id=plan.source.value)


def _object(line: str) -> Mapping[str, Any]:
    value = parse_limited(line.encode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise TypeError("not a JSON object")
    return value


def _filled(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
