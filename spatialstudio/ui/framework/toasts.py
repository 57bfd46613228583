"""Messages to the user: news, offers and problems, kept to be read again."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.widgets.toast_card import (
    Offer,
    Toast,
    ToastKind,
)

MOST_KEPT = 100


class Toasts(QObject):
    """Takes messages from any part of the window.

    Emits ``toast_raised`` with each ``Toast``, and ``cleared`` when visible ones are outdated.
    """

    toast_raised = Signal(object)
    cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.earlier: tuple[Toast, ...] = ()

    def tell(self, message: str, hint: str = "") -> None:
        """Tell news; it goes by itself."""
        self._show(Toast(kind=ToastKind.NEWS, message=message, hint=hint))

    def offer(self, message: str, offer: str, accept: Callable[[], object]) -> None:
        """Tell news with a button: "Moved to the trash." with "Undo"."""
        self._show(Toast(kind=ToastKind.NEWS, message=message, offers=(Offer(offer, accept),)))

    def report(self, report: ErrorReport, *offers: Offer) -> None:
        """Tell of a problem, and of what can be done about it.

        It stays until the user closes it, or something new begins.
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

    def clear(self) -> None:
        """Take what is in sight away: something new begins. It can be read again later."""
        self.cleared.emit()

    def _show(self, toast: Toast) -> None:
        self.earlier = (*self.earlier, toast)[-MOST_KEPT:]
        self.toast_raised.emit(toast)


def report_text(report: ErrorReport) -> str:
    """Return a report to send: what failed and where in the program, nothing of the user's."""
    parts = (report.title, report.message, report.hint, without_home(report.details))
    return "\n".join(part for part in parts if part)


def without_home(text: str) -> str:
    """Return a text in which the user's folder is not named."""
    return text.replace(str(Path.home()), "~")
