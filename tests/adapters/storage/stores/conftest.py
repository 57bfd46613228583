"""A small run of two steps, and its evaluation."""

from hashlib import sha256
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    SamplingSettings,
    StepEvent,
)
from spatialstudio.domain.library import Marks, Reproduction, Sameness
from spatialstudio.domain.scene import (
    LEFT_OF,
    ObjectMention,
    Prompt,
    Relation,
    SceneGraph,
    TextSpan,
    TokenSpan,
)
from spatialstudio.domain.steering import (
    ParticleStep,
)
from spatialstudio.domain.verdict import (
    ConfidenceComponents,
    DepthMap,
    Evaluation,
    Mask,
    Measurement,
    Outcome,
    Perception,
    Verdict,
)

MARKS = Marks(stars=4, tags=("draft", "für später"), note="nice\ncat")
NEAR = Reproduction(
    sameness=Sameness.CLOSE, mean_difference=0.25, largest_difference=2, reasons=("device",)
)


def rewritten(path, name, content):
    """Put another member into a trace."""
    with ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for member, data in (members | {name: content}).items():
            archive.writestr(member, data)
    path.write_bytes(buffer.getvalue())


@pytest.fixture
def scene():
    mentions = (
        ObjectMention(id="m1", phrase="cat", head="cat", span=TextSpan(start=2, stop=5)),
        ObjectMention(id="m2", phrase="dog", head="dog", span=TextSpan(start=16, stop=19)),
    )
    claim = Relation(id="r1", type=LEFT_OF, subject="m1", object="m2")
    return SceneGraph(
        prompt=Prompt(text="a cat left of a dog"),
        mentions=mentions,
        relations=(claim,),
        extractor_id="grammar",
    )


@pytest.fixture
def request_(scene):
    return GenerationRequest(
        id="x1",
        scene=scene,
        backend_id="diffusers",
        model=ModelRef(id="stickers"),
        sampling=SamplingSettings(seed=7),
    )


@pytest.fixture
def events():
    rng = np.random.default_rng(0)
    attention = AttentionSnapshot(
        maps={"m1": rng.random((4, 4), np.float32), "m2": rng.random((4, 4), np.float32)},
        layers=("down_blocks.0.attn2", "up_blocks.1.attn2"),
    )
    span = TokenSpan(mention_id="m1", encoder_id="text_encoder", indices=(2,))
    preview, image = rng.integers(0, 256, (2, 8, 8, 3), np.uint8)
    first = StepEvent(
        request_id="x1",
        step=0,
        total_steps=2,
        timestep=900.0,
        pos={"r1": np.float32(0.3)},
        guidance_loss=0.49,
        step_size=5.0,
        attention=attention,
        attention_after=AttentionSnapshot(
            maps={name: weights[::-1] for name, weights in attention.maps.items()},
            layers=attention.layers,
        ),
        pos_after={"r1": np.float32(0.6)},
        preview=preview,
    )
    return (
        GenerationStarted(request_id="x1", total_steps=2, token_spans=(span,), device="cpu"),
        first,
        StepEvent(
            request_id="x1",
            step=1,
            total_steps=2,
            timestep=400.0,
            pos={"r1": 0.8},
            particles=ParticleStep(
                passes=2, rewards=(0.2, 0.9), weights=(0.1, 0.9), parents=(1, 1), shown=1
            ),
        ),
        GenerationFinished(request_id="x1", image=image, seconds=1.5, peak_memory_bytes=10**9),
    )


@pytest.fixture
def evaluation(events):
    pixels = np.zeros((8, 8), bool)
    pixels[:4] = True
    digest = sha256(events[-1].image.tobytes()).hexdigest()
    mask = Mask(mention_id="m1", pixels=pixels, score=0.9, source_id="segmenter")
    depth = DepthMap(values=np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8), estimator_id="d")
    perception = Perception(
        image_sha256=digest, height=8, width=8, detections=(), masks=(mask,), depth=depth
    )
    sure = ConfidenceComponents(detection=1.0, geometry=1.0, stability=1.0, agreement=1.0)
    measured = Measurement(delta=-0.3, margin=0.1, overlap=0.0, pos=0.97, pse=0.94)
    verdict = Verdict(
        relation_id="r1",
        outcome=Outcome.PASS,
        confidence=1.0,
        components=sure,
        measurement=measured,
    )
    return Evaluation(perception=perception, verdicts=(verdict,), seconds=0.2)


@pytest.fixture
def picture(tmp_path, request_, events, evaluation):
    """The picture of the run, stored with its evaluation."""
    return store_run(request_, events, evaluation, RunFiles(), tmp_path)
