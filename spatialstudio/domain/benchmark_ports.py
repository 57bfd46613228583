"""The port that writes the files of a benchmark, and the values it writes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from spatialstudio.domain.benchmark import JudgedSample, RunReport
from spatialstudio.domain.verdict import CheckerSettings

Record: TypeAlias = Mapping[str, Any]
"""A line of ``per_sample.jsonl`` or ``manifest.jsonl``, as JSON values."""


class BenchmarkFiles(Protocol):
    """Writes the files of a benchmark."""

    def write(self, path: Path, content: bytes) -> None:
        """Write a file atomically and durably, with its folders.

        Raises:
            StoreError: The folder cannot be written or is full.
        """

    def record_of(self, judged: JudgedSample, settings: CheckerSettings) -> Record:
        """Return the record of a judged picture in the schema of SpatialBench-UC."""

    def write_results(
        self,
        run_id: str,
        manifest: Sequence[Record],
        records: Sequence[Record],
        report: RunReport,
        folder: Path,
        inputs: Record,
    ) -> None:
        """Write a run folder of SpatialBench-UC, replacing earlier results of the same run.

        Args:
            run_id: Name of the run.
            manifest: A line per picture.
            records: A line per judged picture, in the same order.
            report: The figures.
            folder: Folder of the run.
            inputs: Fields of ``provenance.json`` about what the run was made from.

        Raises:
            StoreError: The folder cannot be written or is full.
        """

    def write_tables(
        self, reports: Mapping[str, RunReport], folder: Path, *, overwrite: bool = False
    ) -> None:
        """Write the tables of SpatialBench-UC with a row per run.

        Args:
            reports: At least one report, by the name of its run.
            folder: Where the tables are written.
            overwrite: Whether to replace existing tables.

        Raises:
            TargetExists: A table already exists and ``overwrite`` is False.
            StoreError: The folder cannot be written or is full.
        """
