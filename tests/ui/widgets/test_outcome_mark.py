import pytest

from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.widgets.outcome_mark import LOOKS, OutcomeMark


def covered(qtbot, theme, outcome):
    """Return the share of the mark's square that is not ground, as a fingerprint of its shape."""
    mark = OutcomeMark(theme, outcome)
    qtbot.addWidget(mark)
    mark.resize(mark.sizeHint())
    image = mark.grab().toImage()
    side = image.width()
    ground = image.pixelColor(0, side // 4).name()
    inked = sum(image.pixelColor(x, y).name() != ground for x in range(side) for y in range(side))
    return inked / side**2


def test_the_three_shapes_differ(qtbot, theme):
    shares = sorted(covered(qtbot, theme, outcome) for outcome in Outcome)
    assert shares[0] + 0.02 < shares[1] < shares[2] - 0.02


@pytest.mark.parametrize("outcome", list(Outcome), ids=lambda outcome: outcome.value)
def test_each_outcome_has_a_distinct_colour(theme, outcome):
    others = [LOOKS[other].role for other in Outcome if other is not outcome]
    assert LOOKS[outcome].role not in others
