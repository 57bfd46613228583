"""The picture itself, with its generation settings or without metadata."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption

PILLOW_FORMATS = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP"}


def _write_picture(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.storage.metadata.picture_texts import picture_bytes
    from spatialstudio.adapters.storage.stores.picture_record import texts_of

    (run,) = runs
    size = run.image.shape[:2]
    texts = texts_of(run.record, run.record.evaluation, size, is_marked=look.is_marked)
    return ExportFile(content=picture_bytes(run.image, PILLOW_FORMATS[ending], texts))


def _write_clean(
    runs: Sequence[ExportedRun], _look: ExportLook, ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.storage.metadata.picture_texts import picture_bytes

    (run,) = runs
    return ExportFile(content=picture_bytes(run.image, PILLOW_FORMATS[ending], None))


KINDS = (
    ExportKind(
        id="picture",
        label="Picture",
        help="The picture, with its generation settings in the metadata.",
        formats=tuple(PILLOW_FORMATS),
        write=_write_picture,
        order=70,
        reads=frozenset({LookOption.MARK}),
    ),
    ExportKind(
        id="clean",
        label="Clean copy",
        help="Pixels only, without metadata.",
        formats=tuple(PILLOW_FORMATS),
        write=_write_clean,
        order=80,
        is_anonymous=True,
    ),
)
