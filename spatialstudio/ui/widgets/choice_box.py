"""A combo box that can be narrower than its choices."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter

from spatialstudio.ui.widgets.fields import ComboBox

SHORTEST = 6
"""Minimum number of visible letters before eliding."""


class ChoiceBox(ComboBox):
    """A combo box that elides a long choice; its list shows the full text.

    Args:
        name: Accessible name.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(SHORTEST)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        control, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        painter.drawComplexControl(control, option)
        room = self.style().subControlRect(control, option, part, self).width()
        whole, dots = option.currentText, Qt.TextElideMode.ElideRight
        option.currentText = self.fontMetrics().elidedText(whole, dots, room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
