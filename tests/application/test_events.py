import logging

import pytest

from spatialstudio.application.events import EventBus


@pytest.fixture
def bus():
    return EventBus()


def test_every_subscriber_receives_events_in_order(bus):
    pronounced = []
    bus.subscribe(lambda event: pronounced.append(("first", event)))
    bus.subscribe(lambda event: pronounced.append(("second", event)))
    bus.publish("news")
    assert pronounced == [("first", "news"), ("second", "news")]


def test_an_ended_subscription_receives_nothing(bus):
    pronounced = []
    unsubscribe = bus.subscribe(pronounced.append)
    unsubscribe()
    unsubscribe()
    bus.publish("news")
    assert pronounced == []


def test_a_failing_listener_does_not_affect_others(bus, caplog):
    pronounced = []

    def deaf(event):
        raise RuntimeError("deaf")

    bus.subscribe(deaf)
    bus.subscribe(pronounced.append)
    with caplog.at_level(logging.ERROR):
        bus.publish("news")
    assert pronounced == ["news"]
    assert "A listener failed on str." in caplog.text


def test_a_listener_may_unsubscribe_during_an_event(bus):
    pronounced = []

    def once(event):
        pronounced.append(event)
        unsubscribe()

    unsubscribe = bus.subscribe(once)
    bus.publish("one")
    bus.publish("two")
    assert pronounced == ["one"]
