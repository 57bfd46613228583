from dataclasses import replace

import pytest

from spatialstudio.application.inspect.storyboard import (
    BoardChanged,
    Storyboard,
    pinned,
)
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.errors import ExportError
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS, picture_of, step_of


@pytest.fixture
def run():
    request = new_request(scene_of(), STICKERS, seed=7, steps=3)
    steps = tuple(step_of(request, step) for step in range(3))
    return OpenRun(id=request.id, scene=request.scene, request=request, total_steps=3, steps=steps)


def test_a_frame_holds_the_state_of_its_step(run):
    frame = pinned(run, 1)
    assert frame.caption == "Step 2 of 3, seed 7"
    assert frame.picture is run.steps[1].preview
    assert [word for word, _ in frame.maps] == ["dog", "car"]
    assert dict(frame.pos) == {"dog to the left of car": run.steps[1].pos["r1"]}


def test_the_last_frame_of_a_finished_run_is_its_picture(run):
    done = replace(run, image=picture_of(7))
    assert pinned(done, 2).picture is done.image


def test_the_same_step_can_be_pinned_twice(run):
    assert pinned(run, 1).id != pinned(run, 1).id


def test_a_step_without_a_picture_is_rejected(run):
    blind = replace(run, steps=(replace(run.steps[0], preview=None), *run.steps[1:]))
    with pytest.raises(ExportError):
        pinned(blind, 0)


def test_the_board_publishes_its_frames(run):
    told = []
    board = Storyboard(told.append)
    frames = (pinned(run, 0), pinned(run, 1))
    board.show(frames)
    assert board.frames == frames
    (event,) = told
    assert isinstance(event, BoardChanged)
    assert event.frames == frames
