"""A calibrated preset is saved with its evidence and found by name everywhere."""

import json
from dataclasses import replace

import pytest

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.verdict import RECOMMENDED, REPRODUCE
from tests.ui.scripted_engine import ScriptedEngine, studio_around


@pytest.fixture
def studio(tmp_path):
    studio = studio_around(ScriptedEngine(), tmp_path)
    yield studio
    studio.close()


@pytest.mark.parametrize(
    "settings",
    [
        replace(REPRODUCE, margin=0.07, min_confidence=0.7),
        replace(RECOMMENDED, min_confidence=0.55, depth_margin=0.2),
    ],
    ids=["published", "recommended"],
)
def test_a_saved_preset_reads_back_with_its_name(studio, settings):
    path = studio.storage.checker_presets.save("team A", settings, {"labels": 66})
    assert studio.storage.checker_presets.settings("team A") == replace(settings, preset="team A")
    assert json.loads(path.read_text())["evidence"] == {"labels": 66}


def test_the_terminal_finds_it_by_name(studio):
    studio.storage.checker_presets.save("strict", replace(REPRODUCE, min_confidence=0.9), {})
    assert studio.judging.checker("strict").min_confidence == 0.9
    assert studio.storage.checker_presets.names == ("reproduce", "recommended", "strict")


@pytest.mark.parametrize("name", ["", "reproduce", "Recommended", "../up", "a/b", "a\nb", "x" * 61])
def test_a_name_that_is_no_plain_name_is_rejected(studio, name):
    with pytest.raises(SettingsError, match="cannot have the name"):
        studio.storage.checker_presets.save(name, REPRODUCE, {})


def test_an_unknown_preset_is_named(studio):
    with pytest.raises(SettingsError, match="missing"):
        studio.storage.checker_presets.settings("missing")


def test_the_preset_is_part_of_every_job(studio):
    studio.checker = replace(REPRODUCE, min_confidence=0.9)
    studio.use_prompt("a cat to the left of a dog")
    job = studio._job_of(studio.new_request())
    assert job.checker.min_confidence == 0.9
