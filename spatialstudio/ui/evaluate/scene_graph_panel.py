"""The dock of the scene-graph score: the graphs of prompt and picture, and the settings."""

from functools import partial

from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from spatialstudio.application.evaluate.scene_graph import GraphMatcher, GraphsMatched, rows_of
from spatialstudio.application.session import OpenRun, RelationPicked, RunChanged
from spatialstudio.domain.graph_match import GraphMatch, GraphObject
from spatialstudio.domain.graph_settings import GRAPH_OPTIONS, GraphSettings
from spatialstudio.domain.options import OptionValue, values_of, with_options
from spatialstudio.ui.evaluate.widgets.scene_graphs import GraphPick, SceneGraphs
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.selected_evidence import ShownObjects
from spatialstudio.ui.gallery.commands import EXPORT_GRAPH
from spatialstudio.ui.widgets.builders import action_button, column, flow, push_button
from spatialstudio.ui.widgets.disclosure import Disclosure
from spatialstudio.ui.widgets.option_fields import OptionField
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone, tr

PARTS = {
    "object_score": "objects",
    "attribute_score": "attributes",
    "relation_score": "relations",
    "foreground": "foreground",
    "background": "background",
    "weighted": "weighted",
}
"""Sub-scores in shown order, with untranslated names."""


class SceneGraphPanel(Panel):
    """Shows how the graph of the picture differs from that of the prompt.

    An object shows its instance on the picture; a relation shows its two objects and selects its
    verdict.
    """

    title = "Scene graph"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._judgement = context.judgement
        self._edits = context.edits
        self._matcher = GraphMatcher(context.studio.bus.publish)
        self._wanted: tuple[object, GraphSettings] | None = None
        self._match: GraphMatch | None = None
        self._waiting = TextLabel(tone=Tone.MUTED)
        self._score = TextLabel(tone=Tone.HEADING)
        self._parts = TextLabel(tone=Tone.MUTED)
        self._approximate = TextLabel(
            tr("Approximate: the distance is an upper bound, the score a lower bound."),
            Tone.WARNING,
        )
        self._notes = TextLabel(tone=Tone.WARNING)
        self._graphs = SceneGraphs(context.theme)
        self._graphs.picked.connect(self._pick)
        self._extra = QCheckBox(tr("Further relations"))
        self._extra.setToolTip(tr("Also show what the prompt does not state"))
        self._extra.toggled.connect(self._show_rows)
        self._fields = {option.id: OptionField(option) for option in GRAPH_OPTIONS}
        self._content = QWidget()
        tools = flow(self._extra, action_button(context.actions[EXPORT_GRAPH]), gap=0.5)
        heads = (self._score, self._parts, self._approximate, self._notes)
        settings = Disclosure(tr("Settings of the score"), self._form())
        column(*heads, self._graphs, tools, settings, within=self._content, gap=0.4)
        column(self._waiting, self._content, within=self)
        self._clock = VisibleFrameClock(self._draw, self)
        self._judgement.changed.connect(self._clock.request)
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the run and the selected relation; show the graphs when they are matched."""
        match event:
            case RunChanged():
                self._clock.request()
            case RelationPicked():
                self._mark()
            case GraphsMatched(evaluation=evaluation, settings=settings):
                if self._wanted is not None and self._wanted == (evaluation, settings):
                    self._show_match(event.match)

    def _form(self) -> QWidget:
        form = QWidget()
        rows = QFormLayout(form)
        rows.setContentsMargins(0, 0, 0, 0)
        for option in GRAPH_OPTIONS:
            field = self._fields[option.id]
            field.value_picked.connect(partial(self._try, option.id))
            label = PlainLabel(tr(option.label))
            label.setToolTip(tr(option.help))
            rows.addRow(label, field)
        rows.addRow(push_button(tr("Reset the settings"), self._reset))
        return form

    def _draw(self) -> None:
        """Start to match the graphs if the run or the settings changed."""
        run, settings = self._session.run, self._judgement.graph
        for name, value in values_of(settings).items():
            self._fields[name].show_value(value)
        if run is None or run.evaluation is None:
            self._wanted = None
            self._show_match(None)
        elif self._wanted is None or self._wanted != (run.evaluation, settings):
            self._wanted = run.evaluation, settings
            self._matcher.match(run.scene, run.evaluation, settings)
        self._mark()

    def _show_match(self, match: GraphMatch | None) -> None:
        self._match = match
        self._waiting.setVisible(match is None)
        self._waiting.setText(_waiting_for(self._session.run))
        self._content.setVisible(match is not None)
        if match is None:
            return
        self._score.setText(tr("Score {score}").format(score=f"{match.score:.2f}"))
        values = [(name, getattr(match, field)) for field, name in PARTS.items()]
        shown = [f"{tr(name)} {value:.2f}" for name, value in values if value is not None]
        distance = tr("distance {distance} of {most}").format(
            distance=f"{match.distance:.2f}", most=f"{match.most:.2f}"
        )
        self._parts.setText(" · ".join((*shown, distance)))
        self._approximate.setVisible(not match.is_exact)
        self._notes.show_text("\n".join(match.target.notes))
        self._show_rows()

    def _show_rows(self) -> None:
        if self._match is not None:
            self._graphs.show_rows(rows_of(self._match, with_extra=self._extra.isChecked()))
            self._mark()

    def _pick(self, pick: GraphPick | None) -> None:
        """Show the evidence of an object or a relation on the picture."""
        run, match = self._session.run, self._match
        if run is None or match is None:
            return
        if pick is None:
            self._judgement.light(None)
            self._mark()
            return
        if run.steps:
            self._session.pick_step(run.steps[-1].step)
        if pick.is_relation:
            self._pick_relation(match, pick)
        else:
            self._pick_object(match, pick)

    def _pick_relation(self, match: GraphMatch, pick: GraphPick) -> None:
        related = match.relations[pick.match]
        if related.target is not None and related.target.relation_id is not None:
            self._session.pick_relation(related.target.relation_id)
        things = {each.id: each for each in match.picture.objects}
        found = [things[end] for end in related.found or ()]
        if not found and related.target is not None:
            ends = (related.target.subject, related.target.object)
            matched = {each.target: each.found for each in match.objects}
            found = [things[known] for end in ends if (known := matched[end]) is not None]
        self._light(pick, found)

    def _pick_object(self, match: GraphMatch, pick: GraphPick) -> None:
        pair = match.objects[pick.match]
        objects = (*match.target.objects, *match.picture.objects)
        known = [each for each in objects if each.id in {pair.target, pair.found}]
        for mention in {each.mention_id for each in known} - {None}:
            self._session.pick_mention(mention)
        self._light(pick, [each for each in known if each.id == pair.found])

    def _light(self, pick: GraphPick, objects: list[GraphObject]) -> None:
        self._judgement.light(ShownObjects(key=pick, objects=tuple(objects)))
        self._mark()

    def _mark(self) -> None:
        lit = self._judgement.lit
        key = lit.key if isinstance(lit, ShownObjects) else None
        self._graphs.show_pick(key if isinstance(key, GraphPick) else self._picked_relation())

    def _picked_relation(self) -> GraphPick | None:
        """Return the relation that is selected elsewhere; None for none."""
        for number, each in enumerate(self._match.relations if self._match else ()):
            stated = each.target.relation_id if each.target else None
            if stated is not None and stated == self._session.relation_id:
                return GraphPick(True, number)
        return None

    def _try(self, name: str, value: OptionValue) -> None:
        settings = with_options(self._judgement.graph, {name: value})
        self._judgement.try_graph(settings, tr("change setting of the scene graph"))

    def _reset(self) -> None:
        self._judgement.try_graph(GraphSettings(), tr("reset settings of the scene graph"))


def _waiting_for(run: OpenRun | None) -> str:
    if run is not None and run.evaluation is not None:
        return tr("The prompt names no object, so there is no graph to compare.")
    return tr("The graphs of prompt and picture appear here once a picture is judged.")
