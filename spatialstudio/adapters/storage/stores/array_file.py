"""Bit-exact packing of named arrays to .npz bytes and back, without pickle."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.adapters.zip_archive import (
    BROKEN,
    ArchiveLimits,
    ArchiveTooLarge,
    open_archive,
    read_array,
)
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.safe_files import MEBIBYTE

AnyArray: TypeAlias = npt.NDArray[Any]

LARGEST_BYTES = 192 * MEBIBYTE
"""Limit for all arrays of a file."""
MOST_ARRAYS = 20_000

_ENDING = ".npy"


def pack_arrays(arrays: Mapping[str, AnyArray]) -> bytes:
    """Return the bytes of a compressed .npz; equal arrays give equal bytes."""
    buffer = BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_arrays(
    content: bytes, name: str, largest_bytes: int = LARGEST_BYTES
) -> dict[str, AnyArray]:
    """Return the arrays of an .npz, in the order in which they were packed.

    Args:
        content: The bytes of the file.
        name: File name for the error message.
        largest_bytes: Limit on the total size of the arrays.

    Raises:
        StoreError: The bytes are no array file, too large to open safely, or hold objects
            instead of numbers.
    """
    limits = ArchiveLimits(
        members=MOST_ARRAYS, member_bytes=largest_bytes, total_bytes=largest_bytes
    )
    try:
        with open_archive(content, limits) as archive:
            return {
                member.filename.removesuffix(_ENDING): read_array(archive.read(member))
                for member in archive.infolist()
            }
    except ArchiveTooLarge as error:
        raise StoreError(
            f'The arrays in "{name}" are too large to open safely.',
            hint="Restore the run from a copy.",
        ) from error
    except BROKEN as error:
        raise StoreError(
            f'The arrays in "{name}" cannot be read.', hint="Restore the run from a copy."
        ) from error
