"""Files from before guidance methods had options still open, and mean the same."""

import json
import shutil
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.metadata.parse_values import with_options
from spatialstudio.adapters.storage.metadata.reader import settings_in
from spatialstudio.adapters.storage.stores.json_codec import decode, encode
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.adapters.storage.stores.state_files import PlainStateFiles
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.sweep import SweepField

GOLDEN = Path(__file__).parents[3] / "golden" / "files_before_method_options"
OPTIONS = {"paper_loss": True, "presence_weight": 0.1}


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(GOLDEN, tmp_path / "older")


@pytest.fixture
def picture(folder):
    (picture,) = folder.glob("*.png")
    return picture


def test_a_run_has_its_settings_as_options(picture):
    record, _ = RunFiles().load(picture)
    guidance = record.request.sampling.guidance
    assert (guidance.method_id, guidance.options) == ("psg-presence", OPTIONS)


def test_a_run_verifies_without_faults(picture):
    assert RunFiles().verify(picture) == ()


def test_the_position_in_a_sweep_over_an_option_is_read(picture):
    record, _ = RunFiles().load(picture)
    column = record.request.sweep.column
    assert (column.field, column.value) == (SweepField("presence_weight", ""), 0.1)
    assert column.field.title == "Presence weight"
    assert encode(column, {}) == {"field": "presence_weight", "value": 0.1}


def test_a_picture_has_its_settings_in_the_same_words(picture):
    told = settings_in(picture.read_bytes())
    assert told.guidance == ("last step 1", "paper loss True", "presence weight 0.1")


def test_a_queue_that_was_interrupted_is_resumed(folder):
    journal = PlainStateFiles().open_journal(folder)
    (request,) = journal.interrupted()
    journal.close()
    assert request.sampling.guidance.options == OPTIONS


def test_drafts_and_saved_settings_are_read(folder):
    files = PlainStateFiles()
    draft, settings = (
        files.read_draft(folder / "draft.json"),
        files.read_settings(folder / "settings.json"),
    )
    assert draft.settings == settings
    assert settings.sampling.guidance.options == OPTIONS


@pytest.mark.parametrize(
    ("method_id", "options"),
    [
        ("psg", {"paper_loss": True}),
        ("psg-presence", OPTIONS),
        ("boxdiff", {}),
        ("none", {}),
        (["not a name"], {}),
    ],
)
def test_fields_that_had_no_effect_are_dropped(method_id, options):
    found = with_options({"method_id": method_id, "strength": 2.0, **OPTIONS})
    assert found == {"method_id": method_id, "strength": 2.0, "options": options}


def test_settings_with_options_and_older_fields_are_rejected():
    plain = {"method_id": "psg", "options": {}, "paper_loss": True}
    with pytest.raises(StoreError, match="paper_loss"):
        decode(GuidanceSettings, plain, {})


@pytest.mark.parametrize("value", [None, [1], {"a": 1}])
def test_an_invalid_option_value_is_rejected(value):
    with pytest.raises(StoreError, match="margin"):
        decode(GuidanceSettings, {"options": {"margin": value}}, {})


@pytest.mark.parametrize("value", [True, 3, 0.5, "mean"])
def test_options_keep_their_type(value):
    stored = json.loads(json.dumps(encode(GuidanceSettings(options={"margin": value}), {})))
    read = decode(GuidanceSettings, stored, {}).options["margin"]
    assert (read, type(read)) == (value, type(value))
