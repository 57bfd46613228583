import pytest

from spatialstudio.application.judge_choice import DEFAULT_JUDGES, JudgeChoice, find_judges
from spatialstudio.application.registry import AdapterEntry, Registry
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.ports import Surroundings


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
    shelf = AdapterEntry(kind="perception_shelf", id="folders", make=f"{__name__}:make_shelf")
    return Registry([*entries, shelf], Surroundings(resources=tmp_path, model_folders=()))


def test_the_sticker_models_look_by_default(registry):
    judges = find_judges(registry, DEFAULT_JUDGES)
    assert (judges.detector, judges.depth) == ("registered", "registered")
    assert (judges.second, judges.segmenter, judges.cut) == (None, None, None)


def test_others_are_taken_from_the_shelf(registry):
    choice = JudgeChoice(detector_id="a", second_id="b", segmenter_id="c", depth_id="d", cut=0.3)
    judges = find_judges(registry, choice)
    assert (judges.detector, judges.second) == ("detector a", "detector b")
    assert (judges.segmenter, judges.depth, judges.cut) == ("segmenter c", "depth d", 0.3)


def test_the_depth_of_stickers_is_not_taken_for_that_of_other_pictures(registry):
    assert find_judges(registry, JudgeChoice(detector_id="a")).depth is None


@pytest.mark.parametrize("cut", [-0.1, 1.1, float("nan")])
def test_a_cut_that_is_no_share_is_refused(cut):
    with pytest.raises(SettingsError):
        JudgeChoice(cut=cut)
