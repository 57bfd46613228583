"""A library of a few stored runs."""

from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.library import read_filter
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    GuidanceSettings,
    ModelRef,
    SamplingSettings,
    StepEvent,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import ABOVE, LEFT_OF
from spatialstudio.domain.verdict import (
    AbstentionReason,
    ConfidenceComponents,
    Evaluation,
    Measurement,
    Outcome,
    Perception,
    Verdict,
)
from tests.fakes import scene_of

SURE = ConfidenceComponents(detection=1.0, geometry=1.0, stability=1.0, agreement=1.0)


def scene(text, subject, kind, other):
    found = scene_of(subject, other)
    relation = replace(found.relations[0], type=kind)
    return replace(found, prompt=replace(found.prompt, text=text), relations=(relation,))


PSG = GuidanceSettings(method_id="psg", strength=8.0)


def keep(root, number, outcome, pos, made, **asked):
    """Store one run, asked for like that; return its picture."""
    request = GenerationRequest(
        id=f"request {number}",
        scene=made,
        backend_id="fake",
        model=ModelRef(id="stickers"),
        sampling=SamplingSettings(seed=number, guidance=PSG),
    )
    request = with_values(request, **asked)
    relation = made.relations[0].id
    image = np.full((8, 8, 3), number, np.uint8)
    events = (
        GenerationStarted(request_id=request.id, total_steps=1, token_spans=(), device="cpu"),
        StepEvent(request_id=request.id, step=0, total_steps=1, timestep=1.0, pos={relation: pos}),
        GenerationFinished(request_id=request.id, image=image, seconds=1.0, peak_memory_bytes=1),
    )
    verdict = Verdict(
        relation_id=relation,
        outcome=outcome,
        confidence=0.9,
        components=SURE,
        measurement=Measurement(delta=0.1, margin=0.1, overlap=0.0, pos=pos, pse=pos),
        reason=AbstentionReason.UNSTABLE if outcome is Outcome.UNDECIDABLE else None,
    )
    seen = Perception(image_sha256="", height=8, width=8, detections=(), masks=())
    evaluation = Evaluation(perception=seen, verdicts=(verdict,))
    return store_run(request, events, evaluation, RunFiles(), root / "2026" / "11")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def pictures(root):
    """Four runs: cat left of dog, failed and passed; a house above a tree; 猫."""
    left = scene("a cat to the left of a dog", "cat", LEFT_OF, "dog")
    above = scene("a house above a tree", "house", ABOVE, "tree")
    chinese = scene("一只猫在树上", "cat", ABOVE, "tree")
    return [
        keep(root, 1, Outcome.FAIL, 0.4, left, guidance=replace(PSG, method_id="none")),
        keep(root, 2, Outcome.PASS, 0.9, left),
        keep(root, 3, Outcome.UNDECIDABLE, 0.55, above),
        keep(root, 4, Outcome.PASS, 0.8, chinese),
    ]


@pytest.fixture
def library(root, tmp_path, pictures):
    library = RunLibrary(root, tmp_path / "cache")
    library.refresh()
    yield library
    library.close()


@pytest.fixture
def found(library):
    """Tell the seeds of the runs that a filter line finds."""

    def seeds(line):
        entries = library.entries(library.find(read_filter(line)))
        return sorted(entry.summary.seed for entry in entries)

    return seeds
