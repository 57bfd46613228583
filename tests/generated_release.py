"""A generated release of three runs in the form of SpatialBench-UC, with labels and pictures.

    python -m tests.generated_release FOLDER [SEED]

Verdicts and confidences before and after calibration, and the labels of people, are random but
related: people contradict sure verdicts rarely.
"""

import csv
import json
import random
import sys
from pathlib import Path

import numpy as np
from PIL import Image

RUNS = ("sd15_promptonly", "sd15_boxdiff", "sd14_gligen")
BEFORE, AFTER = "eval_precal_20260116_113552", "eval"
"""The evaluations before and after the calibration, as the release names them."""
RELATIONS = ("left_of", "right_of", "above", "below")
NAMES = ("cat", "dog", "bus", "cup", "chair", "bird")
VERDICTS = ("PASS", "FAIL", "UNDECIDABLE")
SEEDS = 4
SIDE = 96


def write_release(folder, seed=1, prompts=60, pictures=False):
    """Write runs and return their folders, in the order of the release."""
    chance = random.Random(seed)
    return [_write_run(folder / run, chance, prompts, pictures) for run in RUNS]


def write_labels(path, sample, seed=1, rater="Ada"):
    """Write labels of the rows of a sample file, and return them by id."""
    chance = random.Random(seed)
    with Path(sample).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    labels = {}
    for row in rows:
        verdict, sure = row["checker_verdict_raw"], float(row["conf"])
        agrees = verdict != "UNDECIDABLE" and chance.random() < 0.6 + 0.4 * sure
        labels[row["sample_id"]] = verdict if agrees else chance.choice(VERDICTS)
    lines = [f"{key},{verdict},,2026-01-14T15:00:00Z,{rater}" for key, verdict in labels.items()]
    Path(path).write_text("sample_id,human_verdict,notes,timestamp,rater\n" + "\n".join(lines))
    return labels


def _write_run(run, chance, prompts, pictures):
    manifest, before, after = [], [], []
    for number in range(prompts):
        relation = RELATIONS[number % 4]
        names = chance.sample(NAMES, 2)
        for seed in range(SEEDS):
            sample_id = f"{run.name}_v1_{number:06d}_seed{seed:04d}"
            manifest.append(_line(run.name, sample_id, number, seed, (relation, *names)))
            if pictures:
                _paint(run / "images" / f"{sample_id}.png", chance)
            for records, undecided in ((before, 0.4), (after, 0.6)):
                records.append(_record(sample_id, number, (relation, *names), chance, undecided))
    for name, records in ((BEFORE, before), (AFTER, after)):
        evaluation = run / name
        evaluation.mkdir(parents=True)
        (evaluation / "per_sample.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n")
    (run / "manifest.jsonl").write_text("\n".join(map(json.dumps, manifest)) + "\n")
    return run


def _line(run_id, sample_id, number, seed, claim):
    relation, subject, other = claim
    return {
        "sample_id": sample_id,
        "run_id": run_id,
        "prompt_id": f"v1_{number:06d}",
        "image_path": f"images/{sample_id}.png",
        "gen_params": {"seed": seed, "height": SIDE, "width": SIDE},
        "prompt": f"A photo of a {subject} {relation.replace('_', ' ')} a {other}.",
        "relation": relation,
        "object_a": subject,
        "object_b": other,
    }


def _record(sample_id, number, claim, chance, undecided):
    relation, subject, other = claim
    is_open = chance.random() < undecided
    verdict = "UNDECIDABLE" if is_open else chance.choices(VERDICTS[:2], (3, 2))[0]
    sure = 0.0 if is_open and chance.random() < 0.7 else chance.betavariate(2, 2)
    return {
        "sample_id": sample_id,
        "prompt_id": f"v1_{number:06d}",
        "relation": relation,
        "object_a": subject,
        "object_b": other,
        "verdict_raw": verdict,
        "verdict_reason": "missing: x" if is_open else None,
        "conf": sure * 0.01 if is_open else sure,
        "conf_components": dict.fromkeys(("detection", "geometry", "stability", "agreement"), 1.0),
        "detectors": {"primary": {"type": "fasterrcnn", "detections": []}},
        "selected": {"box_a_xyxy": None, "box_b_xyxy": None, "score_a": None, "score_b": None},
        "geometry": {"delta": None, "margin": 0.1, "iou_ab": None},
        "overlay_path": f"overlays/{sample_id}.png",
    }


def _paint(path, chance):
    """Paint two squares on a ground, so that pictures differ."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.full((SIDE, SIDE, 3), [chance.randint(180, 240) for _ in range(3)], np.uint8)
    for _ in range(2):
        y, x = chance.randrange(SIDE - 24), chance.randrange(SIDE - 24)
        pixels[y : y + 24, x : x + 24] = [chance.randint(0, 160) for _ in range(3)]
    Image.fromarray(pixels).save(path)


if __name__ == "__main__":
    write_release(Path(sys.argv[1]), int((*sys.argv[2:], "1")[0]), pictures=True)
