"""Writer of a benchmark's files: items, and run folders in the schema of SpatialBench-UC."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from spatialstudio.adapters.durable_files import explained_writing, write_whole, written_together
from spatialstudio.adapters.storage.records.spatialbench_report import (
    record_of,
    report_files,
    table_files,
)
from spatialstudio.adapters.storage.records.spatialbench_uc import (
    EVALUATION_FOLDER,
    MANIFEST_FILE,
)
from spatialstudio.domain.benchmark import JudgedSample, RunReport
from spatialstudio.domain.benchmark_ports import Record
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.verdict import CheckerSettings
from spatialstudio.domain.write_gate import FILE_GATE


def build(_: Surroundings) -> "DurableBenchmarkFiles":
    """Create the writer."""
    return DurableBenchmarkFiles()


class DurableBenchmarkFiles:
    """Implements ``BenchmarkFiles``; each file is complete or absent, also after a crash."""

    def write(self, path: Path, content: bytes) -> None:
        """Write a file atomically and durably, with its folders.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        with FILE_GATE.passed():
            with explained_writing(path.parent):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content)

    def record_of(self, judged: JudgedSample, settings: CheckerSettings) -> Record:
        """Return the record of a judged picture in the schema of SpatialBench-UC."""
        return record_of(judged, settings)

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

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        with FILE_GATE.passed():
            lines = "".join(json.dumps(line) + "\n" for line in manifest)
            with written_together(folder, overwrite=True) as write:
                write(MANIFEST_FILE, lines.encode())
            with written_together(folder / EVALUATION_FOLDER, overwrite=True) as write:
                for name, text in report_files(run_id, records, report, inputs).items():
                    write(name, text.encode())

    def write_tables(
        self, reports: Mapping[str, RunReport], folder: Path, *, overwrite: bool = False
    ) -> None:
        """Write the tables of the release with a row per run.

        Raises:
            TargetExists: A table already exists and ``overwrite`` is False.
            StoreError: The folder cannot be written or is full.
        """
        with written_together(folder, overwrite=overwrite) as write:
            for name, text in table_files(reports).items():
                write(name, text.encode())
