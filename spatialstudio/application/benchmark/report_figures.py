"""Figures of reports for papers, and of the choice of a method."""

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from spatialstudio.application.benchmark.choose_method import MethodChoice
from spatialstudio.application.benchmark.report import MethodReport
from spatialstudio.domain.benchmark_figures import (
    BenchmarkFigures,
    MethodRates,
    RaceCurves,
    ScalingCurves,
)
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import ExportFile, ExportLook, FigureCaption
from spatialstudio.domain.frozen import frozen
from spatialstudio.science.benchmark.figures import rates_of

if TYPE_CHECKING:
    from spatialstudio.application.studio import Studio

FIGURES_ID = "files"
WILSON = (
    "Error bars: Wilson's 95 % intervals. Over all, abstentions and errors count as not passed."
)

NO_RATES = rates_of(())


class ReportFigure(Enum):
    """Figures of a report; the values are names in the terminal."""

    PASS_RATES = "pass-rates"
    """PASS over all, PASS over decided and coverage by method."""
    RELATIONS = "relations"
    """PASS over all by relation and method."""
    BEST_OF_N = "best-of-n"
    """Mean of the best of N pictures by method."""


@frozen(eq=False)
class FigureDrawer:
    """Draws figures of benchmarks.

    Attributes:
        figures: Draws them.
        look: Their colours.
    """

    figures: BenchmarkFigures
    look: ExportLook

    def report(
        self, figure: ReportFigure, reports: Sequence[MethodReport], title: str, ending: str
    ) -> ExportFile:
        """Draw a figure of a report.

        Args:
            figure: What to draw.
            reports: At least one method.
            title: Title of the benchmark, for the caption.
            ending: "png", "svg" or "pdf".

        Raises:
            ExportError: No prompt has two pictures to choose from, or no picture a relation.
        """
        if figure is ReportFigure.BEST_OF_N:
            caption = FigureCaption(
                title=f"{title}: best of N",
                lines=(
                    f"{title}. Mean of the best of N pictures of a prompt, over all choices of N "
                    "seeds; the value selects and scores. Error bars: 95 % bootstrap intervals "
                    f"over prompts. {_sizes(reports)}",
                ),
            )
            return self.figures.best_of_n(_panels(reports), caption, self.look, ending)
        is_whole = figure is ReportFigure.PASS_RATES
        groups = _rates(reports) if is_whole else _relations(reports)
        if not groups:
            raise ExportError("No picture has a relation.", hint="Choose another figure.")
        what = "" if is_whole else " PASS over all by relation."
        lines = (f"{title}.{what} {WILSON}",)
        caption = FigureCaption(title=f"{title}: pass rates", lines=lines)
        return self.figures.rates(groups, caption, self.look, ending)

    def race(
        self, chosen: MethodChoice, value: str, error: float, title: str, ending: str
    ) -> ExportFile:
        """Draw the choice of a method; arguments as for ``report`` and ``choose_method``."""
        choice, best = chosen.choice, chosen.names[chosen.choice.best]
        read = ", ".join(
            f"{name} {count}" for name, count in zip(chosen.names, choice.pulls, strict=True)
        )
        if not choice.leads.size:
            rule = "Published procedure: a pull is the mean of 5 scores; there is no stopping rule."
        elif choice.is_certain:
            rule = f"{best} is the best with a probability of error of at most {error:g}."
        else:
            rule = f"{best} leads; the scores do not decide with an error of {error:g}."
        caption = FigureCaption(
            title=f"{title}: choice of the best method",
            lines=(
                f"{title}. Choice of the best method by {value} (OPSE). {rule} "
                f"Scores read, of {chosen.scores} per method: {read}.",
            ),
        )
        curves = RaceCurves(
            names=chosen.names,
            pulls=choice.history.astype(float),
            leads=choice.leads,
            radii=choice.radii,
        )
        return self.figures.race(curves, caption, self.look, ending)


def figure_drawer(studio: "Studio") -> FigureDrawer:
    """Return the drawer of a studio; figures have the light colours of other exports."""
    figures = studio.registry.benchmark_figures(FIGURES_ID)
    return FigureDrawer(figures=figures, look=studio.exports.look())


def _rates(reports: Sequence[MethodReport]) -> list[MethodRates]:
    rates = {each.name: each.all for each in reports}
    return [
        MethodRates(
            title="PASS over all", rates={name: own.pass_all for name, own in rates.items()}
        ),
        MethodRates(
            title="PASS over decided", rates={name: own.pass_decided for name, own in rates.items()}
        ),
        MethodRates(title="Coverage", rates={name: own.coverage for name, own in rates.items()}),
    ]


def _relations(reports: Sequence[MethodReport]) -> list[MethodRates]:
    names = dict.fromkeys(name for each in reports for name in sorted(each.by_relation))
    return [
        MethodRates(
            title=name.replace("_", " "),
            rates={each.name: each.by_relation.get(name, NO_RATES).pass_all for each in reports},
        )
        for name in names
    ]


def _panels(reports: Sequence[MethodReport]) -> list[ScalingCurves]:
    values = dict.fromkeys(name for each in reports for name in each.scaling)
    panels = [
        ScalingCurves(
            value=value,
            curves={each.name: each.scaling[value] for each in reports if value in each.scaling},
        )
        for value in values
    ]
    if all(len(curve) < 2 for panel in panels for curve in panel.curves.values()):  # noqa: PLR2004
        raise ExportError(
            "No prompt has two pictures to choose the best from.",
            hint="Draw the benchmark with more seeds.",
        )
    return panels


def _sizes(reports: Sequence[MethodReport]) -> str:
    """Return the number of prompts and relations by method."""
    counts = {each.name: each.report.best_of.total for each in reports}
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values()))} prompts and relations."
    return f"Prompts and relations: {', '.join(f'{n} {count}' for n, count in counts.items())}."
