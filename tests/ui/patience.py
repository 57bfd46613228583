"""A robot hand that waits longer than pytest-qt's: a busy machine is no failure."""

from pytestqt.qtbot import QtBot

PATIENCE_MS = 30_000


class PatientBot(QtBot):
    """Waits up to half a minute for what is bound to come."""

    def waitUntil(self, callback, *, timeout=PATIENCE_MS):  # noqa: N802 - Qt's name
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal, *, timeout=PATIENCE_MS, **options):  # noqa: N802 - Qt's name
        return super().waitSignal(signal, timeout=timeout, **options)
