"""Records of a finished item: its picture and cost, and its verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spatialstudio.application.evaluate.metrics import ChosenMetrics, metric_row
from spatialstudio.domain.benchmark import BenchmarkItem, JudgedSample, RecordedSample
from spatialstudio.domain.benchmark_plan import PlannedItem
from spatialstudio.domain.benchmark_ports import BenchmarkFiles, Record
from spatialstudio.domain.generation import GenerationRequest, StepEvent
from spatialstudio.domain.samplers import SCALE_OFF
from spatialstudio.domain.scene import MentionId, Relation, SceneGraph
from spatialstudio.domain.verdict import Evaluation, Perception, Verdict
from spatialstudio.science.checker.measurement import candidates_of
from spatialstudio.science.metrics.visor import ends_found
from spatialstudio.science.pos.pse import pse_of

SUMS = ("seconds", "judging_seconds", "passes", "flops")
"""Costs of a picture; those of a refined item are sums over its rounds."""
COSTS = (*SUMS, "rounds")
"""Numbers of an item's record; those of earlier versions and of other methods lack some."""
ROUND_SCORES = "round_scores"
"""DA-score of each round, in the record of a refined item."""
ASKING_SECONDS = "asking_seconds"
"""Time that the answerer took over a picture, in the verdicts of an item."""
FROM_RESULTS = "../../"
"""From a run folder among the results to the folder of the benchmark."""


def passes_of(request: GenerationRequest, events: Sequence[object]) -> int:
    """Return the denoiser passes of a picture, each over one latent image.

    With classifier-free guidance a step takes two per particle; each pass of a guidance method
    with gradient counts one more. Steps of trials and of dropped candidates count as well.
    """
    halves = 2 if request.guidance_scale > SCALE_OFF else 1
    steps = [event for event in events if isinstance(event, StepEvent)]
    particles = (event.particles.passes if event.particles else 1 for event in steps)
    return halves * sum(particles) + sum(event.guiding_passes for event in steps)


def refined_record(
    best: Record, attempts: Sequence[Record], scores: Sequence[float | None]
) -> Record:
    """Return the record of a refined item: its best attempt, at the cost of all attempts.

    Args:
        best: The attempt with the highest score.
        attempts: All attempts, in order.
        scores: Their DA-scores; None for one without an answer.
    """
    sums = {
        name: None
        if not all(isinstance(each.get(name), int | float) for each in attempts)
        else sum(each[name] for each in attempts)
        for name in SUMS
    }
    return {**best, **sums, "rounds": len(attempts), ROUND_SCORES: list(scores)}


def judged_record(
    item: PlannedItem, evaluation: Evaluation, metrics: ChosenMetrics, files: BenchmarkFiles
) -> Record:
    """Return the verdicts of an item: records of SpatialBench-UC, and the row of the metrics.

    Args:
        item: An item with a request.
        evaluation: Its evaluation, under the checker settings of the plan.
        metrics: The metrics of the plan.
        files: Formats the records.

    Raises:
        PluginError: A metric failed.
    """
    assert item.request is not None
    scene = item.request.scene
    records = [_record(item, scene, verdict, evaluation, files) for verdict in evaluation.verdicts]
    return {"records": records, "row": _row(scene, evaluation, metrics)}


def _record(
    item: PlannedItem,
    scene: SceneGraph,
    verdict: Verdict,
    evaluation: Evaluation,
    files: BenchmarkFiles,
) -> Record:
    relation = _relation(scene, verdict)
    perception = evaluation.perception
    sample = RecordedSample(
        id="",
        item=benchmark_item(item, scene, relation),
        seed=item.seed,
        relation=relation,
        perception=perception,
        looks=evaluation.looks,
        untouched={"detectors": _detectors(scene, relation, evaluation)},
    )
    settings = evaluation.checker
    mentions = (scene.mention(end).id for end in relation.ends)
    chosen = tuple(candidates_of(end, perception, settings).chosen for end in mentions)
    verdict = replace(
        verdict, about=tuple(MentionId(scene.detected_name(each)) for each in verdict.about)
    )
    return files.record_of(JudgedSample(sample=sample, verdict=verdict, chosen=chosen), settings)


def _relation(scene: SceneGraph, verdict: Verdict) -> Relation:
    return next(each for each in scene.relations if each.id == verdict.relation_id)


def benchmark_item(item: PlannedItem, scene: SceneGraph, relation: Relation) -> BenchmarkItem:
    """Return the benchmark item of a relation; later relations of a prompt get a suffix.

    The names are those of the benchmark where it states them, else of the prompt.
    """
    place = scene.relations.index(relation)
    subject, other = (scene.detected_name(end) for end in relation.ends[:2])
    stated = item.prompt.stated
    if stated is not None and place == 0:
        subject, other = stated.subject, stated.object
    return BenchmarkItem(
        id=item.prompt.id if place == 0 else f"{item.prompt.id}_r{place + 1}",
        prompt=item.prompt.text,
        relation_type=relation.type,
        subject=subject,
        object=other,
    )


def _detectors(scene: SceneGraph, relation: Relation, evaluation: Evaluation) -> Mapping[str, Any]:
    second = evaluation.looks.second
    seen = {"primary": evaluation.perception} | ({"secondary": second} if second else {})
    names = {end: scene.detected_name(end) for end in relation.ends}
    return {name: _detector(own, names) for name, own in seen.items()}


def _detector(perception: Perception, names: Mapping[Any, str]) -> Mapping[str, Any]:
    found = [each for end in names for each in perception.detections_of(end)]
    return {
        "type": perception.detector_id or (found[0].detector_id if found else "unknown"),
        "detections": [
            {
                "label": names[each.mention_id],
                "score": float(each.score),
                "box_xyxy": [
                    float(edge)
                    for edge in (each.box.left, each.box.top, each.box.right, each.box.bottom)
                ],
            }
            for each in found
        ],
    }


def _row(scene: SceneGraph, evaluation: Evaluation, metrics: ChosenMetrics) -> Mapping[str, Any]:
    row = metric_row(scene, evaluation, metrics)
    relations = (_relation(scene, verdict) for verdict in evaluation.verdicts)
    verdicts = [
        {
            "found": ends_found(relation, evaluation.perception),
            "pse": float(pse_of(relation, evaluation)),
            **known,
        }
        for relation, known in zip(relations, row["verdicts"], strict=True)
    ]
    return {**row, "verdicts": verdicts}


def manifest_line(item: PlannedItem, run_id: str, record: Record, stated: BenchmarkItem) -> Record:
    """Return the line of a picture in ``manifest.jsonl``; "cost" is ours.

    As in the release, the path of the picture is relative to the run folder.
    """
    request = item.request
    assert request is not None
    sampling = request.sampling
    return {
        "sample_id": sample_id(run_id, stated.id, item.seed),
        "run_id": run_id,
        "prompt_id": stated.id,
        "image_path": f"{FROM_RESULTS}{record['picture']}",
        "model": {
            "pipeline": record["pipeline"],
            "model_id": request.model.id,
            "revision": request.model.revision,
        },
        "gen_params": {
            "seed": item.seed,
            "height": record["height"],
            "width": record["width"],
            "num_inference_steps": sampling.steps,
            "guidance_scale": request.guidance_scale,
            "scheduler": sampling.scheduler_id or None,
            "negative_prompt": request.scene.prompt.negative or None,
        },
        "prompt": stated.prompt,
        "relation": stated.relation_type.id,
        "object_a": stated.subject,
        "object_b": stated.object,
        "timestamp_utc": record["created"],
        "code_version": record["versions"],
        "cost": {name: record.get(name) for name in (*COSTS, "device")},
    }


def prompt_line(
    stated: BenchmarkItem, tags: Sequence[str], counterpart: BenchmarkItem | None
) -> Record:
    """Return the line of a prompt and relation in ``prompts.jsonl`` of the release.

    Args:
        stated: The prompt and relation.
        tags: Difficulty tags of the prompt.
        counterpart: The prompt with swapped objects and the inverse relation; None without one.
    """
    names = {"object_a": stated.subject, "object_b": stated.object}
    line = {
        "prompt_id": stated.id,
        "pair_id": min(stated.id, counterpart.id) if counterpart else stated.id,
        "relation": stated.relation_type.id,
        **{end: {"name": name, "coco_label": name} for end, name in names.items()},
        "prompt": stated.prompt,
        "difficulty_tags": list(tags),
    }
    if counterpart is None:
        return line
    other = {"relation": counterpart.relation_type.id, "prompt": counterpart.prompt}
    return {**line, "counterfactual": {"prompt_id": counterpart.id, **other}}


def sample_id(run_id: str, prompt_id: str, seed: int) -> str:
    """Return the id of a picture and relation, as the release forms it."""
    return f"{run_id}_{prompt_id}_seed{seed:04d}"


def relative_to(path: Path, folder: Path) -> str:
    """Return a path below a folder with forward slashes, so that the folder can be moved."""
    return path.relative_to(folder).as_posix()
