import pytest

from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.errors import Cancelled


def test_work_that_is_wanted_goes_on():
    assert CancelFlag().raise_if_cancelled() is None


def test_work_that_is_not_wanted_stops_every_time_it_asks():
    flag = CancelFlag()
    flag.cancel()
    with pytest.raises(Cancelled):
        flag.raise_if_cancelled()
    with pytest.raises(Cancelled):
        flag.raise_if_cancelled()
