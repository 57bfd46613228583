"""Atomic update of picture and sidecar with a new evaluation or comparison.

The sidecar is written under a hidden name; replacing the picture, which holds the sidecar's hash,
is the commit. An interruption before it leaves the run unchanged; after it, ``recover`` only has to
rename.
"""

from contextlib import suppress
from pathlib import Path

from spatialstudio.adapters.durable_files import (
    explained_writing,
    sync_folder,
    write_whole,
)
from spatialstudio.adapters.storage.stores.atomic_write import (
    PICTURE_ENDING,
    SIDECAR_ENDING,
    is_stale,
)
from spatialstudio.adapters.storage.stores.sidecar import MAX_SIDECAR_BYTES, part_hashes
from spatialstudio.adapters.storage.stores.verify_run import picture_record_of
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.safe_files import is_regular, read_regular

_WAITING = f"{SIDECAR_ENDING}.judged"


def keep_judgement(picture: Path, sidecar: bytes, content: bytes) -> None:
    """Write both files of a judged run; both change, or none.

    Args:
        picture: The picture's file.
        sidecar: Content of the sidecar.
        content: Content of the picture's file, with the hashes of the sidecar's parts.

    Raises:
        StoreError: The folder cannot be written or is full.
    """
    waiting = _waiting(picture)
    with explained_writing(picture.parent):
        write_whole(waiting, sidecar)
        try:
            write_whole(picture, content)
            _rename(waiting, picture.with_suffix(SIDECAR_ENDING))
        except BaseException:
            if not _is_recorded(picture, waiting):
                waiting.unlink(missing_ok=True)
            raise


def recover_judgement(picture: Path) -> None:
    """Complete or roll back an interrupted update of a run.

    In a folder that cannot be written nothing changes.
    """
    waiting = _waiting(picture)
    if not is_regular(waiting):
        return
    with suppress(OSError):
        if _is_recorded(picture, waiting):
            _rename(waiting, picture.with_suffix(SIDECAR_ENDING))
        elif is_stale(waiting):
            waiting.unlink(missing_ok=True)


def recover_judgements(folder: Path) -> None:
    """Complete or roll back interrupted updates of all runs directly in a folder."""
    for waiting in folder.glob(f".*{_WAITING}"):
        name = waiting.name.removeprefix(".").removesuffix(_WAITING)
        recover_judgement(folder / f"{name}{PICTURE_ENDING}")


def _waiting(picture: Path) -> Path:
    return picture.with_name(f".{picture.stem}{_WAITING}")


def _is_recorded(picture: Path, waiting: Path) -> bool:
    try:
        due = part_hashes(read_regular(waiting, MAX_SIDECAR_BYTES), waiting.name)
        return due.items() <= dict(picture_record_of(picture).hashes).items()
    except (OSError, StudioError):
        return False


def _rename(waiting: Path, final: Path) -> None:
    try:
        waiting.replace(final)
    except FileNotFoundError:  # renamed concurrently by another program
        return
    sync_folder(final.parent)
