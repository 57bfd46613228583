"""Random domain values for property tests: everything a stored run may hold."""

from datetime import UTC

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from spatialstudio.domain.assertion import (
    Assertion,
    AssertionScore,
    DaScore,
    DaSettings,
    YesNoChances,
)
from spatialstudio.domain.attention import AttentionFile, AttentionSnapshot
from spatialstudio.domain.devices import MemoryEstimate
from spatialstudio.domain.generation import (
    CandidateScore,
    CaptureSettings,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    GuidanceSettings,
    ModelRef,
    ModelSetup,
    NoiseSearch,
    PlaceTarget,
    Refinement,
    SamplingSettings,
    StepEvent,
    StepUnit,
)
from spatialstudio.domain.scene import (
    BUILT_IN_TYPES,
    Note,
    ObjectMention,
    Prompt,
    Relation,
    SceneGraph,
    Shape,
    TextSpan,
    TokenSpan,
)
from spatialstudio.domain.verdict import (
    AbstentionReason,
    AdjustedVerdict,
    Adjustment,
    Box,
    CheckerSettings,
    ConfidenceComponents,
    DepthMap,
    Detection,
    Evaluation,
    Looks,
    Mask,
    Measurement,
    Outcome,
    Perception,
    Verdict,
)

MENTION_IDS = ("m1", "m2", "m3")
RELATION_IDS = ("r1", "r2")

words = st.text(max_size=12)
shares = st.floats(0, 1)
floats = st.floats()
counts = st.integers(0, 2**40)
sides = st.integers(1, 6)
mention_ids = st.sampled_from(MENTION_IDS)
relation_ids = st.sampled_from(RELATION_IDS)
times = st.datetimes(timezones=st.just(UTC))

spans = st.builds(
    lambda start, length: TextSpan(start=start, stop=start + length), counts, st.integers(1, 9)
)


def tuples_of(items, max_size=3):
    return st.lists(items, max_size=max_size).map(tuple)


def images(height, width):
    return arrays.arrays(np.uint8, (height, width, 3))


def maps(height, width):
    return arrays.arrays(np.float32, (height, width), elements=st.floats(0, 1, width=32))


def relation(relation_id, relation_type, span):
    second = MENTION_IDS[2] if relation_type.shape is Shape.BETWEEN else None
    return Relation(
        id=relation_id,
        type=relation_type,
        subject=MENTION_IDS[0],
        object=MENTION_IDS[1],
        second_object=second,
        span=span,
    )


mentions = [
    st.builds(
        ObjectMention,
        id=st.just(mention_id),
        phrase=words,
        head=words,
        attributes=tuples_of(words),
        span=spans,
    )
    for mention_id in MENTION_IDS
]

relations = st.builds(relation, relation_ids, st.sampled_from(BUILT_IN_TYPES), st.none() | spans)

scenes = st.builds(
    SceneGraph,
    prompt=st.builds(Prompt, text=st.text(), negative=words, language=words),
    mentions=st.tuples(*mentions),
    relations=tuples_of(relations),
    extractor_id=words,
    notes=tuples_of(st.builds(Note, message=words, span=st.none() | spans)),
)

requests = st.builds(
    GenerationRequest,
    id=words,
    scene=scenes,
    backend_id=words,
    model=st.builds(ModelRef, id=words, revision=words, sha256=words),
    sampling=st.builds(
        SamplingSettings,
        seed=st.integers(0, 2**32 - 1),
        steps=counts,
        scheduler_id=words,
        guidance=st.builds(
            GuidanceSettings,
            method_id=words,
            strength=floats,
            last_step=st.none() | counts,
            options=st.dictionaries(words, st.booleans() | counts | shares | words),
            goal=floats,
            unit=st.sampled_from(StepUnit),
            refinements=tuples_of(st.builds(Refinement, step=counts, presence=shares)),
            mention_weights=st.dictionaries(mention_ids, floats),
            targets=tuples_of(
                st.builds(
                    PlaceTarget, mention_id=mention_ids, x=shares, y=shares, size=st.none() | shares
                )
            ),
            target_weight=shares,
        ),
    ),
    guidance_scale=floats,
    width=st.none() | counts,
    height=st.none() | counts,
    search=st.builds(NoiseSearch, candidates=counts, enough=shares),
    capture=st.builds(CaptureSettings, attention_every=counts, preview_every=counts),
    parent_run_id=words,
)

candidate_scores = st.builds(
    CandidateScore,
    seed=counts,
    pse=shares,
    lead=floats,
    found=counts,
    sureness=shares,
    second=shares,
)

measurements = st.builds(
    Measurement,
    delta=st.none() | floats,
    margin=shares,
    overlap=shares,
    pos=st.none() | shares,
    pse=shares,
    gap=st.none() | shares,
)
components = st.builds(
    ConfidenceComponents, detection=shares, geometry=shares, stability=shares, agreement=shares
)
answers = st.sampled_from(
    [(Outcome.PASS, None), (Outcome.FAIL, None)]
    + [(Outcome.UNDECIDABLE, reason) for reason in AbstentionReason]
)
verdicts = st.builds(
    lambda answer, **rest: Verdict(outcome=answer[0], reason=answer[1], **rest),
    answers,
    relation_id=relation_ids,
    confidence=shares,
    components=components,
    measurement=st.none() | measurements,
    about=tuples_of(mention_ids),
)

boxes = st.builds(Box, left=floats, top=floats, right=floats, bottom=floats)
detections = st.builds(
    Detection,
    mention_id=mention_ids,
    label=words,
    score=shares,
    box=boxes,
    detector_id=words,
)


@st.composite
def perceptions(draw):
    height, width = draw(sides), draw(sides)
    masks = st.builds(
        Mask,
        mention_id=mention_ids,
        pixels=arrays.arrays(np.bool_, (height, width)),
        score=shares,
        source_id=words,
    )
    depth = st.builds(DepthMap, values=maps(height, width), estimator_id=words)
    return Perception(
        image_sha256=draw(words),
        height=height,
        width=width,
        detections=draw(tuples_of(detections)),
        masks=draw(tuples_of(masks)),
        depth=draw(st.none() | depth),
        missing_classes=draw(tuples_of(words)),
    )


assertions = st.builds(
    Assertion,
    id=words,
    text=words,
    question=words,
    mention_id=st.none() | mention_ids,
    relation_id=st.none() | relation_ids,
    attribute=words,
    weight=shares,
)
assertion_scores = st.builds(
    AssertionScore,
    assertion=assertions,
    probability_yes=st.none() | shares,
    chances=st.none() | st.builds(YesNoChances, log_yes=floats, log_no=floats),
    note=words,
)
da_scores = st.builds(
    DaScore,
    value=st.none() | shares,
    scores=tuples_of(assertion_scores),
    source_id=words,
    asserted_by=words,
    settings=st.builds(DaSettings, temperature=floats, relation_weight=shares),
    notes=tuples_of(words),
)

evaluations = st.builds(
    Evaluation,
    perception=perceptions(),
    verdicts=tuples_of(verdicts),
    checker=st.builds(CheckerSettings, margin=shares, weights=st.tuples(*[shares] * 4)),
    seconds=floats,
    looks=st.builds(
        Looks,
        perturbed=tuples_of(st.none() | perceptions()),
        second=st.none() | perceptions(),
        stability=st.none() | shares,
    ),
    da_score=st.none() | da_scores,
    adjusted=tuples_of(
        st.builds(
            AdjustedVerdict,
            verdict=verdicts,
            adjustment=st.builds(
                Adjustment,
                checker=st.builds(CheckerSettings, margin=shares),
                choices=tuples_of(detections),
            ),
        )
    ),
)

token_spans = st.builds(
    TokenSpan,
    mention_id=mention_ids,
    encoder_id=words,
    indices=st.lists(counts, min_size=1, max_size=3).map(tuple),
)


attention_files = st.builds(
    AttentionFile,
    layer=words,
    name=words,
    words=tuples_of(words),
    shape=st.tuples(*[counts] * 5),
    steps_before=tuples_of(counts),
)
layer_files = st.lists(
    attention_files, max_size=3, unique_by=lambda file: (file.layer, bool(file.steps_before))
).map(tuple)
estimates = st.builds(
    MemoryEstimate,
    weights_bytes=counts,
    guiding_bytes=counts,
    denoising_bytes=counts,
    decoding_bytes=counts,
)


setups = st.builds(ModelSetup, dtype=words, attention=words, weights_sha256=words)


@st.composite
def step_events(draw, request_id, step, total_steps):
    height, width = draw(sides), draw(sides)
    layers = draw(tuples_of(st.sampled_from(["down.0", "mid", "up.1"])))
    snapshots = st.builds(
        AttentionSnapshot,
        maps=st.dictionaries(mention_ids, maps(height, width), min_size=1),
        layers=st.just(layers),
    )
    attention = draw(st.none() | snapshots)
    return StepEvent(
        request_id=request_id,
        step=step,
        total_steps=total_steps,
        timestep=draw(floats),
        pos=draw(st.dictionaries(relation_ids, shares)),
        guidance_loss=draw(st.none() | floats),
        step_size=draw(st.none() | floats),
        pos_after=draw(st.dictionaries(relation_ids, shares)),
        guiding_passes=draw(counts),
        attention=attention,
        attention_after=None if attention is None else draw(st.none() | snapshots),
        preview=draw(st.none() | images(height, width)),
    )


@st.composite
def finished_runs(draw):
    """A request and the events of drawing it, first to last."""
    request = draw(requests)
    total_steps = draw(st.integers(0, 3))
    started = GenerationStarted(
        request_id=request.id,
        total_steps=total_steps,
        token_spans=draw(tuples_of(token_spans)),
        device=draw(words),
        attention_files=draw(layer_files),
        memory=draw(st.none() | estimates),
    )
    steps = [draw(step_events(request.id, step, total_steps)) for step in range(total_steps)]
    finished = GenerationFinished(
        request_id=request.id,
        image=draw(images(draw(sides), draw(sides))),
        seconds=draw(floats),
        peak_memory_bytes=draw(counts),
        candidates=draw(tuples_of(candidate_scores)),
        setup=draw(setups),
    )
    return request, (started, *steps, finished)
