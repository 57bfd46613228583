"""Compares domain values that hold arrays, to the last bit."""

from spatialstudio.adapters.storage.stores.json_codec import encode


def to_the_bit(value):
    """Return what is equal exactly when two domain values are equal, arrays included."""
    arrays = {}
    plain = encode(value, arrays)
    return plain, {path: (a.dtype, a.shape, a.tobytes()) for path, a in arrays.items()}
