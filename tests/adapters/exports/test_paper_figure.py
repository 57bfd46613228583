"""Figures for papers: labels, limits and files."""

import base64
import re
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.exports.layer_runs import runs_of_layers
from spatialstudio.adapters.exports.lettering import font_families, font_files
from spatialstudio.adapters.exports.paper_figure import (
    GUIDANCE_LAYERS,
    caption_lines,
    labels_of,
    measure_with,
    paper_figure,
    ticks_up_to,
)
from spatialstudio.adapters.exports.write_pdf import pdf_bytes
from spatialstudio.adapters.exports.write_svg import svg_bytes
from spatialstudio.application.paths import resources_folder
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.attention import AttentionSnapshot, MapScale, Moment
from spatialstudio.domain.drawing import Anchor, Line, Raster, Text
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import FIGURE
from spatialstudio.domain.figure_template import FigureTemplate
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.run_data import RunArray, RunData
from spatialstudio.domain.steering import Steering

FONTS = resources_folder() / "fonts"
STARTS = {Anchor.START: 0.0, Anchor.MIDDLE: 0.5, Anchor.END: 1.0}
ANY_STEPS = FigureTemplate(steps=())


@pytest.fixture
def sample(exports, picture):
    return exports.read(picture)


@pytest.fixture
def run(sample):
    """Return the sample with attention and PoS of its words at each of 20 steps."""

    def made(guidance=UNGUIDED, seed=7, phrase="", size=1.0, strength=5.0):
        request = sample.record.request
        scene, sampling = request.scene, request.sampling
        mentions = tuple(replace(m, phrase=phrase or m.phrase) for m in scene.mentions)
        scene = replace(scene, mentions=mentions)
        guided = replace(sampling.guidance, method_id=guidance, strength=strength)
        sampling = replace(sampling, guidance=guided, seed=seed)
        request = replace(request, scene=scene, sampling=sampling)
        steps = tuple(
            replace(
                sample.steps[0],
                step=step,
                total_steps=20,
                step_size=None,
                pos={relation.id: (step + 1) / 20 for relation in scene.relations},
                attention=AttentionSnapshot(
                    maps={
                        m.id: np.full((4, 4), size * (step + 1) / 100, np.float32) for m in mentions
                    },
                    layers=("a",),
                ),
                attention_after=None,
            )
            for step in range(20)
        )
        return replace(sample, record=replace(sample.record, request=request), steps=steps)

    return made


def drawn(exports, runs, **settings):
    look = replace(exports.look(), template=replace(FigureTemplate(), **settings))
    return paper_figure(runs, look, FONTS)


def texts(drawing):
    return [item for item in drawing.items if isinstance(item, Text)]


def test_guided_and_baseline_are_shown_at_the_steps_of_the_template(exports, run):
    drawing = drawn(exports, [run("psg"), run()])
    words = [text.text for text in texts(drawing)]
    assert drawing.width == pytest.approx(234)
    assert words[:7] == ["Step", "1", "5", "10", "20", "Guided", *words[6:7]]
    assert words.count("Guided") == words.count("Baseline") == 2
    maps = [item for item in drawing.items if isinstance(item, Raster)]
    assert len(maps) == 2 * 2 * 4 + 1


def test_curves_of_baselines_are_dashed(exports, run):
    lines = [i for i in drawn(exports, [run("psg"), run()]).items if isinstance(i, Line)]
    curves = [line for line in lines if len(line.points) == 20]
    assert [curve.is_dashed for curve in curves] == [False, True]


@pytest.mark.parametrize(
    ("settings", "phrase"),
    [
        ({"width": 1.5, "steps": tuple(range(1, 13))}, ""),
        ({"width": 7.0, "steps": (1,), "type_size": 14}, ""),
        ({"width": 3.25, "has_footer": True}, "an extraordinarily long description " * 5),
        ({"width": 2.0, "words": ("猫の写真" * 8,)}, "猫の写真" * 8),
        ({"width": 1.5, "scale": MapScale.PER_MAP, "type_size": 14}, "قطة سوداء كبيرة"),
    ],
    ids=["narrow", "one step", "long words", "CJK", "Arabic"],
)
def test_no_text_is_clipped_or_below_six_points(exports, run, settings, phrase):
    drawing = drawn(exports, [run("psg", phrase=phrase), run(phrase=phrase)], **settings)
    measure = measure_with(FONTS / "Inter-Regular.ttf")
    for text in texts(drawing):
        width = measure(text.text, text.size)
        left = text.at[0] - width * STARTS[text.anchor]
        assert text.size >= 6
        assert left >= -0.01, text.text
        assert left + width <= drawing.width + 0.01, text.text
        assert 0 < text.at[1] <= drawing.height


@pytest.mark.parametrize("width", [1.5, 3.25, 7.2])
@pytest.mark.parametrize("count", [1, 4, 12])
def test_maps_lines_and_scale_lie_inside_the_figure(exports, run, width, count):
    steps = tuple(range(1, count + 1))
    drawing = drawn(exports, [run("psg"), run()], width=width, steps=steps, has_footer=True)
    corners = [
        corner
        for item in drawing.items
        if not isinstance(item, Text)
        for corner in (
            item.points
            if isinstance(item, Line)
            else (item.at, (item.at[0] + item.width, item.at[1] + item.height))
        )
    ]
    xs, ys = zip(*corners, strict=True)
    assert min(xs) >= 0
    assert min(ys) >= 0
    assert max(xs) <= drawing.width
    assert max(ys) <= drawing.height


def test_a_shared_scale_ends_at_the_highest_value_of_all_runs(exports, run):
    drawing = drawn(exports, [run(size=0.5), run(seed=8, size=2)], has_curves=False)
    first, *_ = (item.pixels for item in drawing.items if isinstance(item, Raster))
    *_, last, scale = (item.pixels for item in drawing.items if isinstance(item, Raster))
    assert (last[0, 0] == scale[0, -1]).all()
    assert (first[0, 0] == scale[0, round(255 * 0.005 / 0.4)]).all()
    assert [text.text for text in texts(drawing)][-3:] == ["0", "0.2", "0.4"]


def test_the_scale_is_numbered_at_its_maximum(exports, run):
    drawing = drawn(exports, [run(size=1.7)], has_curves=False)
    assert [text.text for text in texts(drawing)][-5:] == ["0", "0.1", "0.2", "0.3", "0.34"]


def test_the_moment_of_guided_steps_is_written_in_full_at_any_width(exports, run):
    guided = run("psg")
    guided = replace(guided, steps=tuple(replace(e, step_size=1.0) for e in guided.steps))
    shown = " ".join(text.text for text in texts(drawn(exports, [guided], width=1.5, steps=(1,))))
    assert "Guided steps: read before the step's updates." in shown


def test_small_maps_have_rows_as_close_as_their_labels(exports, run):
    drawing = drawn(exports, [run()], width=1.5, steps=tuple(range(1, 13)), has_curves=False)
    first, *_, last, _ = (item for item in drawing.items if isinstance(item, Raster))
    assert last.at[1] - first.at[1] == pytest.approx(7 + 2)


@pytest.fixture
def layered(run):
    """Return a run with two recorded layers; the first has the second's mirror image."""

    def made(moment="after", names=("down", "up")):
        values = np.zeros((20, 2, 2, 4, 4), np.float16)
        values[:, :, 0, :, 0] = values[:, :, 1, :, 3] = 0.5
        own = run()
        arrays = tuple(
            RunArray(
                name=f"layer/{name}",
                shape=values.shape,
                dtype="float16",
                axes=(),
                meaning="",
                unit="",
                details={
                    "layer": name,
                    "moment_on_guided_steps": moment,
                    "token_positions": {"m1": [0], "m2": [1]},
                    "steps": list(range(20)),
                },
                blocks=lambda way=way: (values[n : n + 1, ..., ::way] for n in range(20)),
            )
            for name, way in zip(names, (1, -1), strict=True)
        )
        data = RunData(run="", about={}, arrays=arrays, numbers=lambda: iter(()))
        steps = tuple(replace(event, step_size=1.0) for event in own.steps)
        return replace(own, data=data, steps=steps)

    return made


def test_maps_and_pos_of_chosen_layers_are_their_means(exports, layered):
    (one,), moment = runs_of_layers([layered()], ["down"], Moment.BEFORE)
    (both,), _ = runs_of_layers([layered()], ["down", "up"], Moment.AFTER)
    assert moment is Moment.AFTER
    assert one.steps[3].attention.maps["m1"].tolist() == [[0.5, 0, 0, 0]] * 4
    assert both.steps[3].attention.maps["m1"].tolist() == [[0.25, 0, 0, 0.25]] * 4
    assert one.steps[3].pos_after == {"r1": pytest.approx(1)}
    assert both.steps[3].pos_after == {"r1": pytest.approx(0.5)}
    assert GUIDANCE_LAYERS in caption_lines([layered()], FigureTemplate())
    assert "mean of the layers down, up." in " ".join(
        caption_lines([layered()], FigureTemplate(layers=("down", "up")))
    )


@pytest.mark.parametrize(("wanted", "first"), [(Moment.BEFORE, 0.0), (Moment.AFTER, 0.5)])
def test_layers_captured_at_both_moments_are_drawn_at_the_chosen_one(layered, wanted, first):
    run = layered()
    down, _ = run.data.arrays
    details = {**down.details, "moment_on_guided_steps": "before", "steps": [3]}
    mirrored = replace(
        down,
        name="layer_before/down",
        details=details,
        blocks=lambda: (block[..., ::-1] for block in list(down.blocks())[:1]),
    )
    run = replace(run, data=replace(run.data, arrays=(down, mirrored)))
    (drawn,), moment = runs_of_layers([run], ["down"], wanted)
    assert moment is wanted
    assert drawn.steps[3].attention_at(moment).maps["m1"][0, 0] == first
    assert drawn.steps[2].attention_at(moment).maps["m1"][0, 0] == 0.5


def test_layers_that_are_not_captured_or_read_at_other_moments_are_rejected(layered):
    with pytest.raises(ExportError, match='no recorded layer "mid"') as refused:
        runs_of_layers([layered()], ["mid"], Moment.AFTER)
    assert refused.value.hint == "Recorded layers: down, up."
    with pytest.raises(ExportError, match="different moments"):
        runs_of_layers([layered(), layered("before")], ["up"], Moment.AFTER)


def test_a_run_without_recorded_layers_says_how_to_record_them(run):
    with pytest.raises(ExportError) as refused:
        runs_of_layers([run()], ["mid"], Moment.AFTER)
    assert refused.value.hint.endswith(': --keep-attention "all layers".')


def test_an_unknown_font_is_rejected(exports, run):
    with pytest.raises(ExportError, match="not available"):
        drawn(exports, [run()], font="Comic")


@pytest.mark.parametrize("family", font_families())
def test_every_offered_font_is_embedded_and_its_text_fits(exports, run, family):
    drawing = drawn(exports, [run("psg"), run()], font=family)
    measure = measure_with(font_files(family, FONTS)[0])
    for text in texts(drawing):
        left = text.at[0] - measure(text.text, text.size) * STARTS[text.anchor]
        assert left >= -0.01
        assert left + measure(text.text, text.size) <= drawing.width + 0.01
    svg = svg_bytes(drawing, FONTS).decode()
    assert f"@font-face{{font-family:'{family}'" in svg
    name = family.replace(" ", "").removesuffix("Regular").encode()
    pdf = pdf_bytes(drawing, FONTS)
    assert pdf.count(b"/FontFile2") == 2
    assert name in pdf.replace(b"-", b"")


@pytest.mark.parametrize(
    ("high", "expected"),
    [(0.34, (0, 0.1, 0.2, 0.3)), (1.0, (0, 0.5, 1)), (7e-5, (0, 2e-5, 4e-5, 6e-5))],
)
def test_ticks_are_round_numbers(high, expected):
    assert ticks_up_to(high, 4 if high != 1 else 2) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (42.1, 56.3, (45, 50, 55)),
        (-0.3, 0.25, (-0.2, 0, 0.2)),
        (1000.25, 1000.55, (1000.3, 1000.4, 1000.5)),
    ],
)
def test_ticks_lie_between_both_ends(low, high, expected):
    assert ticks_up_to(high, 4, low) == expected


def test_rows_name_what_differs(run):
    assert labels_of([run("psg"), run("psg", seed=8)]) == ("Guided, seed 7", "Guided, seed 8")
    assert labels_of([run("psg"), run()]) == ("Guided", "Baseline")
    assert labels_of([run("psg"), run("psg", strength=0.0)]) == ("Guided", "Baseline")
    assert labels_of([steered(run()), run()]) == ("Steered", "Baseline")


@pytest.mark.parametrize(("passes", "label"), [(0, "Guidance not needed"), (5, "Guided")])
def test_rows_say_that_a_trial_needed_no_guidance(run, passes, label):
    made = run("layout")
    steps = tuple(replace(step, guiding_passes=passes) for step in made.steps)
    assert labels_of([replace(made, steps=steps), run()]) == (label, "Baseline")


def steered(run):
    request = replace(run.record.request, steering=Steering(particles=4))
    return replace(run, record=replace(run.record, request=request))


def test_steps_that_are_not_shown_are_named(exports, run):
    made = run()
    steps = tuple(replace(e, attention=None) if e.step == 2 else e for e in made.steps)
    look = replace(exports.look(), template=FigureTemplate(steps=(1, 3, 20, 21, 30, 50)))
    file = EXPORT_KINDS[FIGURE].write([replace(made, steps=steps)], look, "svg", resources_folder())
    assert file.notes == (
        "Steps 21, 30 and 50 are not shown: the last step is 20.",
        "Step 3 is not shown: no maps of these words.",
    )
    look = replace(look, template=FigureTemplate(steps=(1, 20)))
    assert EXPORT_KINDS[FIGURE].write([made], look, "svg", resources_folder()).notes == ()


def test_a_run_without_attention_is_marked_as_such(exports, run):
    other = run()
    other = replace(other, steps=tuple(replace(e, attention=None) for e in other.steps))
    drawing = drawn(exports, [run("psg"), other])
    assert [text.text for text in texts(drawing)].count("n/a") == 8


@pytest.mark.parametrize("settings", [{"words": ("zebra",)}, {"steps": (99,)}], ids=str)
def test_a_figure_without_maps_is_an_error(exports, run, settings):
    with pytest.raises(ExportError, match="No run has attention maps"):
        drawn(exports, [run()], **settings)


@pytest.fixture
def file(exports, picture, tmp_path):
    """Return the bytes of the sample's figure in a format."""

    def written(ending):
        look = replace(exports.look(), template=ANY_STEPS)
        target = tmp_path / f"figure.{ending}"
        (path,) = exports.export([picture], EXPORT_KINDS[FIGURE], target, look)
        return path.read_bytes()

    return written


def test_svg_files_embed_the_letters_they_use(file):
    svg = file("svg").decode()
    fonts = re.findall(r"data:font/ttf;base64,([^)]+)\)", svg)
    assert fonts
    assert all(base64.b64decode(font)[:4] == b"\0\1\0\0" for font in fonts)
    assert len(base64.b64decode(fonts[0])) < (FONTS / "Inter-Regular.ttf").stat().st_size / 4


def test_pdf_files_embed_the_font(file):
    pdf = file("pdf")
    assert b"/FontFile2" in pdf
    assert b"/ToUnicode" in pdf


def test_png_files_state_their_resolution(file):
    with Image.open(BytesIO(file("png"))) as image:
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert image.width == round(3.25 * 300)
