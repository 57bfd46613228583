"""Select the prompts on which guidance is compared with none.

Takes the release's ``prompts.jsonl`` and writes ``guidance_prompts.jsonl`` beside this script:
ten prompts of every relation, drawn with a fixed seed.

    python tests/golden/select_guidance_prompts.py PROMPTS_FILE
"""

import json
import random
import sys
from collections import defaultdict
from pathlib import Path

PER_RELATION = 10
SEED = 0


def main(prompts_file: Path) -> None:
    by_relation = defaultdict(list)
    for line in prompts_file.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        by_relation[entry["relation"]].append({"id": entry["prompt_id"], "text": entry["prompt"]})
    rng = random.Random(SEED)
    chosen = [
        prompt
        for relation in sorted(by_relation)
        for prompt in sorted(rng.sample(by_relation[relation], PER_RELATION), key=lambda p: p["id"])
    ]
    target = Path(__file__).with_name("guidance_prompts.jsonl")
    lines = [json.dumps(prompt, separators=(",", ":")) for prompt in chosen]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
