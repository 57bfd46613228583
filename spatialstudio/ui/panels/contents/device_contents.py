"""Turns the devices of this machine into the choices of a field."""

from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.domain.devices import NUMBER_FORMATS, DeviceCard
from spatialstudio.domain.memory import size_in_words
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.run.choice_field import Choice

FASTEST = ""


def device_choices(devices: Sequence[DeviceCard], chosen: str) -> tuple[Choice, ...]:
    """Return what can be chosen, with what is chosen; a device alone stands for the fastest.

    Args:
        devices: The fastest first; empty while nobody has told.
        chosen: Id of a device, here or not; empty for the fastest.
    """
    known = tuple(_choice_of(card) for card in devices)
    if len(known) == 1 and chosen in (FASTEST, known[0].id):
        return (replace(known[0], id=chosen),)
    fastest = Choice(id=FASTEST, title=tr("The fastest there is"))
    if chosen in {FASTEST, *(choice.id for choice in known)}:
        return (fastest, *known)
    title = tr("{device}, not found").format(device=chosen) if known else chosen
    return (fastest, *known, Choice(id=chosen, title=title))


def format_choices(devices: Sequence[DeviceCard], device_id: str, chosen: str) -> tuple[str, ...]:
    """Return the number formats that can be chosen: what a device computes, and what is chosen.

    Args:
        devices: The fastest first; empty while nobody has told.
        device_id: Where pictures are drawn; empty for the fastest.
        chosen: Of ``NUMBER_FORMATS``; empty for the model's own.
    """
    cards = [card for card in devices if device_id in (FASTEST, card.id)]
    computed = cards[0].dtypes if cards else NUMBER_FORMATS
    return tuple(name for name in NUMBER_FORMATS if name in (*computed, chosen))


def device_in_words(device: DeviceCard) -> str:
    """Return "NVIDIA H100, 78.1 GB free" or "CPU, 2 cores, 5.1 GB free"."""
    parts = [device.name]
    if device.cores is not None:
        count = tr("1 core") if device.cores == 1 else tr("{count} cores")
        parts.append(count.format(count=device.cores))
    if device.free_bytes is not None:
        parts.append(tr("{size} free").format(size=size_in_words(device.free_bytes)))
    return ", ".join(parts)


def _choice_of(device: DeviceCard) -> Choice:
    tip = tr("{device}: computes {formats}").format(
        device=device.id, formats=", ".join(device.dtypes)
    )
    return Choice(id=device.id, title=device_in_words(device), tip=tip)
