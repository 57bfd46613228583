from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.application.evaluate.judge_choice import (
    JudgeDefaults,
    JudgeSets,
    has_unfit_detector,
    is_used,
    judge_set_names,
    make_judge_set,
    used_judge_set,
)
from spatialstudio.application.registry import Registry
from spatialstudio.domain.errors import ModelNotFound, NoDetectorChosen, SettingsError
from spatialstudio.domain.generation import ModelRef
from spatialstudio.domain.judge_choice import (
    DEFAULT_JUDGE_SET,
    JUDGE_SETS,
    OPEN_VOCABULARY,
    STICKER_JUDGES,
    Candidates,
    JudgeSetCard,
    JudgeSetChoice,
    JudgeTask,
    UsedJudgeSet,
)
from spatialstudio.domain.ports import AdapterEntry, PerceptionCard, PerceptionRole, Surroundings
from spatialstudio.domain.verdict import Perception
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS


class Catalog:
    """Makes a name of every model; lists the given cards, and names the heads they lack."""

    def __init__(self, *cards, unknown=()):
        self._cards = cards
        self._unknown = unknown

    def cards(self):
        return self._cards

    def unknown_heads(self, model_id, heads):
        return tuple(head for head in heads if (model_id, head) in self._unknown)

    def make(self, model_id, role):
        return f"{role.value} {model_id}"

    def ref(self, model_id, role):
        return ModelRef(id=model_id, revision="r1", sha256="f00d")


def card(name, architecture, role=PerceptionRole.DETECTOR):
    return PerceptionCard(
        ref=ModelRef(id=name),
        role=role,
        architecture=architecture,
        folder=Path(name),
        size_bytes=1,
    )


DINO = card("IDEA-Research/grounding-dino-tiny", "GroundingDinoForObjectDetection")
DETR = card("my-detr", "DetrForObjectDetection")
SAM = card("facebook/sam2.1-hiera-tiny", "Sam2VideoModel", PerceptionRole.SEGMENTER)
DEPTH = card("depth", "DPTForDepthEstimation", PerceptionRole.DEPTH)
BLIP = card("vqa", "BlipForQuestionAnswering", PerceptionRole.ANSWERER)
OF_STUDIO = {"detector": ("sticker-segmenter",), "depth": ("sticker-depth",)}
SCENE = scene_of("cat", "dog")


def sets_of(*cards, unknown=(), own=()):
    catalog = Catalog(*cards, unknown=unknown)
    return JudgeSets(lambda: catalog, lambda kind: OF_STUDIO.get(kind, ()), lambda: own)


def defaults_of(*cards, choice=DEFAULT_JUDGE_SET, unknown=()):
    return JudgeDefaults(lambda: (), lambda: choice, sets_of(*cards, unknown=unknown))


def judges(choice, *cards, stickers=False, unknown=()):
    defaults = defaults_of(*cards, unknown=unknown)
    return defaults.judges_for(choice, SCENE, is_sticker_picture=stickers)


def make_named(_):
    return "registered"


def make_catalog(_):
    return Catalog()


@pytest.fixture
def registry(tmp_path):
    """The sticker models, a catalog, and the other adapters of judging."""
    registered = (
        *(("detector", "sticker-segmenter"), ("depth", "sticker-depth")),
        *(("perturber", "pillow"), ("perception_store", "files")),
    )
    entries = [
        AdapterEntry(kind=kind, id=name, make=f"{__name__}:make_named") for kind, name in registered
    ]
    catalog = AdapterEntry(kind="perception_catalog", id="folders", make=f"{__name__}:make_catalog")
    return Registry([*entries, catalog], Surroundings(resources=tmp_path, model_folders=()))


def test_the_sticker_models_judge_sticker_pictures_by_default(registry):
    made = make_judge_set(registry, judges(DEFAULT_JUDGE_SET, DINO, stickers=True))
    assert (made.detector, made.depth) == ("registered", "registered")
    assert (made.second, made.segmenter, made.cut) == (None, None, None)


def test_a_registered_detector_is_named_by_its_id(registry):
    choice = JudgeSetChoice(detector_id="of-a-plugin", depth_id="sticker-depth")
    entry = AdapterEntry(kind="detector", id="of-a-plugin", make=f"{__name__}:make_named")
    registry = Registry([entry, *registry._entries.values()], registry._surroundings)
    names = judge_set_names(registry, choice)
    assert names == {"detector": "of-a-plugin", "depth": "sticker-depth"}


def test_other_models_are_found_in_the_catalog(registry):
    choice = JudgeSetChoice(detector_id="a", second_id="b", segmenter_id="c", depth_id="d", cut=0.3)
    made = make_judge_set(registry, choice)
    assert (made.detector, made.second) == ("detector a", "detector b")
    assert (made.segmenter, made.depth, made.cut) == ("segmenter c", "depth d", 0.3)


def test_sticker_depth_is_not_used_for_other_pictures(registry):
    assert make_judge_set(registry, JudgeSetChoice(detector_id="a")).depth is None


@pytest.mark.parametrize("cut", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_0_to_1_is_rejected(cut):
    with pytest.raises(SettingsError):
        JudgeSetChoice(cut=cut)


def test_without_an_installed_set_other_pictures_are_not_judged(registry):
    with pytest.raises(NoDetectorChosen, match="not judged"):
        make_judge_set(registry, judges(DEFAULT_JUDGE_SET))


def test_a_chosen_detector_judges_every_picture():
    choice = JudgeSetChoice(detector_id="a", second_id="b")
    assert judges(choice, DINO) == choice
    assert judges(choice, DINO, stickers=True) == choice


def test_sticker_models_chosen_for_other_pictures_are_marked_unsuited():
    assert judges(JudgeSetChoice(detector_id="sticker-segmenter"), DINO).is_unsuited
    assert judges(JudgeSetChoice(set_id="stickers")).is_unsuited
    assert not judges(STICKER_JUDGES, DINO, stickers=True).is_unsuited


@pytest.mark.parametrize(
    "choice",
    [
        JudgeSetChoice(second_id="sticker-segmenter"),
        JudgeSetChoice(detector_id="a", second_id="sticker-segmenter"),
        JudgeSetChoice(detector_id="a", depth_id="sticker-depth"),
    ],
)
def test_any_sticker_model_chosen_for_another_picture_marks_it(choice):
    assert judges(choice).is_unsuited
    assert not judges(choice, stickers=True).is_unsuited


def test_the_second_detector_judges_alone_where_no_set_is_installed():
    alone = judges(JudgeSetChoice(second_id="b"))
    assert (alone.detector_id, alone.second_id) == ("b", None)


def test_other_pictures_get_the_first_installed_set_that_covers_the_prompt():
    both = judges(DEFAULT_JUDGE_SET, DETR, DINO, SAM, DEPTH, BLIP)
    assert both == JudgeSetChoice(
        set_id="open-vocabulary",
        detector_id=DINO.ref.id,
        segmenter_id=SAM.ref.id,
        depth_id="depth",
        answerer_id="vqa",
    )
    assert judges(DEFAULT_JUDGE_SET, DETR, DEPTH).set_id == "coco"


def test_a_set_that_does_not_know_an_object_is_no_default():
    unknown = [("my-detr", "dog")]
    assert judges(DEFAULT_JUDGE_SET, DETR, unknown=unknown).detector_id is None
    assert judges(DEFAULT_JUDGE_SET, DETR, DINO, unknown=unknown).detector_id == DINO.ref.id
    assert judges(JudgeSetChoice(set_id="coco"), DETR, unknown=unknown).detector_id == "my-detr"


@pytest.mark.parametrize(
    "names",
    [
        {JudgeTask.DETECTOR: "sticker-segmenter"},
        {JudgeTask.DETECTOR: "org/own", JudgeTask.DEPTH: "sticker-depth"},
    ],
)
def test_sticker_models_are_never_the_default_of_other_pictures(names):
    tasks = {task: Candidates(models=(name,)) for task, name in names.items()}
    own = JudgeSetCard(id="mine", label="Mine", tasks=tasks)
    assert sets_of(card("org/own", "Own"), own=[own]).suitable(SCENE) is None
    assert judges(DEFAULT_JUDGE_SET, SAM, DEPTH).detector_id is None


def test_chosen_models_replace_those_of_the_set():
    choice = JudgeSetChoice(set_id="spatialbench-uc", second_id="other", cut=0.3)
    chosen = judges(choice, DETR, DINO)
    assert (chosen.detector_id, chosen.second_id, chosen.cut) == ("my-detr", "other", 0.3)
    assert judges(JudgeSetChoice(set_id="spatialbench-uc"), DETR, DINO).cut == 0.5
    over_default = judges(JudgeSetChoice(depth_id="other"), DINO)
    assert (over_default.detector_id, over_default.depth_id) == (DINO.ref.id, "other")


def test_a_set_without_its_detector_cannot_be_chosen():
    with pytest.raises(ModelNotFound, match="No detector") as error:
        judges(JudgeSetChoice(set_id="open-vocabulary"), DETR)
    assert "spatialstudio models get IDEA-Research/grounding-dino-base" in error.value.hint
    with pytest.raises(SettingsError, match='no judge set "nothing"'):
        judges(JudgeSetChoice(set_id="nothing"))


def test_models_are_found_by_repository_folder_and_architecture():
    by_folder = card("grounding-dino-base", "GroundingDinoForObjectDetection")
    sets = sets_of(DINO, by_folder)
    assert sets.installed(OPEN_VOCABULARY)[JudgeTask.DETECTOR] == "grounding-dino-base"
    assert set(sets.missing(OPEN_VOCABULARY)) == {
        JudgeTask.SEGMENTER,
        JudgeTask.DEPTH,
        JudgeTask.ANSWERER,
    }


def test_a_set_of_the_user_replaces_the_built_in_one_of_its_id():
    own = replace(OPEN_VOCABULARY, label="Mine")
    assert sets_of(own=[own]).card("open-vocabulary").label == "Mine"
    assert [each.id for each in sets_of(own=[own]).cards] == [each.id for each in JUDGE_SETS]


def test_the_set_is_described_with_exact_models(registry):
    choice = JudgeSetChoice(set_id="coco", detector_id="a", cut=0.4)
    assert used_judge_set(registry, choice) == UsedJudgeSet(
        id="coco", models={"detector": "a r1 f00d"}, cut=0.4
    )


def test_sticker_models_are_the_embedded_one_and_those_that_list_their_objects():
    listed = replace(STICKERS, id="other", known_objects={"dog": "dog"})
    unlisted = replace(STICKERS, id="open", known_objects={})
    defaults = JudgeDefaults(lambda: (listed, unlisted), lambda: DEFAULT_JUDGE_SET, sets_of())
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


def test_an_evaluation_is_by_the_chosen_set_if_models_and_threshold_are_equal():
    used = UsedJudgeSet(id="coco", models={"detector": "org/detr 0123456789ab"}, cut=0.5)
    chosen = JudgeSetChoice(set_id="coco", detector_id="org/detr", cut=0.5)
    assert is_used(chosen, used)
    assert not is_used(replace(chosen, cut=None), used)
    assert not is_used(replace(chosen, detector_id="org/det"), used)
    assert not is_used(replace(chosen, second_id="org/owl"), used)
    assert not is_used(replace(chosen, detector_id=None), used)
