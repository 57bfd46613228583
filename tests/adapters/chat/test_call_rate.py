import pytest

from spatialstudio.adapters.chat.call_rate import CallRate
from spatialstudio.domain.errors import Cancelled
from tests.fakes import CountingToken


class Clock:
    """A clock that moves only while somebody sleeps."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def read(self):
        return self.now

    def sleep(self, seconds, token):
        token.raise_if_cancelled()
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def test_calls_up_to_the_limit_do_not_wait(clock):
    rate = CallRate(3, clock.read, clock.sleep)
    for _ in range(3):
        rate.wait(CountingToken())
    assert clock.slept == []


def test_a_call_beyond_the_limit_waits_until_the_first_is_a_minute_old(clock):
    rate = CallRate(2, clock.read, clock.sleep)
    rate.wait(CountingToken())
    clock.now = 20.0
    rate.wait(CountingToken())
    rate.wait(CountingToken())
    assert clock.slept == [40.0]
    rate.wait(CountingToken())
    assert clock.now == 80.0


def test_no_minute_has_more_calls_than_the_limit(clock):
    rate, times = CallRate(5, clock.read, clock.sleep), []
    for _ in range(23):
        rate.wait(CountingToken())
        times.append(clock.now)
        clock.now += 0.5
    assert all(later - first >= 60 for first, later in zip(times, times[5:], strict=False))


def test_waiting_can_be_cancelled(clock):
    rate = CallRate(1, clock.read, clock.sleep)
    rate.wait(CountingToken())
    with pytest.raises(Cancelled):
        rate.wait(CountingToken(stop_at=1))
