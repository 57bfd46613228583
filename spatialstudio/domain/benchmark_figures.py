"""Figures of benchmarks for papers: rates with intervals, best of N, the choice of a method."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.export import ExportFile, ExportLook, FigureCaption
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval

Floats = npt.NDArray[np.float64]


@frozen
class MethodRates:
    """Rates of the same kind, one per method.

    Attributes:
        title: What is counted: "PASS over all", or a relation.
        rates: By name of the method, in [0, 1].
    """

    title: str
    rates: Mapping[str, Interval]


@frozen
class ScalingCurves:
    """The mean of the best of N pictures of a prompt.

    Attributes:
        value: What selects and scores: "pass", "visor", "pse".
        curves: By name of the method: the mean by N.
    """

    value: str
    curves: Mapping[str, Mapping[int, Interval]]


@frozen(eq=False)
class RaceCurves:
    """A choice between G methods in T steps.

    Attributes:
        names: G methods.
        pulls: (T, G) scores read from each; of batches for the published procedure.
        leads: (T, G) mean of the best minus that of each, NaN once it is dropped; (0, 0) for the
            published procedure.
        radii: (T, G) half the width of the leads' confidence bounds; (0, 0) as for ``leads``.
    """

    names: tuple[str, ...]
    pulls: Floats
    leads: Floats
    radii: Floats


class BenchmarkFigures(Protocol):
    """Draws figures of benchmarks; vector formats embed their fonts, texts stay texts."""

    def rates(
        self,
        groups: Sequence[MethodRates],
        caption: FigureCaption,
        look: ExportLook,
        ending: str,
    ) -> ExportFile:
        """Draw bars with intervals, a group below the other.

        Args:
            groups: At least one; each names the same methods.
            caption: Written below.
            look: Colours.
            ending: "png", "svg" or "pdf".
        """

    def best_of_n(
        self,
        panels: Sequence[ScalingCurves],
        caption: FigureCaption,
        look: ExportLook,
        ending: str,
    ) -> ExportFile:
        """Draw means over N with intervals, a panel per value; other arguments as ``rates``."""

    def race(
        self, curves: RaceCurves, caption: FigureCaption, look: ExportLook, ending: str
    ) -> ExportFile:
        """Draw the lead of the best method with its bounds, and the scores read from each."""
