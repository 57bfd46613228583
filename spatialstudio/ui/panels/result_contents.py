"""Turns a finished run into verdict cards and facts."""

from spatialstudio.application.inspection import explain
from spatialstudio.application.session import OpenRun
from spatialstudio.ui.widgets.verdict_card import JudgedRelation


def judged_relations(run: OpenRun, name: str = "") -> tuple[JudgedRelation, ...]:
    """Return what the cards of one run say; nothing while it is not judged.

    Args:
        run: The run.
        name: What to call its picture; empty when there is only one.
    """
    if run.evaluation is None:
        return ()
    by_id = {relation.id: relation for relation in run.scene.relations}
    return tuple(
        JudgedRelation(
            relation=run.scene.sentence(by_id[verdict.relation_id]),
            verdict=verdict,
            explanation=explain(verdict, run.scene),
            run=name,
        )
        for verdict in run.evaluation.verdicts
    )


def facts_of(run: OpenRun) -> tuple[tuple[str, str], ...]:
    """Return what a run was made with, names and values."""
    facts: list[tuple[str, str]] = []
    if (request := run.request) is not None:
        guidance = request.guidance
        facts += [
            ("Seed", str(request.seed)),
            ("Model", request.model.id),
            ("Steps", str(request.steps)),
            ("Guidance", f"step size {guidance.strength:g}" if guidance.strength else "off"),
        ]
    if run.image is not None:
        height, width = run.image.shape[:2]
        facts.append(("Size", f"{width} × {height} pixels"))  # noqa: RUF001 - the right sign
    if run.seconds is not None:
        facts.append(("Time", f"{run.seconds:.1f} s on {run.device or 'cpu'}"))
    if run.folder is not None:
        facts.append(("Folder", str(run.folder)))
    return tuple(facts)
