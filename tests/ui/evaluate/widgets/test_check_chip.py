import pytest

from spatialstudio.domain.verdict import AbstentionReason
from spatialstudio.ui.evaluate.widgets.verdict_card import (
    ICONS,
    CheckChip,
    CheckState,
    VerdictCheck,
)
from spatialstudio.ui.theme.qt_palette import stylesheet
from spatialstudio.ui.theme.theme import em


@pytest.fixture
def chip(qtbot, appearance):
    words = "0.06 to the left; 0.10 left needed"
    check = VerdictCheck(AbstentionReason.NEAR_BOUNDARY, words, "", CheckState.HELD)
    chip = CheckChip(appearance.theme, check)
    chip.setStyleSheet(stylesheet(appearance.theme))
    qtbot.addWidget(chip)
    return chip


def test_a_failed_criterion_has_a_cross_and_says_so(qtbot, appearance):
    reason, words = AbstentionReason.NEAR_BOUNDARY, "0.29 to the right; 0.10 left needed"
    failed, held = (
        CheckChip(appearance.theme, VerdictCheck(reason, words, "", state))
        for state in (CheckState.FAILED, CheckState.HELD)
    )
    qtbot.addWidget(failed)
    qtbot.addWidget(held)
    assert failed.accessibleName() == f"{words}: failed"
    assert ICONS[CheckState.FAILED] == ("close", "bad")
    size = failed.iconSize()
    assert failed.icon().pixmap(size).toImage() != held.icon().pixmap(size).toImage()


def ink_at_the_edge(chip, width):
    """Return how many pixels before the right edge differ from the ground, at a width."""
    chip.resize(width, chip.sizeHint().height())
    image = chip.grab().toImage()
    columns = range(width - em(0.25), width - 3)
    middle = range(chip.height() // 3, chip.height() * 2 // 3)
    check = image.pixelColor(width - em(0.3), 4)
    return sum(image.pixelColor(x, y) != check for x in columns for y in middle)


def test_a_narrow_chip_cuts_its_text_off_before_the_edge(chip):
    assert chip.minimumSizeHint().width() < chip.sizeHint().width() / 1.2
    assert ink_at_the_edge(chip, chip.sizeHint().width() * 3 // 4) == 0


def test_a_chip_with_room_shows_all_its_text(qtbot, chip):
    chip.resize(chip.sizeHint())
    whole = chip.grab().toImage()
    chip.setText(chip.text()[:-4])
    assert chip.grab().toImage() != whole
