"""Reader of the attention archives that the model process writes to disk."""

from pathlib import Path

import numpy as np

from spatialstudio.adapters.attention_cache import cache_use
from spatialstudio.domain.attention import (
    ATTENTION_FOLDER,
    LAYER_DTYPES,
    MOST_CACHE_BYTES,
    AttentionCacheUse,
    AttentionFile,
    LayerValues,
)
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.safe_files import is_path_component, is_regular

_HINT = "Generate the picture again with all layers, or import a bundle that contains them."


def build(surroundings: Surroundings) -> "AttentionFolders":
    """Create the reader; without a cache it finds nothing."""
    cache = surroundings.cache
    return AttentionFolders(None if cache is None else cache / ATTENTION_FOLDER)


class AttentionFolders:
    """Implements ``AttentionFiles``: one folder per run, one NumPy file per layer.

    Args:
        root: Parent of the folders; None if attention is not stored.
    """

    def __init__(self, root: Path | None) -> None:
        self._root = root

    def use(self) -> AttentionCacheUse:
        """Return how full the cache is."""
        if self._root is None:
            return AttentionCacheUse(size_bytes=0, limit_bytes=MOST_CACHE_BYTES, runs=0)
        return cache_use(self._root)

    def read(self, request_id: RequestId, file: AttentionFile) -> LayerValues:
        """Map one layer's attention into memory; see ``AttentionFiles``.

        Raises:
            StoreError: The file is missing or damaged.
        """
        names = (request_id, file.name)
        if self._root is None or not all(map(is_path_component, names)):
            raise _gone()
        path = self._root / request_id / file.name
        if not is_regular(path):
            raise _gone()
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise _gone() from error
        if file.dtype not in LAYER_DTYPES or (array.shape, array.dtype) != (file.shape, file.dtype):
            raise StoreError("The attention of this run is damaged.", hint=_HINT)
        return np.asarray(array)


def _gone() -> StoreError:
    return StoreError("This run's recorded layers are no longer available.", hint=_HINT)
