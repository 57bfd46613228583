"""The line that parts two distributions alike: where their cumulative curves cross.

Walking along an axis, the share of the first that lies behind grows and the share of the second
that lies ahead shrinks. They cross where the line parts both alike. That share is 1/2 where nothing
tells them apart and 1 where they do not overlap; it is a picture of PoS and not PoS itself, which
is the mean of the first's cumulative curve over draws of the second (``superiority``).
"""

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.frozen import frozen
from spatialstudio.science.superiority import cumulative

Curve = npt.NDArray[np.float32]


@frozen
class DividingLine:
    """Where two cumulative curves cross.

    Attributes:
        place: Share of the axis, [0, 1].
        share: Of the first that lies before it, and of the second behind it, [0, 1].
    """

    place: float
    share: float


def cumulative_at_edges(profile: Curve) -> Curve:
    """Return the share of a distribution that lies before each edge of its bins.

    Args:
        profile: (bins,), summing to 1.

    Returns:
        (bins + 1,) from 0 to 1.
    """
    return np.concatenate([[0], cumulative(profile.astype(np.float64))]).astype(np.float32)


def dividing_line(first: Curve, second: Curve) -> DividingLine:
    """Find the line with as much of the first before it as of the second behind it.

    Args:
        first: (bins,) distribution, summing to 1, of what should come first.
        second: (bins,) likewise, of what should come behind.
    """
    rising, other = cumulative_at_edges(first), cumulative_at_edges(second)
    lead = rising + other - 1  # grows from -1 to 1
    edges = np.linspace(0, 1, len(lead))
    after = int(np.argmax(lead >= 0))
    before = after - 1
    step = lead[after] - lead[before]
    part = float(-lead[before] / step)
    place = edges[before] + part * (edges[after] - edges[before])
    share = rising[before] + part * (rising[after] - rising[before])
    return DividingLine(place=float(place), share=float(share))
