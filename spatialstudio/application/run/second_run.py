"""A second run on the clock of the open one: its baseline, another seed, or any stored run."""

from spatialstudio.application.run.start_run import RunStarter
from spatialstudio.application.session import OpenRun, Session
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    MAX_SEED,
    GenerationRequest,
    is_search,
    new_request_id,
    unguided,
)
from spatialstudio.domain.run_settings import with_values


class SecondRun:
    """Sets a run beside the open one; the session tells of it as of the baseline.

    Lives on the thread of the window.

    Args:
        session: Where both runs are open.
        starter: Has pictures drawn.
    """

    def __init__(self, session: Session, starter: RunStarter) -> None:
        self._session = session
        self._starter = starter

    def draw_baseline(self) -> None:
        """Draw the open run's seed without guidance, beside it.

        Raises:
            RequestError: The open picture was not drawn here, or is still searched for.
            ModelNotFound: Its model is no longer there.
            StoreError: The folder for runs cannot be written.
        """
        asked, run = self._asked(), self._session.run
        if run is not None and not run.is_over and is_search(asked):
            raise RequestError("The search has not finished.", hint="Wait until it has ended.")
        self._draw(unguided(asked, new_request_id()))

    def draw_next_seed(self) -> None:
        """Draw the seed after those of both runs with the same settings, beside the open run.

        Raises:
            RequestError: The open picture was not drawn here.
            ModelNotFound: Its model is no longer there.
            StoreError: The folder for runs cannot be written.
        """
        asked, beside = self._asked(), self._session.baseline
        newest = asked.sampling.seed
        if beside is not None and beside.request is not None:
            newest = max(newest, beside.request.sampling.seed)
        seed = (newest + 1) % (MAX_SEED + 1)
        self._draw(with_values(asked, id=new_request_id(), seed=seed))

    def show(self, run: OpenRun) -> None:
        """Set a stored run, which was read, beside the open one.

        Raises:
            RequestError: No run is open.
        """
        if self._session.run is None:
            raise RequestError("No run is open.", hint="Open or generate one first.")
        self._session.set_beside(run)

    def put_away(self) -> None:
        """Look at the open run alone."""
        self._session.set_beside(None)

    def _asked(self) -> GenerationRequest:
        run = self._session.run
        if run is None or run.request is None:
            raise RequestError(
                "The open picture was imported and cannot be generated with other settings.",
                hint="Open or generate a run first.",
            )
        return run.request

    def _draw(self, request: GenerationRequest) -> None:
        (asked,) = self._starter.prepare(request)
        self._session.set_beside(OpenRun(id=asked.id, scene=asked.scene, request=asked))
        self._starter.submit((asked,))
