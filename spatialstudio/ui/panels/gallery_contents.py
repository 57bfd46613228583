"""Turns kept runs into what the gallery's widgets show."""

from collections.abc import Sequence
from datetime import date, timedelta

from PySide6.QtGui import QImage

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.library import Day, Field, Flag, LibraryEntry
from spatialstudio.domain.relation import relation_types
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.run_grid import GridSection
from spatialstudio.ui.widgets.run_tile import TileFace

NUMBERED = (Field.POS, Field.PSE, Field.CONFIDENCE, Field.STARS, Field.STEPS, Field.STRENGTH)


def face_of(entry: LibraryEntry, thumbnail: RgbImage | None) -> TileFace:
    """Return what the tile of a run shows; None for a picture that cannot be read."""
    return face_with(entry, None if thumbnail is None else rgb_image(thumbnail))


def face_with(entry: LibraryEntry, picture: QImage | None) -> TileFace:
    """Return what the tile of a run shows, with a picture that is known already."""
    marks = entry.marks
    return TileFace(
        picture=picture,
        outcome=entry.summary.outcome,
        caption=tr("seed {seed}").format(seed=entry.summary.seed),
        stars=marks.stars,
        is_rejected=marks.is_rejected,
        tags=" ".join(f"#{tag}" for tag in marks.tags),
        is_missing=entry.is_missing,
        place=str(entry.path),
        words=in_words(entry),
    )


def in_words(entry: LibraryEntry) -> str:
    """Say all that a tile shows: the textual twin of its drawing."""
    told, marks = entry.summary, entry.marks
    parts = [
        told.prompt,
        tr("seed {seed}").format(seed=told.seed),
        told.outcome.value if told.outcome else tr("not judged"),
    ]
    if marks.stars:
        parts.append(tr("{count} of 5 stars").format(count=marks.stars))
    if marks.is_rejected:
        parts.append(tr("sorted out"))
    if marks.tags:
        parts.append(tr("tags: {tags}").format(tags=", ".join(marks.tags)))
    if entry.is_missing:
        parts.append(tr("the file is missing"))
    return "; ".join(parts)


def sections_of(days: Sequence[Day], today: date) -> tuple[GridSection, ...]:
    """Return the headings of a grid."""
    return tuple(
        GridSection(day_title(day.date, today), runs_in_words(day.runs), day.start) for day in days
    )


def day_title(day: str, today: date) -> str:
    """Return what to call a day: "Today", "Yesterday", "20 November 2026"."""
    when = date.fromisoformat(day)
    if when == today:
        return tr("Today")
    if when == today - timedelta(days=1):
        return tr("Yesterday")
    return f"{when.day} {when:%B %Y}"


def runs_in_words(count: int) -> str:
    """Return a number of runs in words."""
    return tr("1 run") if count == 1 else tr("{count} runs").format(count=count)


def filter_words(tags: Sequence[str], models: Sequence[str]) -> tuple[str, ...]:
    """Return what the filter line offers to complete, fields before their values."""
    words = [f"{field.value}:" for field in Field]
    words += [f"{Field.VERDICT.value}:{outcome.value.lower()}" for outcome in Outcome]
    words += [f"{Field.RELATION.value}:{kind.id}" for kind in relation_types]
    words += [f"{Field.IS.value}:{flag.value}" for flag in Flag]
    words += [f"{field.value}{sign}" for field in NUMBERED for sign in ("<", ">=")]
    words += [f"{Field.TAG.value}:{quoted(tag)}" for tag in tags]
    words += [f"{Field.MODEL.value}:{quoted(model)}" for model in models]
    return tuple(sorted(words))


def quoted(value: str) -> str:
    """Return a value as the filter line takes it."""
    return f'"{value}"' if " " in value else value
