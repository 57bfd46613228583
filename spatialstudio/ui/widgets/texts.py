"""Translation of the window's texts."""

from PySide6.QtCore import QCoreApplication

CONTEXT = "Studio"


def tr(text: str) -> str:
    """Return a text in the user's language, or unchanged if there is no translation.

    Format values afterwards: ``tr("Step {step}").format(step=3)``.
    """
    return QCoreApplication.translate(CONTEXT, text)
