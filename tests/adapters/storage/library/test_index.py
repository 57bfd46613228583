"""An index that is damaged in any way is read from the files again; they are the truth."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from io import BytesIO

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.application.gallery.library import read_filter
from spatialstudio.domain.library import EVERYTHING, Marks

MARKS = Marks(stars=3, tags=("draft", "für Ada"), note="the nicest")


def content(library):
    """All that the index says, to be compared."""
    return sorted(map(repr, library.entries(library.find(EVERYTHING))))


def test_a_deleted_index_is_built_again_to_the_same_content(library, root, tmp_path, pictures):
    library.mark(pictures[1], MARKS)
    before = content(library)
    library.close()
    shutil.rmtree(tmp_path / "cache")
    again = RunLibrary(root, tmp_path / "cache")
    again.refresh()
    assert content(again) == before
    again.close()


@pytest.mark.parametrize("spoil", [b"", b"no database at all" * 500], ids=["empty", "noise"])
def test_a_damaged_index_is_built_again(library, root, tmp_path, spoil):
    before = content(library)
    library.close()
    (database,) = (tmp_path / "cache" / "index").glob("*.sqlite3")
    database.write_bytes(spoil)
    again = RunLibrary(root, tmp_path / "cache")
    again.refresh()
    assert content(again) == before
    again.close()


def changed_by_hand(tmp_path, *statements):
    """Let another program write into the index."""
    (database,) = (tmp_path / "cache" / "index").glob("*.sqlite3")
    with closing(sqlite3.connect(database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


FOREIGN_TABLES = {
    "no words": "DROP TABLE words",
    "no runs": "DROP TABLE run",
    "no column": "ALTER TABLE claim DROP COLUMN confidence",
    "no index": "DROP INDEX run_by_time",
    "a trigger": "CREATE TRIGGER odd AFTER INSERT ON run BEGIN DELETE FROM tag; END",
}


@pytest.mark.parametrize("spoil", FOREIGN_TABLES.values(), ids=FOREIGN_TABLES)
def test_an_index_of_another_version_is_built_again(library, root, tmp_path, pictures, spoil):
    library.mark(pictures[1], MARKS)
    before = content(library)
    library.close()
    changed_by_hand(tmp_path, spoil)
    again = RunLibrary(root, tmp_path / "cache")
    again.refresh()
    assert content(again) == before
    assert again.find(read_filter("cat tag:draft"))
    again.close()


@pytest.mark.parametrize("spoil", FOREIGN_TABLES.values(), ids=FOREIGN_TABLES)
def test_reindexing_repairs_an_open_index(library, found, tmp_path, spoil):
    before = content(library)
    changed_by_hand(tmp_path, spoil)
    assert library.reindex() == 4
    assert content(library) == before
    assert found("cat") == [1, 2]


def test_an_index_that_loses_a_table_while_it_is_open_is_built_again(
    library, found, tmp_path, caplog
):
    changed_by_hand(tmp_path, "DROP TABLE words")
    assert found("cat") == [1, 2]
    assert "will be rebuilt" in caplog.text
    assert library.refresh().is_nothing


def test_an_index_on_a_full_disk_continues_in_memory(library, found, root, pictures, caplog):
    size = library._index._connection.execute("PRAGMA page_count").fetchone()[0]
    library._index._connection.execute(f"PRAGMA max_page_count = {size}")
    note = "a long note " * 50_000
    library.mark(pictures[1], Marks(stars=5, note=note))
    assert "kept in memory" in caplog.text
    assert found("stars:5") == [2]
    assert found("cat") == [1, 2]
    assert library.refresh().is_nothing


NINE_STARS = """CAST(replace(CAST(listing AS TEXT), '"stars": 0', '"stars": 9') AS BLOB)"""


@pytest.mark.parametrize(
    "listing",
    ["x'00'", "'{}'", "x'7b7d'", "7", NINE_STARS],
    ids=["noise", "text", "empty", "number", "nine stars"],
)
def test_a_damaged_row_is_read_from_the_files_again(library, tmp_path, pictures, listing):
    before = content(library)
    changed_by_hand(tmp_path, f"UPDATE run SET listing = {listing} WHERE seed < 3")
    assert content(library) == before
    assert library.entry_at(pictures[0]).summary.seed == 1


def test_a_damaged_row_of_a_missing_picture_is_removed(library, tmp_path, pictures):
    pictures[0].unlink()
    library.refresh()
    changed_by_hand(tmp_path, "UPDATE run SET listing = x'00' WHERE seed = 1")
    assert len(content(library)) == 3
    assert library.find(read_filter("is:missing")) == ()


def test_ids_are_not_reused_after_a_rebuild(library, pictures):
    before = library.find(EVERYTHING)
    pictures[3].unlink()
    library.reindex()
    assert library.entries(before) == ()
    assert set(before).isdisjoint(library.find(EVERYTHING))


def test_reindexing_keeps_missing_runs_until_they_are_back(library, pictures):
    content_of_picture = pictures[0].read_bytes()
    pictures[0].unlink()
    library.refresh()
    before = content(library)
    assert library.reindex() == 3
    assert content(library) == before
    assert library.entry_at(pictures[0]).is_missing
    pictures[0].write_bytes(content_of_picture)
    assert library.reindex() == 4
    assert library.find(read_filter("is:missing")) == ()


def test_a_missing_run_that_reappears_elsewhere_is_listed_there_only(library, pictures):
    elsewhere = pictures[0].with_name("elsewhere")
    elsewhere.mkdir()
    pictures[0].rename(elsewhere / "moved.png")
    pictures[0].with_suffix(".json").rename(elsewhere / "moved.json")
    hidden = elsewhere.rename(elsewhere.with_name(".elsewhere"))
    library.refresh()
    assert library.entry_at(pictures[0]).is_missing
    hidden.rename(elsewhere)
    assert library.reindex() == 4
    assert library.find(read_filter("is:missing")) == ()


def test_reindexing_changes_nothing(library):
    before = content(library)
    assert library.reindex() == 4
    assert content(library) == before


def test_a_library_whose_cache_cannot_be_written_works_from_memory(
    root, tmp_path, pictures, caplog
):
    (tmp_path / "file").write_text("taken")
    library = RunLibrary(root, tmp_path / "file" / "cache")
    library.refresh()
    assert len(library.find(read_filter("cat"))) == 2
    library.close()


def a_picture_of_comfyui(seed):
    info = PngInfo()
    inputs = {"seed": seed, "steps": 20, "positive": ["6", 0], "latent_image": ["5", 0]}
    info.add_text("prompt", json.dumps({"3": {"class_type": "KSampler", "inputs": inputs}}))
    buffer = BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "PNG", pnginfo=info)
    return buffer.getvalue()


@pytest.mark.parametrize("seed", [2**63, 2**64 - 1])
def test_a_foreign_picture_with_a_seed_beyond_63_bits_is_listed(library, root, found, seed):
    (root / "foreign.png").write_bytes(a_picture_of_comfyui(seed))
    library.refresh()
    assert found(f"seed:{seed}") == [seed]


def test_an_invalid_sidecar_does_not_prevent_a_rebuild(library, pictures):
    sidecar = pictures[0].with_suffix(".json")
    plain = json.loads(sidecar.read_text())
    plain["summary"]["claims"][0] |= {"type_id": "\ud800", "pos": 2**63}
    plain["summary"]["request_id"] = "\udfff"
    sidecar.write_text(json.dumps(plain))
    assert library.reindex() == len(pictures)


@pytest.mark.skipif(os.name == "nt", reason="names are always text there")
def test_a_picture_with_an_undecodable_name_does_not_affect_others(library, root, pictures):
    (root / os.fsdecode(b"caf\xe9.png")).write_bytes(a_picture_of_comfyui(1))
    assert library.reindex() == len(pictures)
    assert library.refresh(thorough=True).nameless == 1
