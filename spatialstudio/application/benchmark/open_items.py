"""Opens the folder of a benchmark that has begun."""

from pathlib import Path

from spatialstudio.application.benchmark.benchmarks import benchmarks_of
from spatialstudio.application.benchmark.result_store import ResultStore
from spatialstudio.application.benchmark.runner import ItemFiles
from spatialstudio.application.studio import Studio

FILES_ID = "files"


def items_in(studio: Studio, folder: Path) -> ItemFiles:
    """Return the items of a benchmark that has begun, and their files.

    Raises:
        StoreError: The folder contains no benchmark.
        SettingsError: Its plan or checker settings are invalid.
        ModelNotFound: The model of a method is not installed.
        RequestError: The settings of a method are invalid.
    """
    benchmarks, store = benchmarks_of(studio), store_in(studio, folder)
    return ItemFiles(benchmarks.open_folder(store), store, benchmarks.drawing)


def store_in(studio: Studio, folder: Path) -> ResultStore:
    """Return the files of a benchmark's folder."""
    return ResultStore(folder, studio.registry.benchmark_files(FILES_ID))
