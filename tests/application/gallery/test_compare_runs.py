"""A run drawn again is compared pixel by pixel, and with what it was made with."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from spatialstudio.application.gallery.compare_runs import compare_runs, difference_picture
from spatialstudio.application.storage.run_writer import environment_on
from spatialstudio.domain.generation import (
    GenerationRequest,
    ModelRef,
    ModelSetup,
)
from spatialstudio.domain.library import RunRecord, Sameness
from tests.fakes import scene_of

THEN = ModelSetup(dtype="float16", attention="AttnProcessor2_0", weights_sha256="a" * 64, threads=2)
GREY = np.full((2, 2, 3), 9, np.uint8)


def record_with(setup):
    request = GenerationRequest(
        id="x", scene=scene_of(), backend_id="b", model=ModelRef(id="stickers")
    )
    return RunRecord(
        id="name",
        created=datetime(2026, 11, 20, tzinfo=UTC),
        request=request,
        token_spans=(),
        trace=(),
        evaluation=None,
        artifacts=(),
        environment=environment_on("cpu", setup),
        seconds=1.0,
        peak_memory_bytes=1,
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"dtype": "bfloat16"}, "precision (float16 then, bfloat16 now)"),
        ({"attention": "XFormers"}, "attention (AttnProcessor2_0 then, XFormers now)"),
        ({"threads": 8}, "CPU threads (2 then, 8 now)"),
        ({"weights_sha256": "b" * 64}, "weights (aaaaaaaaaa then, bbbbbbbbbb now)"),
    ],
    ids=["dtype", "attention", "threads", "weights"],
)
def test_the_device_and_number_format_are_reasons(change, reason):
    now = record_with(replace(THEN, **change))
    comparison = compare_runs(record_with(THEN), GREY, now, GREY + 1)
    assert comparison.sameness is Sameness.CLOSE
    assert comparison.reasons == (reason,)


def test_different_code_is_a_reason():
    then = record_with(THEN)
    now = replace(then, environment=replace(then.environment, code_sha256="c" * 64))
    (reason,) = compare_runs(then, GREY, now, GREY).reasons
    assert reason.startswith("code of Spatial Studio (")
    assert reason.endswith(" then, cccccccccc now)")


def test_a_field_missing_in_an_older_record_is_no_reason():
    assert compare_runs(record_with(ModelSetup()), GREY, record_with(THEN), GREY).reasons == ()


def test_a_difference_is_scaled_to_white():
    first = np.zeros((2, 2, 3), np.uint8)
    second = first.copy()
    second[0, 0, 0], second[0, 1, 1] = 50, 20
    picture, largest = difference_picture(first, second)
    assert largest == 50
    assert (picture[0, 0, 0], picture[0, 1, 1], picture[1, 1, 2]) == (255, 102, 0)


def test_equal_pictures_have_a_black_difference():
    picture, largest = difference_picture(
        np.full((2, 2, 3), 9, np.uint8), np.full((2, 2, 3), 9, np.uint8)
    )
    assert largest == 0
    assert not picture.any()
