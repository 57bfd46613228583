"""What models can run on: asked of the engine, which has the libraries that can tell."""

from collections.abc import Callable
from dataclasses import replace

from spatialstudio.application.engine.messages import DevicesListed, ListDevices
from spatialstudio.domain.devices import DeviceCard
from spatialstudio.domain.generation import GenerationRequest


class DeviceList:
    """Has the devices of this machine listed, and keeps the newest answer.

    Args:
        ask: Takes a question for the engine; returns at once.
        subscribe: Lets it hear the answers.
    """

    def __init__(
        self,
        ask: Callable[[ListDevices], None],
        subscribe: Callable[[Callable[[object], None]], object],
    ) -> None:
        self._ask = ask
        self._newest = DevicesListed(devices=())
        subscribe(self._follow)

    @property
    def known(self) -> tuple[DeviceCard, ...]:
        """The devices, the fastest first; empty while nobody has told."""
        return self._newest.devices

    def ask(self) -> None:
        """Have the devices listed, with what is free now; ``DevicesListed`` is published then."""
        self._ask(ListDevices())

    def at_hand(self, request: GenerationRequest) -> GenerationRequest:
        """Return a request that another machine's device does not stop, as far as is known."""
        is_lost = bool(self.known) and request.device not in {card.id for card in self.known}
        return replace(request, device="") if is_lost else request

    def _follow(self, event: object) -> None:
        if isinstance(event, DevicesListed):
            self._newest = event
