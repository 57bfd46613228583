"""An independent computation of an audit, from the description of the method alone.

    python -m tests.independent_audit RUN... [--evaluation NAME] --sample FILE --labels FILE

It imports nothing of the program: standard library only. Sections 6.5 to 6.8 of the description of
SpatialBench-UC (Rostane 2026, arXiv:2601.13462): the stratified sample of three runs, confusion,
risk and coverage, and the objective J over confidence thresholds.
"""

import argparse
import csv
import json
import random
from pathlib import Path

THRESHOLDS = (0.3, 0.5, 0.7)


def population(runs, evaluation):
    """Return (method, relation, verdict, confidence, id) of all pictures, run by run."""
    found = []
    for run in runs:
        name = Path(run).name
        for prefix in ("smoke_", "exp_"):
            name = name.removeprefix(prefix)
        parts = name.split("_")
        is_model = parts[0][:2] == "sd" and parts[0][2:].isdigit() and len(parts) > 1
        method = parts[1 if is_model else 0]
        with (Path(run) / evaluation / "per_sample.jsonl").open() as file:
            for row in map(json.loads, file):
                found.append(
                    (method, row["relation"], row["verdict_raw"], row["conf"], row["sample_id"])
                )
    return found


def stratified_sample(pictures, size=200, seed=42):
    """Return the ids of a sample, in the order of the release."""
    rng = random.Random(seed)
    groups = {}
    for method, relation, verdict, confidence, sample_id in pictures:
        groups.setdefault((method, relation, verdict), []).append((confidence, sample_id))
    methods = sorted({key[0] for key in groups})
    room = {m: sum(len(v) for k, v in groups.items() if k[0] == m) for m in methods}
    budget = round_robin(room, size)
    quota = {}
    for m in methods:
        keys = [key for key in groups if key[0] == m]
        rng.shuffle(keys)
        quota |= round_robin({key: len(groups[key]) for key in keys}, budget[m])
    return [each for key, members in groups.items() for each in draw(members, quota[key], rng)]


def round_robin(room, size):
    """Deal ``size`` one by one to the keys in turn, up to the room of each."""
    dealt = dict.fromkeys(room, 0)
    size = min(size, sum(room.values()))
    while sum(dealt.values()) < size:
        for key in room:
            if dealt[key] < room[key] and sum(dealt.values()) < size:
                dealt[key] += 1
    return dealt


def draw(members, quota, rng):
    """Draw from one group, spread over five bins of confidence."""
    bins = {}
    for confidence, sample_id in members:
        bins.setdefault(min(4, int(confidence * 5)), []).append(sample_id)
    for each in bins.values():
        rng.shuffle(each)
    taken = []
    while len(taken) < quota:
        for number in sorted(bins):
            if bins[number] and len(taken) < quota:
                taken.append(bins[number].pop())
    return taken


def confusion(verdicts, labels, ids):
    """Return counts by (checker, human)."""
    names = ("PASS", "FAIL", "UNDECIDABLE")
    pairs = [(verdicts[each][0], labels[each]) for each in ids if each in labels]
    return {a: {b: pairs.count((a, b)) for b in names} for a in names}


def curve(verdicts, labels, ids):
    """Return (tau, coverage, risk, covered, evaluated) at 0, 1 and every decided confidence."""
    decided = [each for each in ids if verdicts[each][0] != "UNDECIDABLE"]
    taus = sorted({0.0, 1.0, *(verdicts[each][1] for each in decided)})
    return [point(verdicts, labels, ids, tau) for tau in taus]


def point(verdicts, labels, ids, tau):
    covered = [e for e in ids if verdicts[e][0] != "UNDECIDABLE" and verdicts[e][1] >= tau]
    tested = [each for each in covered if labels.get(each) in ("PASS", "FAIL")]
    right = sum(verdicts[each][0] == labels[each] for each in tested)
    risk = 1 - right / len(tested) if tested else float(bool(covered))
    return tau, len(covered) / len(ids), risk, len(covered), len(tested)


def objective(verdicts, labels, ids, tau):
    """Return (FPR, risk, coverage, J)."""
    _, coverage, risk, _, _ = point(verdicts, labels, ids, tau)
    passes = [each for each in ids if verdicts[each][0] == "PASS" and verdicts[each][1] >= tau]
    wrong = sum(labels.get(each) == "FAIL" for each in passes)
    rate = wrong / len(passes) if passes else 1.0
    return rate, risk, coverage, 10 * rate + 2 * risk + 0.5 * (1 - coverage)


def read_labels(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return {row["sample_id"]: row["human_verdict"] for row in csv.DictReader(file)}


def read_sample(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return [row["sample_id"] for row in csv.DictReader(file)]


def report(runs, evaluation, ids, labels):
    """Return all figures of an evaluation over a sample."""
    verdicts = {row[4]: (row[2], row[3]) for row in population(runs, evaluation)}
    rows = [
        dict(
            zip(
                ("false_pass_rate", "risk", "coverage", "objective"),
                objective(verdicts, labels, ids, tau),
                strict=True,
            ),
            threshold=tau,
        )
        for tau in THRESHOLDS
    ]
    return {
        "confusion": confusion(verdicts, labels, ids),
        "points": curve(verdicts, labels, ids),
        "rows": rows,
        "best": min(rows, key=lambda row: row["objective"]),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--evaluation", default="eval")
    parser.add_argument("--sample", required=True)
    parser.add_argument("--labels", required=True)
    given = parser.parse_args()
    found = report(
        given.runs, given.evaluation, read_sample(given.sample), read_labels(given.labels)
    )
    print(json.dumps(found, indent=1))  # noqa: T201


if __name__ == "__main__":
    main()
