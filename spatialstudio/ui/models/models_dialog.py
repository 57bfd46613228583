"""The Models page: what can be downloaded, what is on this machine, and the downloads."""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.application.models.downloads import (
    DownloadPlanned,
    Downloads,
    DownloadsChanged,
    DownloadState,
    ModelsFound,
    ModelsTaskEnded,
)
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.hub import DownloadPlan
from spatialstudio.ui.framework.confirmation import is_confirmed
from spatialstudio.ui.framework.dialog_size import closing_buttons, give_room
from spatialstudio.ui.models.presenters import (
    TASKS,
    ModelRow,
    facts_of,
    is_listed,
    links_of,
    progress_words,
    question_of,
    rows_of,
)
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import LinkButton
from spatialstudio.ui.widgets.fact_list import FactList
from spatialstudio.ui.widgets.fields import ComboBox
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

SIZE_EM = (62, 40)
LIST_EM = 23
PERMILLE = 1000
NAME_ROLE = Qt.ItemDataRole.UserRole
RESUMABLE = (DownloadState.PAUSED, DownloadState.FAILED)
QUEUED = (DownloadState.WAITING, DownloadState.RUNNING)


class ModelsDialog(QDialog):
    """Lists models, and downloads, verifies and removes them; all work is asynchronous.

    Args:
        downloads: Queue of downloads, and the models on this machine.
        reported: Signal of its events.
        models: Returns the ids of the models that pictures can be generated with.
        parent: The window.
    """

    model_picked = Signal(str)
    """The user wants to generate pictures with the model of this id."""

    def __init__(
        self,
        downloads: Downloads,
        reported: SignalInstance,
        models: Callable[[], Collection[str]] = tuple,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Models"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._downloads = downloads
        self._models = models
        self._found: ModelsFound | None = None
        self._plans: dict[str, DownloadPlan] = {}
        self._named: list[str] = []
        self._rows: dict[str, ModelRow] = {}
        self._only: frozenset[str] = frozenset()
        self._wanted = ""
        """Name of the model whose download starts when the hub has stated its size."""
        self._build()
        self._lay_out()
        self._connect()
        reported.connect(self.show_event)
        self._show_rows()
        self._list.setCurrentRow(0)
        downloads.look()
        if downloads.is_offline:
            self._tell(tr("Access to the hub is disabled by HF_HUB_OFFLINE."))

    def show_event(self, event: object) -> None:
        """Show the queue, an answer of the hub, or the models on this machine."""
        match event:
            case DownloadsChanged():
                self._show_rows()
            case ModelsFound():
                self._found = event
                self._token.setPlaceholderText(
                    tr("A token is stored (hidden).") if event.has_token else tr("None")
                )
                self._show_rows()
            case DownloadPlanned(plan=DownloadPlan() as plan):
                self._show_plan(event.name, plan)
            case DownloadPlanned(error=ErrorReport() as error):
                self._wanted = ""
                self._tell(f"{error.message} {error.hint}")
                if event.needs_token:
                    self._token.setFocus()
            case ModelsTaskEnded(error=ErrorReport() as error):
                self._tell(f"{error.message} {error.hint}")
            case ModelsTaskEnded(message=message):
                self._tell(message)

    def show_only(self, names: Collection[str]) -> None:
        """List these models only, until "All models" is chosen; all models without any."""
        self._only = frozenset(names)
        self._named += [name for name in names if name not in self._rows]
        self._all.setVisible(bool(names))
        self._search.clear()
        self._task.setCurrentIndex(0)
        self._only_installed.setChecked(False)
        self._show_rows()

    @property
    def _row(self) -> ModelRow | None:
        item = self._list.currentItem()
        return self._rows.get(item.data(NAME_ROLE)) if item is not None else None

    def _show_plan(self, name: str, plan: DownloadPlan) -> None:
        self._plans[plan.repository] = plan
        if name not in self._rows:
            self._named.append(plan.repository)
            self._search.clear()
            self._show_rows()
            self._select(plan.repository)
        self._tell("")
        self._show_details()
        if self._wanted == name:
            self._wanted = ""
            self._start(plan)

    def _start(self, plan: DownloadPlan) -> None:
        """Start a download after the user has seen size, space and licence."""
        if plan.is_complete:
            self._tell(tr("The model is complete."))
            return
        row = self._rows[plan.repository]
        question = tr("Download {name}?").format(name=plan.repository)
        if is_confirmed(self, question, question_of(row, plan), tr("Download")):
            self._downloads.add(plan)

    def _show_rows(self) -> None:
        rows = rows_of(self._downloads.catalogue, self._found, self._downloads.entries, self._named)
        self._rows = {row.name: row for row in rows}
        task = self._task.currentData()
        shown = [
            row
            for row in rows
            if (not self._only or row.name in self._only)
            and is_listed(
                row, self._search.text(), task, only_installed=self._only_installed.isChecked()
            )
        ]
        current = self._row
        names = [row.name for row in shown]
        items = [self._list.item(place) for place in range(self._list.count())]
        if names != [item.data(NAME_ROLE) for item in items]:
            self._list.clear()
            for name in names:
                item = QListWidgetItem()
                item.setData(NAME_ROLE, name)
                self._list.addItem(item)
            self._select(current.name if current is not None else "")
        for place, row in enumerate(shown):
            words = " · ".join(filter(None, (row.kind, row.state, row.mark)))
            self._list.item(place).setText(f"{row.title}\n{words}")
        self._show_details()

    def _select(self, name: str) -> None:
        for place in range(self._list.count()):
            if self._list.item(place).data(NAME_ROLE) == name:
                self._list.setCurrentRow(place)
                return
        self._list.setCurrentRow(0)

    def _show_details(self) -> None:
        row = self._row
        self._details.setVisible(row is not None)
        if row is None:
            return
        download = row.download
        state = download.state if download is not None else None
        self._title.setText(row.title)
        plan = self._plans.get(row.name)
        self._facts.show_facts(facts_of(row, plan))
        links = (*links_of(row, plan), ("", ""), ("", ""))
        for label, (text, address) in zip(self._links, links, strict=False):
            label.show_link(text, address)
        progress = download.progress if download is not None else None
        is_moving = progress is not None and state is not DownloadState.DONE
        self._bar.setVisible(is_moving)
        if progress is not None and progress.total_bytes:
            self._bar.setValue(round(PERMILLE * progress.done_bytes / progress.total_bytes))
        self._progress.setText(progress_words(download))
        is_queued = state in QUEUED
        is_cut = state in RESUMABLE or row.unfinished is not None
        self._get.setText(tr("Resume") if is_cut else tr("Download"))
        self._get.setVisible(not is_queued and row.installed is None)
        self._size.setVisible(row.is_on_hub)
        self._pause.setVisible(is_queued)
        self._cancel.setVisible(is_queued or is_cut)
        self._check.setVisible(row.installed is not None)
        self._use.setVisible(row.installed is not None and row.name in self._models())
        self._remove.setVisible(row.installed is not None and row.installed.is_removable)

    def _ask(self) -> None:
        if (row := self._row) is not None:
            self._tell(tr("Querying the hub…"))
            self._downloads.plan(row.name)

    def _download(self) -> None:
        if (row := self._row) is None or row.installed is not None:
            return
        if row.download is not None and row.download.state in RESUMABLE:
            self._downloads.resume(row.name)
        elif (plan := self._plans.get(row.name)) is not None:
            self._start(plan)
        else:
            self._wanted = row.name
            self._ask()

    def _ask_by_name(self) -> None:
        if name := self._repository.text().strip():
            self._tell(tr("Querying the hub…"))
            self._downloads.plan(name)

    def _with_row(self, act: Callable[[str], None]) -> None:
        if (row := self._row) is not None:
            act(row.name)

    def _delete(self) -> None:
        if (row := self._row) is None or row.installed is None:
            return
        if not row.installed.is_removable:
            self._tell(tr("This model belongs to another program: delete it there."))
            return
        if is_confirmed(
            self,
            tr("Delete {name}?").format(name=row.name),
            tr("Its files are deleted: {folder}").format(folder=row.installed.folder),
            tr("Delete"),
        ):
            self._downloads.remove(row.name)

    def _store_token(self) -> None:
        self._downloads.store_token(self._token.text().strip())
        self._token.clear()

    def _choose_folder(self) -> None:
        title = tr("Folder of ComfyUI or AUTOMATIC1111")
        if folder := QFileDialog.getExistingDirectory(self, title):
            self._downloads.use_folder(Path(folder))

    def _tell(self, words: str) -> None:
        self._status.setText(words)
        self._status.setAccessibleDescription(words)

    def _build(self) -> None:
        self._search, self._repository, self._token = QLineEdit(), QLineEdit(), QLineEdit()
        self._search.setPlaceholderText(tr("Search"))
        self._search.setAccessibleName(tr("Search models"))
        self._search.setClearButtonEnabled(True)
        self._repository.setPlaceholderText(tr("maker/model"))
        self._repository.setAccessibleName(tr("Repository on the hub"))
        self._token.setEchoMode(QLineEdit.EchoMode.Password)
        self._token.setAccessibleName(tr("Token of the hub"))
        self._task = ComboBox()
        self._task.setAccessibleName(tr("Task"))
        self._task.addItem(tr("All tasks"), None)
        for task, name in TASKS.items():
            self._task.addItem(tr(name), task)
        self._only_installed = QCheckBox(tr("Installed"))
        self._all = QPushButton(tr("All models"))
        self._all.setAutoDefault(False)
        self._all.hide()
        self._list = QListWidget()
        self._list.setAccessibleName(tr("Models"))
        self._list.setMinimumWidth(em(LIST_EM))
        self._title = TextLabel(tone=Tone.HEADING)
        self._facts = FactList()
        self._links = (LinkButton(), LinkButton())
        self._bar = QProgressBar()
        self._bar.setRange(0, PERMILLE)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("Progress"))
        self._progress, self._status = TextLabel(), TextLabel()
        self._size = QPushButton(tr("Check size"))
        self._get, self._pause = QPushButton(tr("Download")), QPushButton(tr("Pause"))
        self._cancel, self._check = QPushButton(tr("Cancel download")), QPushButton(tr("Verify"))
        self._remove = QPushButton(tr("Delete…"))
        self._use = QPushButton(tr("Generate with it"))
        self._details = QWidget()

    def _connect(self) -> None:
        self._search.textChanged.connect(self._show_rows)
        self._task.activated.connect(self._show_rows)
        self._only_installed.toggled.connect(self._show_rows)
        self._all.clicked.connect(partial(self.show_only, ()))
        self._list.currentItemChanged.connect(self._show_details)
        self._list.itemActivated.connect(self._download)
        self._size.clicked.connect(self._ask)
        self._get.clicked.connect(self._download)
        self._pause.clicked.connect(partial(self._with_row, self._downloads.pause))
        self._cancel.clicked.connect(partial(self._with_row, self._downloads.cancel))
        self._check.clicked.connect(partial(self._with_row, self._downloads.check))
        self._remove.clicked.connect(self._delete)
        self._use.clicked.connect(partial(self._with_row, self.model_picked.emit))
        QShortcut(
            QKeySequence(QKeySequence.StandardKey.Delete),
            self._list,
            self._delete,
            context=Qt.ShortcutContext.WidgetShortcut,
        )
        self._repository.returnPressed.connect(self._ask_by_name)
        self._token.returnPressed.connect(self._store_token)

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        filters = QHBoxLayout()
        filters.addWidget(self._task, 1)
        filters.addWidget(self._only_installed)
        filters.addWidget(self._all)
        left.addWidget(self._search)
        left.addLayout(filters)
        left.addWidget(self._list, 1)
        row = QHBoxLayout()
        row.setSpacing(em(1.2))
        row.addLayout(left)
        row.addLayout(self._right_column(), 1)
        buttons = closing_buttons(self, QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setAutoDefault(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(em(1), em(1), em(1), em(0.8))
        column.addLayout(row, 1)
        column.addWidget(buttons)
        give_room(self, QSize(*(em(side) for side in SIZE_EM)))

    def _right_column(self) -> QVBoxLayout:
        details = QVBoxLayout(self._details)
        details.setContentsMargins(0, 0, 0, 0)
        details.setSpacing(em(0.6))
        details.addWidget(self._title)
        details.addWidget(self._facts)
        pages = QHBoxLayout()
        pages.setSpacing(em(1.2))
        for link in self._links:
            pages.addWidget(link)
        pages.addStretch()
        details.addLayout(pages)
        details.addWidget(self._bar)
        details.addWidget(self._progress)
        actions = QHBoxLayout()
        for button in (
            *(
                self._size,
                self._get,
                self._use,
                self._pause,
                self._cancel,
                self._check,
                self._remove,
            ),
        ):
            button.setAutoDefault(False)
            actions.addWidget(button)
        actions.addStretch()
        details.addLayout(actions)
        column = QVBoxLayout()
        column.setSpacing(em(0.8))
        column.addWidget(self._details)
        column.addWidget(self._status)
        column.addStretch()
        column.addWidget(TextLabel(tr("Another repository on the hub"), Tone.MUTED))
        column.addLayout(_with_button(self._repository, tr("Look up"), self._ask_by_name))
        column.addWidget(TextLabel(tr("Token for gated and private repositories"), Tone.MUTED))
        column.addLayout(_with_button(self._token, tr("Store in the keyring"), self._store_token))
        folder = QPushButton(tr("Add the models of ComfyUI or AUTOMATIC1111…"))
        folder.setAutoDefault(False)
        folder.clicked.connect(self._choose_folder)
        column.addWidget(folder, 0, Qt.AlignmentFlag.AlignLeft)
        return column


def _with_button(field: QLineEdit, text: str, act: Callable[[], None]) -> QHBoxLayout:
    button = QPushButton(text)
    button.setAutoDefault(False)
    button.clicked.connect(act)
    row = QHBoxLayout()
    row.addWidget(field, 1)
    row.addWidget(button)
    return row
