from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.application.inspect import layer_table
from spatialstudio.application.inspect.captured_layers import layers_read
from spatialstudio.application.inspect.layer_maps import (
    LayersAveraged,
    LayersMissing,
    run_on_layers,
)
from spatialstudio.application.inspect.layer_table import (
    LayersMeasured,
    LayerTables,
    course_of_maps,
    difference,
    layer_columns,
    measure_layers,
    settled_steps,
)
from spatialstudio.application.inspect.step_numbers import Column, Measure
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import AttentionFile, LayerChoice, Moment
from spatialstudio.domain.errors import Cancelled, StoreError
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.scene import BEHIND
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS

PIECES = ("a", "photo", "of", "a", "do", "g", "to", "the", "left", "of", "a", "car")
DOG, CAR = [4, 5], [11]
FILES = (
    AttentionFile(layer="mid", name="mid.npy", words=PIECES, shape=(3, 2, 12, 4, 6)),
    AttentionFile(layer="up", name="up.npy", words=PIECES, shape=(3, 4, 12, 8, 12)),
)
POS = Column("dog to the left of car", Measure.POS)
OVERLAP = Column("dog to the left of car", Measure.OVERLAP)
ENTROPY, MASS = Column("dog", Measure.ENTROPY), Column("car", Measure.MASS)


def arrays_of(seed, files=FILES):
    random = np.random.default_rng(seed)
    return {file.layer: random.random(file.shape).astype(np.float16) for file in files}


def reader(arrays):
    return lambda _run_id, file: arrays[file.layer]


def run_of(seed=1, files=FILES, every=2, guided=()):
    request = new_request(scene_of(), STICKERS, seed=seed)
    request = replace(request, capture=replace(request.capture, attention_every=every))
    steps = tuple(
        StepEvent(
            request_id=request.id,
            step=number,
            total_steps=6,
            timestep=1.0,
            pos={},
            guidance_loss=0.5 if number in guided else None,
            step_size=1.0 if number in guided else None,
            guiding_passes=int(number in guided),
        )
        for number in range(6)
    )
    return OpenRun(
        id=request.id,
        scene=request.scene,
        request=request,
        steps=steps,
        total_steps=6,
        attention_files=files,
    )


@pytest.fixture
def arrays():
    return arrays_of(0)


@pytest.fixture
def table(arrays):
    return measure_layers(run_of(), reader(arrays))


def plain_map(arrays, layer, step, tokens, head=None):
    """Return the (h, w) float64 map of a word by plain indexing."""
    values = arrays[layer][step].astype(np.float64)
    return (values if head is None else values[head : head + 1])[:, tokens].mean((0, 1))


def plain_pos(first, second):
    """Return PoS along x with a loop over all pairs of columns."""
    one, other = first.sum(0) / first.sum(), second.sum(0) / second.sum()
    return sum(
        one[i] * other[j] * (1.0 if i < j else 0.5 if i == j else 0.0)
        for i in range(len(one))
        for j in range(len(other))
    )


CELLS = [("mid", 0, None), ("up", 2, None), ("mid", 1, 1), ("up", 0, 3)]


@pytest.mark.parametrize(("layer", "step", "head"), CELLS)
def test_pos_is_that_of_a_plain_double_loop(table, arrays, layer, step, head):
    dog, car = (plain_map(arrays, layer, step, tokens, head) for tokens in (DOG, CAR))
    value = table.at(POS, head)[table.layers.index(layer), step]
    assert value == pytest.approx(plain_pos(dog, car), abs=1e-6)


@pytest.mark.parametrize(("layer", "step", "head"), CELLS)
def test_entropy_mass_and_overlap_are_those_of_plain_numpy(table, arrays, layer, step, head):
    dog, car = (plain_map(arrays, layer, step, tokens, head) for tokens in (DOG, CAR))
    shares, others = dog / dog.sum(), car / car.sum()
    row = table.layers.index(layer)
    assert table.at(ENTROPY, head)[row, step] == pytest.approx(
        -(shares * np.log2(shares)).sum(), abs=1e-5
    )
    assert table.at(MASS, head)[row, step] == pytest.approx(car.mean(), abs=1e-6)
    overlap = np.minimum(shares, others).sum()
    assert table.at(OVERLAP, head)[row, step] == pytest.approx(overlap, abs=1e-6)


def test_layers_and_steps_keep_their_order(table):
    assert table.layers == ("mid", "up")
    assert table.steps == (0, 2, 4)
    assert table.heads == 4


def test_a_head_that_a_layer_lacks_has_no_number(table):
    assert np.isnan(table.at(POS, 3)[0]).all()
    assert np.isnan(table.at(POS, 99)).all()


def test_small_blocks_change_nothing(table, arrays, monkeypatch):
    blocks = []
    monkeypatch.setattr(layer_table, "MOST_BLOCK_BYTES", 1)
    again = measure_layers(run_of(), reader(arrays), tick=lambda: blocks.append(1))
    np.testing.assert_array_equal(again.values, table.values)
    assert len(blocks) == 2 * 3


def test_only_the_words_of_the_scene_are_read(arrays):
    read = []

    class Watched(np.ndarray):
        def __getitem__(self, key):
            found = super().__getitem__(key)
            read.append(found.nbytes if found.base is None else 0)
            return found

    watched = {layer: each.view(Watched) for layer, each in arrays.items()}
    measure_layers(run_of(), reader(watched))
    words = len(DOG) + len(CAR)
    assert sum(read) <= sum(each.nbytes for each in arrays.values()) * words / len(PIECES)


def test_empty_maps_have_no_pos(arrays):
    arrays["mid"][1, :, CAR] = 0
    table = measure_layers(run_of(), reader(arrays))
    assert np.isnan(table.at(POS)[0]).tolist() == [False, True, False]
    assert table.at(MASS)[0, 1] == 0


def test_words_that_a_layer_lacks_have_no_numbers(arrays):
    files = (replace(FILES[0], words=("",) * 12), FILES[1])
    table = measure_layers(run_of(files=files), reader(arrays))
    assert np.isnan(table.values[:, 0]).all()
    assert np.isfinite(table.at(POS)[1]).all()


def test_a_relation_in_depth_has_words_only():
    measures = {column.measure for column in layer_columns(scene_of(relation_type=BEHIND))}
    assert measures == {Measure.ENTROPY, Measure.MASS}


def test_a_run_without_captured_layers_says_so():
    with pytest.raises(StoreError, match="No layers were recorded"):
        measure_layers(run_of(files=()), reader({}))


def test_a_run_that_ended_before_its_first_step_is_reported(table):
    with pytest.raises(StoreError, match="No layers were recorded"):
        measure_layers(replace(run_of(), steps=()), reader(arrays_of(0)))


def test_a_difference_is_taken_where_both_runs_have_values(table):
    other_arrays = arrays_of(5)
    other = measure_layers(run_of(2, files=FILES[1:], every=1), reader(other_arrays))
    found = difference(table, other)
    assert found.layers == ("up",)
    assert found.steps == (0, 2)
    expected = table.at(POS)[1:, :2] - other.at(POS)[:, [0, 2]]
    np.testing.assert_allclose(found.at(POS), expected)


def test_a_run_minus_itself_is_zero(table):
    assert np.nanmax(abs(difference(table, table).values)) == 0


def test_readings_before_and_after_the_updates_are_not_subtracted(table):
    before, after = (replace(table, moment=each) for each in Moment)
    assert difference(before, after) is None
    assert difference(table, after).moment is Moment.AFTER


def test_runs_without_a_common_layer_have_no_difference(table):
    assert difference(table, replace(table, layers=("a", "b"))) is None


class Files:
    def __init__(self, arrays):
        self.arrays = arrays

    def read(self, _request_id, file):
        if file.layer not in self.arrays:
            raise StoreError("Gone.", hint="Draw it again.")
        return self.arrays[file.layer]


def test_tables_are_published_for_each_run(arrays):
    published = []
    tables = LayerTables(lambda: Files(arrays), published.append)
    runs = run_of(1), run_of(2)
    tables.measure(runs)
    tables.wait()
    assert all(isinstance(each, LayersMeasured) for each in published)
    assert [each.table.request_id for each in published] == [run.id for run in runs]


def test_layers_that_are_gone_are_reported():
    published = []
    tables = LayerTables(lambda: Files({}), published.append)
    tables.measure([run_of()])
    tables.wait()
    (missing,) = published
    assert isinstance(missing, LayersMissing)
    assert missing.error.message == "Gone."


def test_measuring_stops_when_it_is_cancelled(arrays):
    def stop():
        raise Cancelled

    with pytest.raises(Cancelled):
        measure_layers(run_of(), reader(arrays), tick=stop)


def averaged_of(run, layer, arrays):
    maps = {
        word: np.stack(
            [plain_map(arrays, layer, step, tokens).astype(np.float32) for step in range(3)]
        )
        for word, tokens in (("m1", DOG), ("m2", CAR))
    }
    choice = LayerChoice(layers=frozenset({layer}))
    return LayersAveraged(request_id=run.id, choice=choice, maps=maps, every=2)


def test_the_course_of_one_chosen_layer_is_its_row_of_the_table(arrays, table):
    run = run_of()
    shown = run_on_layers(run, averaged_of(run, "up", arrays))
    for column in (POS, ENTROPY, MASS, OVERLAP):
        course = course_of_maps(shown, column, Moment.BEFORE)
        assert [step for step, _ in course] == [0, 2, 4]
        expected = table.at(column)[1]
        assert [value for _, value in course] == pytest.approx(expected, abs=1e-5)


def test_chosen_layers_of_a_guided_step_have_one_reading(arrays):
    run = run_of(guided=(2,))
    moment = layers_read(run, Moment.BEFORE)
    averaged = replace(averaged_of(run, "mid", arrays), moment=moment)
    shown = run_on_layers(run, averaged).steps[1]
    other = next(each for each in Moment if each is not moment)
    assert shown.attention_at(moment) is not None
    assert shown.attention_at(other) is None
    assert shown.pos_at(other) == {}


BEFORE = AttentionFile(
    layer="up", name="b.npy", words=PIECES, shape=(1, 4, 12, 8, 12), steps_before=(2,)
)


@pytest.fixture
def read_twice(arrays):
    """Reads the layer "up" at step 2 before its updates as random values of their own."""
    before = arrays_of(7, (BEFORE,))["up"]
    return lambda _run_id, file: before if file.steps_before else arrays[file.layer]


def test_a_layer_is_measured_at_either_moment(arrays, read_twice):
    run = run_of(guided=(2,), files=(*FILES, BEFORE))
    after, before = (measure_layers(run, read_twice, moment) for moment in reversed(Moment))
    assert (after.moment, before.moment) == (Moment.AFTER, Moment.BEFORE)
    assert after.layers == before.layers == ("mid", "up")
    differs = ~np.isclose(after.values, before.values, equal_nan=True).all((0, 2))
    assert differs.tolist() == [[False] * 3, [False, True, False]]
    dog, car = (read_twice("", BEFORE)[0].astype(float)[:, own].mean((0, 1)) for own in (DOG, CAR))
    assert before.at(POS)[1, 1] == pytest.approx(plain_pos(dog, car), abs=1e-6)
    assert difference(after, before) is None


def test_layers_read_once_have_the_moment_of_their_pass():
    run = run_of(guided=(2,))
    assert {layers_read(run, moment) for moment in Moment} == {Moment.AFTER}
    assert layers_read(run_of(), Moment.BEFORE) is None


def test_pos_has_settled_where_it_stays_at_three_quarters_or_above():
    nan = np.nan
    pos = np.array(
        [
            [0.9, nan, 0.7, nan, 0.8, nan],
            [0.9, nan, 0.8, nan, 0.75, nan],
            [0.9, nan, 0.8, nan, 0.74, nan],
            [nan, nan, nan, nan, nan, nan],
        ]
    )
    assert settled_steps(pos) == (4, 0, None, None)
