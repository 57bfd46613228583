"""Recorded layers of a run of the real files, measured in their thread."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QDockWidget, QLabel, QPushButton, QToolButton

from spatialstudio.application.inspect.layer_table import LayerTable
from spatialstudio.application.inspect.step_numbers import Column, Measure
from spatialstudio.domain.attention import ATTENTION_FOLDER, AttentionDetail, Moment
from spatialstudio.domain.generation import RequestId
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.inspect.layer_presenter import (
    deciding_layers,
    heat_contents,
    largest_in_words,
    reading_in_words,
    settled_in_words,
)
from spatialstudio.ui.inspect.layer_steps_panel import NONE_CAPTURED, LayerStepsPanel
from spatialstudio.ui.inspect.maps_panel import MapsPanel
from spatialstudio.ui.inspect.numbers_panel import NumbersPanel
from spatialstudio.ui.inspect.time_panel import TimePanel
from spatialstudio.ui.inspect.widgets.layer_heat_map import (
    LOWEST_ROW_EM,
    MOST_ROWS_EM,
    HeatContents,
    HeatFrame,
    LayerHeatMap,
)
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.window.dock_layout import HIGHEST_SHARE
from tests.ui.inspect.test_blocks_panel import (
    GUIDING,
    OTHER,
    STEPS,
    files_with,
    run_of,
)
from tests.ui.pdf_text import pdf_characters

LEFT = Qt.MouseButton.LeftButton
POS = Column("dog to the left of car", Measure.POS)


@pytest.fixture
def open_run(qtbot, window, studio):
    """Opens a run, and a second one, in Inspect with the dock in sight."""

    def open_(run, second=None):
        window.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
        studio.session.open(run)
        studio.session.set_second_run(second)
        dock = window.findChild(QDockWidget, "layer_steps")
        dock.show()
        dock.raise_()
        return window.panel(LayerStepsPanel)

    return open_


@pytest.fixture
def arrays():
    """Attention in which the dog is left of the car in the guiding layer, and right elsewhere."""
    values = {}
    for file, dog, car in zip(files_with(1), (0, -1), (-1, 0), strict=True):
        array = np.full(file.shape, 0.01, np.float16)
        array[:, :, 4, :, dog] = 0.5
        array[:, :, 10, :, car] = 0.5
        values[file.layer] = array
    values[OTHER][1, :, 4] = values[OTHER][1, :, 4, :, ::-1]  # the dog's map at step 2
    return values


@pytest.fixture
def store(registry_cache, arrays):
    """Writes the layers of a run to where the studio looks for them."""

    def store_(run):
        folder = registry_cache / ATTENTION_FOLDER / run.id
        folder.mkdir(parents=True)
        for file in run.attention_files:
            np.save(folder / file.name, arrays[file.layer])
        return run

    return store_


@pytest.fixture
def panel(qtbot, open_run, store):
    panel = open_run(store(run_of(files_with(1))))
    qtbot.waitUntil(lambda: heat(panel).isVisible())
    return panel


def heat(panel):
    return panel.findChild(LayerHeatMap)


def said(panel):
    return " ".join(label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def pick(qtbot, panel, text):
    button = next(each for each in panel.findChildren(QToolButton) if each.text() == text)
    qtbot.mouseClick(button, LEFT)


def click(qtbot, panel, layer, step, modifier=Qt.KeyboardModifier.NoModifier):
    view = heat(panel)
    at = view._heat.position_of(step, layer + 0.5).toPoint() + view.surface.pos()
    qtbot.mouseClick(view, LEFT, modifier, QPoint(at))


def contents_of(count):
    names = tuple(f"layer {number}" for number in range(count))
    return HeatContents(layers=names, labels=names, blocks=names, values=np.zeros((count, STEPS)))


def test_ten_layers_have_rows_that_can_be_told_apart_in_the_dock(qtbot, window, panel):
    window.resize(1590, 960)

    def rows_height():
        heat(panel).show_contents(contents_of(10), 0)  # the panel may still redraw its run
        return heat(panel).areas[1].height()

    qtbot.waitUntil(lambda: rows_height() >= em(10 * LOWEST_ROW_EM))
    dock = window.findChild(QDockWidget, "layer_steps")
    assert dock.height() <= HIGHEST_SHARE * window.height()


def test_many_layers_do_not_make_the_heat_map_higher_without_bound(panel):
    least = []
    for count in (2, 10, round(MOST_ROWS_EM / LOWEST_ROW_EM), 60):
        heat(panel).show_contents(contents_of(count), 0)
        least.append(heat(panel).minimumSizeHint().height())
    assert least[0] < least[1] < least[2] == least[3]


def test_pos_of_each_layer_and_step_is_shown(panel):
    contents = heat(panel).contents_shown
    assert contents.layers == (GUIDING, OTHER)
    assert contents.values.shape == (2, STEPS)
    assert (contents.values[0] > 0.7).all()
    assert (contents.values[1] > 0.45).tolist() == [False, True, False]
    assert contents.guiding == {0}


def test_the_sentence_says_where_the_relation_is_decided(panel):
    assert (
        f"in 1 of 2 layers, where PoS stays at 0.75 or more; first, from step 1, in {GUIDING}, "
        "which guidance reads." in said(panel)
    )
    assert "Of the layers that guidance reads: 1 of 1." in said(panel)
    assert panel._sentence.toolTip() == f"from step 1: {GUIDING} (guidance reads it)"


@pytest.mark.parametrize(
    ("courses", "sentence"),
    [
        (
            [[0.8, 0.9, 0.8]] * 4,
            "Decided in all 4 layers at step 1: PoS stays at 0.75 or more.",
        ),
        (
            [[0.8, 0.9, 0.8], [0.8, 0.9, 0.9], [0.2, 0.1, 0.3], [0.8, 0.7, 0.9]],
            "Decided in 3 of 4 layers, where PoS stays at 0.75 or more; first, from step 1, in "
            f"{GUIDING}, which guidance reads, and 1 more. Of the layers that guidance reads: "
            "1 of 1.",
        ),
        (
            [[0.2, 0.9, 0.8], [0.8, 0.4, 0.9], [0.2, 0.1, 0.3], [0.9, 0.9, 0.7]],
            "Decided in 2 of 4 layers, where PoS stays at 0.75 or more; first, from step 2, in "
            f"{GUIDING}, which guidance reads.",
        ),
        ([[0.9, 0.9, 0.7]] * 4, "Decided in no layer: PoS ends below 0.75 in all 4."),
        (
            [[0.9, 0.1, 0.7]] * 3 + [[0.9, 0.9, 0.25]],
            "Decided in no layer: PoS ends below 0.75 in all 4, at 0.25 or less in 1.",
        ),
    ],
    ids=["all", "several", "one", "none", "opposite"],
)
def test_layers_that_decide_together_are_counted(courses, sentence):
    table = LayerTable(
        request_id=RequestId("one"),
        layers=(GUIDING, OTHER, "up", "last"),
        steps=(0, 1, 2),
        columns=(POS,),
        values=np.array(courses)[None, :, None],
        moment=None,
    )
    assert settled_in_words(table, run_of(()), POS, None).startswith(sentence)


def test_one_of_the_first_layers_is_named():
    table = LayerTable(
        request_id=RequestId("one"),
        layers=tuple("abcdef"),
        steps=(0,),
        columns=(POS,),
        values=np.array([0.9, 0.9, 0.9, 0.9, 0.9, 0.1])[None, :, None, None],
        moment=None,
    )
    run = run_of(())
    assert "in a, which guidance does not read, and 4 more." in settled_in_words(
        table, run, POS, None
    )
    listed = deciding_layers(table, run, POS, None).splitlines()
    assert listed == [f"from step 1: {layer}" for layer in "abcde"]


def test_a_guiding_layer_is_named_first_and_marked_in_the_list():
    table = LayerTable(
        request_id=RequestId("one"),
        layers=(OTHER, GUIDING, "blocks.10", "blocks.2"),
        steps=(0, 1),
        columns=(POS,),
        values=np.array([[0.9, 0.9], [0.9, 0.9], [0.1, 0.9], [0.1, 0.1]])[None, :, None],
        moment=None,
    )
    listed = deciding_layers(table, run_of(()), POS, None).splitlines()
    assert listed == [
        f"from step 1: {OTHER}",
        f"from step 1: {GUIDING} (guidance reads it)",
        "from step 2: blocks.10",
    ]
    sentence = settled_in_words(table, run_of(()), POS, None)
    assert f"in {GUIDING}, which guidance reads, and 1 more." in sentence
    values = np.array([[0.9, 0.9], [0.1, 0.9], [0.1, 0.9], [0.1, 0.1]])
    later = replace(table, values=values[None, :, None])
    assert f"in {OTHER}, which guidance does not read." in settled_in_words(
        later, run_of(()), POS, None
    )


def test_a_click_picks_step_and_layer(qtbot, panel, studio, window):
    click(qtbot, panel, 1, 2)
    assert studio.session.step == 2
    assert window.context.maps.choice.layers == {OTHER}
    qtbot.waitUntil(lambda: heat(panel).contents_shown.chosen == {1})
    qtbot.waitUntil(lambda: len(heat(panel).contents_shown.curves) == 2)
    qtbot.waitUntil(lambda: "Solid curve: chosen layers; dashed: guidance layers." in said(panel))
    chosen = heat(panel).contents_shown.curves[0]
    assert chosen.at(2) == pytest.approx(heat(panel).contents_shown.values[1, 2], abs=1e-5)
    assert f"Step 3, {OTHER}: PoS" in said(panel)


def test_ctrl_click_adds_and_removes_a_layer(qtbot, panel, window):
    control = Qt.KeyboardModifier.ControlModifier
    click(qtbot, panel, 1, 0, control)
    assert window.context.maps.choice.layers == {GUIDING, OTHER}
    click(qtbot, panel, 0, 0, control)
    assert window.context.maps.choice.layers == {OTHER}


def test_layers_are_picked_by_keyboard(qtbot, panel, window):
    view = heat(panel)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert window.context.maps.choice.layers == {OTHER}
    assert OTHER in view.accessibleDescription()
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert window.context.maps.choice.layers == set()


def test_a_layer_picked_while_no_table_is_shown_changes_nothing(qtbot, panel, studio, window):
    studio.session.open(replace(panel._session.run, id="bare", attention_files=()))
    qtbot.waitUntil(lambda: NONE_CAPTURED in said(panel))
    heat(panel).layer_picked.emit(5, False)
    assert window.context.maps.choice.layers == set()


def test_arrows_move_through_the_steps(qtbot, panel, studio):
    studio.session.pick_step(0)
    qtbot.waitUntil(lambda: "Step 1," in said(panel))
    heat(panel).setFocus()
    qtbot.keyClick(heat(panel), Qt.Key.Key_Right)
    assert studio.session.step == 1


def test_other_measures_are_shown_for_each_word(qtbot, panel):
    pick(qtbot, panel, "entropy")
    assert heat(panel).contents_shown.measure == "entropy"
    assert [each.of for each in panel._columns] == ["dog", "car"]
    pick(qtbot, panel, "overlap")
    assert np.nanmax(heat(panel).contents_shown.values) <= 1


def test_a_second_run_and_the_difference_are_shown(qtbot, open_run, store):
    other = run_of(files_with(1))
    run = store(run_of(files_with(1)))
    panel = open_run(run, store(replace(other, id="other", attention_files=files_with(1))))
    qtbot.waitUntil(lambda: heat(panel).isVisible())
    pick(qtbot, panel, "Difference")
    qtbot.waitUntil(lambda: heat(panel).contents_shown.low == -1)
    assert not heat(panel).contents_shown.values.any()


def test_without_captured_layers_the_dock_says_how_to_capture_them(qtbot, open_run, window):
    panel = open_run(run_of(()))
    asked = []
    window.context.window_signals.capture_asked.connect(asked.append)
    qtbot.waitUntil(lambda: NONE_CAPTURED in said(panel))
    button = next(each for each in panel.findChildren(QPushButton) if each.isVisible())
    qtbot.mouseClick(button, LEFT)
    assert asked == [AttentionDetail.EVERY_WORD]


def test_layers_that_are_gone_are_named(qtbot, open_run, registry_cache):
    panel = open_run(run_of(files_with(1)))
    qtbot.waitUntil(lambda: "no longer available" in said(panel))


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (None, "Each step has one reading: guidance did not act."),
        (Moment.BEFORE, "Guided steps were read before their latent updates."),
        (Moment.AFTER, "Guided steps were read after their latent updates."),
    ],
    ids=["none", "before", "after"],
)
def test_the_moment_of_the_readings_is_stated(qtbot, panel, moment, words):
    table = next(iter(panel._tables.values()))
    assert reading_in_words(replace(table, moment=moment)) == words
    assert reading_in_words(table) in said(panel)


def read_before(file):
    shape = (1, *file.shape[1:])
    return replace(file, name=f"before-{file.name}", shape=shape, steps_before=(0,))


def test_the_switch_of_moments_shows_the_other_reading(
    qtbot, open_run, store, registry_cache, arrays, window
):
    run = store(run_of(files_with(1)))
    files = (*run.attention_files, *map(read_before, run.attention_files))
    for file in files[2:]:
        mirrored = arrays[file.layer][:1, ..., ::-1]
        np.save(registry_cache / ATTENTION_FOLDER / run.id / file.name, mirrored)
    steps = (replace(run.steps[0], step_size=1.0), *run.steps[1:])
    panel = open_run(replace(run, attention_files=files, steps=steps))
    qtbot.waitUntil(lambda: heat(panel).isVisible())
    after = heat(panel).contents_shown.values
    assert "after their latent updates" in said(panel)
    window.context.maps.show_look(moment=Moment.BEFORE)
    qtbot.waitUntil(lambda: "before their latent updates" in said(panel))
    before = heat(panel).contents_shown.values
    np.testing.assert_allclose(before[:, 0], 1 - after[:, 0], atol=1e-4)
    np.testing.assert_array_equal(before[:, 1:], after[:, 1:])


def test_steps_without_capture_have_no_value(panel, window):
    table = next(iter(panel._tables.values()))
    run = panel._session.run
    sparse = replace(table, steps=(0, 2), values=table.values[..., [0, 2]])
    contents = heat_contents(sparse, run, POS, window.context.maps.choice, (), is_difference=False)
    assert np.isnan(contents.values[:, 1]).all()
    assert np.isfinite(contents.values[:, [0, 2]]).all()


def test_the_largest_difference_is_named(panel):
    contents = heat(panel).contents_shown
    values = np.zeros_like(contents.values)
    values[1, 2], values[0, 1] = -0.4, 0.3
    named = largest_in_words(replace(contents, values=values, number_format="+.2f"))
    assert named == f"Largest difference: -0.40 in {contents.layers[1]}, step 3."
    assert replace(contents, number_format="+.2f").said(-0.001) == "+0.00"
    assert largest_in_words(replace(contents, values=values * np.nan)) == ""


def test_the_sentence_claims_no_more_height_than_it_has_lines(panel):
    assert panel.minimumSizeHint().height() <= panel.heightForWidth(panel.width())


def test_a_step_paints_neither_labels_nor_marks_again(qtbot, panel, studio, monkeypatch):
    painted = []
    cell = LayerHeatMap.cell
    monkeypatch.setattr(HeatFrame, "_paint_marks", lambda *_: painted.append("marks"))
    monkeypatch.setattr(LayerHeatMap, "cell", lambda own: painted.append("cell") or cell(own))
    heat(panel).refresh()
    qtbot.waitUntil(lambda: "marks" in painted)
    qtbot.waitUntil(lambda: not panel._clock._timer.isActive())
    painted.clear()
    studio.session.pick_step(0 if studio.session.step else 1)
    qtbot.waitUntil(lambda: "cell" in painted)
    assert "marks" not in painted


def test_no_curve_lies_on_an_edge(panel):
    view = heat(panel)
    area = view.areas[0]
    low, high = view.contents_shown.low, view.contents_shown.high
    assert area.top() + 1 < view.height_of(high) < view.height_of(low) < area.bottom() - 1


def test_the_reading_under_the_pointer_ends_when_the_step_moves(panel, studio):
    view = heat(panel)
    view.show_step(0)
    view.point(QPointF(view._heat.position_of(0, 0.5)) + QPointF(view.surface.pos()))
    assert view.place == 0
    view.show_step(1)
    assert view.place is None


def test_the_values_are_saved_as_a_table(panel):
    rows = heat(panel).contents("csv").decode().splitlines()
    assert rows[0] == "layer,guides,step,PoS"
    assert len(rows) == 1 + 2 * STEPS


def test_its_digits_can_be_extracted_from_a_pdf(bundled_font, panel):
    assert set("01.") <= pdf_characters(heat(panel).contents("pdf"))


def press(qtbot, panel, text):
    button = next(each for each in panel.findChildren(QPushButton) if each.text() == text)
    qtbot.mouseClick(button, LEFT)


@pytest.fixture
def asked(window):
    """The layers that were asked to guide the next picture."""
    found = []
    window.context.window_signals.guidance_layers_asked.connect(found.append)
    return found


def test_the_chosen_layers_guide_the_next_picture(qtbot, panel, window, asked):
    click(qtbot, panel, 1, 0)
    press(qtbot, panel, "Guide with these layers")
    window.context.maps.average(frozenset())
    press(qtbot, panel, "Guide with these layers")
    assert asked == [{OTHER}, set()]


def test_layers_of_two_resolutions_cannot_guide(qtbot, panel, asked):
    click(qtbot, panel, 1, 0, Qt.KeyboardModifier.ControlModifier)
    press(qtbot, panel, "Guide with these layers")
    assert asked == []


def test_curve_and_numbers_follow_the_chosen_layers(qtbot, panel, window):
    numbers, time = window.panel(NumbersPanel), window.panel(TimePanel)
    click(qtbot, panel, 1, 0)
    qtbot.waitUntil(lambda: heat(panel).contents_shown.curves[0].name == "Chosen layers")
    wanted = heat(panel).contents_shown.values[1]
    window.findChild(QDockWidget, "time").raise_()
    qtbot.waitUntil(lambda: time._chart.isVisible())
    qtbot.waitUntil(lambda: bool(time._chart._contents.first.curves))
    qtbot.waitUntil(
        lambda: (
            [time._chart._contents.first.curves[0].at(step) for step in range(STEPS)]
            == pytest.approx(list(wanted), abs=1e-5)
        )
    )
    numbers._draw()
    place = [each.measure for each in numbers._shown.columns].index(Measure.POS)
    assert [row[place] for row in numbers._shown.rows] == pytest.approx(list(wanted), abs=1e-5)
    assert numbers._explanation.text().startswith("Chosen layers: 1 of ")
    assert "Chosen layers: 1 of " in time._chart._contents.reading
    maps = window.panel(MapsPanel)
    qtbot.waitUntil(lambda: maps._note.text().startswith("Chosen layers: 1 of "))
