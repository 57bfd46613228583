import pytest

from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.errors import Cancelled


def test_work_continues_without_a_cancellation():
    assert CancelFlag().raise_if_cancelled() is None


def test_cancelled_work_stops_at_every_check():
    flag = CancelFlag()
    flag.cancel()
    with pytest.raises(Cancelled):
        flag.raise_if_cancelled()
    with pytest.raises(Cancelled):
        flag.raise_if_cancelled()
