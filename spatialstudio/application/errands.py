"""Errands: work on files that takes a while, done one after the other beside the window."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from itertools import count
from typing import NewType, TypeAlias

from spatialstudio.application.cancellation import CancelFlag
from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.errors import Cancelled, ErrorReport
from spatialstudio.domain.frozen import frozen

log = logging.getLogger(__name__)

_NUMBERS = count(1)

ErrandId = NewType("ErrandId", int)
Progress: TypeAlias = Callable[[int, int], None]
"""Told how many parts are done, and of how many; raises ``Cancelled`` when all shall stop."""


@frozen
class ErrandMoved:
    """A part of an errand is done. Published by ``Errands``; may cross threads."""

    errand_id: ErrandId
    done: int
    total: int


@frozen
class ErrandEnded:
    """An errand is over. Published by ``Errands`` once an errand; may cross threads.

    Attributes:
        errand_id: Which one.
        result: What its work returned; None when it failed or was cancelled.
        error: Why it failed.
        is_cancelled: Whether the user stopped it.
    """

    errand_id: ErrandId
    result: object = None
    error: ErrorReport | None = None
    is_cancelled: bool = False


class Errands:
    """Does errands in order, in one thread that is made for the first.

    Args:
        publish: Takes ``ErrandMoved`` and ``ErrandEnded``, in that thread.
        name: Of the thread.
    """

    def __init__(self, publish: Callable[[object], None], name: str = "errands") -> None:
        self._publish = publish
        self._name = name
        self._flags: dict[ErrandId, CancelFlag] = {}

    def run(self, title: str, work: Callable[[Progress], object]) -> ErrandId:
        """Have something done; returns at once.

        Args:
            title: What is being done, for reports: "Exporting runs".
            work: Does it, and tells after each part.
        """
        errand_id = ErrandId(next(_NUMBERS))
        flag = self._flags[errand_id] = CancelFlag()
        future = self._pool.submit(self._do, errand_id, title, work, flag)
        future.add_done_callback(_log_failure)
        return errand_id

    def cancel(self, errand_id: ErrandId) -> None:
        """Stop an errand before its next part; one that is over stays as it is."""
        if flag := self._flags.get(errand_id):
            flag.cancel()

    def close(self) -> None:
        """Stop what waits and return when the thread has ended."""
        if "_pool" in vars(self):
            for flag in tuple(self._flags.values()):
                flag.cancel()
            self._pool.shutdown(wait=True)

    def finish(self) -> None:
        """Return when all that was asked for is done."""
        if "_pool" in vars(self):
            self._pool.shutdown(wait=True)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max_workers=1, thread_name_prefix=self._name)

    def _do(
        self,
        errand_id: ErrandId,
        title: str,
        work: Callable[[Progress], object],
        flag: CancelFlag,
    ) -> None:
        def told(done: int, total: int) -> None:
            flag.raise_if_cancelled()
            self._publish(ErrandMoved(errand_id=errand_id, done=done, total=total))

        try:
            flag.raise_if_cancelled()
            ended = ErrandEnded(errand_id=errand_id, result=work(told))
        except Cancelled:
            ended = ErrandEnded(errand_id=errand_id, is_cancelled=True)
        except Exception as error:  # noqa: BLE001 - the border of the thread, as in the worker
            ended = ErrandEnded(errand_id=errand_id, error=report_on(error, title))
        self._flags.pop(errand_id, None)
        self._publish(ended)


def _log_failure(future: Future[None]) -> None:
    if error := future.exception():
        log.error("An errand could not be told of: %s", error)
