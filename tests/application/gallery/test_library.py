"""The library looks after itself: changes are found, and the trash is emptied in time."""

from dataclasses import replace
from datetime import timedelta
from queue import Queue

import pytest

from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.library import (
    TRASH_DAYS,
    Library,
    LibraryChanged,
)
from spatialstudio.domain.generation import CaptureSettings, GuidanceSettings
from spatialstudio.domain.scene import LEFT_OF
from spatialstudio.domain.verdict import Outcome
from tests.adapters.storage.library.conftest import keep, scene
from tests.patience import PATIENCE_S

SOON_S = 0.01


class Watched(RunLibrary):
    """A library that tells for how long its trash was kept."""

    emptied = ()

    def empty_trash(self, older_than=timedelta(0)):
        self.emptied = (*self.emptied, older_than)
        return super().empty_trash(older_than)


@pytest.fixture
def told():
    return Queue()


@pytest.fixture
def picture(tmp_path):
    made = scene("a cat left of a dog", "cat", LEFT_OF, "dog")
    return keep(tmp_path / "runs", 1, Outcome.PASS, 0.5, made)


@pytest.fixture
def runs(tmp_path, picture):
    return Watched(tmp_path / "runs", tmp_path / "cache")


@pytest.fixture
def library(runs, tmp_path, told):
    library = Library(runs, RunFiles(), None, tmp_path / "searches.json", told.put)
    yield library
    library.close()


def test_a_file_that_disappears_while_watched_is_reported(library, told, picture):
    library.watch(SOON_S)
    assert told.get(timeout=PATIENCE_S).change.added == (picture,)
    picture.unlink()
    gone = told.get(timeout=PATIENCE_S)
    assert isinstance(gone, LibraryChanged)
    assert gone.change.missing == (picture,)


def test_old_trash_is_deleted_once(library, runs, told):
    library.watch(SOON_S)
    told.get(timeout=PATIENCE_S)
    library.close()
    assert runs.emptied == (timedelta(days=TRASH_DAYS),)


def test_a_picture_is_read_and_a_missing_one_is_none(library, picture):
    assert library.picture(picture).shape == (8, 8, 3)
    picture.unlink()
    assert library.picture(picture) is None


def test_the_baseline_of_a_request_is_found_while_its_files_are_readable(library, runs, picture):
    asked = RunFiles().load(picture)[0].request
    assert library.baseline_of(asked) is None
    plain = keep(
        runs.root / "plain", 1, Outcome.PASS, 0.5, asked.scene, guidance=GuidanceSettings()
    )
    keep(runs.root / "other", 2, Outcome.PASS, 0.5, asked.scene, guidance=GuidanceSettings())
    runs.refresh()
    assert library.baseline_of(asked) == plain
    recording = replace(asked, capture=CaptureSettings(attention_every=5))
    assert library.baseline_of(recording) == plain
    alike = keep(
        runs.root / "alike",
        1,
        Outcome.PASS,
        0.5,
        asked.scene,
        guidance=GuidanceSettings(),
        capture=recording.capture,
    )
    runs.refresh()
    assert library.baseline_of(recording) == alike
    assert library.baseline_of(asked) == plain
    alike.with_suffix(".strace").write_bytes(b"")
    alike.write_bytes(b"")
    plain.with_suffix(".strace").write_bytes(b"")
    plain.write_bytes(b"")
    assert library.baseline_of(asked) is None
