"""Comparison run next to the open one: a baseline, another seed, or a stored run."""

from spatialstudio.application.run.start_run import RunStarter
from spatialstudio.application.session import OpenRun, Session
from spatialstudio.domain.derived_requests import is_search, unguided
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import MAX_SEED, GenerationRequest, new_request_id
from spatialstudio.domain.run_settings import with_values


class SecondRun:
    """Shows a run next to the open one, in the session's place for the baseline.

    Lives on the GUI thread.

    Args:
        session: The session with both runs.
        starter: Submits requests.
    """

    def __init__(self, session: Session, starter: RunStarter) -> None:
        self._session = session
        self._starter = starter

    def baseline_request(self) -> GenerationRequest:
        """Return a request for the open run's seed without guidance.

        Raises:
            RequestError: The open image is imported, or its search has not finished.
        """
        asked, run = self._asked(), self._session.run
        if run is not None and not run.is_over and is_search(asked):
            raise RequestError(
                "The noise search has not finished.", hint="Wait until it is finished."
            )
        return unguided(asked, new_request_id())

    def draw_baseline(self) -> None:
        """Generate the open run's seed without guidance, for comparison.

        Raises:
            RequestError: The open image is imported, or its search has not finished.
            ModelNotFound: Its model is not installed.
            StoreError: The runs folder is not writable.
        """
        self._draw(self.baseline_request())

    def draw_next_seed(self) -> None:
        """Generate the seed after those of both runs with the same settings, for comparison.

        Raises:
            RequestError: The open image is imported.
            ModelNotFound: Its model is not installed.
            StoreError: The runs folder is not writable.
        """
        asked, baseline = self._asked(), self._session.baseline
        newest = asked.sampling.seed
        if baseline is not None and baseline.request is not None:
            newest = max(newest, baseline.request.sampling.seed)
        seed = (newest + 1) % (MAX_SEED + 1)
        self._draw(with_values(asked, id=new_request_id(), seed=seed))

    def show(self, run: OpenRun) -> None:
        """Show a stored run for comparison.

        Raises:
            RequestError: No run is open.
        """
        if self._session.run is None:
            raise RequestError("No run is open.", hint="Open or generate one first.")
        self._session.set_second_run(run)

    def put_away(self) -> None:
        """Remove the comparison run."""
        self._session.set_second_run(None)

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
        self._session.set_second_run(OpenRun(id=asked.id, scene=asked.scene, request=asked))
        self._starter.submit((asked,))
