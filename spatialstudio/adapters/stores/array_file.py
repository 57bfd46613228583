"""Packs named arrays into the bytes of one .npz file and back, bit by bit; never a pickle."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any, TypeAlias
from zipfile import BadZipFile
from zlib import error as ZlibError  # noqa: N812 - an exception class in lower case

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.errors import StoreError

AnyArray: TypeAlias = npt.NDArray[Any]

_UNREADABLE = (OSError, ValueError, KeyError, EOFError, BadZipFile, ZlibError, MemoryError)


def pack_arrays(arrays: Mapping[str, AnyArray]) -> bytes:
    """Return the bytes of a compressed .npz; equal arrays give equal bytes."""
    buffer = BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_arrays(content: bytes, name: str) -> dict[str, AnyArray]:
    """Return the arrays of a .npz, in the order in which they were packed.

    Args:
        content: The bytes of the file.
        name: Of the file, for the message.

    Raises:
        StoreError: The bytes are no array file, or hold objects instead of numbers.
    """
    try:
        with np.load(BytesIO(content), allow_pickle=False) as packed:
            return dict(packed)
    except _UNREADABLE as error:
        raise StoreError(
            f'The arrays in "{name}" cannot be read.', hint="Restore the run from a copy."
        ) from error
