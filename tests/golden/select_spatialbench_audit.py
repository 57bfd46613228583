"""Select what the audit's tests need of SpatialBench-UC: samples, labels, verdicts of the run.

Takes the folder with the release's ``audit`` and ``run_promptonly`` and writes
``spatialbench_audit`` beside this script: sample and labels as they are, cut to the prompt-only
method, and ``verdicts.csv`` with id, relation, verdict and confidence of all pictures, before
calibration and after.

    python tests/golden/select_spatialbench_audit.py RELEASE_FOLDER
"""

import csv
import json
import shutil
import sys
from pathlib import Path

COLUMNS = ("sample_id", "relation", "verdict_before", "conf_before", "verdict", "conf")


def main(release: Path) -> None:
    target = Path(__file__).with_name("spatialbench_audit")
    target.mkdir(exist_ok=True)
    for name in ("sample.csv", "labels.csv", "labels.json"):
        shutil.copyfile(release / "audit" / name, target / name)
    before = records(release / "run_promptonly" / "eval_precal")
    after = {each["sample_id"]: each for each in records(release / "run_promptonly" / "eval")}
    with (target / "verdicts.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for old in before:
            new = after[old["sample_id"]]
            row = old["sample_id"], old["relation"], old["verdict_raw"], old["conf"]
            writer.writerow((*row, new["verdict_raw"], new["conf"]))


def records(folder: Path) -> list[dict]:
    lines = (folder / "per_sample.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
