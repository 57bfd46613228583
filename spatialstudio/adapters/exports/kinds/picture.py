"""The picture with its generation settings."""

from collections.abc import Sequence
from pathlib import Path

from spatialstudio.domain.export import ExportedRun, ExportFile, ExportKind, ExportLook, LookOption

PILLOW_FORMATS = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP"}


def _write(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, _resources: Path
) -> ExportFile:
    from spatialstudio.adapters.storage.metadata.picture_texts import picture_bytes
    from spatialstudio.adapters.storage.stores.picture_record import texts_of

    (run,) = runs
    size = run.image.shape[:2]
    texts = texts_of(run.record, run.record.evaluation, size, is_marked=look.is_marked)
    return ExportFile(content=picture_bytes(run.image, PILLOW_FORMATS[ending], texts))


KIND = ExportKind(
    id="picture",
    label="Picture",
    help="The picture, with its generation settings in the metadata.",
    formats=("png", "jpg", "webp"),
    write=_write,
    order=70,
    reads=frozenset({LookOption.MARK}),
)
