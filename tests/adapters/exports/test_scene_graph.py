"""The scene graphs of a run as a figure and as GraphML."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import networkx
import pytest

from spatialstudio.adapters.exports.graph_file import graphml_bytes
from spatialstudio.adapters.exports.scene_graph import scene_graph_figure
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.drawing import Text
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import GRAPH
from spatialstudio.domain.graph_settings import GraphSettings
from tests.science.seen_things import masked
from tests.ui.judged_runs import CAR, DOG, judged_run

SAMPLE = Path(__file__).parents[2] / "golden" / "run_of_schema_1"
SWAPPED = masked("m1", 70, 50), masked("m2", 20, 50)


@pytest.fixture(scope="module")
def sample(exports):
    return exports.read(SAMPLE)


@pytest.fixture
def run(sample):
    """A run of "a dog to the left of a car" whose picture shows the opposite."""
    return shown(sample, judged_run(DOG, CAR, masks=SWAPPED))


def shown(sample, judged):
    request = replace(sample.record.request, scene=judged.scene)
    record = replace(sample.record, request=request, evaluation=judged.evaluation)
    return replace(sample, record=record)


def read(content):
    return networkx.read_graphml(BytesIO(content), force_multigraph=True)


def texts(drawing):
    return [item.text for item in drawing.items if isinstance(item, Text)]


def test_networkx_reads_both_graphs_with_their_matches(run, exports):
    graph = read(graphml_bytes(run, exports.look()))
    nodes = {name: (values["graph"], values["class"]) for name, values in graph.nodes.items()}
    assert nodes == {
        "prompt.1": ("prompt", "dog"),
        "prompt.2": ("prompt", "car"),
        "picture.1": ("picture", "dog"),
        "picture.2": ("picture", "car"),
    }
    (stated,) = graph.get_edge_data("prompt.1", "prompt.2").values()
    assert (stated["relation"], stated["state"], stated["cost"]) == ("left_of", "wrong", 1.0)
    held = graph.get_edge_data("picture.1", "picture.2").values()
    assert "right_of" in {each["relation"] for each in held}
    (match,) = graph.get_edge_data("prompt.1", "picture.1").values()
    assert (match["kind"], match["state"]) == ("match", "matched")


def test_graphml_has_the_scores_and_every_setting(run, exports):
    graph = read(graphml_bytes(run, exports.look())).graph
    assert graph["score"] == pytest.approx(1 - 1 / 3.2)
    assert graph["relations"] == 0
    assert graph["is_exact"] is True
    assert graph["setting_least_pse"] == 0.5
    assert graph["prompt"] == run.record.request.scene.prompt.text


def test_the_settings_of_the_look_are_used(run, exports):
    look = replace(exports.look(), graph=GraphSettings(wrong_relation=0.5))
    assert read(graphml_bytes(run, look)).graph["distance"] == 0.5


def test_a_figure_shows_both_graphs_the_state_of_each_part_and_the_score(run, exports):
    words = texts(scene_graph_figure(run, exports.look()))
    assert {"Prompt", "Picture", "≠ left of", "≠ right of", "Scene-graph score 0.69"} <= set(words)
    assert words.count("dog") == 2


def test_a_missing_object_is_drawn_on_the_left_only(sample, exports):
    run = shown(sample, judged_run(DOG, masks=(masked("m1", 20, 50),)))
    words = texts(scene_graph_figure(run, exports.look()))
    assert (words.count("dog"), words.count("car"), words.count("−")) == (2, 1, 1)  # noqa: RUF001


@pytest.mark.parametrize("ending", EXPORT_KINDS[GRAPH].formats)
def test_each_format_is_written(run, exports, ending):
    content = exports.exporter.make([run], EXPORT_KINDS[GRAPH], exports.look(), ending).content
    assert content


def test_a_run_without_a_verdict_cannot_be_drawn(sample, exports):
    unjudged = replace(sample, record=replace(sample.record, evaluation=None))
    with pytest.raises(ExportError, match="is not judged"):
        graphml_bytes(unjudged, exports.look())


HOSTILE = '<&"\']]>\x00\x1b\ud800\u202e</graphml><!ENTITY x SYSTEM "file:///etc/passwd">'


def test_hostile_names_are_text_in_graphml_and_svg(sample, exports):
    judged = judged_run(DOG, CAR, masks=SWAPPED)
    dog, car = judged.scene.mentions
    dog = replace(dog, head=f"dog{HOSTILE}", phrase=HOSTILE, attributes=(f"red{HOSTILE}",))
    prompt = replace(judged.scene.prompt, text=f"a {HOSTILE}")
    scene = replace(judged.scene, prompt=prompt, mentions=(dog, car))
    run = shown(sample, replace(judged, scene=scene))
    content = graphml_bytes(run, exports.look())
    graph = read(content)
    assert len(graph) == 4
    assert b"<!ENTITY" not in content
    assert graph.nodes["prompt.1"]["class"].startswith("dog<&\"']]>")
    assert "</graphml>" in graph.graph["prompt"]
    svg = exports.exporter.make([run], EXPORT_KINDS[GRAPH], exports.look(), "svg").content
    ElementTree.fromstring(svg)


def test_names_that_differ_in_control_characters_stay_two_nodes(sample, exports):
    judged = judged_run(DOG, CAR, masks=SWAPPED)
    mentions = (
        replace(each, head=f"dog{end}")
        for each, end in zip(judged.scene.mentions, "\x01\x02", strict=True)
    )
    run = shown(sample, replace(judged, scene=replace(judged.scene, mentions=tuple(mentions))))
    assert len(read(graphml_bytes(run, exports.look()))) == 4
