"""The field for what pictures are drawn on."""

from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt, Signal

from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.basic.choice_box import ChoiceBox


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceChoice:
    """A device that is offered.

    Attributes:
        id: What is picked; empty for the fastest there is.
        title: For people.
        tip: What more there is to say.
    """

    id: str
    title: str
    tip: str = ""


class DeviceField(ChoiceBox):
    """Lets the user say what pictures are drawn on.

    By the user's hand only it emits ``device_picked`` with an id, and ``list_opened`` when the
    choices come in sight, so that what is free then can be told.
    """

    device_picked = Signal(str)
    list_opened = Signal()

    def __init__(self) -> None:
        super().__init__(tr("Device"))
        self.currentIndexChanged.connect(self._tell)

    def show_devices(self, choices: tuple[DeviceChoice, ...], chosen: str) -> None:
        """Offer devices, in place where only their words have changed.

        Args:
            choices: At least one.
            chosen: Id of one of them.
        """
        ids = [choice.id for choice in choices]
        with QSignalBlocker(self):
            if ids != [self.itemData(place) for place in range(self.count())]:
                self.clear()
                for choice in choices:
                    self.addItem(choice.title, choice.id)
            for place, choice in enumerate(choices):
                self.setItemText(place, choice.title)
                self.setItemData(place, choice.tip, Qt.ItemDataRole.ToolTipRole)
            self.setCurrentIndex(ids.index(chosen))
        self._show_tip()

    def showPopup(self) -> None:
        """Open the list."""
        super().showPopup()
        self.list_opened.emit()

    def _tell(self) -> None:
        self._show_tip()
        self.device_picked.emit(self.currentData())

    def _show_tip(self) -> None:
        tip = self.currentData(Qt.ItemDataRole.ToolTipRole)
        self.setToolTip("\n".join(line for line in (self.currentText(), tip) if line))
