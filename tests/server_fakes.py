"""A desk for servers that keeps all in memory and answers when the test lets it."""

from dataclasses import dataclass, field
from threading import Event

from spatialstudio.domain.servers import ServerChoice, ServerPreset

PRESETS = {
    "near": ServerPreset(title="Near", url="http://127.0.0.1:1/v1"),
    "far": ServerPreset(title="Far", url="https://far.example.org/v1"),
}


@dataclass
class FakeServerDesk:
    """Implements ``ServerChoices``.

    Attributes:
        error: Raised by ``keep`` and ``try_out``; None when all goes well.
        may_answer: Set when ``try_out`` may come to its end.
        keys: By address.
        tried: What was tried out, with its key.
    """

    presets: dict[str, ServerPreset] = field(default_factory=lambda: dict(PRESETS))
    overriding: tuple[str, ...] = ()
    error: Exception | None = None
    may_answer: Event = field(default_factory=Event)
    keys: dict[str, str] = field(default_factory=dict)
    tried: list[tuple[ServerChoice, str | None]] = field(default_factory=list)
    kept: ServerChoice = field(default_factory=ServerChoice)

    def choice(self):
        return self.kept

    def keep(self, choice, key):
        if self.error is not None:
            raise self.error
        self.kept = choice
        if key:
            self.keys[choice.url] = key
        elif key is not None:
            self.keys.pop(choice.url, None)

    def has_key(self, url):
        return url in self.keys

    def try_out(self, choice, key, token):
        self.tried.append((choice, key))
        while not self.may_answer.wait(0.01):
            token.raise_if_cancelled()
        if self.error is not None:
            raise self.error
        return "It answers."
