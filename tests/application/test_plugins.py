"""A plugin registers what it adds; whatever is wrong with one disables this plugin alone."""

import importlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from spatialstudio.application import plugins as plugins_module
from spatialstudio.application.engine.worker import InlineEngine
from spatialstudio.application.evaluate.metrics import METRICS
from spatialstudio.application.jobs.messages import EvaluateJob
from spatialstudio.application.plugins import (
    GROUP,
    Plugins,
    _installed_plugins,
    entry_points_in,
    installed_plugins,
    is_group_announced,
    load_plugins,
    missing_plugins,
    search_folders,
    switch_plugins,
    unregister,
)
from spatialstudio.application.registry import EXPORT_KINDS, Registry
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.scene import relation_types
from spatialstudio.plugin_api import (
    ABOVE,
    API_VERSION,
    BELOW,
    AdapterEntry,
    ExportKind,
    Metric,
    PanelEntry,
    Plugin,
    RelationType,
    Shape,
)
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from tests.fakes import scene_of

REGISTRIES = (relation_types, GUIDANCE_METHODS, METRICS, EXPORT_KINDS)


@dataclass
class Distribution:
    name: str
    version: str = "1.2"


class FakeEntryPoint:
    """Announces an object, or raises an error in its place."""

    def __init__(self, thing, name="mine"):
        self.name = name
        self.dist = Distribution(name)
        self._thing = thing

    def load(self):
        if isinstance(self._thing, BaseException):
            raise self._thing
        return self._thing


OVER = RelationType("over", "hovering over", Shape.ORDER, ABOVE.claims, "under")
UNDER = RelationType("under", "hovered over by", Shape.ORDER, BELOW.claims, "over")
RIGHTS = RelationType("rights", "right of", Shape.ORDER, ABOVE.claims, "lefts")
LEFTS = RelationType("lefts", "lefts of", Shape.ORDER, BELOW.claims, "rights")
READER = AdapterEntry(kind="extractor", id="reader", make="my_plugin.reader:build")
METRIC = Metric(id="near-centre", label="Near the centre", help="Whether things are central.")
KIND = ExportKind(id="notes", label="Notes", help="Text.", formats=("txt",), write=print)
PANEL = PanelEntry(id="board", title="Board", make="my_plugin.board:Board", workspace="inspect")


def plugin_of(name="Mine", **parts):
    return Plugin(name=name, api_version=API_VERSION, **parts)


@pytest.fixture
def load():
    """Load plugins, and remove what they registered after the test."""
    loaded = []

    def load(*things):
        points = [FakeEntryPoint(thing, f"point-{n}") for n, thing in enumerate(things)]
        plugins = load_plugins(points)
        loaded.extend(plugins.loaded)
        return plugins

    yield load
    for each in loaded:
        unregister(each.plugin)


def test_a_plugin_registers_all_that_it_adds(load):
    plugins = load(
        plugin_of(
            relation_types=(OVER, UNDER),
            metrics=(METRIC,),
            export_kinds=(KIND,),
            adapters=(READER,),
            panels=(PANEL,),
        )
    )
    assert relation_types["over"] is OVER
    assert list(METRICS)[-1] is METRIC
    assert list(EXPORT_KINDS)[-1] is KIND
    assert plugins.adapters == (replace(READER, plugin="Mine"),)
    assert EXPORT_KINDS.label("notes") == 'export kind "notes" of the plugin "Mine"'
    assert plugins.panels == (PANEL,)


def test_a_plugin_is_listed_with_its_version_and_additions(load):
    (mine,) = load(plugin_of(relation_types=(OVER, UNDER), adapters=(READER,))).loaded
    assert (mine.name, mine.version) == ("Mine", "1.2")
    assert mine.additions == (
        'relation type "over"',
        'relation type "under"',
        'extractor "reader"',
    )


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        pytest.param(ImportError("No module named 'x'"), "No module named 'x'", id="no import"),
        pytest.param(SystemExit(3), "SystemExit: 3", id="exit"),
        pytest.param(GeneratorExit(), "GeneratorExit", id="no exception"),
        pytest.param("a plugin", "a str, not a Plugin", id="no plugin"),
        pytest.param(Plugin(name="Old", api_version=0), "version 0 of the plugin API", id="old"),
        pytest.param(Plugin(name="New", api_version=2), "version 2 of the plugin API", id="new"),
        pytest.param(plugin_of(""), "no name", id="no name"),
        pytest.param(plugin_of(adapters=[READER]), "not a tuple", id="a list"),
        pytest.param(plugin_of(panels=(READER,)), "not a tuple of PanelEntry", id="wrong kind"),
        pytest.param(
            plugin_of(adapters=(AdapterEntry(kind="detector", id="../x", make="a:b"),)),
            'the id "../x"',
            id="id",
        ),
        pytest.param(
            plugin_of(adapters=(AdapterEntry(kind="detector", id=5, make="a:b"),)),
            "It is invalid: TypeError",
            id="id of another type",
        ),
        pytest.param(
            plugin_of(adapters=(AdapterEntry(kind="detector", id="x", make=None),)),
            "It is invalid: TypeError",
            id="reference of another type",
        ),
        pytest.param(
            plugin_of(adapters=(AdapterEntry(kind="detector", id="x", make="nothing"),)),
            '"nothing" does not name',
            id="reference",
        ),
        pytest.param(
            plugin_of(adapters=(AdapterEntry(kind="extractor", id="grammar", make="a:b"),)),
            'extractor "grammar" is registered twice',
            id="adapter clash",
        ),
        pytest.param(
            plugin_of(adapters=(replace(READER, kind="library"),)),
            'adapters of the kind "library"',
            id="kind",
        ),
        pytest.param(
            plugin_of(adapters=(READER, READER)), "registered twice", id="clash within itself"
        ),
        pytest.param(plugin_of(relation_types=(OVER,)), '"under" is not known', id="no inverse"),
        pytest.param(
            plugin_of(relation_types=(OVER, UNDER, ABOVE)),
            'relation type "above" is registered twice',
            id="relation clash",
        ),
        pytest.param(
            plugin_of(relation_types=(OVER, UNDER), metrics=(replace(METRIC, id="pse"),)),
            'metric "pse" is registered twice',
            id="metric clash",
        ),
        pytest.param(
            plugin_of(metrics=(METRIC, replace(METRIC, id="outcome"))),
            '"outcome" has the name of another value',
            id="metric with a reserved name",
        ),
        pytest.param(
            plugin_of(relation_types=(OVER, UNDER, RIGHTS, replace(LEFTS, words=("Right-of",)))),
            'phrase "right of" of the relation type "rights" is registered for "lefts"',
            id="phrase within itself",
        ),
        pytest.param(
            plugin_of(relation_types=(replace(OVER, words=("To the  left of",)), UNDER)),
            'phrase "to the left of" of the relation type "over" is registered for "left_of"',
            id="phrase",
        ),
        pytest.param(
            plugin_of(metrics=(METRIC,), export_kinds=(replace(KIND, id="film"),)),
            'export kind "film" is registered twice',
            id="export clash",
        ),
        pytest.param(
            plugin_of(metrics=(METRIC,), guidance_methods=(GUIDANCE_METHODS["psg"],)),
            'guidance method "psg" is registered twice',
            id="method clash",
        ),
    ],
)
def test_a_plugin_that_cannot_be_used_is_disabled_with_the_reason(load, thing, reason):
    before = [list(registry) for registry in REGISTRIES]
    plugins = load(thing)
    assert plugins.loaded == ()
    (disabled,) = plugins.disabled
    assert reason in disabled.reason
    assert disabled.reason.endswith(".")
    assert [list(registry) for registry in REGISTRIES] == before
    assert plugins.adapters == ()


def test_a_clash_disables_the_later_plugin_only(load):
    plugins = load(
        plugin_of("First", adapters=(READER,), relation_types=(OVER, UNDER)),
        plugin_of("Second", adapters=(READER,)),
        plugin_of("Third", relation_types=(OVER, UNDER)),
        plugin_of("First"),
    )
    assert [each.name for each in plugins.loaded] == ["First"]
    assert [each.name for each in plugins.disabled] == ["Second", "Third", "First"]
    assert relation_types["over"] is OVER


def test_a_broken_plugin_leaves_the_others_working(load):
    plugins = load(SystemExit(), plugin_of(adapters=(READER,)))
    assert [each.name for each in plugins.loaded] == ["Mine"]


def test_an_interrupt_ends_the_loading(load):
    with pytest.raises(KeyboardInterrupt):
        load(KeyboardInterrupt())


@pytest.mark.parametrize(
    "places", [{"workspace": "attic"}, {"workspace": "inspect", "area": "ceiling"}], ids=str
)
def test_a_panel_with_an_unknown_place_is_rejected(places):
    with pytest.raises(ValueError, match="is not one of"):
        PanelEntry(id="board", title="Board", make="a:B", **places)


def announce(folder, package, group):
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{package} = {package}:PLUGIN\n")


def test_packages_without_entry_points_are_not_searched(tmp_path):
    announce(tmp_path, "other", "console_scripts")
    (tmp_path / "bare-1.0.dist-info").mkdir()
    folders = [str(tmp_path / "gone"), str(tmp_path)]
    assert not is_group_announced(folders)
    announce(tmp_path, "mine", GROUP)
    assert is_group_announced(folders)


def write_plugin(folder, name):
    announce(folder, name, GROUP)
    (folder / f"{name}.py").write_text("PLUGIN = None\n")


def test_packages_in_the_current_folder_are_not_loaded_as_plugins(tmp_path, monkeypatch):
    installed, downloads = tmp_path / "installed", tmp_path / "downloads"
    for folder, name in ((installed, "mine"), (downloads, "stranger")):
        folder.mkdir()
        write_plugin(folder, name)
    monkeypatch.chdir(downloads)
    folders = search_folders(["", str(downloads), ".", str(installed)])
    assert folders == (str(installed),)
    assert [each.name for each in entry_points_in(folders)] == ["mine"]


def test_the_folder_of_installed_packages_is_searched_from_anywhere(tmp_path, monkeypatch):
    packages = tmp_path / "site-packages"
    packages.mkdir()
    monkeypatch.chdir(packages)
    assert search_folders([str(packages)]) == (str(packages),)


def test_the_first_package_of_a_name_is_used(tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
        write_plugin(folder, "mine")
    assert len(list(entry_points_in([str(each) for each in folders]))) == 1


@pytest.mark.parametrize("imported", ["json", "importlib_metadata"])
def test_a_package_without_a_name_hides_no_plugin(tmp_path, imported):
    importlib.import_module(imported)  # importlib_metadata searches for packages from then on
    write_plugin(tmp_path, "damaged")
    (tmp_path / "damaged-1.0.dist-info" / "METADATA").unlink()
    write_plugin(tmp_path, "mine")
    assert [each.name for each in entry_points_in([str(tmp_path)])] == ["mine"]


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """An installation whose plugins are not loaded yet."""
    monkeypatch.setenv("SPATIAL_STUDIO_HOME", str(tmp_path))
    monkeypatch.setattr(plugins_module, "entry_points_in", lambda _: [FakeEntryPoint(plugin_of())])
    monkeypatch.setattr(plugins_module, "is_group_announced", lambda _: True)
    _installed_plugins.cache_clear()
    yield tmp_path / "settings"
    _installed_plugins.cache_clear()


def test_plugins_are_turned_off_by_the_environment(fresh, monkeypatch):
    monkeypatch.setenv("SPATIALSTUDIO_PLUGINS", "off")
    plugins = installed_plugins()
    assert (plugins.switched_off_by, plugins.loaded) == ("SPATIALSTUDIO_PLUGINS=off", ())


def test_plugins_are_turned_off_and_on_by_the_settings(fresh):
    switch_plugins(fresh, on=False)
    assert installed_plugins().switched_off_by == "the settings"
    switch_plugins(fresh, on=True)
    _installed_plugins.cache_clear()
    assert [each.name for each in installed_plugins().loaded] == ["Mine"]


def test_threads_load_the_plugins_once(fresh, monkeypatch):
    loads = []

    def load_slowly(points):
        loads.append(points)
        started.set()
        assert may_end.wait(60)
        return Plugins()

    started, may_end = Event(), Event()
    monkeypatch.setattr(plugins_module, "load_plugins", load_slowly)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(installed_plugins)
        assert started.wait(60)
        second = pool.submit(installed_plugins)
        may_end.set()
        assert first.result() is second.result()
    assert len(loads) == 1


def test_a_plugin_missing_in_the_engine_is_named_with_the_reason(fresh, monkeypatch):
    broken = [FakeEntryPoint(ImportError("No module named 'x'"), "mine")]
    monkeypatch.setattr(plugins_module, "entry_points_in", lambda _: broken)
    words = missing_plugins(["Mine"])
    assert words.startswith('In the engine process, these plugins are disabled: "Mine".')
    assert "No module named 'x'" in words
    surroundings = Surroundings(resources=Path(), model_folders=())
    engine = InlineEngine(lambda: Registry((), surroundings, words))
    reports = []
    engine.start(reports.append)
    picture = np.zeros((8, 8, 3), np.uint8)
    engine.submit(EvaluateJob(job_id=RequestId("look"), image=picture, scene=scene_of()))
    engine.close()
    assert reports[-1].error.hint == f"Available: none. {words}"


def test_no_plugin_is_missing_where_all_are_loaded(fresh):
    assert missing_plugins(["Mine"]) == ""
