"""A download in a child process, from a fake hub: it reports, ends, and can be killed."""

from queue import Queue

import pytest
from huggingface_hub import close_session

from spatialstudio.application.models.download_process import ChildDownload
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.hub import DownloadProgress
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.resources import resources_folder
from tests.hub_fakes import DIFFUSERS, FakeHub, hub_in, status, without_token_of_the_user
from tests.patience import PATIENCE_S


@pytest.fixture
def fake():
    with FakeHub() as fake:
        fake.add("maker/model", DIFFUSERS)
        yield fake


@pytest.fixture
def hub(fake, tmp_path, monkeypatch):
    """The hub of this process; a child finds the same one through its environment."""
    without_token_of_the_user(monkeypatch, tmp_path)
    monkeypatch.setenv("HF_ENDPOINT", fake.url)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    yield hub_in(tmp_path, fake.url)
    close_session()


@pytest.fixture
def reports():
    return Queue()


def start(hub, reports):
    surroundings = Surroundings(resources=resources_folder(), model_folders=())
    return ChildDownload(surroundings, hub.plan("maker/model"), reports.put)


def test_a_child_downloads_and_reports(hub, reports):
    start(hub, reports)
    received = []
    while (report := reports.get(timeout=PATIENCE_S)) is not None:
        received.append(report)
    assert {type(report) for report in received} == {DownloadProgress}
    assert [model.id for model in hub.installed()] == ["maker/model"]


def test_a_child_reports_why_it_failed_and_can_be_stopped(hub, fake, reports):
    fake.breaks("storage", status(404))
    download = start(hub, reports)
    while not isinstance(report := reports.get(timeout=PATIENCE_S), ErrorReport):
        pass
    assert "does not have it" in report.message
    download.stop()
    assert hub.installed() == ()
