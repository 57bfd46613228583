"""The form of a run of questions: data, pictures, answerer, price, protocol."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFormLayout, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import AskSettings, Price
from spatialstudio.ui.evaluate.widgets.ask_protocol import AskProtocol
from spatialstudio.ui.widgets.builders import flow, grow, push_button, row, tool_button
from spatialstudio.ui.widgets.disclosure import Disclosure
from spatialstudio.ui.widgets.fields import PLAIN_NUMBER, ChoiceBox, DecimalBox, EditLine
from spatialstudio.ui.widgets.texts import TextLabel, Tone, plain_tip, tr

DATA, PICTURES, ANSWERS = "data", "pictures", "answers"
HIGHEST_PRICE = 10_000.0


@frozen
class AskChoice:
    """The values of the form.

    Attributes:
        data: File of the questions.
        pictures: Folder of the pictures.
        answers: Folder of the run.
        answerer_id: The answerer.
        method: Name of the method that drew the pictures.
        settings: How pictures are asked.
        price: Price of tokens; None if it is zero.
    """

    data: Path
    pictures: Path
    answers: Path
    answerer_id: str
    method: str
    settings: AskSettings
    price: Price | None


class AskForm(QWidget):
    """Lets the user choose a run, and shows its cost.

    Emits ``estimate_asked`` and ``run_asked`` with an ``AskChoice``, and ``cancel_asked``.
    """

    estimate_asked = Signal(object)
    run_asked = Signal(object)
    cancel_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._paths = {name: EditLine() for name in (DATA, PICTURES, ANSWERS)}
        self._answerer = ChoiceBox(tr("Answerer"))
        self._method = EditLine(placeholderText=tr("Name of the folder"))
        self._method.setAccessibleName(tr("Method"))
        self._blind = QCheckBox(tr("Without pictures"))
        self._blind.setToolTip(tr("A blind baseline: what is guessed from the questions alone"))
        self._protocol = AskProtocol()
        self._prices = tuple(
            DecimalBox(**PLAIN_NUMBER, decimals=2, maximum=HIGHEST_PRICE, accessibleName=name)
            for name in (tr("Price in"), tr("Price out"))
        )
        self._estimate = push_button(
            tr("Estimate"), lambda: self.estimate_asked.emit(self._choice())
        )
        self._ask = push_button(tr("Ask"), lambda: self.run_asked.emit(self._choice()))
        self._cancel = push_button(tr("Cancel"), self.cancel_asked)
        self._cost = TextLabel(tone=Tone.MUTED)
        self._lay_out()
        self._offer()

    def show_answerers(self, answerers: tuple[tuple[str, str], ...]) -> None:
        """Set the answerers: ids and names."""
        self._answerer.clear()
        for answerer_id, name in answerers:
            self._answerer.addItem(name, answerer_id)
        self._offer()

    def show_paths(self, data: Path, pictures: Path, answers: Path) -> None:
        """Set questions, pictures and the folder of the run."""
        paths = {DATA: data, PICTURES: pictures, ANSWERS: answers}
        for name, path in paths.items():
            self._paths[name].setText(str(path))
        self._cost.setText("")

    def show_cost(self, text: str) -> None:
        """Show cost or progress."""
        self._cost.setText(text)

    def show_running(self, is_running: bool) -> None:
        """Enable cancelling while a run is asked."""
        self._cancel.setEnabled(is_running)
        self._is_running = is_running
        self._offer()

    _is_running = False

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        for name, title, tip in (
            (DATA, tr("Questions"), tr("JSON lines of SpatialGenEval, or generated questions")),
            (PICTURES, tr("Pictures"), tr("Folder of pictures named by id: 000001.png")),
            (ANSWERS, tr("Answers"), tr("Folder of the run; an interrupted run continues")),
        ):
            line = self._paths[name]
            line.setAccessibleName(title)
            line.setToolTip(plain_tip(tip))
            line.textChanged.connect(self._offer)
            words = tr("Choose {title}…").format(title=title.lower())
            browse = tool_button("…", lambda n=name: self._browse(n), name=words, tip=words)
            form.addRow(title, row(grow(line), browse, gap=0.3))
        form.addRow(tr("Answerer"), self._answerer)
        form.addRow(tr("Method"), self._method)
        form.addRow("", self._blind)
        for box in self._prices:
            box.setToolTip(tr("USD per million tokens of messages, then of replies; 0 if unknown"))
        form.addRow(tr("USD in, out"), row(*map(grow, self._prices), gap=0.3))
        form.addRow(Disclosure(tr("Protocol"), self._protocol))
        form.addRow("", flow(self._estimate, self._ask, self._cancel, gap=0.4))
        form.addRow("", self._cost)

    def _browse(self, name: str) -> None:
        start = self._paths[name].text()
        if name == DATA:
            kinds = f"{tr('Questions')} (*.jsonl *.json)"
            chosen, _ = QFileDialog.getOpenFileName(self, tr("Choose the questions"), start, kinds)
        else:
            chosen = QFileDialog.getExistingDirectory(self, tr("Choose a folder"), start)
        if chosen:
            self._paths[name].setText(chosen)

    def _offer(self) -> None:
        is_full = all(line.text().strip() for line in self._paths.values())
        can = is_full and self._answerer.count() > 0 and not self._is_running
        for button in (self._estimate, self._ask):
            button.setEnabled(can)
        self._cancel.setEnabled(self._is_running)

    def _choice(self) -> AskChoice:
        paths = {name: Path(line.text().strip()) for name, line in self._paths.items()}
        cost_in, cost_out = (box.value() for box in self._prices)
        return AskChoice(
            data=paths[DATA],
            pictures=paths[PICTURES],
            answers=paths[ANSWERS],
            answerer_id=str(self._answerer.currentData()),
            method=self._method.text().strip(),
            settings=replace(self._protocol.settings, is_blind=self._blind.isChecked()),
            price=Price(per_million_in=cost_in, per_million_out=cost_out)
            if cost_in or cost_out
            else None,
        )
