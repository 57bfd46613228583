from dataclasses import replace

import pytest

from spatialstudio.application.events import EventBus
from spatialstudio.application.jobs.messages import DevicesListed, ListDevices
from spatialstudio.application.models.model_lists import DeviceList
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.domain.run_settings import with_values
from tests.fakes import PROCESSOR, scene_of
from tests.ui.scripted_engine import STICKERS


@pytest.fixture
def bus():
    return EventBus()


@pytest.fixture
def asked():
    return []


@pytest.fixture
def devices(bus, asked):
    return DeviceList(asked.append, bus.subscribe)


@pytest.fixture
def elsewhere():
    """A request for a device of another machine."""
    return with_values(new_request(scene_of(), STICKERS, seed=0), device="cuda:1")


def test_the_devices_are_those_of_the_engine(devices, asked):
    devices.ask()
    assert asked == [ListDevices()]


def test_the_latest_answer_is_kept(devices, bus):
    later = replace(PROCESSOR, free_bytes=1)
    bus.publish(DevicesListed(devices=(PROCESSOR,)))
    bus.publish(DevicesListed(devices=(later,)))
    assert devices.known == (later,)


def test_a_device_of_another_machine_is_deselected(devices, bus, elsewhere):
    bus.publish(DevicesListed(devices=(PROCESSOR,)))
    assert devices.without_missing_device(elsewhere).sampling.device == ""


def test_a_device_stays_selected_if_available_or_unknown(devices, bus, elsewhere):
    assert devices.without_missing_device(elsewhere) is elsewhere
    bus.publish(DevicesListed(devices=(replace(PROCESSOR, id="cuda:1"), PROCESSOR)))
    assert devices.without_missing_device(elsewhere) is elsewhere
