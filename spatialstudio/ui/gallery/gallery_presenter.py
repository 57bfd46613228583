"""Converts stored runs into what the gallery's widgets show."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from PySide6.QtGui import QImage

from spatialstudio.application.gallery.compare_runs import difference_picture
from spatialstudio.application.gallery.library import TRASH_DAYS, Library, is_guided
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.judge_choice import UNSUITED
from spatialstudio.domain.library import (
    ClaimSummary,
    Day,
    EntryId,
    Field,
    Flag,
    LibraryEntry,
    Reproduction,
    RunSummary,
    Sameness,
)
from spatialstudio.domain.requirements import JUDGED_KINDS
from spatialstudio.domain.scene import relation_types
from spatialstudio.domain.sweep import SweepCell, sides_of
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.gallery.widgets.claim_list import Claim
from spatialstudio.ui.gallery.widgets.compare_view import ComparedPicture
from spatialstudio.ui.gallery.widgets.run_grid import GridSection
from spatialstudio.ui.gallery.widgets.run_tile import TileFace
from spatialstudio.ui.gallery.widgets.sweep_grid import SweepTable
from spatialstudio.ui.run.run_facts import guidance_in_words, setup_facts
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.texts import tr

IN_TRASH = f"{Field.IS.value}:{Flag.TRASHED.value}"
"""The filter line that shows deleted runs."""

NUMBERED = (Field.POS, Field.PSE, Field.CONFIDENCE, Field.STARS, Field.STEPS, Field.STRENGTH)


def face_of(entry: LibraryEntry, thumbnail: RgbImage | None) -> TileFace:
    """Return the tile contents of a run; its picture is None if it cannot be read."""
    return face_with(entry, None if thumbnail is None else rgb_image(thumbnail))


def face_with(entry: LibraryEntry, picture: QImage | None) -> TileFace:
    """Return the tile contents of a run with a decoded picture."""
    marks, summary = entry.marks, entry.summary
    return TileFace(
        picture=picture,
        outcome=summary.outcome,
        caption=_caption(entry),
        brief=_brief(entry),
        stars=marks.stars,
        is_rejected=marks.is_rejected,
        tags=" ".join(f"#{tag}" for tag in marks.tags),
        is_missing=entry.is_missing,
        place=str(entry.path),
        words=in_words(entry),
        has_warning=entry.is_unsuited,
    )


def in_words(entry: LibraryEntry) -> str:
    """Return the text equivalent of a tile's drawing."""
    summary, marks = entry.summary, entry.marks
    outcome = summary.outcome.value if summary.outcome else tr("not judged")
    parts = (
        (summary.prompt, bool(summary.prompt)),
        (_caption(entry), True),
        (outcome, True),
        (tr(UNSUITED), entry.is_unsuited),
        (tr("{count} of 5 stars").format(count=marks.stars), marks.stars > 0),
        (tr("rejected"), marks.is_rejected),
        (tr("tags: {tags}").format(tags=", ".join(marks.tags)), bool(marks.tags)),
        (tr("file is missing"), entry.is_missing),
        (tr("files are damaged"), entry.is_damaged),
        (tr("in the trash"), entry.deleted is not None),
    )
    return "; ".join(part for part, applies in parts if applies)


def sections_of(days: Sequence[Day], today: date) -> tuple[GridSection, ...]:
    """Return the sections of a grid."""
    return tuple(
        GridSection(day_title(day.date, today), runs_in_words(day.runs), day.start) for day in days
    )


def day_title(day: date, today: date) -> str:
    """Return a day's title: "Today", "Yesterday", "20 November", with the year if not this year."""
    if day == today:
        return tr("Today")
    if day == today - timedelta(days=1):
        return tr("Yesterday")
    return f"{day.day} {day:%B}" if day.year == today.year else f"{day.day} {day:%B %Y}"


def runs_in_words(count: int) -> str:
    """Return a number of runs as text."""
    return tr("1 run") if count == 1 else tr("{count} runs").format(count=count)


def selection_in_words(shown: int, members: int) -> str:
    """Return what the actions on a selection apply to.

    Args:
        shown: Number of selected tiles.
        members: Number of their runs; larger than ``shown`` if some are closed stacks.
    """
    if members == shown:
        words = tr("{runs} selected; rating, tags and note apply to all of them")
        return words.format(runs=runs_in_words(shown))
    words = tr(
        "{runs} in the selection, with those of closed stacks: export, study and metrics take all "
        "of them, for one tile of a sweep study and metrics take the whole sweep; rating, tags and "
        "note apply to {shown}"
    )
    ends = tr("the run shown") if shown == 1 else tr("the {count} shown").format(count=shown)
    return words.format(runs=runs_in_words(members), shown=ends)


def nameless_in_words(count: int) -> str:
    """Return a message on the number of pictures that cannot be listed."""
    many = tr("{count} pictures in the library folder could not be listed.")
    return (
        tr("1 picture in the library folder could not be listed.")
        if count == 1
        else many.format(count=count)
    )


def words_for_nothing(line: str, is_looked_through: bool) -> tuple[str, ...]:
    """Explain an empty grid: title, sentence, and an action where one applies.

    Args:
        line: The filter.
        is_looked_through: Whether the library scan is complete.
    """
    if not is_looked_through:
        return (
            tr("Reading the library…"),
            tr("Runs appear as their files are read."),
        )
    if not line.strip():
        return (
            tr("No pictures yet"),
            tr("Every generated picture is stored here with its settings."),
            tr("Generate the first picture"),
        )
    if line.strip() == IN_TRASH:
        wait = tr("Deleted runs stay here for {days} days.").format(days=TRASH_DAYS)
        return tr("The trash is empty"), wait, tr("Show all runs")
    nothing = tr("No stored run matches the filter.")
    return tr("No matching runs"), nothing, tr("Show all runs")


def filter_words(tags: Sequence[str], models: Sequence[str]) -> tuple[str, ...]:
    """Return the completions of the filter line, fields before their values."""
    words = [f"{field.value}:" for field in Field]
    words += [f"{Field.VERDICT.value}:{outcome.value.lower()}" for outcome in Outcome]
    kinds = [*(kind.id for kind in relation_types), *JUDGED_KINDS]
    words += [f"{Field.RELATION.value}:{kind}" for kind in kinds]
    words += [f"{Field.IS.value}:{flag.value}" for flag in Flag]
    words += [f"{field.value}{sign}" for field in NUMBERED for sign in ("<", ">=")]
    words += [f"{Field.TAG.value}:{quoted(tag)}" for tag in tags]
    words += [f"{Field.MODEL.value}:{quoted(model)}" for model in models]
    return tuple(sorted(words))


def quoted(value: str) -> str:
    """Return a value quoted for the filter line."""
    return f'"{value}"' if " " in value else value


def claims_of(entry: LibraryEntry) -> tuple[Claim, ...]:
    """Return the relations of a run as text."""
    return tuple(
        Claim(sentence_of(claim), figures_of(claim), claim.outcome)
        for claim in entry.summary.claims
    )


def sentence_of(claim: ClaimSummary) -> str:
    """Return a claim as text: "dog to the left of car", "bird: count, three"."""
    if claim.type_id in JUDGED_KINDS:
        return f"{claim.subject}: {tr(claim.type_id)}, {claim.object}"
    kind = next((each for each in relation_types if each.id == claim.type_id), None)
    phrase = kind.phrase if kind is not None else claim.type_id.replace("_", " ")
    return f"{claim.subject} {phrase} {claim.object}"


def figures_of(claim: ClaimSummary) -> str:
    """Return the measurements of a relation: "attention PoS 0.83, PSE 1.00, sure 0.98"."""
    figures = (
        (tr("attention PoS"), claim.pos),
        ("PSE", claim.pse),
        (tr("confidence"), claim.confidence),
    )
    return ", ".join(f"{name} {value:.2f}" for name, value in figures if value is not None)


def trash_in_words(deleted: datetime, now: datetime) -> str:
    """Return how long a deleted run can still be restored; both times UTC."""
    days = TRASH_DAYS - (now - deleted).days
    left = tr("1 day") if days == 1 else tr("{days} days").format(days=max(days, 0))
    return tr("In the trash; deleted permanently in {left}.").format(left=left)


def facts_of_entry(entry: LibraryEntry) -> tuple[tuple[str, str], ...]:
    """Return the generation settings of a run, as names and values."""
    summary = entry.summary
    has_settings, deleted = summary.has_settings, entry.deleted
    guidance = _guidance_in_words(summary)
    facts = (
        (tr("Seed"), str(summary.seed) if has_settings else ""),
        (tr("File"), summary.source),
        (tr("Model"), summary.model_id or tr("not recorded")),
        (tr("Steps"), str(summary.steps) if has_settings else ""),
        (tr("Guidance"), guidance if has_settings else ""),
        (tr("Size"), f"{summary.width} × {summary.height}" if summary.width else ""),  # noqa: RUF001
        (tr("Judged" if summary.source else "Created"), f"{summary.created:%Y-%m-%d %H:%M} UTC"),
        (tr("Device"), summary.device),
        *setup_facts(summary.setup),
        (tr("Files"), tr("damaged; only the picture can be read") if entry.is_damaged else ""),
        (tr("Folder"), "" if deleted else str(entry.path.parent)),
        (tr("Deleted"), f"{deleted:%Y-%m-%d %H:%M} UTC" if deleted else ""),
    )
    return tuple((name, value) for name, value in facts if value)


def _caption(entry: LibraryEntry) -> str:
    """Return a caption that distinguishes runs of one prompt; the file name without settings."""
    summary = entry.summary
    if not summary.has_settings:
        return summary.source or entry.path.name
    words = tr("seed {seed}") if is_guided(summary) else tr("seed {seed}, baseline")
    if summary.is_left_unguided:
        words = tr("seed {seed}, unguided")
    return words.format(seed=summary.seed)


def _brief(entry: LibraryEntry) -> str:
    """Return a short caption; baselines are labelled as such."""
    summary = entry.summary
    if not summary.has_settings:
        return Path(summary.source or entry.path).stem
    return str(summary.seed) if is_guided(summary) else tr("baseline")


def tags_in(text: str) -> tuple[str, ...]:
    """Return the comma-separated tags of a text, without duplicates."""
    return tuple(dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip()))


def reproduction_in_words(comparison: Reproduction) -> str:
    """Describe whether a reproduced run matches, and the reasons for a difference."""
    heads = {
        Sameness.SAME: tr("Reproduced: identical pixels."),
        Sameness.CLOSE: tr("Reproduced with invisible differences."),
        Sameness.DIFFERENT: tr("Not reproduced: the pictures differ."),
    }
    return _with_reasons(heads[comparison.sameness], comparison)


def repetition_in_words(first: str, comparison: Reproduction) -> str:
    """Describe how closely a repetition matches the first run, which is given by name."""
    heads = {
        Sameness.SAME: tr("Reproduces {run}: identical pixels."),
        Sameness.CLOSE: tr("Reproduces {run} with invisible differences."),
        Sameness.DIFFERENT: tr("Does not reproduce {run}: the pictures differ."),
    }
    return _with_reasons(heads[comparison.sameness].format(run=first), comparison)


def _with_reasons(head: str, comparison: Reproduction) -> str:
    parts, largest, mean = [head], comparison.largest_difference, comparison.mean_difference
    if largest and mean is not None:
        numbers = tr("Pixel differences (0 to 255): mean {mean:.2f}, maximum {largest}.")
        parts.append(numbers.format(mean=mean, largest=largest))
    if reasons := "; ".join(comparison.reasons):
        parts.append(tr("Differences: {reasons}.").format(reasons=reasons))
    return " ".join(parts)


def table_of(runs: Mapping[EntryId, LibraryEntry], awaited: Iterable[SweepCell] = ()) -> SweepTable:
    """Return the grid of a sweep.

    Args:
        runs: Stored runs, the newest first; the newer of two in one cell is shown.
        awaited: Cells without a picture yet.
    """
    cells = {key: run.summary.sweep for key, run in runs.items() if run.summary.sweep is not None}
    known = (*cells.values(), *awaited)
    if not known:
        return SweepTable()
    sides = sides_of(known)
    keys: list[list[int | None]] = [[None] * len(sides.columns) for _ in sides.rows]
    for key, cell in reversed(cells.items()):
        row, column = sides.place(cell)
        keys[row][column] = key
    first = sides.rows[0]
    sizes = [(run.summary.width, run.summary.height) for run in runs.values()]
    return SweepTable(
        column_title=tr(sides.columns[0].field.title),
        columns=tuple(point.label for point in sides.columns),
        row_title=tr(first.field.title) if first else "",
        rows=tuple(point.label if point else "" for point in sides.rows),
        keys=tuple(tuple(row) for row in keys),
        ratio=max((width / height for width, height in sizes if width and height), default=1.0),
    )


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


def _guidance_in_words(summary: RunSummary) -> str:
    return guidance_in_words(
        summary.method_id, summary.strength, is_left_unguided=summary.is_left_unguided
    )


def _is_baseline(entry: LibraryEntry) -> bool:
    return not is_guided(entry.summary)


def _compared(entry: LibraryEntry, picture: RgbImage, has_seeds: bool) -> ComparedPicture:
    """Return a compared run; titles give the seed if the seeds differ."""
    summary = entry.summary
    title = tr("Baseline") if _is_baseline(entry) else tr("Guided")
    if has_seeds:
        title = tr("Seed {seed}").format(seed=summary.seed)
    outcome = summary.outcome.value if summary.outcome else tr("not judged")
    remark = tr("{outcome}, seed {seed}, guidance {guidance}").format(
        seed=summary.seed,
        guidance=_guidance_in_words(summary),
        outcome=outcome,
    )
    return ComparedPicture(rgb_image(picture), title, remark)


def _difference(first: RgbImage, second: RgbImage) -> ComparedPicture | None:
    if first.shape != second.shape:
        return None
    picture, largest = difference_picture(first, second)
    remark = tr("white: difference of {largest} (of 255)").format(largest=largest)
    return ComparedPicture(rgb_image(picture), tr("Difference"), remark)
