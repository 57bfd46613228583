"""A curve of PoS over the steps, as plain data: who makes one needs no plots."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PosCurve:
    """One relation's PoS over the steps.

    Attributes:
        name: The relation in words.
        hue: Of its subject.
        points: Step and PoS in [0, 1], in order.
        is_baseline: Whether it belongs to the unguided run.
    """

    name: str
    hue: int
    points: tuple[tuple[int, float], ...]
    is_baseline: bool = False
