"""The user's choices about models: opened single files, and prediction types by model."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.models.model_settings import SIGNS_OF_DAMAGE, settings_of
from spatialstudio.domain.generation import PREDICTION_TYPES
from spatialstudio.domain.safe_files import MEBIBYTE, read_regular

CHOICES_FILE = "models.json"
FILES, PREDICTIONS = "files", "prediction_types"

log = logging.getLogger(__name__)


class ModelChoices:
    """Stores opened files and prediction types in a JSON file, read on each access.

    Args:
        folder: The user's settings folder; None to store nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = None if folder is None else folder / CHOICES_FILE

    @property
    def files(self) -> tuple[Path, ...]:
        """Opened files that still exist, in the order of opening."""
        stored = self._read().get(FILES)
        paths = map(Path, filter(_is_path, stored)) if isinstance(stored, list) else ()
        return tuple(path for path in paths if path.is_file())

    @property
    def prediction_types(self) -> Mapping[str, str]:
        """Chosen prediction types by model id."""
        stored = self._read().get(PREDICTIONS)
        chosen = stored.items() if isinstance(stored, dict) else ()
        return {name: value for name, value in chosen if value in PREDICTION_TYPES}

    def add_file(self, file: Path) -> None:
        """Store an opened file; the newest comes last.

        Raises:
            StoreError: The choices cannot be written.
        """
        others = [str(path) for path in self.files if path != file]
        self._write(self._read() | {FILES: [*others, str(file)]})

    def choose_prediction(self, model_id: str, prediction_type: str) -> None:
        """Store the prediction type of a model.

        Raises:
            StoreError: The choices cannot be written.
        """
        chosen = {**self.prediction_types, model_id: prediction_type}
        self._write(self._read() | {PREDICTIONS: chosen})

    def _read(self) -> dict[str, Any]:
        if self._file is None or not self._file.exists():
            return {}
        try:
            return settings_of(read_regular(self._file, MEBIBYTE))
        except SIGNS_OF_DAMAGE as error:
            log.warning("The stored model settings could not be read: %s", error)
            return {}

    def _write(self, content: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        with explained_writing(self._file.parent):
            self._file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._file, json.dumps(content, indent=2).encode())


def _is_path(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value
