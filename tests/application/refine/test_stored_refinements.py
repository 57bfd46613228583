"""Refinements on disk."""

from dataclasses import replace

import pytest

from spatialstudio.adapters.storage.stores.state_files import PlainStateFiles
from spatialstudio.application.refine.stored_refinements import fixes_in, refinements_in
from spatialstudio.domain.assertion import (
    Assertion,
    AssertionId,
    Assertions,
    AssertionScore,
    DaScore,
)
from spatialstudio.domain.fix import Fix, FixAttempt, FixReason, FixStep, Remedy
from spatialstudio.domain.generation import (
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    RequestId,
)
from spatialstudio.domain.refinement import REFINE_RECOMMENDED, RefineAttempt, Refinement
from spatialstudio.domain.scene import MentionId
from tests.fakes import scene_of


@pytest.fixture
def refinement():
    assertion = Assertion(id=AssertionId("m1"), text="there is a dog", question="is there a dog?")
    score = DaScore(
        value=0.4,
        scores=(AssertionScore(assertion=assertion, probability_yes=0.4),),
        source_id="perception",
    )
    return Refinement(
        id="one",
        request=GenerationRequest(
            id=RequestId("r"), scene=scene_of(), backend_id="fake", model=ModelRef(id="fake")
        ),
        presence=GuidanceSettings(),
        rules=REFINE_RECOMMENDED,
        assertions=Assertions(items=(assertion,), source_id="scene"),
        attempts=(RefineAttempt(request_id=RequestId("a"), weights=(1.0,), score=score),),
    )


@pytest.fixture
def stored(tmp_path):
    return refinements_in(tmp_path / "refinements", PlainStateFiles())


def test_a_refinement_is_found_by_any_of_its_runs(stored, refinement):
    stored.save(refinement)

    assert stored.of_run(RequestId("a")) == refinement
    assert stored.of_run(RequestId("r")) is None


def test_without_a_folder_there_is_none(stored):
    assert stored.of_run(RequestId("a")) is None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"id": 1}', b"\xff" * 9, b"[" * 10_000])
def test_damaged_files_are_ignored(stored, refinement, tmp_path, content):
    stored.save(refinement)
    (tmp_path / "refinements" / "later.json").write_bytes(content)

    assert stored.of_run(RequestId("a")) == refinement


@pytest.fixture
def fix(refinement):
    return Fix(
        id="one",
        start=FixAttempt(request_id=RequestId("a")),
        request=refinement.request,
        reason=FixReason.MISSING,
        about=(MentionId("m1"),),
        steps=(FixStep(remedy=Remedy.SKETCH),),
        layout=GuidanceSettings(),
    )


@pytest.mark.parametrize(
    "change",
    [
        {"about": (MentionId("m9"),)},
        {"steps": ()},
        {"steps": (FixStep(remedy=Remedy.SKETCH),) * 51},
        {"steps": (FixStep(remedy=Remedy.SKETCH, about=(MentionId("m9"),)),)},
    ],
    ids=["about", "no-steps", "many-steps", "about-of-a-step"],
)
def test_fixes_that_contradict_themselves_are_ignored(tmp_path, fix, change):
    stored = fixes_in(tmp_path, PlainStateFiles())
    fix = replace(fix, attempts=(FixAttempt(request_id=RequestId("b")),))
    stored.save(fix)
    stored.save(replace(fix, id="two", **change))
    (tmp_path / "later.json").write_bytes(b"[")

    assert stored.of_run(RequestId("b")) == fix


def test_attempts_without_a_weight_for_each_assertion_are_ignored(stored, refinement):
    (attempt,) = refinement.attempts
    stored.save(replace(refinement, attempts=(replace(attempt, weights=()),)))

    assert stored.of_run(RequestId("a")) is None
