"""The choice of the region that a local repair redraws, and of the object that it should show."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSignalBlocker, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QWidget

from spatialstudio.domain.repair import SMALLEST_REGION, Region
from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.refine.widgets.region_picture import RegionPicture, sides_of
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.builders import SPACE, column, flow, grow, push_button, row
from spatialstudio.ui.widgets.fields import PLAIN_NUMBER, ChoiceBox, DecimalBox
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

SIZE_EM = (34, 38)
PERCENT = 100
AXES = 2
HINT = (
    "Drag to draw a region, drag the region or its corners to change it. Keys: arrows move it, "
    "Shift changes its size. Outside the regions the picture stays as it is."
)


class RepairDialog(TitledDialog):
    """Lets the user draw the region of a local repair.

    Emits ``object_picked`` with the id of another object, and ``asked`` to begin.

    Args:
        theme: Colours and icons.
        image: The picture.
        objects: Id and phrase of each object of the prompt.
        parent: The window.
    """

    object_picked = Signal(str)
    asked = Signal()

    def __init__(
        self, theme: Theme, image: QImage, objects: Sequence[tuple[str, str]], parent: QWidget
    ) -> None:
        super().__init__(tr("Redraw a region"), parent)
        self._picture = RegionPicture(theme, image, SMALLEST_REGION)
        self._picture.region_picked.connect(self._take)
        self._region, self._others = QRectF(), tuple[Region, ...]()
        self._object = ChoiceBox(tr("Object"))
        for mention_id, phrase in objects:
            self._object.addItem(phrase, mention_id)
        self._object.currentIndexChanged.connect(lambda _: self.object_picked.emit(self.object_id))
        self._sides = [_side_box(name) for name in _side_names()]
        for place, box in enumerate(self._sides):
            box.valueChanged.connect(lambda _value, at=place: self._take_side(at))
        self._erases = QCheckBox(tr("Erase it where it is now"))
        self._erases.toggled.connect(lambda _: self._show())
        self._noise = QCheckBox(tr("Other noise"))
        self._noise.setToolTip(tr("Another seed inside the regions"))
        self._problem = TextLabel(tone=Tone.WARNING)
        self._problem.hide()
        self._begin = push_button(tr("Redraw"), self.asked, kind="primary")
        self._begin.setDefault(True)
        self._lay_out()
        self._picture.setFocus()
        give_room(self, SIZE_EM)

    @property
    def object_id(self) -> str:
        """Id of the chosen object."""
        return str(self._object.currentData())

    @property
    def regions(self) -> tuple[Region, ...]:
        """The drawn region, and those where the object is erased."""
        x, y, width, height = sides_of(self._region)
        drawn = Region(x=x, y=y, width=width, height=height)
        return drawn, *(self._others if self._erases.isChecked() else ())

    @property
    def has_other_noise(self) -> bool:
        """Whether the seed changes."""
        return self._noise.isChecked()

    def show_object(self, mention_id: str, regions: Sequence[Region]) -> None:
        """Show an object with its suggested region first, then those where it is now."""
        first, *others = regions
        self._region, self._others = _rectangle(first), tuple(others)
        with QSignalBlocker(self._object), QSignalBlocker(self._erases):
            self._object.setCurrentIndex(self._object.findData(mention_id))
            self._erases.setChecked(bool(others))
        self._erases.setVisible(bool(others))
        self._show()

    def show_problem(self, text: str) -> None:
        """Show why this cannot be begun."""
        self._problem.setText(text)
        self._problem.show()

    def _take(self, region: QRectF) -> None:
        self._region = region
        self._show()

    def _take_side(self, place: int) -> None:
        """Take the number of a field: a position shrinks the size, a size moves the region."""
        sides = list(sides_of(self._region))
        axis, is_size = place % 2, place >= AXES
        most = 1 - (0 if is_size else SMALLEST_REGION)
        sides[place] = value = min(
            max(self._sides[place].value() / PERCENT, SMALLEST_REGION if is_size else 0), most
        )
        other = axis if is_size else axis + AXES
        sides[other] = min(sides[other], 1 - value)
        self._take(QRectF(*sides))

    def _show(self) -> None:
        self._problem.hide()
        others = self.regions[1:]
        self._picture.show_regions(self._region, tuple(_rectangle(each) for each in others))
        for box, value in zip(self._sides, sides_of(self._region), strict=True):
            with QSignalBlocker(box):
                box.setValue(value * PERCENT)

    def _lay_out(self) -> None:
        label = TextLabel(tr("Object"), Tone.MUTED, wraps=False)
        label.setBuddy(self._object)
        sides = [_labelled(name, box) for name, box in zip(_side_names(), self._sides, strict=True)]
        buttons = self.buttons(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self._begin, QDialogButtonBox.ButtonRole.ActionRole)
        column(
            row(label, grow(self._object), gap=0.6),
            grow(self._picture),
            TextLabel(tr(HINT), Tone.MUTED, small=True),
            flow(*sides, gap=0.6),
            row(self._erases, self._noise, SPACE, gap=1),
            self._problem,
            buttons,
            within=self,
            gap=0.7,
            edges=(1.2, 1, 1.2, 1),
        )


def _side_names() -> tuple[str, ...]:
    return tr("Left"), tr("Top"), tr("Width"), tr("Height")


def _side_box(name: str) -> DecimalBox:
    box = DecimalBox(
        minimum=0, maximum=PERCENT, decimals=0, singleStep=1, suffix=tr(" %"), **PLAIN_NUMBER
    )
    box.setAccessibleName(name)
    return box


def _labelled(name: str, box: QWidget) -> QWidget:
    label, both = TextLabel(name, Tone.MUTED, wraps=False), QWidget()
    label.setBuddy(box)
    row(label, box, within=both, gap=0.4)
    return both


def _rectangle(region: Region) -> QRectF:
    return QRectF(region.x, region.y, region.width, region.height)
