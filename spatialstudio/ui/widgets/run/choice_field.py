"""A field of a run whose choices are found on this machine: models, devices."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItemModel

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.widgets.basic.choice_box import ChoiceBox
from spatialstudio.ui.widgets.basic.text_label import plain_tip


@frozen
class Choice:
    """Something that is offered.

    Attributes:
        id: What is picked.
        title: For people.
        tip: What more there is to say.
        is_usable: Whether it can be picked; it is greyed where not.
    """

    id: str
    title: str
    tip: str = ""
    is_usable: bool = True


class ChoiceField(ChoiceBox):
    """Lets the user pick one of what was found.

    By the user's hand only it emits ``choice_picked`` with an id, and ``list_opened`` when the
    choices come in sight, so that what is there by then can be told.

    Args:
        name: For those who hear it read.
    """

    choice_picked = Signal(str)
    list_opened = Signal()

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.currentIndexChanged.connect(self._tell)

    def show_choices(self, choices: tuple[Choice, ...], chosen: str) -> None:
        """Offer choices, in place where only their words have changed.

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
                self._show_choice(place, choice)
        self.show_chosen(chosen)

    def show_chosen(self, chosen: str) -> None:
        """Show which of the choices was made elsewhere."""
        with QSignalBlocker(self):
            self.setCurrentIndex(self.findData(chosen))
        self._show_tip()

    def showPopup(self) -> None:
        """Open the list."""
        super().showPopup()
        self.list_opened.emit()

    def _show_choice(self, place: int, choice: Choice) -> None:
        self.setItemText(place, choice.title)
        self.setItemData(place, plain_tip(choice.tip), Qt.ItemDataRole.ToolTipRole)
        self.setItemData(place, choice.tip, Qt.ItemDataRole.AccessibleDescriptionRole)
        model = self.model()
        if isinstance(model, QStandardItemModel):
            model.item(place).setEnabled(choice.is_usable)

    def _tell(self) -> None:
        self._show_tip()
        self.choice_picked.emit(self.currentData())

    def _show_tip(self) -> None:
        tip = self.currentData(Qt.ItemDataRole.AccessibleDescriptionRole)
        self.setToolTip(plain_tip("\n".join(line for line in (self.currentText(), tip) if line)))
