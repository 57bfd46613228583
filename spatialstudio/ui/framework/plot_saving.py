"""Saves a plot as an image, a vector graphic or a table, on white paper in every theme."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QIODevice, QSaveFile
from PySide6.QtWidgets import QFileDialog

from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.palette import Palette
from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.confirmation import file_to_write
from spatialstudio.ui.framework.toasts import Toasts
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.texts import tr

if TYPE_CHECKING:  # plots are loaded after the first frame
    from spatialstudio.ui.widgets.plot import Plot

FORMATS = ("png", "svg", "pdf", "csv")
"""File suffixes of the plot formats."""
BACKGROUNDS = ("surface", "sunken")
"""Colours under plots on the screen."""


def save_plot(toasts: Toasts, plot: "Plot") -> None:
    """Ask for a file and write a plot to it; the suffix selects the format.

    Args:
        toasts: Reports the saved file or the error.
        plot: Plot to save.
    """
    kinds = f"{tr('Plot')} ({' '.join(f'*.{ending}' for ending in FORMATS)})"
    start = f"{plot.name.lower().replace(' ', '-')}.{FORMATS[0]}"
    chosen, _ = QFileDialog.getSaveFileName(plot.window(), tr("Save plot"), start, kinds)
    target = file_to_write(plot.window(), Path(chosen), FORMATS[0]) if chosen else None
    if target is None:
        return
    try:
        write_plot(plot, target)
    except ExportError as error:
        toasts.report(report_on(error, tr("Saving the plot")))
    else:
        toasts.tell(tr("Wrote {name}.").format(name=target.name))


def write_plot(plot: "Plot", target: Path) -> None:
    """Write a plot to a file in the light colours of other figures, completely or not at all.

    Args:
        plot: Plot to save.
        target: Its suffix is one of ``FORMATS``; an existing file is replaced.

    Raises:
        ExportError: The suffix is unknown or the file cannot be written.
    """
    ending = target.suffix.lower().lstrip(".")
    if ending not in FORMATS:
        message = tr("Plots cannot be saved as {ending}.").format(ending=target.suffix)
        raise ExportError(message, hint=tr("Use .png, .svg, .pdf or .csv."))
    with plot.coloured_by(Theme(paper(), plot.theme.icon_folder)):
        contents = plot.contents(ending)
    file = QSaveFile(str(target))
    is_written = (
        file.open(QIODevice.OpenModeFlag.WriteOnly)
        and file.write(contents) == len(contents)
        and file.commit()
    )
    if not is_written:
        message = tr("{name} cannot be saved.").format(name=target.name)
        raise ExportError(message, hint=tr("Choose another folder, or free some disk space."))


def paper() -> Palette:
    """Return the colours of saved plots: those of the light theme on white."""
    light = palette_of(ThemeChoice.LIGHT)
    white = dict.fromkeys(BACKGROUNDS, light.colours["raised"])
    return replace(light, colours={**light.colours, **white})
