"""The grid of a sweep, as a figure."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spatialstudio.adapters.exports.sheets import sweep_sheet
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.drawing import Raster, Text
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.sweep import (
    SweepCell,
    SweepField,
    SweepId,
    SweepPoint,
)
from spatialstudio.domain.verdict import Outcome

SAMPLE = Path(__file__).parents[2] / "golden" / "run_of_schema_1"


@pytest.fixture(scope="module")
def sample(exports):
    return exports.read(SAMPLE)


@pytest.fixture
def swept(sample):
    """Return the sample as a picture of a sweep."""

    def placed(strength, seed, outcome=Outcome.PASS, sweep_id="one", shape=(16, 16)):
        cell = SweepCell(
            sweep_id=SweepId(sweep_id),
            column=SweepPoint(field=SweepField.STRENGTH, value=strength),
            row=None if seed is None else SweepPoint(field=SweepField.SEED, value=seed),
        )
        record = sample.record
        evaluation = record.evaluation
        verdicts = tuple(replace(v, outcome=outcome, reason=None) for v in evaluation.verdicts)
        record = replace(
            record,
            request=replace(record.request, sweep=cell),
            evaluation=replace(evaluation, verdicts=verdicts),
        )
        return replace(sample, record=record, image=np.zeros((*shape, 3), np.uint8))

    return placed


def texts(drawing):
    return {item.text: item.at for item in drawing.items if isinstance(item, Text)}


def pictures(drawing):
    return [item for item in drawing.items if isinstance(item, Raster)]


def test_pictures_are_placed_by_their_values(swept, exports):
    runs = [swept(10, 7), swept(0, 8), swept(0, 7)]
    drawing = sweep_sheet(runs, exports.look())
    first, second, third = (each.at for each in pictures(drawing))
    assert third[0] < first[0]
    assert third[1] == first[1]
    assert (second[0], second[1] > third[1]) == (third[0], True)


def test_axes_and_pictures_are_labelled(swept, exports):
    drawing = sweep_sheet([swept(0, 7), swept(2.5, 8, Outcome.FAIL)], exports.look())
    found = texts(drawing)
    assert {"Step size", "Seed", "0", "2.5", "7", "8", "● PASS", "▲ FAIL"} <= found.keys()
    assert found["0"][0] < found["2.5"][0]
    assert found["7"][1] < found["8"][1]


def test_the_caption_omits_varied_settings(swept, exports):
    words = " ".join(texts(sweep_sheet([swept(0, 7), swept(5, 8)], exports.look())))
    assert "CFG scale" in words
    assert "seed " not in words
    assert "step size " not in words


def test_the_caption_counts_baselines_instead_of_reading_the_first(swept, exports):
    runs = [with_guidance(swept(0, 7), UNGUIDED, 0), with_guidance(swept(5, 7), "layout", 5)]
    words = " ".join(texts(sweep_sheet(runs, exports.look())))
    assert "layout (off in 1 of 2)" in words
    alone = " ".join(texts(sweep_sheet(runs[:1], exports.look())))
    assert ", guidance off, " in alone


def with_guidance(run, method_id, strength):
    request = run.record.request
    guidance = replace(request.sampling.guidance, method_id=method_id, strength=strength)
    request = with_values(request, guidance=guidance)
    return replace(run, record=replace(run.record, request=request))


def test_without_rows_no_space_is_reserved_for_labels(swept, exports):
    alone = sweep_sheet([swept(0, None), swept(5, None)], exports.look())
    beside = sweep_sheet([swept(0, 7), swept(5, 7)], exports.look())
    assert alone.width < beside.width
    assert "Seed" not in texts(alone)


def test_tall_pictures_do_not_overlap(swept, exports):
    drawing = sweep_sheet(
        [swept(0, 7, shape=(32, 16)), swept(0, 8, shape=(32, 16))], exports.look()
    )
    first, second = pictures(drawing)
    assert second.at[1] > first.at[1] + first.height


def test_runs_of_two_sweeps_are_rejected(swept, exports):
    with pytest.raises(ExportError, match="not a sweep"):
        sweep_sheet([swept(0, 7), swept(5, 7, sweep_id="other")], exports.look())


def test_a_run_outside_a_sweep_is_rejected(sample, exports):
    with pytest.raises(ExportError, match="not a sweep"):
        sweep_sheet([sample], exports.look())


@pytest.mark.parametrize(("ending", "head"), [("png", b"\x89PNG"), ("svg", b"<"), ("pdf", b"%PDF")])
def test_a_sweep_sheet_is_written_in_every_format(swept, exports, tmp_path, ending, head):
    runs = [swept(0, 7), swept(5, 7)]
    target = tmp_path / f"grid.{ending}"
    exports.exporter.write(
        exports.exporter.make(runs, EXPORT_KINDS["sweep"], exports.look(), target.suffix[1:]),
        target,
    )
    assert target.read_bytes().startswith(head)
