"""Synchronous event bus of the application."""

import logging
from collections.abc import Callable
from typing import TypeAlias

log = logging.getLogger(__name__)

Handler: TypeAlias = Callable[[object], object]


class EventBus:
    """Passes every published event to every subscriber, in the order of subscription.

    Handlers run on the publisher's thread; the window's bridge forwards events to the GUI thread.
    """

    def __init__(self) -> None:
        self._handlers: tuple[Handler, ...] = ()

    def subscribe(self, handler: Handler) -> Callable[[], None]:
        """Subscribe a handler to all later events.

        Returns:
            A function that ends the subscription; safe to call twice.
        """
        self._handlers = (*self._handlers, handler)

        def unsubscribe() -> None:
            self._handlers = tuple(known for known in self._handlers if known is not handler)

        return unsubscribe

    def publish(self, event: object) -> None:
        """Call every handler; an exception in one is logged and does not stop the others."""
        for handler in self._handlers:
            try:
                handler(event)
            except Exception:
                log.exception("A listener failed on %s.", type(event).__name__)
