"""Select the verdicts of a complete SpatialBench-UC release, and the tables it reports on them.

Writes ``spatialbench_release`` beside this script: the published tables of both evaluations, and
``verdicts_NAME.csv`` with a row per run and prompt: the verdicts of its four pictures in the order
of their seeds (P, F, U), and the confidences of those that are not 0.

    python tests/golden/select_spatialbench_release.py RELEASE_FOLDER
"""

import csv
import json
import shutil
import sys
from itertools import groupby
from pathlib import Path

RUNS = ("sd15_promptonly", "sd15_boxdiff", "sd14_gligen")
REPORTS = {"eval": "v1_calibrated", "eval_precal_20260116_113552": "v1_finalfix"}


def main(release: Path) -> None:
    target = Path(__file__).with_name("spatialbench_release")
    for evaluation, report in REPORTS.items():
        (tables,) = release.rglob(f"{report}_*/tables")
        shutil.copytree(tables, target / report, dirs_exist_ok=True)
        path = target / f"verdicts_{report}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            for run in RUNS:
                writer.writerows(rows(run, next(release.rglob(f"{run}/{evaluation}"))))


def rows(run: str, evaluation: Path):
    lines = (evaluation / "per_sample.jsonl").read_text(encoding="utf-8").splitlines()
    records = sorted(map(json.loads, lines), key=lambda each: each["sample_id"])
    for prompt, own in groupby(records, lambda each: each["prompt_id"]):
        known = list(own)
        verdicts = "".join(each["verdict_raw"][0] for each in known)
        confidences = (str(each["conf"]) if each["conf"] else "" for each in known)
        yield run, prompt, verdicts, *confidences


if __name__ == "__main__":
    main(Path(sys.argv[1]))
