"""The dock of the relation graph, synchronised with chips, sketch and maps."""

from spatialstudio.application.compose.layouts import graph_places
from spatialstudio.application.compose.read_prompt import with_relation_added, with_relation_removed
from spatialstudio.application.session import (
    MentionPicked,
    RelationPicked,
    SceneChanged,
)
from spatialstudio.domain.scene import (
    MentionId,
    RelationId,
    SceneGraph,
    relation_types,
)
from spatialstudio.ui.compose.commands import CHANGE_RELATION
from spatialstudio.ui.compose.prompt_presenter import sketch_blobs, sketch_links
from spatialstudio.ui.compose.widgets.relation_graph import RelationGraph
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.texts import tr


class GraphPanel(Panel):
    """Shows objects and relations as a graph; its selection applies to all views."""

    title = "Relation graph"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._edits = context.edits
        self._wheel = context.actions[CHANGE_RELATION]
        self._graph = graph = RelationGraph(context.theme)
        session = self._studio.session
        graph.thing_picked.connect(session.pick_mention)
        graph.link_picked.connect(session.pick_relation)
        graph.change_asked.connect(self._change)
        graph.removal_asked.connect(self._remove)
        graph.pair_picked.connect(self._relate)
        column(graph, within=self)
        self.setFocusProxy(graph)

    def handle(self, event: object) -> None:
        """Follow the scene and the selection."""
        match event:
            case SceneChanged(scene=scene):
                blobs = sketch_blobs(scene, graph_places(scene)) if scene else ()
                self._graph.show_graph(blobs, sketch_links(scene) if scene else ())
            case MentionPicked(mention_id=mention_id):
                self._graph.show_thing(mention_id)
            case RelationPicked(relation_id=relation_id):
                self._graph.show_link(relation_id)

    def _change(self, relation_id: RelationId) -> None:
        self._studio.session.pick_relation(relation_id)
        self._wheel.trigger()

    def _remove(self, relation_id: RelationId) -> None:
        if (scene := self._studio.session.scene) is not None:
            self._edit(tr("remove relation"), scene, with_relation_removed(scene, relation_id))

    def _relate(self, subject: MentionId, thing: MentionId) -> None:
        if (scene := self._studio.session.scene) is not None:
            related = with_relation_added(scene, next(iter(relation_types)), subject, thing)
            self._edit(tr("add relation"), scene, related)

    def _edit(self, name: str, before: SceneGraph, after: SceneGraph) -> None:
        self._edits.change(name, before, after, self._studio.use_scene)
