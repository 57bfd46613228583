"""Gathers finished items into the files of the release, in the order of the plan."""

import json
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256

from spatialstudio.application.benchmark.benchmarks import OpenPlan
from spatialstudio.application.benchmark.item_records import (
    COSTS,
    ROUND_SCORES,
    benchmark_item,
    manifest_line,
    prompt_line,
    sample_id,
)
from spatialstudio.application.benchmark.result_store import PROMPTS_FILE, prompts_content
from spatialstudio.application.benchmark.runner import ItemFiles
from spatialstudio.application.evaluate.recorded_runs import counterfactual_pairs, report_on_samples
from spatialstudio.application.storage.run_writer import environment_on
from spatialstudio.domain.benchmark import BenchmarkItem, ScoredSample
from spatialstudio.domain.benchmark_plan import (
    BenchmarkPrompt,
    JudgePlan,
    MethodPlan,
    PlannedItem,
)
from spatialstudio.domain.benchmark_ports import Record
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome

ROWS_FILE = "rows.jsonl"


@frozen(eq=False)
class Gathered:
    """The results of a method by a judge set.

    Attributes:
        manifest: A line per picture and relation.
        records: A line per judged picture and relation, in the same order.
        rows: A row of the metrics per picture.
        samples: The outcome of each record.
    """

    manifest: tuple[Record, ...]
    records: tuple[Record, ...]
    rows: tuple[Record, ...]
    samples: tuple[ScoredSample, ...]


def write_results(items: ItemFiles) -> tuple[str, ...]:
    """Write a run folder for each method and judge set that has results; return their names.

    Failed and missing items are left out of them; failures are listed by ``failures_of``.

    Raises:
        StoreError: The folder cannot be written or is full.
    """
    plan, inputs = items.opened.plan, _inputs_of(items.opened)
    written = []
    for method in plan.methods:
        for judges in plan.judges:
            name = method.name if len(plan.judges) == 1 else f"{method.name}, {judges.name}"
            gathered = gather(items, method, judges, name)
            if not gathered.rows:
                continue
            folder = items.store.results(name)
            if gathered.samples:
                report = report_on_samples(gathered.samples, items.opened.checker)
                items.store.files.write_results(
                    name, gathered.manifest, gathered.records, report, folder, inputs
                )
            lines = "".join(json.dumps(row) + "\n" for row in gathered.rows)
            items.store.files.write(folder / ROWS_FILE, lines.encode())
            written.append(name)
    if written:
        lines = "".join(json.dumps(line) + "\n" for line in prompt_lines(items))
        items.store.files.write(items.store.results(PROMPTS_FILE), lines.encode())
    return tuple(written)


def _inputs_of(opened: OpenPlan) -> Record:
    """Return the plan and prompts of a benchmark as SHA-256, and the software that writes it.

    The hashes are those of ``plan.toml``, and of the lines of each set in ``prompts.jsonl``.
    """
    software = environment_on("cpu")
    sets = defaultdict[str, list[BenchmarkPrompt]](list)
    for each in opened.prompts:
        sets[each.set_id].append(each)
    return {
        "plan_sha256": sha256(opened.plan.text.encode()).hexdigest(),
        "prompts_sha256": {
            name: sha256(prompts_content(own)).hexdigest() for name, own in sets.items()
        },
        "code_sha256": software.code_sha256,
        "library_versions": {"spatialstudio": software.app, **software.libraries},
    }


def prompt_lines(items: ItemFiles) -> Iterator[Record]:
    """Yield the prompts of a benchmark as lines of the release's ``prompts.jsonl``."""
    tags = {
        stated: item.prompt.tags
        for item in items.opened.items
        if item.request is not None
        for stated in _relations(item)
    }
    pairs = counterfactual_pairs(tags)
    others = {one: other for pair in pairs for one, other in (pair, pair[::-1])}
    for stated, own in tags.items():
        yield prompt_line(stated, own, others.get(stated))


def gather(items: ItemFiles, method: MethodPlan, judges: JudgePlan, name: str) -> Gathered:
    """Return the finished items of a method by a judge set, in the order of the plan."""
    manifest, records, rows = list[Record](), list[Record](), list[Record]()
    samples = list[ScoredSample]()
    for item in items.opened.items:
        if item.method != method or item.request is None:
            continue
        record = items.store.item(item.key)
        judged = items.store.judged(item.key, items.judge_id(items.job(item, judges)))
        if record is None or judged is None:
            continue
        rows.append({**judged["row"], **_place_of(item, record)})
        for stated, line in zip(_relations(item), judged["records"], strict=True):
            manifest.append(manifest_line(item, name, record, stated))
            records.append({**line, **_own_fields(stated, item, name)})
            samples.append(scored_sample(stated, item.seed, line))
    return Gathered(
        manifest=tuple(manifest),
        records=tuple(records),
        rows=tuple(rows),
        samples=tuple(samples),
    )


def scored_sample(stated: BenchmarkItem, seed: int, record: Record) -> ScoredSample:
    """Return the outcome of a record of SpatialBench-UC."""
    outcomes = {each.value: each for each in Outcome}
    return ScoredSample(
        item=stated,
        seed=seed,
        outcome=outcomes.get(str(record.get("verdict_raw"))),
        confidence=float(record.get("conf") or 0.0),
        reason=reason_of(record),
    )


def reason_of(record: Record) -> str:
    """Return the abstention reason of a record, without its numbers; empty if decided."""
    reason = record.get("verdict_reason") or ""
    return str(reason).partition(":")[0].partition("(")[0].strip()


def _own_fields(stated: BenchmarkItem, item: PlannedItem, run_id: str) -> Record:
    """Return the fields that depend on the plan; equal pictures of two prompts share the others."""
    return {
        "sample_id": sample_id(run_id, stated.id, item.seed),
        "prompt_id": stated.id,
        "object_a": stated.subject,
        "object_b": stated.object,
    }


def _relations(item: PlannedItem) -> Iterator[BenchmarkItem]:
    assert item.request is not None
    scene = item.request.scene
    return (benchmark_item(item, scene, relation) for relation in scene.relations)


def _place_of(item: PlannedItem, record: Record) -> Record:
    return {
        "prompt_id": item.prompt.id,
        "set": item.prompt.set_id,
        "counterpart": item.prompt.counterpart_id,
        "tags": list(item.prompt.tags),
        "seed": item.seed,
        **{name: record.get(name) for name in ("picture", *COSTS, ROUND_SCORES)},
    }
