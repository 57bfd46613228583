"""Selection of the judge set among registered and installed models.

Without a selection the default depends on the image's origin. The sticker models recognise the
sticker world only, so they are the default for images of sticker models; other images get the first
installed judge set whose vocabulary covers the prompt, or none.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from spatialstudio.application.evaluate.evaluate_image import JudgeSet
from spatialstudio.application.registry import Registry
from spatialstudio.domain.errors import ModelNotFound, NoDetectorChosen, SettingsError, StudioError
from spatialstudio.domain.hub import CatalogueEntry, download_hint
from spatialstudio.domain.judge_choice import (
    JUDGE_SETS,
    OPEN_VOCABULARY,
    STICKER_DETECTOR_ID,
    STICKERS,
    Candidates,
    JudgeSetCard,
    JudgeSetChoice,
    JudgeTask,
    UsedJudgeSet,
)
from spatialstudio.domain.ports import (
    ModelCard,
    PerceptionCard,
    PerceptionCatalog,
    PerceptionRole,
)
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation, Perception

STICKER_MODEL_ID = "stickers"
"""Id of the embedded model, also recognised where it is not installed."""

ROLES = {
    JudgeTask.DETECTOR: PerceptionRole.DETECTOR,
    JudgeTask.SECOND_DETECTOR: PerceptionRole.DETECTOR,
    JudgeTask.SEGMENTER: PerceptionRole.SEGMENTER,
    JudgeTask.DEPTH: PerceptionRole.DEPTH,
    JudgeTask.ANSWERER: PerceptionRole.ANSWERER,
}
PERTURBER_ID = "pillow"
PERCEPTION_STORE_ID = "files"
PERCEPTION_CATALOG_ID = "folders"


class JudgeSets:
    """The named judge sets, built-in and user-defined, and the installed models that fill them.

    Args:
        catalog: Returns the catalog of perception models.
        registered: Returns the ids of the registered adapters of a kind, as "detector".
        own: Returns the user-defined judge sets.
        recommended: Returns the recommended models, which can be named by their short names.
    """

    def __init__(
        self,
        catalog: Callable[[], PerceptionCatalog],
        registered: Callable[[str], Sequence[str]],
        own: Callable[[], Iterable[JudgeSetCard]] = tuple,
        recommended: Callable[[], Iterable[CatalogueEntry]] = tuple,
    ) -> None:
        self._catalog = catalog
        self._registered = registered
        self._own = own
        self._recommended = recommended
        self._found: tuple[PerceptionCard, ...] | None = None

    @property
    def cards(self) -> tuple[JudgeSetCard, ...]:
        """All judge sets, built-in ones first; a user-defined set replaces one with its id."""
        by_id = {card.id: card for card in (*JUDGE_SETS, *self._own())}
        return tuple(by_id.values())

    @property
    def models(self) -> tuple[PerceptionCard, ...]:
        """The installed perception models, without the embedded ones."""
        return self.find() if self._found is None else self._found

    def find(self) -> tuple[PerceptionCard, ...]:
        """Search again for installed perception models."""
        self._found = self._catalog().cards()
        return self._found

    def forget(self) -> None:
        """Search for installed models again at the next use."""
        self._found = None

    def card(self, set_id: str) -> JudgeSetCard:
        """Return a judge set by id.

        Raises:
            SettingsError: There is no such judge set, or it is invalid.
        """
        for card in self.cards:
            if card.id == set_id and card.fault:
                raise SettingsError(
                    f'The judge set "{set_id}" cannot be used: {card.fault}.',
                    hint="Correct it in judge_sets.json in the settings folder.",
                )
            if card.id == set_id:
                return card
        known = ", ".join(card.id for card in self.cards)
        raise SettingsError(f'There is no judge set "{set_id}".', hint=f"Available: {known}.")

    def installed(self, card: JudgeSetCard) -> Mapping[JudgeTask, str]:
        """Return the model that does each task of a judge set; other tasks have none installed."""
        found = {task: self._first_installed(task, each) for task, each in card.tasks.items()}
        return {task: model for task, model in found.items() if model}

    def missing(self, card: JudgeSetCard) -> Mapping[JudgeTask, Candidates]:
        """Return the tasks of a judge set without an installed model, with their candidates."""
        installed = self.installed(card)
        return {task: each for task, each in card.tasks.items() if task not in installed}

    def notes(self, choice: JudgeSetChoice) -> tuple[str, ...]:
        """Return sentences on tasks that a chosen user-defined set leaves out; not its detector."""
        card = next((each for each in self._own() if each.id == choice.set_id), None)
        absent = {} if card is None else self.missing(card)
        return tuple(
            f'The model "{each.models[0]}" of the judge set "{choice.set_id}" is not installed: '
            f"there is no {task.value.replace('_', ' ')}. {download_hint(each.models[0])}".rstrip()
            for task, each in absent.items()
            if task is not JudgeTask.DETECTOR and task not in choice.models and each.models
        )

    def usable(self, task: JudgeTask) -> tuple[str, ...]:
        """Return all models that can do a task: registered adapters, then installed models."""
        role = ROLES[task]
        installed = (card.ref.id for card in self.models if card.role is role)
        return tuple(dict.fromkeys((*self._registered(role.value), *installed)))

    def to_download(self, set_id: str) -> tuple[str, ...]:
        """Return the repositories of candidates for the tasks without an installed model.

        Args:
            set_id: The judge set; empty or unknown for the set that finds any object.
        """
        by_id = {card.id: card for card in self.cards}
        missing = self.missing(by_id.get(set_id, OPEN_VOCABULARY))
        names = dict.fromkeys(name for each in missing.values() for name in each.models)
        return tuple(filter(download_hint, names))

    def filled(self, choice: JudgeSetChoice) -> JudgeSetChoice:
        """Replace short names of models by ids, and fill in the other tasks from the named set.

        Raises:
            SettingsError: There is no such judge set, or a short name is ambiguous.
            ModelNotFound: The judge set needs a detector, and none of its candidates is installed.
        """
        choice = self._by_id(choice)
        if not choice.set_id:
            return choice
        card = self.card(choice.set_id)
        models = {**self.installed(card), **choice.models}
        if JudgeTask.DETECTOR not in models:
            wanted = card.tasks.get(JudgeTask.DETECTOR, Candidates(models=()))
            raise ModelNotFound(
                f'No detector of the judge set "{card.label}" is installed.',
                hint="".join(map(download_hint, wanted.models[:1]))
                or "Choose another judge set, or another detector for this one.",
            )
        return _with_models(choice, models, card)

    def model_id(self, task: JudgeTask, name: str) -> str:
        """Return the id of a model by id or short name.

        A short name is the id of a recommended model, or the last part of an installed model's id.

        Args:
            task: The task of the model in a judge set.
            name: Id, short name or folder; a name of no model is returned unchanged.

        Raises:
            SettingsError: Several installed models have this short name.
            ModelNotFound: The recommended model of this name is for another task.
        """
        usable, role = self.usable(task), ROLES[task].value
        known = (each for each in self._recommended() if name in (each.id, each.repository))
        entry = next(known, None)
        repository = entry.repository if entry is not None else name
        for each in (name, repository):
            if each in usable:
                return each
        if entry is not None and entry.task.value != role:
            raise ModelNotFound(
                f'The model "{name}" is for the task "{entry.task.value}", not "{role}".',
                hint=f'List suitable models with "spatialstudio models list --task {role}".',
            )
        if repository == name and "/" in name:
            return name
        found = [each for each in usable if _short_name(each) == _short_name(repository)]
        if len(found) > 1:
            raise SettingsError(
                f'Several installed models are named "{name}".',
                hint=f"Pass one of these ids: {', '.join(found)}.",
            )
        return found[0] if found else repository

    def _by_id(self, choice: JudgeSetChoice) -> JudgeSetChoice:
        """Replace short names of models by ids; see ``model_id``."""

        def exact(task: JudgeTask, name: str | None) -> str | None:
            return self.model_id(task, name) if name else name

        return replace(
            choice,
            detector_id=exact(JudgeTask.DETECTOR, choice.detector_id),
            second_id=exact(JudgeTask.SECOND_DETECTOR, choice.second_id),
            segmenter_id=exact(JudgeTask.SEGMENTER, choice.segmenter_id),
            depth_id=exact(JudgeTask.DEPTH, choice.depth_id),
            answerer_id=exact(JudgeTask.ANSWERER, choice.answerer_id),
        )

    def suitable(self, scene: SceneGraph) -> JudgeSetChoice | None:
        """Return the first judge set for images of any origin whose vocabulary covers a prompt.

        Args:
            scene: The prompt; its mentions must be known to the detector.
        """
        heads = [mention.head for mention in scene.mentions]
        for card in self.cards:
            models = self.installed(card)
            made = _with_models(JudgeSetChoice(set_id=card.id), models, card)
            detector = None if made.uses_sticker_models else made.detector_id
            if detector is not None and not self._unknown(detector, heads):
                return made
        return None

    def _unknown(self, detector_id: str, heads: Sequence[str]) -> tuple[str, ...]:
        """Return the heads that an installed detector cannot recognise."""
        if detector_id in self._registered(JudgeTask.DETECTOR.value):
            return ()
        return self._catalog().unknown_heads(detector_id, heads)

    def _first_installed(self, task: JudgeTask, candidates: Candidates) -> str | None:
        role = ROLES[task]
        registered = self._registered(role.value)
        cards = [card for card in self.models if card.role is role]
        names = [card.ref.id for card in cards]
        for model in candidates.models:
            here = [name for name in names if _is_named(name, model)]
            if model in registered or here:
                return here[0] if here else model
        alike = (card for card in cards if card.architecture in candidates.architectures)
        return next((card.ref.id for card in alike), None)


def _is_named(name: str, model: str) -> bool:
    """Return True if a catalog name is that of a model, by repository or by folder."""
    return name in (model, _short_name(model))


def _short_name(model_id: str) -> str:
    """Return the last part of a repository's id."""
    return model_id.rpartition("/")[2]


def _with_models(
    choice: JudgeSetChoice, models: Mapping[JudgeTask, str], card: JudgeSetCard
) -> JudgeSetChoice:
    return replace(
        choice,
        set_id=card.id,
        detector_id=models.get(JudgeTask.DETECTOR),
        second_id=models.get(JudgeTask.SECOND_DETECTOR),
        segmenter_id=models.get(JudgeTask.SEGMENTER),
        depth_id=models.get(JudgeTask.DEPTH),
        answerer_id=models.get(JudgeTask.ANSWERER),
        cut=card.cut if choice.cut is None else choice.cut,
    )


def has_unfit_detector(perception: Perception, *, is_sticker_picture: bool) -> bool:
    """Return True if the sticker models evaluated, by default, an image of another model.

    Records that name their detector are valid: such images already needed an explicit choice. In
    older records the detections name the detector; without detections it was the default of that
    time, the sticker models.
    """
    if is_sticker_picture or perception.detector_id:
        return False
    return {each.detector_id for each in perception.detections} <= {STICKER_DETECTOR_ID}


def no_detector_chosen() -> NoDetectorChosen:
    """Return the error for an image without a chosen detector."""
    detector = OPEN_VOCABULARY.tasks[JudgeTask.DETECTOR].models[0]
    return NoDetectorChosen(
        "The picture is not judged: no installed judge set suits it.",
        hint=f'Run "spatialstudio models get {detector}", or download it on the Models page.',
    )


class JudgeDefaults:
    """The judge set for a model's images: the user's choice, else the default by origin.

    Args:
        models: Returns the installed models.
        choice: Returns the user's choice.
        sets: The named judge sets.
    """

    def __init__(
        self,
        models: Callable[[], Iterable[ModelCard]],
        choice: Callable[[], JudgeSetChoice],
        sets: JudgeSets,
    ) -> None:
        self._models = models
        self._choice = choice
        self._sets = sets

    def draws_stickers(self, model_id: str) -> bool:
        """Return True for sticker models: the embedded one, or one with a list of known objects.

        Args:
            model_id: Id in a request or in an image's metadata; empty if unknown.
        """
        return model_id == STICKER_MODEL_ID or any(
            card.id == model_id for card in self._models() if card.known_objects
        )

    def knows_stickers_only(self, choice: JudgeSetChoice, *, is_sticker_picture: bool) -> bool:
        """Return True if the sticker models judge an image, whatever its prompt."""
        return self._by_origin(choice, is_sticker_picture=is_sticker_picture).knows_stickers_only

    def judged_by_stickers(self, model_id: str) -> bool:
        """Return True if the sticker models judge a model's images under the user's choice."""
        is_sticker_picture = self.draws_stickers(model_id)
        return self.knows_stickers_only(self._choice(), is_sticker_picture=is_sticker_picture)

    def of_stickers(self, choice: JudgeSetChoice) -> JudgeSetChoice:
        """Return the judge set for sticker images."""
        return self._by_origin(choice, is_sticker_picture=True)

    def judges_of(self, model_id: str, scene: SceneGraph) -> JudgeSetChoice:
        """Return the judge set for a model's image; without a detector if no default applies.

        Args:
            model_id: Id of the model; empty if unknown.
            scene: Scene of the prompt.

        Raises:
            SettingsError: The chosen judge set does not exist.
            ModelNotFound: The chosen judge set has no installed detector.
        """
        return self.judges_for(
            self._choice(), scene, is_sticker_picture=self.draws_stickers(model_id)
        )

    def rate_depth(self, model_id: str, scene: SceneGraph) -> bool:
        """Return True if the judge set for a model's image detects objects and estimates depth."""
        try:
            judges = self.judges_of(model_id, scene)
        except StudioError:
            return False
        return judges.detector_id is not None and judges.depth_or_sticker_id is not None

    def judges_for(
        self, choice: JudgeSetChoice, scene: SceneGraph, *, is_sticker_picture: bool
    ) -> JudgeSetChoice:
        """Fill in the models that a choice leaves open; see ``judges_of``.

        Args:
            choice: A choice. Without a suitable default, its second detector becomes the first.
            scene: Scene of the prompt.
            is_sticker_picture: Whether a sticker model generated the image.
        """
        judges = self._by_origin(choice, is_sticker_picture=is_sticker_picture)
        if judges.detector_id is None:
            judges = self._by_prompt(judges, scene)
        is_unsuited = judges.uses_sticker_models and not is_sticker_picture
        return replace(judges, is_unsuited=is_unsuited)

    def _by_origin(self, choice: JudgeSetChoice, *, is_sticker_picture: bool) -> JudgeSetChoice:
        filled = self._sets.filled(choice)
        if filled.detector_id is None and is_sticker_picture:
            return replace(filled, set_id=STICKERS.id, detector_id=STICKER_DETECTOR_ID)
        return filled

    def _by_prompt(self, choice: JudgeSetChoice, scene: SceneGraph) -> JudgeSetChoice:
        """Fill in the models of a suitable judge set; without one, the second detector's role."""
        suitable = self._sets.suitable(scene)
        if suitable is None:
            return replace(choice, detector_id=choice.second_id, second_id=None)
        models = {**suitable.models, **choice.models}
        return _with_models(choice, models, self._sets.card(suitable.set_id))

    def fitting(self, evaluation: Evaluation | None, model_id: str) -> Evaluation | None:
        """Return a stored evaluation; None if its detector does not suit the model's images."""
        is_sticker_picture = self.draws_stickers(model_id)
        if evaluation is None or has_unfit_detector(
            evaluation.perception, is_sticker_picture=is_sticker_picture
        ):
            return None
        return evaluation


def judge_set_names(registry: Registry, choice: JudgeSetChoice) -> Mapping[str, str]:
    """Return the names of the chosen models by task, for results.

    Third-party models are named with revision and weight hash.

    Raises:
        ModelNotFound: A model is not installed, or has another role.
    """
    return {
        task.value: _exact_name(registry, model_id, ROLES[task])
        for task, model_id in choice.models.items()
    }


def used_judge_set(registry: Registry, choice: JudgeSetChoice) -> UsedJudgeSet:
    """Return the judge set as stored with the verdicts; errors as for ``judge_set_names``."""
    return UsedJudgeSet(
        id=choice.set_id,
        models=judge_set_names(registry, choice),
        cut=choice.cut,
        is_unsuited=choice.is_unsuited,
    )


def is_used(choice: JudgeSetChoice, used: UsedJudgeSet) -> bool:
    """Return True if an evaluation was made by exactly the chosen models and score threshold."""
    chosen = {task.value: model for task, model in choice.models.items()}
    return (
        choice.cut == used.cut
        and chosen.keys() == used.models.keys()
        and all(f"{used.models[task]} ".startswith(f"{model} ") for task, model in chosen.items())
    )


def make_judge_set(registry: Registry, choice: JudgeSetChoice) -> JudgeSet:
    """Create the chosen judge set; weights are loaded on first use.

    Raises:
        ModelNotFound: A model is not installed, or has another role.
        NoDetectorChosen: The choice has no detector.
    """
    if choice.detector_id is None:
        raise no_detector_chosen()
    second, segmenter = choice.second_id, choice.segmenter_id
    depth = choice.depth_or_sticker_id
    return JudgeSet(
        detector=registry.detector(choice.detector_id),
        second=registry.detector(second) if second else None,
        segmenter=registry.segmenter(segmenter) if segmenter else None,
        depth=registry.depth(depth) if depth else None,
        perturber=registry.perturber(PERTURBER_ID),
        cut=choice.cut,
        store=registry.perception_store(PERCEPTION_STORE_ID),
    )


def _exact_name(registry: Registry, model_id: str, role: PerceptionRole) -> str:
    if model_id in registry.ids(role.value):
        return model_id
    ref = registry.perception_catalog(PERCEPTION_CATALOG_ID).ref(model_id, role)
    return " ".join(part for part in (ref.id, ref.revision, ref.sha256) if part)
