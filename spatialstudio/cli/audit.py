"""The command ``audit``: samples, labels, and the comparison of checker and metrics with people."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import isnan
from pathlib import Path

from spatialstudio.application.audit.audit_report import (
    CURVE_COLUMNS,
    AuditTable,
    Draw,
    agreement_figure,
    agreement_table,
    contents_of,
    curve_caption,
    curve_row,
    curve_table,
    reliability_caption,
    reliability_table,
    study_figure,
    study_table,
)
from spatialstudio.application.audit.audits import (
    ALLOCATIONS,
    PUBLISHED_ALLOCATION,
    AgreementReport,
    Audits,
    agreement_report,
)
from spatialstudio.application.audit.calibration import (
    FITS,
    FOLDS,
    CalibrationReport,
    RecordedSearch,
    calibration_report,
)
from spatialstudio.application.audit.human_study import MetricReport, compare_metric
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_command, add_evaluation, add_overwrite, evaluation_folders
from spatialstudio.cli.printing import show_json, show_lines, show_progress, show_table
from spatialstudio.domain.audit import HumanLabel, LabelFormat
from spatialstudio.domain.audit_figures import (
    OUTCOMES,
    AgreementFigure,
    AuditedSample,
    Confusion,
    HumanUndecidable,
    ObjectiveRow,
    RiskPoint,
)
from spatialstudio.domain.audit_session import RaterQuality
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.export import ExportFile
from spatialstudio.domain.interval import Interval
from spatialstudio.science.statistics.risk_coverage import (
    area_under_curve,
    grid_thresholds,
    risk_coverage_curve,
)
from spatialstudio.science.statistics.sampling import PUBLISHED_SEED, PUBLISHED_SIZE

STRATUM = ("method", "relation", "verdict")
Consistency = Sequence[tuple[str, RaterQuality]]
"""Raters with their consistency."""


def add_audit_options(parser: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    """Add the actions of the command ``audit``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(name: str, text: str) -> argparse.ArgumentParser:
        return add_command(actions, name, text, parents=[shared])

    _add_sample(add("sample", "draw a stratified sample of recorded runs"))
    _add_import(add("import", "merge label files of raters, and list clashes"))
    _add_export(add("export", "write labels in another format"))
    _add_analysis(add("agreement", "compare the checker with people, and people with each other"))
    risk = add("risk-coverage", "show the risk and coverage at each confidence threshold")
    _add_analysis(risk)
    _add_risk(risk)
    study = add("correlate", "compare metrics with people: correlation, AUC, best threshold")
    _add_analysis(study)
    _add_study(study)
    calibrate = add("calibrate", "measure calibration, and search a confidence threshold")
    _add_analysis(calibrate)
    _add_calibrate(calibrate)


def _add_sample(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="run folders, in the order to read them"
    )
    add_evaluation(parser)
    _add_out(parser, "sample file (CSV)")
    parser.add_argument(
        "--size",
        type=int,
        default=PUBLISHED_SIZE,
        help="number of samples (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=PUBLISHED_SEED, help="random seed (default: %(default)s)"
    )
    parser.add_argument(
        "--allocation",
        choices=(PUBLISHED_ALLOCATION, *ALLOCATIONS),
        default=PUBLISHED_ALLOCATION,
        help="division among strata of method, relation and verdict (default: %(default)s)",
    )


def _add_import(parser: argparse.ArgumentParser) -> None:
    _add_labels(parser)
    _add_out(parser, "merged labels (CSV)")


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_labels(parser)
    _add_out(parser, "output file")
    parser.add_argument(
        "--format",
        choices=[each.value for each in LabelFormat],
        default=LabelFormat.CSV.value,
        help="CSV or JSON of the release, or tasks of Label Studio (default: %(default)s)",
    )


def _add_analysis(parser: argparse.ArgumentParser) -> None:
    _add_labels(parser)
    parser.add_argument(
        "--sample",
        type=Path,
        metavar="FILE",
        required=True,
        help="sample file (CSV), or votes of a session on it",
    )
    parser.add_argument(
        "--run",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="run folder whose verdicts replace the ones in the sample file; may be repeated",
    )
    add_evaluation(parser)
    parser.add_argument("--csv", action="store_true", help="write CSV")
    parser.add_argument(
        "--export",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write the table (.csv, .tex) or the figure (.svg, .pdf, .png); may be repeated",
    )
    add_overwrite(parser)


def _add_risk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--weighted", action="store_true", help="weight samples to the population")
    parser.add_argument(
        "--undecidable",
        choices=[each.value for each in HumanUndecidable],
        default=HumanUndecidable.EXCLUDED.value,
        help="verdicts on samples that people call UNDECIDABLE: excluded, as published, or "
        "errors (default: %(default)s)",
    )
    parser.add_argument(
        "--grid", action="store_true", help="thresholds from 0 to 1 in steps of 0.05"
    )


def _add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scores",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="scores of metrics (CSV): a column sample_id, and one per metric; may be repeated",
    )
    parser.add_argument(
        "--metrics",
        nargs="+",
        default=[],
        metavar="NAME",
        help="metrics to compute from the recorded detections of --run",
    )


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--map", choices=tuple(FITS), default="isotonic", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--folds", type=int, default=FOLDS, help="number of folds (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of the folds (default: %(default)s)"
    )
    parser.add_argument(
        "--margin",
        type=float,
        action="append",
        default=[],
        help="search this margin of the checker, too, on the runs of --run; may be repeated",
    )
    parser.add_argument(
        "--search",
        type=Path,
        metavar="FILE",
        help="compare with the search that a release records (audit_metrics.json)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the settings of the first --run with the best margin, and the evidence: a "
        "settings file for --checker",
    )
    parser.add_argument(
        "--save",
        metavar="NAME",
        help="save the settings of the first --run with the best margin and confidence threshold "
        "as a preset of the checker",
    )


def _add_labels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "labels",
        type=Path,
        nargs="+",
        metavar="LABELS",
        help="label files: CSV or JSON of the release, JSON of Label Studio, or votes of a session",
    )


def _add_out(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--out", type=Path, metavar="FILE", required=True, help=text)
    add_overwrite(parser)


def audit(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Run an action of the command ``audit``."""
    ACTIONS[options.action](options, open_studio(None).storage.audit_desk.audits)
    return 0


def draw_sample(options: argparse.Namespace, audits: Audits) -> None:
    """Draw a sample, write it, and print how many pictures each stratum gives."""
    runs = evaluation_folders(options, options.runs)
    items, sample = audits.draw(runs, options.size, options.seed, options.allocation)
    audits.files.write_sample(items, options.out, overwrite=options.overwrite)
    strata = [
        {
            **dict(zip(("method", "relation", "verdict"), key.key, strict=True)),
            "drawn": n,
            "of": all_,
        }
        for key, (n, all_) in sample.sizes.items()
    ]
    if options.json:
        ids = [item.candidate.id for item in items]
        show_json({"file": str(options.out), "samples": ids, "strata": strata})
        return
    for row in strata:
        where = f"{row['method']} {row['relation']} {row['verdict']}"
        show_lines([f"{where:44}{row['drawn']:>5} of {row['of']}"])
    show_lines([f"Wrote {len(items)} samples to {options.out}"])


def import_labels(options: argparse.Namespace, audits: Audits) -> None:
    """Merge label files, and list the clashes."""
    _write_merged(options, audits, LabelFormat.CSV)


def export_labels(options: argparse.Namespace, audits: Audits) -> None:
    """Write labels in another format."""
    _write_merged(options, audits, LabelFormat(options.format))


def _write_merged(options: argparse.Namespace, audits: Audits, label_format: LabelFormat) -> None:
    labels, clashes = audits.merge(options.labels)
    audits.files.write_labels(labels, options.out, label_format, overwrite=options.overwrite)
    rows = [
        {
            "sample_id": clash.kept.sample_id,
            "rater": clash.kept.rater,
            "kept": clash.kept.verdict.value,
            "dropped": ", ".join(one.verdict.value for one in clash.dropped),
        }
        for clash in clashes
    ]
    if options.json:
        show_json({"file": str(options.out), "labels": len(labels), "clashes": rows})
        return
    show_lines([f"Wrote {len(labels)} labels to {options.out}; {len(rows)} clashes"])
    for row in rows:
        name = f"{row['sample_id']} by {row['rater']}"
        show_lines([f"  {name}: {row['kept']}, not {row['dropped']}"])


def show_agreement(options: argparse.Namespace, audits: Audits) -> None:
    """Print confusion and agreement."""
    samples, labels = _audited(options, audits)
    report = agreement_report(samples, labels)
    raters = audits.consistency(options.labels)
    figure = agreement_figure(report)
    _export(options, audits, agreement_table(report), partial(_draw, audits, figure))
    if options.csv:
        show_table(_confusion_table(report.confusion))
    elif options.json:
        show_json({**_agreement_answer(report), "consistency": _consistency_answer(raters)})
    else:
        show_lines([*_agreement_lines(report), *_consistency_lines(raters)])


def show_risk_coverage(options: argparse.Namespace, audits: Audits) -> None:
    """Print the risk-coverage curve."""
    samples, _ = _audited(options, audits)
    curve = risk_coverage_curve(
        samples,
        grid_thresholds() if options.grid else None,
        HumanUndecidable(options.undecidable),
        weighted=options.weighted,
    )
    _export(options, audits, curve_table(curve), partial(_draw_curve, options, audits, curve))
    rows = [curve_row(point) for point in curve]
    area = area_under_curve(curve)
    if options.csv:
        show_table([CURVE_COLUMNS, *rows])
    elif options.json:
        points = [dict(zip(CURVE_COLUMNS, row, strict=True)) for row in rows]
        show_json({"points": points, "area": area, "samples": len(samples)})
    else:
        show_lines(["".join(f"{name:>14}" for name in CURVE_COLUMNS)])
        show_lines("".join(f"{_number(value):>14}" for value in row) for row in rows)
        show_lines([f"Mean risk over coverage: {_number(area)}"])


def show_calibration(options: argparse.Namespace, audits: Audits) -> None:
    """Print reliability, calibration error and the threshold search."""
    samples, _ = _audited(options, audits)
    runs = evaluation_folders(options, options.run)
    if (options.margin or options.out or options.save) and not runs:
        raise SettingsError("There is no run to evaluate again.", hint="Pass it with --run.")
    candidates = audits.margin_candidates(samples, runs, options.margin)
    report = calibration_report(samples, options.map, options.folds, options.seed, candidates)
    search = audits.recorded_search(options.search, samples) if options.search else None
    if options.out or options.save:
        settings, evidence = audits.calibrated(runs[0], report)
    if options.out:
        audits.files.write_settings(settings, evidence, options.out, overwrite=options.overwrite)
    if options.save:
        audits.presets.save(options.save, settings, evidence)
    table = reliability_table(report)
    _export(options, audits, table, partial(_draw_reliability, audits, report))
    if options.csv:
        columns = tuple(asdict(report.bins[0]))
        show_table([columns, *(tuple(asdict(each).values()) for each in report.bins)])
    elif options.json:
        answer = {**asdict(report), "best": asdict(report.best)}
        show_json({**answer, "search": asdict(search)} if search else answer)
    else:
        show_lines(_calibration_lines(report, options.map))
        if search:
            show_lines(_search_lines(search))


def show_study(options: argparse.Namespace, audits: Audits) -> None:
    """Print how well metrics agree with people."""
    labels, _ = audits.merge(options.labels)
    people = audits.answers(options.labels, labels)
    raters = audits.consistency(options.labels)
    runs = evaluation_folders(options, options.run)
    scores = audits.metric_scores(options.sample, options.scores, runs, options.metrics)
    reports = [compare_metric(name, own, people) for name, own in scores.items()]
    table = study_table(reports)
    _export(options, audits, table, partial(_draw, audits, study_figure(reports)))
    if options.csv:
        show_table([table.columns, *table.rows])
    elif options.json:
        metrics = [_study_answer(each) for each in reports]
        show_json({"metrics": metrics, "consistency": _consistency_answer(raters)})
    else:
        show_lines(line for each in reports for line in _study_lines(each))
        show_lines(_consistency_lines(raters))


ACTIONS: Mapping[str, Callable[[argparse.Namespace, Audits], None]] = {
    "sample": draw_sample,
    "import": import_labels,
    "export": export_labels,
    "agreement": show_agreement,
    "risk-coverage": show_risk_coverage,
    "correlate": show_study,
    "calibrate": show_calibration,
}


def _audited(
    options: argparse.Namespace, audits: Audits
) -> tuple[Sequence[AuditedSample], Sequence[HumanLabel]]:
    labels, clashes = audits.merge(options.labels)
    for clash in clashes:
        name = f"{clash.kept.sample_id} by {clash.kept.rater}"
        show_progress(f"Note: labels clash for {name}; the latest is used.")
    return audits.samples(options.sample, labels, evaluation_folders(options, options.run)), labels


def _export(options: argparse.Namespace, audits: Audits, table: AuditTable, draw: Draw) -> None:
    made = [(path, contents_of(path, table, draw)) for path in options.export]
    for path, content in made:
        audits.files.write(path, content, overwrite=options.overwrite)
        show_progress(f"Wrote {path}")


def _draw_curve(
    options: argparse.Namespace, audits: Audits, curve: Sequence[RiskPoint], ending: str
) -> ExportFile:
    weights = "weighted to the population" if options.weighted else "unweighted"
    choices = f"{weights}; samples that people call UNDECIDABLE: {options.undecidable}"
    names = f"the labels in {', '.join(path.name for path in options.labels)}"
    samples = len(audits.read_sample(options.sample))
    caption = curve_caption(samples, names, choices)
    return audits.figures.risk_coverage(curve, None, caption, audits.look, ending)


def _draw(audits: Audits, figure: AgreementFigure, ending: str) -> ExportFile:
    return audits.figures.agreement(figure, audits.look, ending)


def _draw_reliability(audits: Audits, report: CalibrationReport, ending: str) -> ExportFile:
    caption = reliability_caption(report, "people")
    return audits.figures.reliability(report.bins, caption, audits.look, ending)


def _study_answer(report: MetricReport) -> dict[str, object]:
    names = ("kendall", "spearman", "pearson", "pairwise", "auc")
    best = report.best
    return {
        "metric": report.metric,
        "n": report.n,
        **{name: _bounds(getattr(report, name)) for name in names},
        "best": best
        and {
            **asdict(best),
            **{name: getattr(best, name) for name in ("accuracy", "precision", "recall", "f1")},
        },
        "preference": report.preference,
    }


def _study_lines(report: MetricReport) -> Iterator[str]:
    yield f"{report.metric}: {report.n} pictures"
    for name, figure in (
        ("Kendall's tau-b", report.kendall),
        ("Spearman's rho", report.spearman),
        ("Pearson's r", report.pearson),
        ("pairwise accuracy", report.pairwise),
        ("AUC", report.auc),
    ):
        yield f"  {name:18}{_interval(figure)}"
    if report.best:
        best = report.best
        yield (
            f"  best threshold {best.threshold:.4g}: accuracy {_number(best.accuracy)}, precision "
            f"{_number(best.precision)}, recall {_number(best.recall)}"
        )
    if report.preference is not None:
        yield f"  preferences predicted: {report.preference:.4f}"


def _confusion_table(table: Confusion) -> Iterator[Sequence[object]]:
    yield ("checker", *(f"human {human.value}" for human in OUTCOMES))
    for checker in OUTCOMES:
        yield (checker.value, *(table.count(checker, human) for human in OUTCOMES))


def _agreement_answer(report: AgreementReport) -> dict[str, object]:
    table = report.confusion
    return {
        "confusion": {
            checker.value: {human.value: table.count(checker, human) for human in OUTCOMES}
            for checker in OUTCOMES
        },
        "decided_by_both": table.decided_by_both,
        "undecidable_checker": table.undecidable_checker,
        "undecidable_human": table.undecidable_human,
        "accuracy": table.accuracy,
        "precision": table.precision,
        "recall": table.recall,
        "f1": table.f1,
        "checker_kappa": _bounds(report.checker_kappa),
        "rater_kappa": [
            {"raters": list(names), "kappa": _bounds(kappa)}
            for names, kappa in report.pairs.items()
        ],
        "fleiss_kappa": _bounds(report.fleiss),
        "krippendorff_alpha": _bounds(report.alpha),
        "disagreements": list(report.disagreements),
        "unlabelled": report.unlabelled,
    }


def _agreement_lines(report: AgreementReport) -> Iterator[str]:
    for row in _confusion_table(report.confusion):
        yield "".join(f"{cell!s:>20}" for cell in row)
    table = report.confusion
    yield (
        f"Decided by both: {table.decided_by_both}; accuracy {_number(table.accuracy)}, "
        f"precision {_number(table.precision)}, recall {_number(table.recall)}, "
        f"F1 {_number(table.f1)}"
    )
    yield f"Cohen's kappa of checker and people: {_interval(report.checker_kappa)}"
    for names, kappa in report.pairs.items():
        yield f"Cohen's kappa of {' and '.join(names)}: {_interval(kappa)}"
    if report.pairs:
        yield f"Fleiss' kappa: {_interval(report.fleiss)}"
        yield f"Krippendorff's alpha: {_interval(report.alpha)}"
        yield f"Raters differ on {len(report.disagreements)} samples"
        yield from (f"  {sample_id}" for sample_id in report.disagreements)


def _consistency_answer(raters: Consistency) -> list[dict[str, object]]:
    return [{"rater": rater, **asdict(quality)} for rater, quality in raters]


def _consistency_lines(raters: Consistency) -> Iterator[str]:
    for rater, quality in raters:
        if quality.repeats:
            equal = f"{quality.equal_repeats} of {quality.repeats}"
            yield f"{rater}: {equal} repeated pictures with the same answer"
        if quality.gold:
            limit = "" if quality.tolerance is None else f" (± {quality.tolerance:g})"
            yield f"{rater}: {quality.right_gold} of {quality.gold} gold items correct{limit}"


def _calibration_lines(report: CalibrationReport, fit_id: str) -> Iterator[str]:
    yield f"{'confidence':>14}{'verdicts':>10}{'mean':>10}{'right':>10}"
    for each in report.bins:
        yield (
            f"{each.low:6.2f} to {each.high:.2f}{each.count:>9}"
            f"{each.confidence:>11.4f}{each.accuracy:>10.4f}"
        )
    yield (
        f"Expected calibration error {_number(report.error)}; {_number(report.calibrated_error)} "
        f"with a map ({fit_id}) of the other folds, {report.evaluated} verdicts"
    )
    yield f"{'margin':>8}{'tau':>8}{'false PASS':>12}{'risk':>10}{'coverage':>10}{'J':>10}"
    for row in report.rows:
        yield (
            f"{_margin(row):>8}{row.threshold:8.2f}{row.false_pass_rate:12.4f}{row.risk:10.4f}"
            f"{row.coverage:10.4f}{row.objective:10.5f}"
        )
    best, held_out = report.best, report.held_out
    yield f"Least J {best.objective:.5f} at tau {best.threshold}, margin {_margin(best)}"
    yield (
        f"On samples that did not choose tau: J {held_out.objective:.5f}, risk "
        f"{held_out.risk:.4f}, coverage {held_out.coverage:.4f} ({len(report.folds)} folds)"
    )


def _search_lines(search: RecordedSearch) -> Iterator[str]:
    chosen, deployed = search.chosen, search.deployed
    settings = ", ".join(f"{name} {value:.3g}" for name, value in chosen.settings.items())
    yield f"Recorded search: J {chosen.objective:.5f} at tau {chosen.threshold}, {settings}"
    yield (
        f"These verdicts at that tau: J {deployed.objective:.5f} ({search.gap:+.5f}); a difference "
        "means that the deployed checker is not the one that was searched"
    )


def _margin(row: ObjectiveRow) -> str:
    return ", ".join(f"{value:.3g}" for value in row.settings.values()) or "as is"


def _bounds(figure: Interval | None) -> dict[str, float | None] | None:
    if figure is None or isnan(figure.value):
        return None
    low, high = (None if isnan(bound) else bound for bound in (figure.low, figure.high))
    return {"value": figure.value, "low": low, "high": high}


def _interval(figure: Interval | None) -> str:
    return "undefined" if figure is None or isnan(figure.value) else figure.text


def _number(value: float | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
