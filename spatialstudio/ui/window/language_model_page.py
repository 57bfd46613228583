"""The settings page of the language model: server, model, key, and a connection test."""

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import (
    QFormLayout,
    QLineEdit,
    QWidget,
)

from spatialstudio.application.compose.language_model import (
    KeyLookedUp,
    LanguageModel,
    ServerKept,
    ServerTried,
)
from spatialstudio.domain.servers import ServerChoice, crosses_network_in_plain
from spatialstudio.ui.framework.confirmation import is_confirmed
from spatialstudio.ui.framework.window_signals import LANGUAGE_MODEL_PAGE
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import SPACE, column, push_button, row
from spatialstudio.ui.widgets.fields import ComboBox
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr
from spatialstudio.ui.window.settings_dialog import SettingsPage

NOBODY, OTHER = "", "other"
"""Entries of the server list that are not presets."""


class LanguageModelPage(SettingsPage):
    """Lets the user select, test and store a server; all requests are asynchronous.

    Args:
        language_model: The language model service.
        reported: Signal of its results: ``ServerTried``, ``ServerKept``, ``KeyLookedUp``.
    """

    title = LANGUAGE_MODEL_PAGE

    def __init__(self, language_model: LanguageModel, reported: SignalInstance) -> None:
        super().__init__()
        self._language_model = language_model
        self._server = ComboBox()
        self._server.addItem(tr("None: grammar only"), NOBODY)
        for name, preset in language_model.presets.items():
            self._server.addItem(preset.title, name)
        self._server.addItem(tr("Custom server"), OTHER)
        self._url, self._model, self._key = QLineEdit(), QLineEdit(), QLineEdit()
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._test = push_button(tr("Test"), self._try_out)
        self._use = push_button(tr("Save and use"), self._use_server)
        self._forget = push_button(tr("Delete API key"), lambda: self._keep(""), kind="quiet")
        self._forget.hide()
        self._plain_http = ""
        """The confirmed address for sending a key unencrypted."""
        self._status = TextLabel()
        self._lay_out()
        self._show_choice(language_model.choice)
        self._server.activated.connect(self._take_server)
        self._url.textEdited.connect(self._show_server)
        self._url.editingFinished.connect(self._look_up_key)
        reported.connect(self.show_event)
        self.destroyed.connect(language_model.cancel)

    def show_event(self, event: object) -> None:
        """Show the result of a test, of storing the server, or of a key lookup."""
        match event:
            case ServerTried(message=message, works=works):
                self._tell(message if works else tr("Test failed. {why}").format(why=message))
                self._allow_test()
            case ServerKept(problem=""):
                self._key.clear()
                self._tell(tr("Saved."))
                self._look_up_key()
            case ServerKept(problem=problem):
                self._tell(problem)
            case KeyLookedUp(url=url, is_known=is_known) if url == self._url.text():
                words = tr("An API key is stored (hidden).") if is_known else tr("None")
                self._key.setPlaceholderText(words)
                self._forget.setVisible(is_known)

    @property
    def _choice(self) -> ServerChoice:
        url = self._url.text().strip()
        return ServerChoice(
            url=url,
            model=self._model.text().strip(),
            allows_plain_http=bool(url) and url == self._plain_http,
        )

    def _show_choice(self, choice: ServerChoice) -> None:
        self._plain_http = choice.url if choice.allows_plain_http else ""
        self._url.setText(choice.url)
        self._model.setText(choice.model)
        self._show_server()
        self._look_up_key()

    def _show_server(self) -> None:
        """Select the server with this address in the list."""
        by_url = {each.url: name for name, each in self._language_model.presets.items()}
        url = self._url.text()
        name = by_url.get(url, OTHER if url else NOBODY)
        self._server.setCurrentIndex(self._server.findData(name))
        self._allow_test()

    def _allow_test(self) -> None:
        self._test.setEnabled(bool(self._choice.url))

    def _take_server(self) -> None:
        name = self._server.currentData()
        presets = self._language_model.presets
        if name in presets:
            self._url.setText(presets[name].url)
        elif name == NOBODY:
            self._url.clear()
        self._allow_test()
        self._look_up_key()

    def _look_up_key(self) -> None:
        self._forget.hide()
        self._key.setPlaceholderText(tr("None"))
        if url := self._choice.url:
            self._language_model.look_up_key(url)

    def _may_send_key(self) -> bool:
        """Confirm sending a key over an unencrypted network; True if none would be sent so."""
        choice = self._choice
        has_key = bool(self._key.text()) or not self._forget.isHidden()
        if choice.allows_plain_http or not (has_key and crosses_network_in_plain(choice.url)):
            return True
        if is_confirmed(
            self,
            tr("Send the API key to {url} unencrypted?").format(url=choice.url),
            tr("Anyone on the network path can read it. Use an https address to encrypt it."),
            tr("Send unencrypted"),
        ):
            self._plain_http = choice.url
        return self._choice.allows_plain_http

    def _try_out(self) -> None:
        if not self._may_send_key():
            return
        self._test.setEnabled(False)
        self._tell(tr("Testing…"))
        self._language_model.try_out(self._choice, self._key.text() or None)

    def _use_server(self) -> None:
        if self._may_send_key():
            self._keep(self._key.text() or None)

    def _keep(self, key: str | None) -> None:
        self._language_model.keep(self._choice, key)

    def _tell(self, words: str) -> None:
        self._status.setText(words)
        self._status.setAccessibleDescription(words)

    def _lay_out(self) -> None:
        form = QFormLayout(None, verticalSpacing=em(0.8), horizontalSpacing=em(1))
        fields: tuple[tuple[str, QWidget], ...] = (
            (tr("Server"), self._server),
            (tr("Address"), self._url),
            (tr("Model"), self._model),
            (tr("API key"), self._key),
        )
        for name, field in fields:
            field.setAccessibleName(name)
            form.addRow(name, field)
        names = ", ".join(self._language_model.overriding)
        overridden = tr("Overridden by environment variables: {names}.").format(names=names)
        note = tr(
            "The grammar parses prompts immediately; differing interpretations by the "
            "language model are shown as suggestions. Prompts are sent to this server. The "
            "API key is stored in the system keyring."
        )
        notes = (overridden, note) if names else (note,)
        column(
            *(form, row(self._test, self._use, self._forget, SPACE), self._status),
            *(TextLabel(each, Tone.MUTED) for each in notes),
            SPACE,
            within=self,
            gap=0.8,
        )
