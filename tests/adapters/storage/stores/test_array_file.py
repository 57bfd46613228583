"""Arrays come back bit by bit, and nothing but arrays."""

from io import BytesIO

import numpy as np
import pytest

from spatialstudio.adapters.storage.stores.json_codec import pack_arrays, unpack_arrays
from spatialstudio.domain.errors import StoreError


def test_arrays_come_back_in_order_and_to_the_bit():
    arrays = {"2/preview": np.arange(6, dtype=np.uint8), "1/maps/m1": np.float32([[0.1, np.nan]])}
    unpacked = unpack_arrays(pack_arrays(arrays), "trace.npz")
    assert list(unpacked) == list(arrays)
    assert [a.tobytes() for a in unpacked.values()] == [a.tobytes() for a in arrays.values()]
    assert [a.dtype for a in unpacked.values()] == [np.uint8, np.float32]


def test_equal_arrays_make_equal_files():
    assert pack_arrays({"a": np.ones(3)}) == pack_arrays({"a": np.ones(3)})


def test_objects_are_never_unpickled():
    buffer = BytesIO()
    np.savez(buffer, trap=np.array([{"an": "object"}], dtype=object))
    with pytest.raises(StoreError, match=r'The arrays in "trace.npz" cannot be read.'):
        unpack_arrays(buffer.getvalue(), "trace.npz")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"words", b"\x93NUMPY"])
def test_other_files_are_rejected(content):
    with pytest.raises(StoreError):
        unpack_arrays(content, "trace.npz")
