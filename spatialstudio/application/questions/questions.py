"""Use cases of multiple-choice questions: answerers, runs, and the cache of replies."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from spatialstudio.application.evaluate.evaluate_image import JudgeSet
from spatialstudio.application.evaluate.judge_choice import JudgeDefaults, make_judge_set
from spatialstudio.application.questions.perception_answerer import (
    VERSION,
    PerceptionAnswerer,
    scene_of,
)
from spatialstudio.application.questions.question_folder import (
    AskedFolder,
    AskPlan,
    begin_run,
    open_run,
    pictures_by_id,
    write_answers,
)
from spatialstudio.application.questions.question_report import run_report
from spatialstudio.application.questions.question_run import QuestionRun, RunProgress
from spatialstudio.application.questions.reply_journal import ReplyJournal
from spatialstudio.application.registry import Registry
from spatialstudio.application.storage.storage import IMAGES_ID, METADATA_ID
from spatialstudio.application.studio import Studio
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import SettingsError, StoreError, TargetExists
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.multiple_choice import QuestionSet, WrittenQuestions
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.question_ports import ChoiceAnswerer
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID
from spatialstudio.science.questions.prompt_questions import (
    fits_one_line,
    id_of,
    questions_of_prompt,
)
from spatialstudio.science.questions.rendered_questions import questions_of_scene
from spatialstudio.science.questions.spatialgeneval import set_row

FILES_ID = "files"
RENDERER_ID = "stickers"
CACHE_FOLDER = "answers"
QUESTIONS_FILE = "questions.jsonl"
DIGITS, SHOWN_LETTERS = 10, 60
SEEDS = 1_000_000
"""Scenes of one seed have numbers below it."""


class Questions:
    """Asks answerers about pictures; ``questions_of`` creates it.

    Args:
        registry: Registry of adapters.
        judges: Judge sets by the origin of an image.
        shows_stickers: Returns whether an image's metadata names a sticker model.
        cache: The cache folder; None to cache nothing.
    """

    def __init__(
        self,
        registry: Registry,
        judges: JudgeDefaults,
        shows_stickers: Callable[[Path], bool],
        cache: Path | None,
    ) -> None:
        self._registry = registry
        self._judges = judges
        self._shows_stickers = shows_stickers
        self._cache = cache
        self._journals: dict[str, ReplyJournal] = {}

    def answerer(self, choice: JudgeSetChoice, pictures: Path) -> ChoiceAnswerer:
        """Return an answerer of multiple-choice questions.

        Args:
            choice: Its ``answerer_id`` is a model; without one the judge set itself answers what it
                can tell.
            pictures: Folder of the pictures. By the picture's origin, the sticker models answer if
                sticker models generated all of them.

        Raises:
            DetectorError: It is missing, or answers yes-no questions only.
            ModelNotFound: The model is not installed.
            StoreError: The folder of the pictures cannot be read.
        """
        if choice.answerer_id not in {None, PERCEPTION_ID}:
            return self._registry.choice_answerer(choice.answerer_id)
        looking = replace(choice, answerer_id=None)
        are_stickers = self._are_stickers(pictures)
        if are_stickers:
            looking = self._judges.of_stickers(looking)

        def judges(names: Sequence[str]) -> JudgeSet:
            scene = scene_of(names)
            known = self._judges.judges_for(looking, scene, is_sticker_picture=are_stickers)
            return make_judge_set(self._registry, known)

        return PerceptionAnswerer(judges, f"{PERCEPTION_ID} {VERSION} {looking}")

    def write(
        self, scene: SceneGraph, writer_id: str | None, token: CancelToken
    ) -> WrittenQuestions:
        """Return questions on a prompt.

        Args:
            scene: The scene graph of the prompt.
            writer_id: A question writer; None for the rules.
            token: Polled while waiting for a language model.

        Raises:
            Cancelled: The token was cancelled.
        """
        names = self._registry.scene_renderer(RENDERER_ID).names
        by_rules = questions_of_prompt(scene, names)
        if writer_id is None:
            return by_rules
        return self._registry.question_writer(writer_id).write(scene, by_rules, token)

    def store(self, path: Path, sets: Sequence[QuestionSet], *, overwrite: bool = False) -> None:
        """Write question sets as JSON lines, which a text editor can edit.

        Raises:
            TargetExists: The file exists, and ``overwrite`` is False.
            SettingsError: A question cannot be written in one line.
            StoreError: The folder cannot be written.
        """
        if path.exists() and not overwrite:
            raise TargetExists([path])
        self._write(path, _lines_of(sets))

    def store_for_asking(
        self, folder: Path, questions: QuestionSet, image: RgbImage, model_id: str
    ) -> AskedFolder:
        """Write questions and their picture into a subfolder, from which they can be asked.

        Equal questions on an equal picture have the same subfolder, so that their run continues.

        Args:
            folder: Gets the subfolder.
            questions: The questions.
            image: The picture.
            model_id: The model that generated it, for its metadata; empty if unknown.

        Raises:
            SettingsError: A question cannot be written in one line.
            StoreError: The folder cannot be written.
        """
        named = replace(questions, id=id_of(questions.prompt))  # a file may have any other id
        data, picture = (
            _lines_of([named]),
            self._registry.metadata(METADATA_ID).encode(image, model_id),
        )
        digest = sha256(data + picture).hexdigest()
        own = folder / f"questions {named.id} {digest[:DIGITS]}"
        pictures = own / "pictures"
        self._write(own / QUESTIONS_FILE, data)
        self._write(pictures / f"{named.id}.png", picture)
        return AskedFolder(data=own / QUESTIONS_FILE, pictures=pictures, answers=own / "answers")

    def generate(
        self, folder: Path, count: int, seed: int, *, overwrite: bool = False
    ) -> Sequence[QuestionSet]:
        """Render scenes whose content is known, and write questions on them with their keys.

        Args:
            folder: Gets a picture per scene, and ``questions.jsonl``.
            count: Number of scenes.
            seed: Seed of scenes and questions.
            overwrite: Whether to replace existing questions.

        Raises:
            TargetExists: The folder holds questions, and ``overwrite`` is False.
            StoreError: The folder cannot be written.
        """
        path = folder / QUESTIONS_FILE
        if path.exists() and not overwrite:
            raise TargetExists([path])
        renderer = self._registry.scene_renderer(RENDERER_ID)
        sets = []
        for number in range(1, count + 1):
            set_id, own_seed = f"{number:06}", seed * SEEDS + number
            scene = renderer.render(own_seed)
            rng = np.random.default_rng(own_seed)
            sets.append(questions_of_scene(scene, set_id, renderer.names, rng))
            renderer.write(scene, folder / f"{set_id}.png")
        self.store(path, sets, overwrite=overwrite)
        return sets

    def begin(self, folder: Path, plan: AskPlan) -> QuestionRun:
        """Start a run of questions, or continue the one in the folder; see ``begin_run``."""
        return begin_run(folder, plan, self._write)

    def ask(
        self,
        run: QuestionRun,
        answerer: ChoiceAnswerer,
        token: CancelToken,
        *,
        is_cached: bool = True,
    ) -> Iterator[RunProgress]:
        """Ask for the missing replies of a run; see ``QuestionRun.ask``.

        Args:
            run: The run.
            answerer: The answerer.
            token: Checked before each reply, and while waiting.
            is_cached: Whether replies of other runs are used.
        """
        read_image = self._registry.images(IMAGES_ID).read
        cache = self._replies(answerer.model_key) if is_cached else None
        return run.ask(answerer, read_image, token, cache)

    def finish(self, folder: Path) -> None:
        """Write the answers and the report of a run.

        Raises:
            StoreError: The folder holds no run, or cannot be written.
        """
        plan, run = open_run(folder)
        write_answers(folder, run, run_report(plan, run), self._write)

    @property
    def _write(self) -> Callable[[Path, bytes], None]:
        return self._registry.benchmark_files(FILES_ID).write

    def _are_stickers(self, pictures: Path) -> bool:
        found = pictures_by_id(pictures).values()
        return bool(found) and all(map(self._shows_stickers, found))

    def _replies(self, model_key: str) -> ReplyJournal | None:
        """Return the cached replies of a model; None if there is no cache, or it is damaged."""
        if self._cache is None or not model_key:
            return None
        if model_key not in self._journals:
            name = sha256(model_key.encode()).hexdigest()
            with suppress(StoreError):
                path = self._cache / CACHE_FOLDER / f"{name}.jsonl"
                self._journals.setdefault(model_key, ReplyJournal(path))  # one for all threads
        return self._journals.get(model_key)


def _lines_of(sets: Sequence[QuestionSet]) -> bytes:
    """Return question sets as JSON lines.

    Raises:
        SettingsError: A question cannot be written in one line.
    """
    for question in (question for each in sets for question in each.questions):
        if not fits_one_line(question):
            raise SettingsError(
                f'The question "{question.stem[:SHOWN_LETTERS]}" cannot be written in one line.',
                hint='Do not write "Options:", "A: " and the like in questions and options.',
            )
    lines = [json.dumps(set_row(each), ensure_ascii=False) + "\n" for each in sets]
    return "".join(lines).encode("utf-8", "surrogatepass")


def questions_of(studio: Studio) -> Questions:
    """Return the use cases of multiple-choice questions of a studio."""
    cache = studio.paths.surroundings.cache
    shows_stickers = studio.pictures.shows_stickers
    return Questions(studio.registry, studio.judge_defaults, shows_stickers, cache)
