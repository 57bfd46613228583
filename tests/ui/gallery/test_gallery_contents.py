"""Kept runs in the words and pictures of the gallery."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from spatialstudio.application.gallery.library import read_filter
from spatialstudio.domain.library import (
    ClaimSummary,
    LibraryEntry,
    Marks,
    Reproduction,
    RunSummary,
    Sameness,
)
from spatialstudio.domain.scene import LEFT_OF
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.gallery.gallery_presenter import (
    claims_of,
    day_title,
    face_of,
    facts_of_entry,
    filter_words,
    in_words,
    pictures_of,
    reproduction_in_words,
    sentence_of,
    tags_in,
    trash_in_words,
    words_for_nothing,
)

TODAY = date(2026, 11, 21)
CLAIM = ClaimSummary(
    relation_id="r1",
    type_id=LEFT_OF.id,
    subject="dog",
    object="car",
    pos=0.826,
    outcome=Outcome.FAIL,
    pse=0.5,
)
SUMMARY = RunSummary(
    id="run",
    request_id="request",
    created=datetime(2026, 11, 20, 10, 32, tzinfo=UTC),
    prompt="a dog left of a car",
    model_id="stickers",
    seed=7,
    steps=20,
    method_id="psg",
    strength=5.0,
    width=128,
    height=64,
    device="cpu",
    claims=(CLAIM,),
)
ENTRY = LibraryEntry(path=Path("/runs/a.png"), summary=SUMMARY, marks=Marks())


@pytest.mark.parametrize(
    ("day", "title"),
    [
        ("2026-11-21", "Today"),
        ("2026-11-20", "Yesterday"),
        ("2026-11-02", "2 November"),
        ("2025-11-21", "21 November 2025"),
    ],
    ids=["today", "yesterday", "this year", "another year"],
)
def test_days_are_called_as_people_do(day, title):
    assert day_title(date.fromisoformat(day), TODAY) == title


def test_a_tile_says_all_that_it_shows():
    marks = Marks(stars=3, is_rejected=True, tags=("a", "b"))
    words = in_words(replace(ENTRY, marks=marks, is_missing=True))
    assert words == (
        "a dog left of a car; seed 7; FAIL; 3 of 5 stars; rejected; tags: a, b; file is missing"
    )


def test_a_face_holds_the_thumbnail():
    face = face_of(ENTRY, np.zeros((4, 8, 3), np.uint8))
    assert (face.picture.width(), face.picture.height()) == (8, 4)
    assert face_of(ENTRY, None).picture is None


def test_a_claim_is_told_with_its_figures():
    (claim,) = claims_of(ENTRY)
    assert claim.sentence == "dog to the left of car"
    assert claim.figures == "attention PoS 0.83, PSE 0.50"


def test_a_relation_that_is_not_known_here_is_told_by_its_id():
    foreign = replace(ENTRY, summary=replace(SUMMARY, claims=(replace(CLAIM, type_id="on_a"),)))
    assert claims_of(foreign)[0].sentence == "dog on a car"


def test_of_a_picture_of_another_program_no_seed_is_made_up():
    foreign = replace(ENTRY, summary=replace(ENTRY.summary, model_id="", steps=0, seed=0))
    facts = dict(facts_of_entry(foreign))
    assert facts["Model"] == "not recorded"
    assert facts.keys().isdisjoint({"Seed", "Steps", "Guidance"})
    assert face_of(foreign, None).caption == "a.png"
    assert "seed" not in in_words(foreign)


def test_a_baseline_is_told_from_the_guided_picture_of_its_seed():
    unguided = replace(ENTRY, summary=replace(SUMMARY, method_id="none", strength=0.0))
    captions = [face_of(each, None).caption for each in (ENTRY, unguided)]
    assert captions == ["seed 7", "seed 7, baseline"]
    left = replace(ENTRY, summary=replace(SUMMARY, is_left_unguided=True))
    assert face_of(left, None).caption == "seed 7, unguided"
    assert dict(facts_of_entry(left))["Guidance"] == "psg, step size 5, not needed"
    assert [face_of(each, None).brief for each in (ENTRY, unguided)] == ["7", "baseline"]


def test_the_facts_of_a_baseline_say_that_guidance_was_off():
    baseline = replace(ENTRY, summary=replace(SUMMARY, method_id="none", strength=0.0))
    assert dict(facts_of_entry(baseline))["Guidance"] == "off"
    assert dict(facts_of_entry(ENTRY))["Guidance"] == "psg, step size 5"


@pytest.mark.parametrize("method", ["psg", "none"])
def test_a_comparison_names_a_run_without_guidance_the_baseline(method):
    baseline = replace(ENTRY, summary=replace(SUMMARY, method_id=method, strength=0.0))
    library = SimpleNamespace(picture=lambda _: np.zeros((4, 4, 3), np.uint8))
    first, second, _ = pictures_of(library, (ENTRY, baseline))
    assert (first.title, second.title) == ("Guided", "Baseline")


def test_every_whole_word_that_is_offered_can_be_read():
    words = filter_words(["my tag"], ["stickers"])
    whole = [word for word in words if not word.endswith((":", "<", ">="))]
    assert 'tag:"my tag"' in whole
    assert all(read_filter(word).conditions for word in whole)


def test_tags_are_divided_by_commas_each_once():
    assert tags_in(" a, b,, a ") == ("a", "b")


@pytest.mark.parametrize(
    ("sameness", "mean", "largest", "words"),
    [
        (Sameness.SAME, 0.0, 0, "Reproduced: identical pixels."),
        (
            Sameness.CLOSE,
            0.125,
            3,
            "Reproduced with invisible differences. Pixel differences (0 to 255): mean 0.12, "
            "maximum 3.",
        ),
        (Sameness.DIFFERENT, None, None, "Not reproduced: the pictures differ."),
    ],
    ids=lambda value: getattr(value, "value", ""),
)
def test_sameness_is_told(sameness, mean, largest, words):
    comparison = Reproduction(
        sameness=sameness, mean_difference=mean, largest_difference=largest, reasons=()
    )
    assert reproduction_in_words(comparison) == words


def test_the_reasons_stand_behind():
    comparison = Reproduction(
        sameness=Sameness.DIFFERENT,
        mean_difference=None,
        largest_difference=None,
        reasons=("device (cpu then, cuda:0 now)", "weights (ab then, cd now)"),
    )
    assert reproduction_in_words(comparison).endswith(
        "differ. Differences: device (cpu then, cuda:0 now); weights (ab then, cd now)."
    )


@pytest.mark.parametrize(
    ("line", "is_looked_through", "title", "offers"),
    [
        ("", False, "Reading the library…", 0),
        ("cat", False, "Reading the library…", 0),
        ("", True, "No pictures yet", 1),
        ("is:trashed", True, "The trash is empty", 1),
        ("zebra", True, "No matching runs", 1),
    ],
)
def test_a_gallery_without_tiles_says_why(line, is_looked_through, title, offers):
    said, _, *offered = words_for_nothing(line, is_looked_through)
    assert (said, len(offered)) == (title, offers)


@pytest.mark.parametrize(("days", "left"), [(0, "30 days"), (29, "1 day"), (31, "0 days")])
def test_a_deleted_run_says_how_long_it_waits(days, left):
    now = datetime(2026, 11, 21, tzinfo=UTC)
    words = trash_in_words(now - timedelta(days=days), now)
    assert words == f"In the trash; deleted permanently in {left}."


def test_a_count_is_listed_with_its_requirement():
    count = replace(CLAIM, type_id="count", subject="bird", object="three")
    assert sentence_of(count) == "bird: count, three"
    assert "relation:count" in filter_words([], [])
