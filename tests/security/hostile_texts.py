"""Settings, records, lists and remembered perceptions that nest or claim too much."""

import json
import os

import numpy as np

from spatialstudio.adapters.perception import perception_cache
from spatialstudio.adapters.storage.records.audit_files import SpatialBenchAudits
from spatialstudio.adapters.storage.records.spatialbench_uc import (
    SpatialBenchRuns,
    read_checker_config,
)
from spatialstudio.adapters.storage.stores.state_files import PlainStateFiles
from spatialstudio.application.evaluate.judging import read_prompts
from spatialstudio.cli import commands
from tests.security.hostile_files import MEGABYTE, Hostile, fifo, link, sparse, written

AUDITS = SpatialBenchAudits()
BENCHMARK = {"prompt_id": "p", "prompt": "a cat above a dog", "relation": "above"}


def read_records(path):
    return SpatialBenchRuns(path).read(path if path.is_dir() else path.parent)


def read_settings(path):
    return PlainStateFiles().read_settings(path)


def read_prompt_list(path):
    return commands._lines(path)


def find_perception(path):
    return perception_cache.PerceptionFiles(path.parent).find(path.stem)


def records(line, name="per_sample.jsonl"):
    """A recorded run, one of whose files is hostile."""

    def make(folder):
        row = {"sample_id": "s", "object_a": "cat", "object_b": "dog", "gen_params": {"seed": 1}}
        (folder / "manifest.jsonl").write_text(json.dumps({**BENCHMARK, **row}))
        (folder / "per_sample.jsonl").write_text("{}")
        path = folder / name
        path.unlink()
        line(path)
        return folder

    return make


def laughs(levels):
    rows = ["a0: &a0 [lol, lol]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join([*rows, f"geometry: {{margin: *a{levels - 1}}}"]).encode()


def packed_masks(shape, size):
    def make(folder):
        facts = {"image_sha256": "", "size": size, "cut": [], "missing_classes": [], "depth": None}
        facts |= {"detections": [], "masks": [{"mention_id": "m", "score": 1, "source_id": "s"}]}
        path = folder / "key.npz"
        plain = np.frombuffer(json.dumps(facts).encode(), np.uint8)
        np.savez_compressed(path, facts=plain, masks=np.zeros(shape, np.uint8))
        return path

    return make


TEXTS = {
    "YAML, a billion laughs": Hostile(written("c.yaml", laughs(12)), read_checker_config),
    "YAML, 30,000 brackets": Hostile(written("c.yaml", b"[" * 30_000), read_checker_config),
    "YAML, a number of 60,000 digits": Hostile(
        written("c.yaml", b"geometry: {margin: " + b"9" * 60_000 + b"}"), read_checker_config
    ),
    "YAML, 20 MB": Hostile(written("c.yaml", b"a: [1]\n" * 3_000_000), read_checker_config),
    "YAML, FIFO": Hostile(fifo("c.yaml"), read_checker_config),
    "records, a line of 100 MB": Hostile(
        records(lambda path: path.write_bytes(b'"' + b"x" * (100 * MEGABYTE))), read_records
    ),
    "records, a line of 200,000 brackets": Hostile(
        records(lambda path: path.write_bytes(b"[" * 200_000)), read_records
    ),
    "records, 20,000,000 values": Hostile(
        records(lambda path: path.write_bytes((b"[" + b"0," * 1000 + b"0]\n") * 20_000)),
        read_records,
    ),
    "records, a manifest of 20 GB": Hostile(
        records(lambda path: sparse(path.name)(path.parent), "manifest.jsonl"),
        read_records,
    ),
    "records, FIFO": Hostile(records(os.mkfifo), read_records),
    "settings, 200,000 brackets": Hostile(written("s.json", b"[" * 200_000), read_settings),
    "settings, sparse 20 GB": Hostile(sparse("s.json"), read_settings),
    "settings, FIFO": Hostile(fifo("s.json"), read_settings),
    "prompts, FIFO": Hostile(fifo("p.csv"), read_prompts),
    "prompts, sparse 20 GB": Hostile(sparse("p.csv"), read_prompts),
    "prompts, a deep line": Hostile(written("p.jsonl", b"[" * 200_000), read_prompts),
    "prompts, a cell of 10 MB": Hostile(
        written("p.csv", b"picture,prompt\na," + b"x" * (10 * MEGABYTE)), read_prompts
    ),
    "audit labels, 200,000 brackets": Hostile(
        written("l.json", b"[" * 200_000), AUDITS.read_labels
    ),
    "audit labels, a cell of 3 MB": Hostile(
        written("l.csv", b"sample_id,human_verdict\na," + b"x" * (3 * MEGABYTE)),
        AUDITS.read_labels,
    ),
    "audit labels, sparse 20 GB": Hostile(sparse("l.csv"), AUDITS.read_labels),
    "audit labels, FIFO": Hostile(fifo("l.csv"), AUDITS.read_labels),
    "audit sample, /dev/zero": Hostile(link("s.csv"), AUDITS.read_sample),
    "audit sample, sparse 20 GB": Hostile(sparse("s.csv"), AUDITS.read_sample),
    "prompts to parse, /dev/zero": Hostile(link("p.jsonl"), read_prompt_list),
    "perception, masks of 8 GB": Hostile(
        packed_masks((1, 20_000, 2500), [20_000, 20_000]), find_perception, opens=True
    ),
    "perception, a width of 10^9": Hostile(
        packed_masks((1, 8, 1), [8, 10**9]), find_perception, opens=True
    ),
}
