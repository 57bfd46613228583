"""A window with a session over a generated release."""

import pytest

from spatialstudio.application.audit.desk import AuditDesk
from spatialstudio.application.audit.sessions import SessionPlan
from spatialstudio.ui.audit.voting_panel import VotingPanel
from tests.generated_release import write_release


@pytest.fixture
def runs(tmp_path):
    """Evaluations of three generated runs with pictures."""
    return [run / "eval" for run in write_release(tmp_path / "release", prompts=4, pictures=True)]


@pytest.fixture
def desk(studio):
    """The audit of the studio."""
    desk = studio.storage.audit_desk
    assert isinstance(desk, AuditDesk)
    return desk


@pytest.fixture
def begin(desk, runs):
    """Return a function that starts a session of a few pictures."""

    def start(**plan):
        plan = {"rater": "Ada", "size": 6, **plan}
        desk.start(desk.file_population(runs), SessionPlan(**plan))

    return start


@pytest.fixture
def screen(window):
    """The voting screen in its workspace."""
    for workspace in window._workspaces:
        if workspace.id == "audit":
            window.use_workspace(workspace)
    return window.findChild(VotingPanel)
