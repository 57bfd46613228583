"""Runs are found, marked, thrown away and put back; the files are the truth."""

import json
import shutil
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from spatialstudio.adapters.storage.library.run_library import RunLibrary
from spatialstudio.adapters.storage.library.trash import Trash
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.gallery.library import read_filter
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.library import EVERYTHING, Marks, Reproduction, Sameness
from spatialstudio.domain.scene import LEFT_OF
from spatialstudio.domain.sweep import (
    SweepCell,
    SweepField,
    SweepId,
    SweepPoint,
)
from spatialstudio.domain.verdict import Outcome
from tests.adapters.storage.library.conftest import keep, scene
from tests.fakes import png_bytes

SAMPLE = Path(__file__).parents[3] / "golden" / "run_of_schema_1"
MARKS = Marks(stars=3, tags=("draft", "für Ada"), note="the nicest")
NEAR = Reproduction(
    sameness=Sameness.CLOSE, mean_difference=0.25, largest_difference=2, reasons=("device",)
)


@pytest.mark.parametrize(
    ("line", "seeds"),
    [
        ("", [1, 2, 3, 4]),
        ("verdict:fail", [1]),
        ("verdict:fail,undecidable", [1, 3]),
        ("-verdict:pass", [1, 3]),
        ("relation:left pos<0.6", [1]),
        ("relation:left pos>=0.6", [2]),
        ("relation:above verdict:fail", []),
        ("subject:cat", [1, 2, 4]),
        ("object:tree", [3, 4]),
        ("cat", [1, 2]),
        ("hou", [3]),
        ('"left of a dog"', [1, 2]),
        ('"dog left"', []),
        ("-cat -猫", [3]),
        ("猫", [4]),
        ("树上", [4]),
        ("model:sticker", [1, 2, 3, 4]),
        ("method:none", [1]),
        ("is:guided", [2, 3, 4]),
        ("is:imported", []),
        ("seed:2", [2]),
        ("seed>2 seed<=4", [3, 4]),
        ("date>=2020-01", [1, 2, 3, 4]),
        ("date<2020", []),
        ("%", [1, 2, 3, 4]),
        ("pse>0.7", [2, 4]),
        ("stars>0", []),
        ("is:missing", []),
    ],
)
def test_a_filter_finds_its_runs(found, line, seeds):
    assert found(line) == seeds


def test_a_library_missing_during_a_scan_is_found_again(library, root, found):
    away = root.rename(root.with_name("away"))
    assert len(library.refresh().missing) == 4
    away.rename(root)
    library.refresh()
    assert found("-is:missing") == [1, 2, 3, 4]


def test_a_library_missing_during_the_scan_of_another_program_is_found_again(
    library, root, tmp_path, found
):
    away = root.rename(root.with_name("away"))
    other = RunLibrary(root, tmp_path / "cache")
    other.refresh()
    other.close()
    away.rename(root)
    library.refresh(thorough=True)
    assert found("-is:missing") == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("line", "seeds"),
    [
        ("cat\0", [1, 2]),
        ('"a cat\0"', [1, 2]),
        ("\0", [1, 2, 3, 4]),
        ("model:\ud800", []),
        ("cat NEAR(a b)", []),
    ],
    ids=["zero", "zero in a phrase", "zero alone", "half a character", "words of the index"],
)
def test_unusual_filters_find_their_runs(found, line, seeds):
    assert found(line) == seeds


def test_the_newest_run_comes_first(library):
    created = [entry.summary.created for entry in library.entries(library.find(EVERYTHING))]
    assert created == sorted(created, reverse=True)


def test_marks_are_found_and_stored_in_the_sidecar(library, found, pictures):
    library.mark(pictures[1], MARKS)
    assert found("stars>=3 tag:draft nicest") == [2]
    assert RunFiles().marks(pictures[1]) == MARKS
    assert library.tags() == ("draft", "für Ada")


@pytest.mark.parametrize(
    ("forge", "outcomes"),
    [
        (lambda plain: plain["summary"]["claims"][0].update(outcome="PASS"), [Outcome.FAIL]),
        (lambda plain: plain["evaluation"]["verdicts"][0].update(outcome="PASS"), [Outcome.PASS]),
        (lambda plain: plain.update(evaluation=None), [None]),
        (lambda plain: plain["evaluation"].update(verdicts=7), [None]),
        (lambda plain: plain["evaluation"]["verdicts"][0].pop("outcome"), [None]),
    ],
)
def test_a_run_is_listed_by_the_verdicts_of_its_evaluation(library, pictures, forge, outcomes):
    RunFiles().mark(pictures[0], MARKS)
    beside = pictures[0].with_suffix(".json")
    plain = json.loads(beside.read_text())
    forge(plain)
    beside.write_text(json.dumps(plain))
    library.reindex()
    entry = library.entry_at(pictures[0])
    assert [claim.outcome for claim in entry.summary.claims] == outcomes
    assert entry.marks == MARKS


def test_a_picture_deleted_by_hand_is_listed_as_missing_until_it_is_forgotten(
    library, found, pictures
):
    pictures[0].unlink()
    assert library.refresh().missing == (pictures[0],)
    assert found("is:missing") == [1]
    library.forget([pictures[0]])
    assert found("") == [2, 3, 4]


def test_a_run_moved_by_hand_is_followed(library, root, pictures):
    library.mark(pictures[0], MARKS)
    (root / "best").mkdir()
    for suffix in (".png", ".strace", ".json"):
        shutil.move(pictures[0].with_suffix(suffix), root / "best")
    change = library.refresh()
    assert change.moved == {pictures[0]: root / "best" / pictures[0].name}
    assert change.missing == ()
    assert library.entry_at(root / "best" / pictures[0].name).marks == MARKS


def test_marks_changed_by_another_program_are_seen(library, found, pictures):
    RunFiles().mark(pictures[2], MARKS)
    assert library.refresh().changed == (pictures[2],)
    assert found("stars:3") == [3]


def test_without_changes_nothing_is_reported(library):
    assert library.refresh().is_nothing


def test_a_deleted_run_can_be_restored_with_its_marks(library, found, pictures):
    library.mark(pictures[1], MARKS)
    deletion = library.throw(pictures[:2])
    assert found("") == [3, 4]
    assert not pictures[1].exists()
    assert library.refresh().is_nothing
    assert library.restore(deletion.inside) == tuple(pictures[:2])
    assert found("stars:3") == [2]
    assert RunFiles().verify(pictures[1])[0].part == "evaluation"


def test_a_program_that_ends_while_deleting_leaves_nothing_missing(library, found, root, pictures):
    Trash(root).throw([pictures[0]])
    assert library.refresh().missing == ()
    assert found("") == [2, 3, 4]
    assert found("is:missing") == []


def test_restoring_never_overwrites_another_run(library, pictures):
    deletion = library.throw([pictures[0]])
    pictures[0].write_bytes(b"another")
    (restored,) = library.restore(deletion.inside)
    assert restored.stem == f"{pictures[0].stem}_2"
    assert pictures[0].read_bytes() == b"another"


def trashed(library):
    """Return the deleted runs, newest first."""
    return library.entries(library.find(read_filter("is:trashed")))


def test_deleted_runs_are_listed_with_their_marks_and_names(library, pictures):
    library.mark(pictures[1], MARKS)
    library.throw(pictures[:2])
    library.throw([pictures[3]])
    listed = trashed(library)
    assert sorted(entry.summary.id for entry in listed) == sorted(
        picture.stem for picture in (*pictures[:2], pictures[3])
    )
    assert all(entry.path.exists() and entry.deleted for entry in listed)
    assert MARKS in [entry.marks for entry in listed]
    assert library.refresh().is_nothing


def test_deleted_runs_are_still_listed_after_a_rebuild_of_the_index(library, pictures):
    library.throw(pictures[:2])
    before = trashed(library)
    assert library.reindex() == 2
    assert trashed(library) == before


def test_one_run_of_a_deletion_is_restored_and_the_others_stay(library, found, pictures):
    deletion = library.throw(pictures[:2])
    assert library.restore(deletion.inside[1:]) == (pictures[1],)
    assert found("") == [2, 3, 4]
    assert [entry.path for entry in trashed(library)] == [deletion.inside[0]]
    assert library.restore(deletion.inside[:1]) == (pictures[0],)
    assert trashed(library) == ()


def test_another_program_that_empties_the_trash_leaves_nothing_missing(
    library, found, root, pictures
):
    library.throw([pictures[0]])
    library.refresh()
    Trash(root).empty()
    library.refresh()
    assert trashed(library) == ()
    assert found("is:missing") == []


def test_a_forgotten_run_can_be_listed_again(library, found, pictures):
    library.mark(pictures[0], MARKS)
    for file in pictures[0].parent.glob(f"{pictures[0].stem}.*"):
        file.unlink()
    library.refresh()
    missing = library.entries(library.find(read_filter("is:missing")))
    library.forget([pictures[0]])
    assert found("is:missing") == []
    library.recall(missing)
    assert library.entries(library.find(read_filter("is:missing"))) == missing


def test_a_comparison_is_kept_after_a_rebuild(library, root, pictures):
    first = library.entry_at(pictures[0]).summary
    made = scene("a cat to the left of a dog", "cat", LEFT_OF, "dog")
    again = keep(root, 9, Outcome.FAIL, 0.4, made, parent_run_id=first.id)
    RunFiles().note_repetition(again, NEAR)
    library.reindex()
    (entry,) = library.repetitions(first)
    assert (entry.path, entry.repetition) == (again, NEAR)


def test_a_forged_comparison_is_not_shown(library, root, pictures):
    first = library.entry_at(pictures[0]).summary
    made = scene("a cat to the left of a dog", "cat", LEFT_OF, "dog")
    again = keep(root, 9, Outcome.FAIL, 0.4, made, parent_run_id=first.id)
    beside = again.with_suffix(".json")
    forged = {"sameness": "same", "mean_difference": 0, "largest_difference": 0, "reasons": []}
    beside.write_text(json.dumps(json.loads(beside.read_text()) | {"repetition": forged}))
    library.refresh()
    assert library.entry_at(again).repetition is None
    assert library.repetitions(first) == ()


def test_a_child_without_a_comparison_is_no_repetition(library, root, pictures):
    first = library.entry_at(pictures[0]).summary
    made = scene("a cat to the left of a dog", "cat", LEFT_OF, "dog")
    library.add(keep(root, 9, Outcome.FAIL, 0.4, made, parent_run_id=first.id))
    assert library.repetitions(first) == ()


def test_the_trash_is_emptied_by_age(library, pictures):
    deletion = library.throw([pictures[0]])
    assert library.empty_trash(timedelta(days=30)) == 0
    assert len(library.deletions()) == 1
    assert library.empty_trash() == 1
    assert library.deletions() == trashed(library) == ()
    with pytest.raises(StoreError, match="no longer in the trash"):
        library.restore(deletion.inside)


def test_an_interrupted_deletion_is_completed(library, root, tmp_path, pictures):
    deletion = library.throw([pictures[0]])
    inside = root / ".trash" / deletion.id / "0.strace"
    shutil.move(inside, pictures[0].with_suffix(".strace"))
    RunLibrary(root, tmp_path / "cache").close()
    assert inside.exists()
    assert not pictures[0].with_suffix(".strace").exists()


def test_a_picture_without_its_other_files_is_listed_by_its_metadata(library, found, pictures):
    pictures[1].with_suffix(".json").unlink()
    pictures[1].with_suffix(".strace").unlink()
    library.refresh()
    assert found("seed:2 left") == [2]


def test_a_run_of_version_1_becomes_files_and_its_folder_a_backup(root, tmp_path):
    shutil.copytree(SAMPLE, root / "2026-11-20_old")
    library = RunLibrary(root, tmp_path / "cache")
    (picture,) = library.refresh().added
    assert picture.parent == root / "2026" / "11"
    assert RunFiles().verify(picture) == ()
    (backup,) = (root / ".backup").glob("*/2026-11-20_old")
    assert {path.name for path in backup.iterdir()} == {path.name for path in SAMPLE.iterdir()}
    library.close()


def test_a_thumbnail_follows_its_picture(library, pictures):
    assert library.thumbnail(pictures[0]).mean() == pytest.approx(1, abs=2)
    shutil.copy(pictures[3], pictures[0])
    assert library.thumbnail(pictures[0]).mean() == pytest.approx(4, abs=2)
    assert np.array_equal(library.thumbnail(pictures[0]), library.thumbnail(pictures[0]))


def test_a_missing_library_is_empty(tmp_path):
    library = RunLibrary(tmp_path / "none", tmp_path / "cache")
    assert library.refresh().is_nothing
    assert library.find(EVERYTHING) == ()
    library.close()


def test_a_listing_is_stable(library):
    listing = library.listing(read_filter("relation:left"))
    ids = library.find(read_filter("relation:left"))
    told = [entry.summary for entry in library.entries(ids)]
    assert listing.ids.tolist() == list(ids)
    assert listing.days.tolist() == [each.created.date().toordinal() for each in told]
    assert listing.is_guided.tolist() == [each.method_id != UNGUIDED for each in told]
    assert listing.ratios.tolist() == [1.0] * len(told)


def test_runs_of_one_prompt_are_of_one_batch(library):
    listing = library.listing(EVERYTHING)
    prompts = [entry.summary.prompt for entry in library.entries(listing.ids.tolist())]
    batches = listing.batches.tolist()
    pairs = list(zip(prompts, batches, strict=True))
    assert len(set(pairs)) == len(set(prompts)) == len(set(batches))


def test_pictures_without_metadata_are_no_batch(tmp_path):
    root = tmp_path / "library"
    root.mkdir()
    for name in "ab":
        (root / f"{name}.png").write_bytes(png_bytes(np.zeros((4, 4, 3), np.uint8)))
    library = RunLibrary(root, tmp_path / "cache")
    library.refresh()
    assert len(set(library.listing(EVERYTHING).batches.tolist())) == 2
    library.close()


def test_no_matches_give_an_empty_listing(library):
    assert len(library.listing(read_filter("seed:99"))) == 0


def test_a_marked_run_keeps_its_id(library, pictures):
    before = library.find(EVERYTHING)
    library.mark(pictures[1], MARKS)
    assert library.find(EVERYTHING) == before


def test_the_runs_of_a_sweep_are_found_with_their_positions(library, root, pictures):
    cells = [
        SweepCell(sweep_id=SweepId("5eeb"), column=SweepPoint(field=SweepField.SEED, value=value))
        for value in (8, 9)
    ]
    made = library.entries(library.find(EVERYTHING))[0]
    scene = RunFiles().load(made.path)[0].request.scene
    for cell in cells:
        keep(root, int(cell.column.value), Outcome.PASS, 0.9, scene, sweep=cell)
    library.refresh()
    found = library.entries(library.find(read_filter("sweep:5eeb")))
    assert {run.summary.sweep for run in found} == set(cells)
    assert library.find(read_filter("sweep:5e")) == library.find(read_filter("sweep:5eeb"))
    assert library.find(read_filter("sweep:eeb")) == ()


@pytest.mark.parametrize(
    ("detector_ids", "model_id", "outcome"),
    [
        (["sticker-segmenter"], "stickers", Outcome.PASS),
        (["sticker-segmenter"], "sd15", None),
        ([], "sd15", None),
        (["sticker-segmenter", "owl"], "sd15", Outcome.PASS),
        (["owl"], "sd15", Outcome.PASS),
    ],
)
def test_default_verdicts_of_the_sticker_models_on_other_pictures_are_not_listed(
    root, tmp_path, detector_ids, model_id, outcome
):
    picture = keep(
        root, 1, Outcome.PASS, 0.9, scene("a cat to the left of a dog", "cat", LEFT_OF, "dog")
    )
    path = picture.with_suffix(".json")
    told = json.loads(path.read_text())
    told["summary"]["model_id"] = model_id
    told["evaluation"]["perception"]["detections"] = [
        {"detector_id": each} for each in detector_ids
    ]
    path.write_text(json.dumps(told))
    library = RunLibrary(root, tmp_path / "cache", lambda model: model == "stickers")
    library.refresh()
    (entry,) = library.entries(library.find(EVERYTHING))
    passed = library.find(read_filter("verdict:pass"))
    library.close()
    assert entry.summary.outcome is outcome
    assert len(passed) == (outcome is Outcome.PASS)
