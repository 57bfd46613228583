"""A run that asks an answerer about the pictures of one method; it can continue at any time.

    settings.json    questions, answerer and settings of the run
    replies.jsonl    every reply and every failed request, in order
    answers.jsonl    for each picture its rollouts, votes and accuracies, in the published form

A reply is on disk before the next is requested. A run that was interrupted, or whose server failed,
asks for the missing replies only.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from spatialstudio.application.questions.reply_journal import Place, ReplyJournal, StoredReply
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import AnswererError, DetectorError, ImageError, StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import (
    AnswerBiases,
    AnswerCost,
    AskSettings,
    ChoiceFigures,
    ChoiceQuestion,
    ChoiceReply,
    QuestionSet,
    VotedSet,
    total_cost,
)
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.question_ports import ChoiceAnswerer
from spatialstudio.domain.safe_files import MEBIBYTE, read_regular
from spatialstudio.science.questions.answer_biases import AskedQuestion, answer_biases
from spatialstudio.science.questions.choice_message import instruction, message
from spatialstudio.science.questions.spatialgeneval import (
    Orders,
    choice_figures,
    letter_orders,
    read_rollout,
    shuffled,
    vote,
)

ALL = -1
"""Number of the question in the place of a reply to all of them."""
MOST_FAILURES = 3
"""Pictures in succession whose requests fail, after which a run stops."""
MOST_PICTURE_BYTES = 256 * MEBIBYTE
LETTERS_PER_TOKEN, PIXELS_PER_TOKEN, TOKENS_PER_ANSWER = 4, 28 * 28, 40
"""For estimates before the first reply; those of Qwen2.5-VL."""


@frozen
class RunProgress:
    """Progress of a run.

    Attributes:
        done: Pictures with enough rollouts, or without attempts left.
        pictures: Pictures to ask about.
        cost: Cost of the run so far, earlier parts included.
        left: Estimated cost of the rest.
        failed: Why pictures have no answers in this part of the run, by id of their questions.
    """

    done: int
    pictures: int
    cost: AnswerCost
    left: AnswerCost
    failed: Mapping[str, str]


@frozen
class AnsweredSet:
    """The answers about one picture.

    Attributes:
        questions: Its questions, as listed.
        picture: The picture; None if it is missing.
        voted: The votes.
        attempts: The messages in order, with the letters as asked.
        asked: The questions of each attempt, with their options in the order asked.
    """

    questions: QuestionSet
    picture: Path | None
    voted: VotedSet
    attempts: tuple[str, ...]
    asked: tuple[QuestionSet, ...]


class QuestionRun:
    """Asks about pictures, and reads the answers.

    Args:
        journal: The replies of the run.
        sets: The questions of all pictures.
        pictures: The pictures by id of their questions; missing ones are not asked about.
        settings: How pictures are asked.
        model_key: Identifies the answerer's model.
        has_tokens: Whether the answerer reads and writes tokens.
    """

    def __init__(
        self,
        journal: ReplyJournal,
        sets: Sequence[QuestionSet],
        pictures: Mapping[str, Path],
        settings: AskSettings,
        model_key: str,
        *,
        has_tokens: bool = True,
    ) -> None:
        self.journal = journal
        self.sets = tuple(sets)
        self.pictures = dict(pictures)
        self.settings = settings
        self._model_key = model_key
        self._has_tokens = has_tokens
        self._left = {each.id: self._missing(each) for each in self.sets if each.id in pictures}

    @property
    def missing(self) -> tuple[str, ...]:
        """Ids of questions without a picture."""
        return tuple(each.id for each in self.sets if each.id not in self.pictures)

    def ask(
        self,
        answerer: ChoiceAnswerer,
        read_image: Callable[[Path], RgbImage],
        token: CancelToken,
        cache: ReplyJournal | None = None,
    ) -> Iterator[RunProgress]:
        """Ask for all missing replies, and yield the progress before and after each picture.

        Args:
            answerer: The answerer.
            read_image: Reads a picture.
            token: Checked before each reply, and while waiting.
            cache: Replies of other runs; None for none.

        Raises:
            DetectorError: The answerer is missing, or fails for several pictures in succession.
            ImageError: A picture cannot be read.
            Cancelled: The token was cancelled.
            StoreError: The journal cannot be written.
        """
        asked = [each for each in self.sets if each.id in self.pictures]
        asking = _Asking(answerer=answerer, token=token, cache=cache)
        failed: dict[str, str] = {}
        successive = 0
        for done, each in enumerate(asked):
            yield self._progress(done, len(asked), failed)
            try:
                self._ask_about(each, asking, read_image)
                successive = 0
            except (ImageError, OSError) as error:
                failed[each.id] = getattr(error, "message", "The picture cannot be read.")
            except DetectorError as error:
                failed[each.id] = error.message
                successive += 1
                if successive == min(MOST_FAILURES, len(asked)):
                    raise
        yield self._progress(len(asked), len(asked), failed)

    def _ask_about(
        self,
        questions: QuestionSet,
        asking: "_Asking",
        read_image: Callable[[Path], RgbImage],
    ) -> None:
        path = self.pictures[questions.id]
        picture = "" if self.settings.is_blind else _hash_of(path)
        if self.journal.picture(questions.id) == picture and self._missing(questions) == 0:
            return
        image = None if self.settings.is_blind else read_image(path)
        rules, valid = self.settings.rules, 0
        for attempt in range(rules.attempts):
            if valid == rules.rollouts:
                break
            for place, own in self._messages(questions, attempt):
                key = self._key(picture, own, attempt)
                if not self.journal.holds(key, place):
                    self._add_reply(_Wanted(key, place, picture), image, own, asking)
            valid += self._is_valid(questions, attempt)
        self._left[questions.id] = self._missing(questions)

    def _add_reply(
        self,
        wanted: "_Wanted",
        image: RgbImage | None,
        questions: Sequence[ChoiceQuestion],
        asking: "_Asking",
    ) -> None:
        """Store a reply from the cache or the answerer; a failed request is stored, and raised."""
        asking.token.raise_if_cancelled()
        cache = asking.cache if self._model_key else None
        known = self.journal.find(wanted.key)  # the same questions on an equal picture
        if known is None and cache is not None:
            known = cache.find(wanted.key)
        if known is not None:
            self.journal.add(wanted.stored(known, is_cached=True))
            return
        sampling = self.settings.sampling(wanted.place[1])
        try:
            reply = asking.answerer.choose(image, questions, sampling, asking.token)
        except DetectorError as error:
            charges = error.charges if isinstance(error, AnswererError) else (0, 0)
            self.journal.add(replace(wanted.stored(None), charges=charges))
            raise
        self.journal.add(wanted.stored(reply))  # first, so that its cost is never lost
        if cache is not None:
            with suppress(StoreError):
                cache.add(wanted.stored(reply))

    def _messages(
        self, questions: QuestionSet, attempt: int
    ) -> Iterator[tuple[Place, Sequence[ChoiceQuestion]]]:
        """Yield the questions of each message of an attempt, with its place."""
        asked = self._asked(questions, attempt).questions
        if not self.settings.is_single:
            yield (questions.id, attempt, ALL), asked
            return
        for number, question in enumerate(asked):
            yield (questions.id, attempt, number), (question,)

    def _asked(self, questions: QuestionSet, attempt: int) -> QuestionSet:
        if not self.settings.shuffles:
            return questions
        return shuffled(questions, attempt, self.settings.seed)

    def _key(self, picture: str, questions: Sequence[ChoiceQuestion], attempt: int) -> str:
        """Return the key of a reply: picture, message, model and sampling."""
        sampling = self.settings.sampling(attempt)
        parts = (
            picture,
            instruction(
                len(questions),
                is_blind=self.settings.is_blind,
                is_structured=sampling.is_structured,
            ),
            message(questions),
            self._model_key,
            repr((sampling.temperature, sampling.seed)),
        )
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _attempts(self, questions: QuestionSet) -> tuple[str, ...]:
        """Return the messages of the complete attempts in order."""
        texts: list[str] = []
        for attempt in range(self.settings.rules.attempts):
            text = self._attempt(questions, attempt)
            if text is None:
                break
            texts.append(text)
        return tuple(texts)

    def _attempt(self, questions: QuestionSet, attempt: int) -> str | None:
        """Return the message of an attempt, a line per question; None if it is not complete."""
        if not self.settings.is_single:
            reply = self.journal.at((questions.id, attempt, ALL))
            return reply.text if reply else None
        lines = []
        for number in range(len(questions.questions)):
            reply = self.journal.at((questions.id, attempt, number))
            if reply is None:
                return None
            lines.append(next((line for line in reply.text.splitlines() if line.strip()), ""))
        return "\n".join(lines)

    def _is_valid(self, questions: QuestionSet, attempt: int) -> bool:
        text = self._attempt(questions, attempt)
        count = len(questions.questions)
        return text is not None and read_rollout(text, self.settings.rules, count) is not None

    def _missing(self, questions: QuestionSet) -> int:
        """Return the number of rollouts that are missing if no attempt fails."""
        rules, valid = self.settings.rules, 0
        for attempt in range(rules.attempts):
            if valid == rules.rollouts or self._attempt(questions, attempt) is None:
                return min(rules.rollouts - valid, rules.attempts - attempt)
            valid += self._is_valid(questions, attempt)
        return 0

    def _orders(self, questions: QuestionSet, count: int) -> tuple[Orders, ...] | None:
        if not self.settings.shuffles:
            return None
        return tuple(letter_orders(questions, n, self.settings.seed) for n in range(count))

    def answered(self, questions: QuestionSet) -> AnsweredSet:
        """Return the answers about one picture so far."""
        attempts = self._attempts(questions)
        orders = self._orders(questions, len(attempts))
        return AnsweredSet(
            questions=questions,
            picture=self.pictures.get(questions.id),
            voted=vote(questions, attempts, self.settings.rules, orders),
            attempts=attempts,
            asked=tuple(self._asked(questions, number) for number in range(len(attempts))),
        )

    def items(self) -> Iterator[AnsweredSet]:
        """Yield the answers about all pictures, those without an answer included."""
        return map(self.answered, self.sets)

    def figures(self) -> ChoiceFigures:
        """Return the accuracies so far; a picture that is missing counts as not answered."""
        return choice_figures([each.voted for each in self.items()], self.settings.rules)

    def biases(self) -> AnswerBiases:
        """Return the biases of all valid rollouts so far."""
        return answer_biases([each for item in self.items() for each in self._singles(item)])

    def _singles(self, item: AnsweredSet) -> Iterator[AskedQuestion]:
        count = len(item.questions.questions)
        orders = self._orders(item.questions, len(item.attempts))
        for number, (text, asked) in enumerate(zip(item.attempts, item.asked, strict=True)):
            letters = read_rollout(text, self.settings.rules, count)
            for place, letter in enumerate(letters or ()):
                listed = orders[number][place].get(letter, letter) if orders else letter
                yield AskedQuestion(
                    question=asked.questions[place],
                    letter=letter,
                    listed=listed,
                    place=(item.questions.id, place),
                )

    def _progress(self, done: int, pictures: int, failed: Mapping[str, str]) -> RunProgress:
        return RunProgress(
            done=done,
            pictures=pictures,
            cost=self.journal.cost,
            left=self.estimate(),
            failed=dict(failed),
        )

    def estimate(self, pixels: int = 1024 * 1024) -> AnswerCost:
        """Estimate the cost of the missing replies: no attempt fails, nothing is cached.

        Replies so far give the tokens and seconds of one; before the first one the tokens are
        guessed from letters and pixels, and the seconds are 0.

        Args:
            pixels: Of a picture.
        """
        guessed = total_cost(
            expected_cost(each, self._left[each.id], self.settings, pixels)
            for each in self.sets
            if each.id in self._left
        )
        cost = self.journal.cost
        if cost.replies:
            share = guessed.replies / cost.replies
            return AnswerCost(
                replies=guessed.replies,
                tokens_in=round(cost.tokens_in * share),
                tokens_out=round(cost.tokens_out * share),
                seconds=cost.seconds * share,
            )
        return guessed if self._has_tokens else AnswerCost(replies=guessed.replies)


def expected_cost(
    questions: QuestionSet, rollouts: int, settings: AskSettings, pixels: int
) -> AnswerCost:
    """Guess the cost of rollouts about a picture, none invalid, from letters and pixels.

    Args:
        questions: Its questions.
        rollouts: Number of rollouts.
        settings: How it is asked.
        pixels: Of the picture.
    """
    asked = questions.questions[:1] if settings.is_single else questions.questions
    replies = rollouts * (len(questions.questions) if settings.is_single else 1)
    seen = 0 if settings.is_blind else pixels // PIXELS_PER_TOKEN
    shown = len(instruction(len(asked))) + len(message(asked))
    return AnswerCost(
        replies=replies,
        tokens_in=replies * (seen + shown // LETTERS_PER_TOKEN),
        tokens_out=replies * len(asked) * TOKENS_PER_ANSWER,
    )


@frozen(eq=False)
class _Asking:
    """Who is asked, and whose replies are used instead."""

    answerer: ChoiceAnswerer
    token: CancelToken
    cache: ReplyJournal | None


@frozen(kw_only=False)
class _Wanted:
    """A reply that is missing."""

    key: str
    place: Place
    picture: str

    def stored(self, reply: ChoiceReply | None, *, is_cached: bool = False) -> StoredReply:
        """Return the line of a reply; None for a failed request."""
        return StoredReply(
            key=self.key,
            place=self.place,
            picture=self.picture,
            reply=reply,
            is_cached=is_cached,
        )


def _hash_of(path: Path) -> str:
    return hashlib.sha256(read_regular(path, MOST_PICTURE_BYTES)).hexdigest()
