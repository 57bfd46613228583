"""Messages to the user (news, offers and problems) and their history."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.widgets.toast_cards import (
    Offer,
    Toast,
    ToastKind,
)

MOST_KEPT = 100


class Toasts(QObject):
    """Receives messages from any part of the window.

    Emits ``toast_raised`` with each ``Toast``, ``withdrawn`` with one that is outdated, and
    ``cleared`` when all visible ones are.
    """

    toast_raised = Signal(object)
    withdrawn = Signal(object)
    cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.earlier: tuple[Toast, ...] = ()

    def tell(self, message: str, hint: str = "") -> None:
        """Show a message that closes by itself."""
        self._show(Toast(kind=ToastKind.NEWS, message=message, hint=hint))

    def offer(self, message: str, offer: str, accept: Callable[[], object]) -> Toast:
        """Show a message with a button: "Moved to the trash." with "Undo"; return it."""
        toast = Toast(kind=ToastKind.NEWS, message=message, offers=(Offer(offer, accept),))
        self._show(toast)
        return toast

    def report(self, report: ErrorReport, *offers: Offer) -> None:
        """Show a problem with its hint.

        It stays until the user closes it or a new action begins.
        """
        self._show(
            Toast(
                kind=ToastKind.PROBLEM,
                message=report.message,
                hint=report.hint,
                details=without_home(report.details),
                report="" if report.is_mistake else report_text(report),
                offers=offers,
            )
        )

    def withdraw(self, toast: Toast) -> None:
        """Close an outdated message; the history keeps it."""
        self.withdrawn.emit(toast)

    def clear(self) -> None:
        """Close the visible messages when a new action begins; the history keeps them."""
        self.cleared.emit()

    def _show(self, toast: Toast) -> None:
        self.earlier = (*self.earlier, toast)[-MOST_KEPT:]
        self.toast_raised.emit(toast)


def report_text(report: ErrorReport) -> str:
    """Return an error report to send: what failed and where in the program, without user data."""
    parts = (report.title, report.message, report.hint, without_home(report.details))
    return "\n".join(part for part in parts if part)


def without_home(text: str) -> str:
    """Return the text with the user's home folder replaced."""
    return text.replace(str(Path.home()), "~")
