"""Turns work that emits values into an iterator of them."""

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from spatialstudio.domain.frozen import frozen

ValueT = TypeVar("ValueT")


def iterate(
    work: Callable[[Callable[[ValueT], None]], None], *, thread_name: str
) -> Iterator[ValueT]:
    """Run ``work(emit)`` on a thread of its own and yield what it emits.

    The two take turns: the work goes on only while the next value is waited for, so it never runs
    ahead of its user. A user who stops early ends the work at its next ``emit``.

    Args:
        work: Calls ``emit(value)`` for every value.
        thread_name: For people who look at the process.

    Raises:
        Exception: What the work raises.
    """
    is_wanted: SimpleQueue[bool] = SimpleQueue()
    results: SimpleQueue[_Emitted[ValueT] | _Ended] = SimpleQueue()

    def emit(value: ValueT) -> None:
        results.put(_Emitted(value))
        if not is_wanted.get():
            raise _Unwanted

    def run() -> None:
        if not is_wanted.get():
            return
        try:
            work(emit)
        except BaseException as error:  # noqa: BLE001 - raised again on the user's thread
            results.put(_Ended(error))
        else:
            results.put(_Ended(None))

    thread = Thread(target=run, name=thread_name, daemon=True)
    thread.start()
    try:
        is_wanted.put(True)
        while isinstance(result := results.get(), _Emitted):
            yield result.value
            is_wanted.put(True)
        if result.error is not None:
            raise result.error
    finally:
        is_wanted.put(False)
        thread.join()


class _Unwanted(BaseException):
    """Ends work whose user has gone; no library catches it by mistake."""


@frozen(kw_only=False)
class _Emitted(Generic[ValueT]):
    value: ValueT


@frozen(kw_only=False)
class _Ended:
    error: BaseException | None
