"""A panel with a table of the open run's relations: PoS at the last step, PSE and verdict."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem, QVBoxLayout

from spatialstudio.ui.framework.panel_api import (
    OpenRun,
    Panel,
    RelationPicked,
    RunChanged,
    WindowContext,
)

COLUMNS = ("Relation", "PoS", "PSE", "Verdict")


class PosTablePanel(Panel):
    """Shows one row per relation; a click on a row selects the relation in the whole window."""

    title = "Relations and PoS"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._table = QTableWidget(0, len(COLUMNS))
        self._table.setAccessibleName(self.title)
        self._table.setHorizontalHeaderLabels(COLUMNS)
        self._table.verticalHeader().hide()
        self._table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self._table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self._table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        header = self._table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._table.cellClicked.connect(self._pick)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._table)

    def handle(self, event: object) -> None:
        """Update the table for a new run or a new selected relation."""
        match event:
            case RunChanged(run=run):
                self._show(run)
            case RelationPicked(relation_id=relation_id):
                self._mark(relation_id)

    def _show(self, run: OpenRun) -> None:
        pos = run.steps[-1].pos if run.steps else {}
        verdicts = (
            {each.relation_id: each for each in run.evaluation.verdicts} if run.evaluation else {}
        )
        self._table.setRowCount(len(run.scene.relations))
        for row, relation in enumerate(run.scene.relations):
            verdict = verdicts.get(relation.id)
            measured = verdict.measurement if verdict else None
            words = (
                run.scene.sentence(relation),
                f"{pos[relation.id]:.2f}" if relation.id in pos else "",
                f"{measured.pse:.2f}" if measured else "",
                verdict.outcome.value if verdict else "",
            )
            for place, text in enumerate(words):
                item = QTableWidgetItem(text)
                item.setData(Qt.ItemDataRole.UserRole, relation.id)
                item.setToolTip(text)
                self._table.setItem(row, place, item)

    def _pick(self, row: int, _column: int) -> None:
        self._session.pick_relation(self._table.item(row, 0).data(Qt.ItemDataRole.UserRole))

    def _mark(self, relation_id: object) -> None:
        for row in range(self._table.rowCount()):
            if self._table.item(row, 0).data(Qt.ItemDataRole.UserRole) == relation_id:
                self._table.selectRow(row)
