"""Fields for numbers, without the little arrows; keys and wheel step them all the same."""

from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox


def count_field(name: str, most: int) -> QSpinBox:
    """Return a field for 1 to ``most`` things, told of when it is left or stepped."""
    field = QSpinBox()
    field.setAccessibleName(name)
    field.setRange(1, most)
    field.setKeyboardTracking(False)
    field.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
    return field


def share_field(name: str, largest: float) -> QDoubleSpinBox:
    """Return a field for numbers from 0 to ``largest`` with two places."""
    field = QDoubleSpinBox()
    field.setAccessibleName(name)
    field.setRange(0.0, largest)
    field.setSingleStep(0.05)
    field.setKeyboardTracking(False)
    field.setButtonSymbols(QDoubleSpinBox.ButtonSymbols.NoButtons)
    return field
