"""The gallery finds, reads and marks runs in the background."""

from pathlib import Path
from queue import Queue

import numpy as np
import pytest

from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.gallery import (
    FilterRefused,
    Gallery,
    GalleryQuery,
    RunsFound,
    TilesRead,
)
from spatialstudio.application.gallery.library import Library
from spatialstudio.application.jobs.background_jobs import BackgroundJobEnded
from spatialstudio.domain.library import Marks
from spatialstudio.domain.scene import LEFT_OF
from spatialstudio.domain.verdict import Outcome
from tests.adapters.storage.library.conftest import keep, scene
from tests.patience import PATIENCE_S


@pytest.fixture
def told():
    return Queue()


@pytest.fixture
def pictures(tmp_path):
    made = scene("a cat left of a dog", "cat", LEFT_OF, "dog")
    return [keep(tmp_path / "runs", n, Outcome.PASS, 0.5, made) for n in (1, 2)]


@pytest.fixture
def library(tmp_path, pictures, told):
    runs = RunLibrary(tmp_path / "runs", tmp_path / "cache")
    runs.refresh()
    library = Library(runs, RunFiles(), None, tmp_path / "searches.json", told.put)
    yield library
    library.close()


@pytest.fixture
def gallery(library, told):
    gallery = Gallery(library, told.put)
    yield gallery
    gallery.close()


def answer(told):
    """Return the next event, whichever thread it comes from."""
    return told.get(timeout=PATIENCE_S)


def test_runs_are_found_in_the_background(gallery, told):
    wish = GalleryQuery(line="seed:2")
    gallery.find(wish)
    found = answer(told)
    assert isinstance(found, RunsFound)
    assert (found.request, found.runs, len(found.cells)) == (wish, 1, 1)


def test_an_invalid_filter_is_rejected_with_a_message(gallery, told):
    gallery.find(GalleryQuery(line="colour:red"))
    refused = answer(told)
    assert isinstance(refused, FilterRefused)
    assert "colour" in refused.error.message


def test_a_tile_comes_with_its_picture(gallery, told, library):
    ids = library.list()
    gallery.read(ids)
    read = answer(told)
    assert isinstance(read, TilesRead)
    assert [tile.id for tile in read.tiles] == list(ids)
    assert all(tile.thumbnail.dtype == np.uint8 for tile in read.tiles)


def test_a_missing_picture_has_an_empty_tile(gallery, told, library, pictures):
    ids = library.list("seed:1")
    pictures[0].unlink()
    library.refresh()
    answer(told)
    gallery.read(ids)
    (tile,) = answer(told).tiles
    assert tile.entry.is_missing
    assert tile.thumbnail is None


def test_marks_are_on_disk_when_it_is_closed(gallery, told, pictures):
    gallery.mark({pictures[0]: Marks(stars=4)})
    gallery.close()
    assert RunFiles().marks(pictures[0]).stars == 4
    assert isinstance(told.queue[-1], BackgroundJobEnded)


def test_marks_that_cannot_be_written_are_reported(gallery, told, tmp_path):
    gallery.mark({Path(tmp_path / "none.png"): Marks(stars=4)})
    gallery.close()
    assert told.queue[-1].error is not None
