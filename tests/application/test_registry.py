import gc
from pathlib import Path

import pytest

from spatialstudio.application.registry import (
    Registry,
    built_in_entries,
    read_manifest,
)
from spatialstudio.domain.errors import DetectorError, PluginError
from spatialstudio.domain.ports import AdapterEntry, Surroundings


@pytest.fixture
def surroundings(tmp_path):
    return Surroundings(resources=tmp_path, model_folders=(tmp_path,))


def registry_of(surroundings, make):
    return Registry([AdapterEntry(kind="extractor", id="mine", make=make)], surroundings)


def test_an_adapter_is_created_once(surroundings):
    registry = registry_of(surroundings, f"{__name__}:make_extractor")
    first = registry.extractor("mine")
    assert first is registry.extractor("mine")
    assert first.surroundings is surroundings


def test_an_unknown_adapter_lists_the_known_ones(surroundings):
    with pytest.raises(PluginError) as caught:
        registry_of(surroundings, "nowhere:make").extractor("other")
    assert "other" in caught.value.message
    assert "mine" in caught.value.hint


@pytest.mark.parametrize("make", ["no_such_module:make", f"{__name__}:no_such_function"])
def test_an_adapter_that_fails_to_load_is_named(surroundings, make):
    with pytest.raises(PluginError, match="mine"):
        registry_of(surroundings, make).extractor("mine")


@pytest.mark.parametrize("is_enabled", [True, False])
@pytest.mark.parametrize("name", ["tell_collection", "no_such_function"])
def test_garbage_is_collected_after_an_adapter_is_made_as_before(surroundings, is_enabled, name):
    if not is_enabled:
        gc.disable()
    try:
        collects = registry_of(surroundings, f"{__name__}:{name}").extractor("mine")
    except PluginError:
        collects = False
    is_enabled_after = gc.isenabled()
    gc.enable()
    assert (collects, is_enabled_after) == (False, is_enabled)


def tell_collection(_surroundings):
    return gc.isenabled()


@pytest.mark.parametrize(
    "text",
    ["not toml [", "other = 1", '[[adapter]]\nkind = "backend"', '[[adapter]]\nfoo = "bar"'],
    ids=["no toml", "no adapters", "fields missing", "field unknown"],
)
def test_a_broken_manifest_is_rejected(tmp_path, text):
    manifest = tmp_path / "plugin.toml"
    manifest.write_text(text, encoding="utf-8")
    with pytest.raises(PluginError, match=r"plugin\.toml"):
        read_manifest(manifest)


def test_a_missing_manifest_is_rejected():
    with pytest.raises(PluginError):
        read_manifest(Path("nowhere") / "plugin.toml")


@pytest.mark.parametrize("entry", built_in_entries(), ids=lambda entry: f"{entry.kind} {entry.id}")
def test_every_built_in_adapter_can_be_created(entry):
    from spatialstudio.application.paths import StudioPaths

    paths = StudioPaths.usual()
    surroundings = Surroundings(resources=paths.resources, model_folders=paths.model_folders)
    registry = Registry([entry], surroundings)
    assert getattr(registry, entry.kind)(entry.id) is not None


class MadeExtractor:
    id = "mine"

    def __init__(self, surroundings):
        self.surroundings = surroundings


def make_extractor(surroundings):
    return MadeExtractor(surroundings)


class FaultyAdapter:
    """Fails when it is used."""

    id = "mine"

    def extract(self, prompt):
        raise KeyError("cup")

    def detect(self, image, names):
        raise MemoryError


def make_faulty(surroundings):
    return FaultyAdapter()


def fail_to_make(surroundings):
    raise SystemExit(5)


def registry_of_plugin(surroundings, kind, make):
    entry = AdapterEntry(kind=kind, id="mine", make=f"{__name__}:{make}", plugin="Cups")
    return Registry([entry], surroundings)


@pytest.mark.parametrize(
    ("kind", "error"), [("extractor", PluginError), ("detector", DetectorError)]
)
def test_a_factory_of_a_plugin_that_fails_names_the_plugin(surroundings, kind, error):
    registry = registry_of_plugin(surroundings, kind, "fail_to_make")
    with pytest.raises(error) as caught:
        getattr(registry, kind)("mine")
    assert caught.value.message == f'The {kind} "mine" of the plugin "Cups" failed: SystemExit: 5.'


def test_an_adapter_of_a_plugin_that_fails_names_the_plugin(surroundings):
    extractor = registry_of_plugin(surroundings, "extractor", "make_faulty").extractor("mine")
    assert extractor.id == "mine"
    with pytest.raises(PluginError, match="of the plugin \"Cups\" failed: KeyError: 'cup'"):
        extractor.extract(None)


def test_memory_errors_of_a_plugin_keep_their_meaning(surroundings):
    detector = registry_of_plugin(surroundings, "detector", "make_faulty").detector("mine")
    with pytest.raises(MemoryError):
        detector.detect(None, ())
