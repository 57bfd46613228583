"""The window's words pass through here, so that they can be had in other languages."""

from PySide6.QtCore import QCoreApplication

CONTEXT = "Studio"


def tr(text: str) -> str:
    """Return a text in the user's language; as it stands where there is no translation.

    Put values in afterwards: ``tr("Step {step}").format(step=3)``.
    """
    return QCoreApplication.translate(CONTEXT, text)
