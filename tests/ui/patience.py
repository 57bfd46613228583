"""A robot hand that waits longer than pytest-qt's: a busy machine is no failure."""

from pytestqt.qtbot import QtBot

from tests.patience import PATIENCE_S

PATIENCE_MS = round(1000 * PATIENCE_S)


class PatientBot(QtBot):
    """Waits for what is bound to come as long as the other tests do."""

    def waitUntil(self, callback, *, timeout=PATIENCE_MS):  # noqa: N802 - Qt's name
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal, *, timeout=PATIENCE_MS, **options):  # noqa: N802 - Qt's name
        return super().waitSignal(signal, timeout=timeout, **options)
