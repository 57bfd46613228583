"""The event bus: what happens is said once, and whoever cares hears it."""

import logging
from collections.abc import Callable
from typing import TypeAlias

log = logging.getLogger(__name__)

Handler: TypeAlias = Callable[[object], None]


class EventBus:
    """Hands every published event to every subscriber, in the order of subscription.

    Handlers run on the publisher's thread; the window's bridge carries events to its own.
    """

    def __init__(self) -> None:
        self._handlers: tuple[Handler, ...] = ()

    def subscribe(self, handler: Handler) -> Callable[[], None]:
        """Hear every event from now on.

        Returns:
            A function that ends the subscription; calling it twice does no harm.
        """
        self._handlers = (*self._handlers, handler)

        def unsubscribe() -> None:
            self._handlers = tuple(known for known in self._handlers if known is not handler)

        return unsubscribe

    def publish(self, event: object) -> None:
        """Tell every subscriber; a failing one is logged and keeps no other from hearing."""
        for handler in self._handlers:
            try:
                handler(event)
            except Exception:
                log.exception("A listener failed on %s.", type(event).__name__)
