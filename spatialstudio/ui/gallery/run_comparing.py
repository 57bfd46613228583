"""Selects the two runs to compare and reads their pictures."""

from typing import TypeAlias

from spatialstudio.application.gallery.compare_runs import difference_picture
from spatialstudio.application.gallery.library import Library
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.library import EntryId, LibraryEntry
from spatialstudio.ui.gallery.gallery_presenter import guidance_in_words
from spatialstudio.ui.gallery.widgets.compare_canvas import ComparedPicture
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.texts import tr

PAIR = 2

ComparedPictures: TypeAlias = tuple[ComparedPicture, ComparedPicture, ComparedPicture | None]
"""Two pictures, and their difference if they have the same size."""


def pair_of(library: Library, chosen: tuple[EntryId, ...]) -> tuple[LibraryEntry, ...]:
    """Return the two runs to compare; empty if there is no pair.

    Args:
        library: All runs.
        chosen: The first two are compared; a single run is paired with the run of the same prompt
            and seed under other guidance.
    """
    entries = library.entries(chosen[:PAIR])
    if len(entries) != 1:
        return entries if len(entries) == PAIR else ()
    (run,) = entries
    summary = run.summary
    like_it = library.entries(library.list(f"seed:{summary.seed}"))
    partners = [each for each in like_it if _is_partner(each, run)]
    return tuple(sorted((run, *partners[:1]), key=_is_baseline)) if partners else ()


def pictures_of(library: Library, pair: tuple[LibraryEntry, ...]) -> ComparedPictures | None:
    """Read the pictures of two runs; None when a file cannot be read. Thread-safe."""
    first, second = (library.picture(entry.path) for entry in pair)
    if first is None or second is None:
        return None
    has_seeds = pair[0].summary.seed != pair[1].summary.seed
    shown = [_compared(e, p, has_seeds) for e, p in zip(pair, (first, second), strict=True)]
    return shown[0], shown[1], _difference(first, second)


def _is_partner(entry: LibraryEntry, run: LibraryEntry) -> bool:
    one, other = entry.summary, run.summary
    is_same_asked = (one.prompt, one.model_id) == (other.prompt, other.model_id)
    return is_same_asked and one.method_id != other.method_id and not entry.is_missing


def _is_baseline(entry: LibraryEntry) -> bool:
    return entry.summary.method_id == UNGUIDED


def _compared(entry: LibraryEntry, picture: RgbImage, has_seeds: bool) -> ComparedPicture:
    """Return a compared run; titles give the seed if the seeds differ."""
    summary = entry.summary
    title = tr("Baseline") if _is_baseline(entry) else tr("Guided")
    if has_seeds:
        title = tr("Seed {seed}").format(seed=summary.seed)
    outcome = summary.outcome.value if summary.outcome else tr("not judged")
    remark = tr("{outcome}, seed {seed}, guidance {guidance}").format(
        seed=summary.seed, guidance=guidance_in_words(summary), outcome=outcome
    )
    return ComparedPicture(rgb_image(picture), title, remark)


def _difference(first: RgbImage, second: RgbImage) -> ComparedPicture | None:
    if first.shape != second.shape:
        return None
    picture, largest = difference_picture(first, second)
    remark = tr("white: difference of {largest} of 255").format(largest=largest)
    return ComparedPicture(rgb_image(picture), tr("Difference"), remark)
