"""The docks of the evaluate workspace: verdicts, trial settings, graphs, metrics, stability."""

from PySide6.QtWidgets import QWidget

from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.workspace import (
    BOTTOM,
    RIGHT,
    VERDICT_DOCK,
    DockPlan,
)
from spatialstudio.ui.widgets.dock_column import (
    DockColumn,
    DockRoom,
    section,
)
from spatialstudio.ui.widgets.texts import tr

HEIGHT_EM = 16


def make_verdict(context: WindowContext) -> QWidget:
    """Build the dock of fixes, verdicts, layers and details of the open run."""
    from spatialstudio.ui.evaluate.evaluation_panel import EvaluationPanel
    from spatialstudio.ui.refine.fix_panel import FixPanel
    from spatialstudio.ui.run.run_facts import DetailsPanel
    from spatialstudio.ui.stage.layers_panel import LayersPanel

    return DockColumn(
        FixPanel(context),
        EvaluationPanel(context),
        section(tr(LayersPanel.title), LayersPanel(context)),
        section(tr(DetailsPanel.title), DetailsPanel(context)),
    )


def make_what_if(context: WindowContext) -> QWidget:
    """Build the dock of trial verdicts, scrolled where there is too little room."""
    from spatialstudio.ui.evaluate.what_if_panel import WhatIfPanel

    return DockColumn(WhatIfPanel(context))


def make_judges(context: WindowContext) -> QWidget:
    """Build the scrolled dock of metrics, judge set and the checker's preset."""
    from spatialstudio.ui.evaluate.checker_panel import CheckerPanel
    from spatialstudio.ui.evaluate.judge_set_panel import JudgeSetPanel
    from spatialstudio.ui.evaluate.metrics_panel import MetricsPanel

    metrics = section(tr(MetricsPanel.title), MetricsPanel(context))
    checker = section(tr(CheckerPanel.title), CheckerPanel(context))
    return DockColumn(metrics, JudgeSetPanel(context), checker)


def make_scene_graph(context: WindowContext) -> QWidget:
    """Build the scrolled dock of the scene-graph score."""
    from spatialstudio.ui.evaluate.scene_graph_panel import SceneGraphPanel

    return DockColumn(SceneGraphPanel(context))


def make_questions(context: WindowContext) -> QWidget:
    """Build the dock of multiple-choice questions."""
    from spatialstudio.ui.evaluate.questions_panel import QuestionsPanel

    return DockRoom(QuestionsPanel(context))


def make_stability(context: WindowContext) -> QWidget:
    """Build the scrolled dock of perturbed pictures and depths."""
    from spatialstudio.ui.evaluate.stability_panel import StabilityPanel

    return DockColumn(StabilityPanel(context))


VERDICT = DockPlan(id=VERDICT_DOCK, title="Verdict", area=RIGHT, size_em=19, make=make_verdict)


WHAT_IF = DockPlan(
    id="what_if",
    title="What if",
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_what_if,
    breadth_em=26,
)


JUDGES = DockPlan(
    id="judges",
    title="Metrics and judge set",
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_judges,
    breadth_em=20,
)


SCENE_GRAPH = DockPlan(
    id="scene_graph",
    title="Scene graph",
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_scene_graph,
    tab_of="what_if",
)


QUESTIONS = DockPlan(
    id="questions",
    title="Questions",
    area=RIGHT,
    size_em=19,
    make=make_questions,
    in_simple=False,
    tab_of=VERDICT_DOCK,
)


STABILITY = DockPlan(
    id="stability",
    title="Stability and depth",
    area=BOTTOM,
    size_em=HEIGHT_EM,
    make=make_stability,
    in_simple=False,
    breadth_em=18,
)
