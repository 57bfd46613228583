"""Select the prompts of public benchmarks that the grammar must read without a fault.

Takes the folder that holds ``spatialbench-uc``, ``geneval`` and ``t2i-compbench``, and writes
``dataset_prompts.jsonl`` beside this script: prompts evenly spaced in each list, unchanged, with
the relation that the list itself claims.

    python tests/golden/select_dataset_prompts.py DATA_FOLDER
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

EACH = 25
PHRASES = {
    "on the left of": "left_of",
    "on the right of": "right_of",
    "left of": "left_of",
    "right of": "right_of",
    "on the top of": "above",
    "on the bottom of": "below",
    "above": "above",
    "below": "below",
    "on side of": "near",
    "next to": "near",
    "near": "near",
    "in front of": "in_front_of",
    "behind": "behind",
    "hidden by": "behind",
}
CLAIM = re.compile(rf"an? (\w+) ({'|'.join(PHRASES)}) an? (\w+)")
Row = dict[str, str]


def main(data: Path) -> None:
    lists = [
        list(spatialbench(data / "spatialbench-uc" / "prompts" / "prompts.jsonl")),
        list(geneval(data / "geneval" / "position.jsonl")),
        list(compbench(data / "t2i-compbench" / "spatial_val.txt")),
        list(compbench(data / "t2i-compbench" / "3d_spatial_val.txt")),
    ]
    chosen = [row for rows in lists for row in rows[:: len(rows) // EACH][:EACH]]
    target = Path(__file__).with_name("dataset_prompts.jsonl")
    target.write_text("".join(json.dumps(row) + "\n" for row in chosen), encoding="utf-8")


def spatialbench(path: Path) -> Iterator[Row]:
    for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        subject, thing = record["object_a"]["name"], record["object_b"]["name"]
        yield row(record["prompt"], subject, record["relation"], thing)


def geneval(path: Path) -> Iterator[Row]:
    for record in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        thing, subject = record["include"]
        relation = PHRASES[subject["position"][0]]
        yield row(record["prompt"], subject["class"], relation, thing["class"])


def compbench(path: Path) -> Iterator[Row]:
    for line in path.read_text(encoding="utf-8").splitlines():
        claim = CLAIM.fullmatch(line.strip())
        assert claim, line
        yield row(line.strip(), claim[1], PHRASES[claim[2]], claim[3])


def row(prompt: str, subject: str, relation: str, thing: str) -> Row:
    return {"prompt": prompt, "subject": subject, "relation": relation, "object": thing}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
