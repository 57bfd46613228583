"""Fields for numbers, without the little arrows; keys and wheel step them all the same."""

from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

from spatialstudio.ui.widgets.basic.fields import DecimalBox, NumberBox


def count_field(name: str, most: int) -> NumberBox:
    """Return a field for 1 to ``most`` things, told of when it is left or stepped."""
    field = NumberBox()
    field.setAccessibleName(name)
    field.setRange(1, most)
    field.setKeyboardTracking(False)
    field.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
    return field


def share_field(name: str, largest: float) -> DecimalBox:
    """Return a field for numbers from 0 to ``largest`` with two places."""
    field = DecimalBox()
    field.setAccessibleName(name)
    field.setRange(0.0, largest)
    field.setSingleStep(0.05)
    field.setKeyboardTracking(False)
    field.setButtonSymbols(QDoubleSpinBox.ButtonSymbols.NoButtons)
    return field
