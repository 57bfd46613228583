"""Commands for models."""

from spatialstudio.ui.framework.command import Command, Menu

MODELS = Command(
    *("models", Menu.RUN, "Models…", "Ctrl+Shift+M"),
    tip="Download, verify and remove models for generation and judging",
)
COMMANDS = (MODELS,)
