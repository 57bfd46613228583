"""Download of a model in a child process, which can be stopped at any moment."""

import multiprocessing
import pickle
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Thread

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.jobs.child_environment import environment_for_children
from spatialstudio.application.models.downloads import HUB_ID, Report
from spatialstudio.application.registry import BUILT_IN_MANIFEST, Registry, read_manifest
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.hub import DownloadPlan, DownloadProgress
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.search_paths import leave_out_current_folder

CLOSING_TIMEOUT_S = 2.0
TITLE = "Downloading a model"
UNKNOWN = object()


class ChildDownload:
    """A download in a child process, which can be stopped at any moment.

    Args:
        surroundings: Folders of the installation.
        plan: What to fetch.
        report: Receives the progress, then None or an error, in a thread.
    """

    def __init__(self, surroundings: Surroundings, plan: DownloadPlan, report: Report) -> None:
        context = multiprocessing.get_context("spawn")
        self._reports, reports = context.Pipe(duplex=False)
        self._report = report
        self._process = context.Process(
            target=download_in_child, args=(surroundings, plan, reports), daemon=True
        )
        with environment_for_children():
            self._process.start()
        reports.close()
        Thread(target=self._read, name="download", daemon=True).start()

    def stop(self) -> None:
        """Kill the process; what is on disk is used again."""
        self._process.kill()
        self._process.join(CLOSING_TIMEOUT_S)

    def _read(self) -> None:
        last: object = UNKNOWN
        with suppress(EOFError, OSError):
            while True:
                message = last = pickle.loads(self._reports.recv_bytes())
                self._report(message)
        self._reports.close()
        self._process.join(CLOSING_TIMEOUT_S)
        if last is UNKNOWN or isinstance(last, DownloadProgress):  # it has not ended by itself
            self._report(
                ErrorReport(
                    title=TITLE,
                    message="The process that downloads the model stopped unexpectedly.",
                    hint="Resume the download; fetched bytes are kept.",
                    details=f"Exit code {self._process.exitcode}.",
                )
            )


def download_in_child(surroundings: Surroundings, plan: DownloadPlan, reports: Connection) -> None:
    """Download in this process, and send progress, then None or an error report."""
    leave_out_current_folder()  # multiprocessing has copied the parent's search path

    def send(message: DownloadProgress | ErrorReport | None) -> None:
        try:
            reports.send_bytes(pickle.dumps(message))
        except OSError:  # the parent has ended
            raise SystemExit from None

    hub = Registry(read_manifest(BUILT_IN_MANIFEST), surroundings).model_hub(HUB_ID)
    try:
        hub.download(plan, send, CancelFlag())
    except Exception as error:  # noqa: BLE001 - the border of the process, as in the worker
        send(report_on(error, TITLE))
    else:
        send(None)
