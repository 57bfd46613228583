"""The scene-graph score of the open run, computed in a background thread."""

from collections.abc import Callable

from spatialstudio.application.jobs.background_jobs import CancellableJob
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.graph_match import GraphMatch, GraphRows
from spatialstudio.domain.graph_settings import GraphSettings
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.scene_graph.rows import graph_rows
from spatialstudio.science.scene_graph.score import score_picture


@frozen(eq=False)
class GraphsMatched:
    """The graphs of an evaluation. Published by ``GraphMatcher``; may cross threads.

    Attributes:
        evaluation: The evaluation.
        settings: The settings of the score.
        match: The score with its graphs; None for a prompt without objects.
    """

    evaluation: Evaluation
    settings: GraphSettings
    match: GraphMatch | None


class GraphMatcher(CancellableJob):
    """Computes one scene-graph score at a time; a new request cancels the previous one.

    Args:
        publish: Receives ``GraphsMatched``, in the thread.
    """

    def __init__(self, publish: Callable[[object], None]) -> None:
        self._publish = publish

    def match(self, scene: SceneGraph, evaluation: Evaluation, settings: GraphSettings) -> None:
        """Start to compute the score; returns at once.

        Args:
            scene: The scene that was evaluated.
            evaluation: The picture's evaluation for it.
            settings: The settings of the score.
        """
        self._start(lambda flag: self._match(scene, evaluation, settings, flag))

    def _match(
        self, scene: SceneGraph, evaluation: Evaluation, settings: GraphSettings, flag: CancelFlag
    ) -> None:
        match = score_picture(scene, evaluation, settings)
        flag.raise_if_cancelled()
        self._publish(GraphsMatched(evaluation=evaluation, settings=settings, match=match))


def rows_of(match: GraphMatch, *, with_extra: bool) -> GraphRows:
    """Arrange the graphs of prompt and picture side by side.

    Args:
        match: The matching.
        with_extra: Whether relations that the prompt does not state are included.
    """
    return graph_rows(match, with_extra=with_extra)
