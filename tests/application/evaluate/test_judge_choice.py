from dataclasses import replace

import pytest

from spatialstudio.application.evaluate.judge_choice import (
    JudgeDefaults,
    has_unfit_detector,
    judge_set_names,
    judges_by_origin,
    make_judge_set,
)
from spatialstudio.application.registry import Registry
from spatialstudio.domain.errors import NoDetectorChosen, SettingsError
from spatialstudio.domain.judge_choice import (
    DEFAULT_JUDGE_SET,
    STICKER_JUDGES,
    JudgeSetChoice,
)
from spatialstudio.domain.ports import AdapterEntry, Surroundings
from spatialstudio.domain.verdict import Perception
from tests.ui.scripted_engine import STICKERS


class Shelf:
    """Makes a name of every model it is asked for."""

    def make(self, model_id, role):
        return f"{role.value} {model_id}"


def make_named(_):
    return "registered"


def make_shelf(_):
    return Shelf()


@pytest.fixture
def registry(tmp_path):
    """The sticker models, a shelf, and what judging needs besides."""
    registered = (
        *(("detector", "sticker-segmenter"), ("depth", "sticker-depth")),
        *(("perturber", "pillow"), ("perception_store", "files")),
    )
    entries = [
        AdapterEntry(kind=kind, id=name, make=f"{__name__}:make_named") for kind, name in registered
    ]
    shelf = AdapterEntry(kind="perception_catalog", id="folders", make=f"{__name__}:make_shelf")
    return Registry([*entries, shelf], Surroundings(resources=tmp_path, model_folders=()))


def test_the_sticker_models_look_at_sticker_pictures_by_default(registry):
    judges = make_judge_set(registry, judges_by_origin(DEFAULT_JUDGE_SET, is_sticker_picture=True))
    assert (judges.detector, judges.depth) == ("registered", "registered")
    assert (judges.second, judges.segmenter, judges.cut) == (None, None, None)


def test_a_registered_detector_is_named_by_its_id(registry):
    choice = JudgeSetChoice(detector_id="of-a-plugin", depth_id="sticker-depth")
    entry = AdapterEntry(kind="detector", id="of-a-plugin", make=f"{__name__}:make_named")
    registry = Registry([entry, *registry._entries.values()], registry._surroundings)
    names = judge_set_names(registry, choice)
    assert names == {"detector": "of-a-plugin", "depth": "sticker-depth"}


def test_others_are_taken_from_the_shelf(registry):
    choice = JudgeSetChoice(detector_id="a", second_id="b", segmenter_id="c", depth_id="d", cut=0.3)
    judges = make_judge_set(registry, choice)
    assert (judges.detector, judges.second) == ("detector a", "detector b")
    assert (judges.segmenter, judges.depth, judges.cut) == ("segmenter c", "depth d", 0.3)


def test_the_depth_of_stickers_is_not_taken_for_that_of_other_pictures(registry):
    assert make_judge_set(registry, JudgeSetChoice(detector_id="a")).depth is None


@pytest.mark.parametrize("cut", [-0.1, 1.1, float("nan")])
def test_a_cut_that_is_no_share_is_refused(cut):
    with pytest.raises(SettingsError):
        JudgeSetChoice(cut=cut)


def test_nobody_looks_by_default_at_pictures_that_no_sticker_model_drew(registry):
    with pytest.raises(NoDetectorChosen, match="this is not a sticker picture"):
        make_judge_set(registry, judges_by_origin(DEFAULT_JUDGE_SET, is_sticker_picture=False))


def test_a_detector_that_was_chosen_looks_at_every_picture():
    for choice in (STICKER_JUDGES, JudgeSetChoice(detector_id="a", second_id="b")):
        assert judges_by_origin(choice, is_sticker_picture=False) == choice
        assert judges_by_origin(choice, is_sticker_picture=True) == choice


def test_the_second_detector_looks_alone_where_there_is_no_first():
    alone = judges_by_origin(JudgeSetChoice(second_id="b"), is_sticker_picture=False)
    assert (alone.detector_id, alone.second_id) == ("b", None)


def test_sticker_models_are_the_embedded_one_and_those_that_list_their_objects():
    listed = replace(STICKERS, id="other", known_objects={"dog": "dog"})
    unlisted = replace(STICKERS, id="open", known_objects={})
    defaults = JudgeDefaults(lambda: (listed, unlisted), lambda: DEFAULT_JUDGE_SET)
    drawn = {each: defaults.draws_stickers(each) for each in ("stickers", "other", "open", "")}
    assert drawn == {"stickers": True, "other": True, "open": False, "": False}


@pytest.mark.parametrize(
    ("detector_id", "is_sticker_picture", "is_unfit"),
    [
        ("sticker-segmenter", False, False),
        ("sticker-segmenter", True, False),
        ("", False, True),
        ("", True, False),
        ("owl", False, False),
    ],
)
def test_verdicts_of_sticker_models_do_not_fit_other_pictures(
    detector_id, is_sticker_picture, is_unfit
):
    seen = Perception(
        image_sha256="", height=8, width=8, detections=(), masks=(), detector_id=detector_id
    )
    assert has_unfit_detector(seen, is_sticker_picture=is_sticker_picture) is is_unfit
