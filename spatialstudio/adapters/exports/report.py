"""HTML report on selected runs: one self-contained file that makes no requests."""

import base64
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from string import Template

from spatialstudio.adapters.exports.annotated_picture import layered_picture
from spatialstudio.adapters.exports.figure_parts import SIGNS, caption, warning_on
from spatialstudio.adapters.exports.write_svg import svg_bytes
from spatialstudio.domain.export import ExportedRun, ExportLook
from spatialstudio.domain.foreign_text import shown
from spatialstudio.domain.verdict import MentionVerdict, Outcome, Verdict
from spatialstudio.science.checker.evidence import explain_mention
from spatialstudio.science.pos.pse import pse_of

TEMPLATE = Path("reports") / "runs.html"


def report_bytes(runs: Sequence[ExportedRun], look: ExportLook, resources: Path) -> bytes:
    """Return the bytes of the page.

    Args:
        runs: The runs, in order.
        look: Colours and picture layers.
        resources: The folder of bundled data.
    """
    template = Template((resources / TEMPLATE).read_text(encoding="utf-8"))
    colours = {name: look.palette.colours[name] for name in _COLOURS}
    page = template.substitute(
        colours,
        title=f"Spatial Studio: {len(runs)} {'run' if len(runs) == 1 else 'runs'}",
        subtitle=f"Written on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.",
        totals="".join(_totals(runs)),
        runs="\n".join(_article(run, look) for run in runs),
    )
    return page.encode("utf-8", "replace")


_COLOURS = ("surface", "raised", "text", "muted", "line", "good", "bad", "unsure")


def _article(run: ExportedRun, look: ExportLook) -> str:
    shown = replace(layered_picture(run, look), is_marked=look.is_marked)
    source = base64.b64encode(svg_bytes(shown)).decode("ascii")
    prompt = _words(run.record.request.scene.prompt.text)
    _, settings = caption(run)
    rows = "".join(
        _verdict_row(run, verdict, evidence.sentence)
        for verdict, evidence in zip(run.record.verdicts, run.evidence, strict=False)
    ) + "".join(_mention_row(run, verdict) for verdict in run.mention_verdicts)
    warning = f'<p class="warning">{_words(text)}</p>' if (text := warning_on(run)) else ""
    note = f"<p>{_words(run.marks.note)}</p>" if run.marks.note else ""
    return (
        f'<article><img alt="{prompt}" src="data:image/svg+xml;base64,{source}">'
        f"<div><h2>{prompt}</h2><table>{rows or '<tr><td>Not judged.</td></tr>'}</table>"
        f'{warning}{note}<p class="muted">{_words(settings)}</p></div></article>'
    )


def _verdict_row(run: ExportedRun, verdict: Verdict, sentence: str) -> str:
    scene = run.record.request.scene
    relation = next(r for r in scene.relations if r.id == verdict.relation_id)
    outcome = verdict.outcome
    return (
        f'<tr><td class="{outcome.value}">{SIGNS[outcome]} {outcome.value}</td>'
        f"<td>{_words(scene.sentence(relation))}<br>{_words(sentence)}</td></tr>"
    )


def _mention_row(run: ExportedRun, verdict: MentionVerdict) -> str:
    scene, outcome = run.record.request.scene, verdict.outcome
    about = f"{scene.detected_name(verdict.mention_id)}: {verdict.kind.value}, {verdict.words}"
    return (
        f'<tr><td class="{outcome.value}">{SIGNS[outcome]} {outcome.value}</td>'
        f"<td>{_words(about)}<br>{_words(explain_mention(verdict, scene))}</td></tr>"
    )


def _totals(runs: Sequence[ExportedRun]) -> list[str]:
    by_phrase: dict[str, list[tuple[Outcome, float]]] = defaultdict(list)
    for run in runs:
        relations = {r.id: r for r in run.record.request.scene.relations}
        for verdict in run.record.verdicts:
            relation = relations[verdict.relation_id]
            pse = pse_of(relation, run.record.evaluation) if run.record.evaluation else 0.0
            by_phrase[relation.type.phrase].append((verdict.outcome, pse))
    return [_total(phrase, judged) for phrase, judged in sorted(by_phrase.items())]


def _total(phrase: str, judged: Sequence[tuple[Outcome, float]]) -> str:
    outcomes, scores = zip(*judged, strict=True)
    counts = [outcomes.count(outcome) for outcome in SIGNS]
    mean = f"{sum(scores) / len(scores):.2f}"
    cells = [_words(phrase), str(len(judged)), *map(str, counts), mean]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _words(text: str) -> str:
    """Escape text for HTML."""
    return escape(shown(text, keep="\n"))
