"""Select a small run folder of SpatialBench-UC that the tests judge again.

Takes the release's ``run_promptonly`` folder and writes ``spatialbench_run`` beside this script:
prompts with their counterparts, taken in order as long as they add a kind of verdict, with all
their lines as they are.

    python tests/golden/select_spatialbench_run.py RUN_PROMPTONLY_FOLDER
"""

import json
import shutil
import sys
from pathlib import Path

EVALUATIONS = ("eval", "eval_precal")


def main(run_folder: Path) -> None:
    target = Path(__file__).with_name("spatialbench_run")
    wanted = selected(lines_of(run_folder / "eval" / "per_sample.jsonl"))
    keep(run_folder, target, "manifest.jsonl", wanted)
    for evaluation in EVALUATIONS:
        keep(run_folder, target, f"{evaluation}/per_sample.jsonl", wanted)
        shutil.copyfile(
            run_folder / evaluation / "checker_config.yaml",
            target / evaluation / "checker_config.yaml",
        )


def selected(lines: list[str]) -> set[str]:
    kinds: set[tuple[str, str]] = set()
    chosen: set[str] = set()
    for record in map(json.loads, lines):
        kind = record["verdict_raw"], (record["verdict_reason"] or "")[:6]
        if kind not in kinds:
            kinds.add(kind)
            even = int(record["prompt_id"].removeprefix("v1_")) // 2 * 2
            chosen |= {f"v1_{even:06d}", f"v1_{even + 1:06d}"}
    return chosen


def keep(run_folder: Path, target: Path, name: str, prompt_ids: set[str]) -> None:
    kept = [
        line for line in lines_of(run_folder / name) if json.loads(line)["prompt_id"] in prompt_ids
    ]
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    (target / name).write_text("\n".join(kept) + "\n", encoding="utf-8")


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
