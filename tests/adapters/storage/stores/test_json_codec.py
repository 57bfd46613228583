"""Every domain value survives JSON; nothing else is taken for one."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from spatialstudio.adapters.storage.stores.json_codec import decode, encode
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import (
    GenerationRequest,
    ModelRef,
)
from spatialstudio.domain.library import (
    ArtifactRef,
    RunRecord,
    StepSummary,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import (
    LEFT_OF,
    LoraUse,
    ObjectMention,
    Prompt,
    Relation,
    SceneGraph,
    SpanWeight,
    TextSpan,
)
from spatialstudio.domain.steering import (
    Potential,
    Steering,
    StepReward,
)
from spatialstudio.domain.verdict import (
    Box,
    CheckerSettings,
    ConfidenceComponents,
    Evaluation,
    Mask,
    Outcome,
    Verdict,
)
from tests.comparing import to_the_bit
from tests.strategies import evaluations, requests, words


@pytest.fixture
def request_of_a_cat():
    """A request with one relation, the smallest that has every kind of field."""
    mentions = [
        ObjectMention(id=i, phrase=p, head=p, span=TextSpan(start=a, stop=a + 3))
        for i, p, a in [("m1", "cat", 2), ("m2", "dog", 18)]
    ]
    scene = SceneGraph(
        prompt=Prompt(text="a cat left of a dog"),
        mentions=tuple(mentions),
        relations=(Relation(id="r1", type=LEFT_OF, subject="m1", object="m2"),),
        extractor_id="grammar",
    )
    return GenerationRequest(id="x", scene=scene, backend_id="b", model=ModelRef(id="stickers"))


def through_text(plain):
    return json.loads(json.dumps(plain, allow_nan=False))


@given(requests)
@settings(max_examples=settings.default.max_examples // 2)
def test_a_request_survives_json(request):
    plain = through_text(encode(request, {}))
    assert to_the_bit(decode(GenerationRequest, plain, {})) == to_the_bit(request)


@given(evaluations)
@settings(max_examples=settings.default.max_examples // 2)
def test_an_evaluation_survives_json_with_its_arrays_stored_separately(evaluation):
    arrays = {}
    plain = through_text(encode(evaluation, arrays))
    assert to_the_bit(decode(Evaluation, plain, arrays)) == to_the_bit(evaluation)


@given(words)
def test_a_decoded_value_equals_the_encoded_one(text):
    prompt = Prompt(text=text)
    assert decode(Prompt, encode(prompt, {}), {}) == prompt


def test_a_relation_type_is_decoded_to_the_registered_one(request_of_a_cat):
    plain = through_text(encode(request_of_a_cat, {}))
    (relation,) = decode(GenerationRequest, plain, {}).scene.relations
    assert relation.type is LEFT_OF


def test_arrays_are_not_encoded_in_json():
    mask = Mask(mention_id="m1", pixels=np.eye(3, dtype=bool), score=1.0, source_id="s")
    arrays = {}
    assert encode(mask, arrays)["pixels"] == "pixels"
    assert arrays["pixels"] is mask.pixels


def test_numpy_numbers_become_plain_numbers():
    summary = StepSummary(step=np.int64(3), timestep=np.float32(0.5), pos={"r1": np.float64(1)})
    assert encode(summary, {})["step"] == 3
    assert type(encode(summary, {})["timestep"]) is float


def test_unsupported_types_are_rejected():
    with pytest.raises(TypeError, match="set cannot be stored"):
        encode({1, 2}, {})


def changed(plain, path, value):
    """Put ``value`` at a dotted path; the key itself is dropped for ``...``."""
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    node = plain
    for part in parents:
        node = node[part]
    node[last] = value
    return plain


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("seed", "7", 'The field "seed" is of the wrong type: str, not int.'),
        ("seed", True, 'The field "seed" is of the wrong type: bool, not int.'),
        ("seed", None, 'The field "seed" is of the wrong type: NoneType, not int.'),
        ("guidance_scale", [], 'The field "guidance_scale" is of the wrong type: list, not float.'),
        ("guidance_scale", False, "is of the wrong type: bool, not float."),
        ("seed", 10**400, 'The field "seed" contains a number that is too large.'),
        ("guidance_scale", -(10**400), "contains a number that is too large."),
        ("width", 1.5, 'The field "width" is of the wrong type: float, not int.'),
        ("scene", [], 'The field "scene" is of the wrong type: list, not dict.'),
        ("scene.mentions", {}, 'The field "scene.mentions" is of the wrong type: dict, not list.'),
        ("scene.colour", 1, 'The field "scene.colour" is not known.'),
        ("scene.relations.0.type", "atop", 'has the unknown relation type "atop".'),
        ("scene.relations.0.subject", "m9", 'The field "scene" contradicts itself'),
        ("scene.mentions.1.span.stop", 0, 'The field "scene.mentions.1.span" contradicts itself'),
    ],
)
def test_a_wrong_field_is_named(request_of_a_cat, path, value, sentence):
    plain = changed(encode(request_of_a_cat, {}), path, value)
    with pytest.raises(StoreError) as caught:
        decode(GenerationRequest, plain, {})
    assert sentence in caught.value.message
    assert caught.value.message.endswith(".")
    assert caught.value.hint


def test_a_missing_field_is_named(request_of_a_cat):
    plain = encode(request_of_a_cat, {})
    del plain["scene"]["prompt"]["text"]
    with pytest.raises(StoreError, match=r'The field "scene.prompt.text" is missing.'):
        decode(GenerationRequest, plain, {})


def test_a_newer_field_takes_its_default(request_of_a_cat):
    plain = encode(request_of_a_cat, {})
    del plain["search"]
    assert decode(GenerationRequest, plain, {}) == request_of_a_cat


def test_a_prompt_without_weights_is_stored_as_before(request_of_a_cat):
    plain = encode(request_of_a_cat, {})
    assert plain["scene"]["prompt"].keys() == {"text", "negative", "language"}
    assert "loras" not in plain
    assert decode(GenerationRequest, plain, {}) == request_of_a_cat


def test_weights_and_loras_survive_json(request_of_a_cat):
    weights = (SpanWeight(span=TextSpan(start=0, stop=1), weight=1.3),)
    prompt = Prompt(text="x", weights=weights, typed="(x:1.3)", template="{x|y}")
    weighted = replace(
        with_values(request_of_a_cat, loras=(LoraUse(name="a", weight=0.5),)),
        scene=SceneGraph(prompt=prompt, mentions=(), relations=(), extractor_id="x"),
    )
    plain = json.loads(json.dumps(encode(weighted, {})))
    assert decode(GenerationRequest, plain, {}) == weighted


def test_steering_is_stored_only_if_it_is_on(request_of_a_cat):
    assert "steering" not in encode(request_of_a_cat, {})
    steering = Steering(particles=4, potential=Potential.SUM, rewards=(StepReward.PICTURE,))
    steered = replace(request_of_a_cat, steering=steering)
    plain = json.loads(json.dumps(encode(steered, {})))
    assert decode(GenerationRequest, plain, {}) == steered


def test_an_unknown_enum_value_is_rejected():
    with pytest.raises(
        StoreError, match='The field "outcome" has the value "MAYBE", which is not a valid Outcome'
    ):
        decode(Verdict, encode(a_verdict(), {}) | {"outcome": "MAYBE"}, {})


def test_the_length_of_a_fixed_tuple_is_checked():
    plain = encode(CheckerSettings(), {})
    plain["weights"] = [1.0, 2.0]
    with pytest.raises(StoreError, match="has 2 items instead of 4"):
        decode(CheckerSettings, plain, {})


def test_an_integer_is_accepted_as_a_float():
    plain = {"left": 0, "top": 0, "right": 2, "bottom": 1.5}
    assert decode(Box, plain, {}).area == 3


@pytest.mark.parametrize(
    ("arrays", "trouble"),
    [
        ({}, "refers to a missing array"),
        ({"pixels": np.ones((2, 2))}, "has an array of float64 instead of bool"),
    ],
    ids=["absent", "of another kind"],
)
def test_an_array_must_exist_with_its_type(arrays, trouble):
    plain = {"mention_id": "m1", "pixels": "pixels", "score": 1.0, "source_id": "s"}
    with pytest.raises(StoreError, match=trouble):
        decode(Mask, plain, arrays)


@pytest.mark.parametrize(
    "text",
    ["yesterday", "2026-11-20T10:00:00", "0001-01-01T00:00:00+14:00"],
    ids=["words", "no zone", "before all years"],
)
def test_a_time_needs_a_time_zone(text):
    with pytest.raises(StoreError, match=r'The field "created" (has|contains)'):
        decode(RunRecord, record_json(created=text), {})


def a_verdict():
    sure = ConfidenceComponents(detection=1.0, geometry=1.0, stability=1.0, agreement=1.0)
    return Verdict(relation_id="r1", outcome=Outcome.PASS, confidence=1.0, components=sure)


def record_json(created):
    artifact = encode(ArtifactRef(kind="image", path="p", sha256="", bytes=1), {})
    return {
        "schema_version": 1,
        "id": "x",
        "created": created,
        "request": None,
        "token_spans": [],
        "trace": [],
        "evaluation": None,
        "artifacts": [artifact],
        "environment": None,
        "seconds": 1.0,
        "peak_memory_bytes": 1,
    }
