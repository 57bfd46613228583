"""Relation extractor that queries an OpenAI-compatible server, checked by the grammar.

The instruction is that of Rezaei et al. 2025, arXiv:2506.23418, appendix B.7, extended to all
relation types, with structured output. The model's answer is checked against the prompt; on any
failure, the grammar's reading is returned with a note.
"""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from time import monotonic

from spatialstudio.adapters.chat.call_rate import CallRate
from spatialstudio.adapters.chat.client import (
    AnswerForm,
    ChatClient,
    ChatQuestion,
    ServerFailure,
)
from spatialstudio.adapters.chat.server import (
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    ServerSettings,
    read_presets,
    settings_of_user,
)
from spatialstudio.adapters.prompts.check_claims import Agreement, ClaimChecker
from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.adapters.prompts.grammar import build as build_grammar
from spatialstudio.adapters.prompts.model_answers import (
    AnsweredRelation,
    ModelAnswer,
    UnreadableAnswer,
    answer_schema,
    complete_instruction,
    read_answer,
)
from spatialstudio.adapters.prompts.words import Word
from spatialstudio.domain.ports import CancelToken, Surroundings
from spatialstudio.domain.prompt_syntax import without_syntax
from spatialstudio.domain.requirements import SHADES, colour_named
from spatialstudio.domain.scene import (
    Note,
    ObjectMention,
    Prompt,
    Relation,
    RelationId,
    SceneGraph,
    TextSpan,
    free_mention_id,
    is_count,
)

TELLING_APART = frozenset({"another", "other", "first", "second", "third"})
"""Words of a name that distinguish it from similar ones and are not part of it."""

ONES = frozenset({"one", "1", "single", "sole", "lone"})
"""Counts of a single thing."""

CLAIMED = RelationId("claimed")
"""Temporary id of a relation that is not accepted yet; no reading uses it."""

Mentions = Sequence[ObjectMention]
Claim = tuple[str, tuple[str, ...]]


def anchor(
    answer: ModelAnswer, read: SceneGraph, words: Sequence[Word], extractor_id: str
) -> SceneGraph:
    """Build a scene graph from an answer.

    Args:
        answer: The model's claims.
        read: The grammar's reading of the same prompt; its mentions are reused.
        words: The prompt as the grammar tokenizes it, for checking the claims.
        extractor_id: Extractor id for the result.
    """
    anchors = _Anchors(read, words)
    for claimed in answer.relations:
        anchors.add(claimed)
    anchors.keep_contested()
    unknown = [
        Note(message=f'The language model returned "{name}", which is not a known relation.')
        for name in answer.dropped
    ]
    if answer.unreadable:
        rows = f"{answer.unreadable} row{'s' if answer.unreadable > 1 else ''}"
        unknown.append(
            Note(message=f"The language model's answer contains {rows} that could not be parsed.")
        )
    return SceneGraph(
        prompt=read.prompt,
        mentions=tuple(sorted(anchors.mentions, key=lambda mention: mention.span.start)),
        relations=tuple(anchors.relations),
        extractor_id=extractor_id,
        notes=(*anchors.notes, *unknown),
        disputed=tuple(anchors.disputed),
    )


class _Anchors:
    """Collects mentions and relations that are anchored in words of the prompt."""

    def __init__(self, read: SceneGraph, words: Sequence[Word]) -> None:
        self.mentions = list(read.mentions)
        self.relations: list[Relation] = []
        self.disputed: list[Relation] = []
        self.notes: list[Note] = []
        self._read = read
        self._checker = ClaimChecker(read, words)
        self._prompt: Prompt = read.prompt
        self._taken: set[tuple[Claim, TextSpan]] = set()

    def add(self, claimed: AnsweredRelation) -> None:
        """Add a relation if all its things are in the prompt."""
        names = (claimed.subject, *claimed.objects)
        choices = [self._fitting(name) for name in names]
        if not all(choices):
            return
        claim = (claimed.type.id, names)
        places = self._free_places(claim, claimed.words)
        known = self._known(claimed.type.id, choices, places)
        if known is None:
            ends, span = _nearest(choices, places)
        else:
            ends = [self._read.mention(end) for end in known.ends]
            span = _words_of(known, places, is_implied=claimed.is_implied)
        if known is None and ends[0] in ends[1:] and not ends[0].is_plural:
            self._note(f'The language model relates "{claimed.subject}" to itself.', span)
            return
        if span is not None:
            self._taken.add((claim, span))
        relation = self._relation(claimed, ends, span)
        if known is not None:
            self._append(relation)
        else:
            self._append_checked(relation)

    def keep_contested(self) -> None:
        """Keep the grammar's relations that the model disputes."""
        for claim in self.disputed:
            for each in self._read.contested_by(claim):
                self._append(replace(each, source=self._read.extractor_id))

    def _append_checked(self, claim: Relation) -> None:
        """Add a claim that the grammar has not read, unless the words contradict it."""
        agreement = self._checker.check(claim, self.mentions)
        if agreement is Agreement.DISPUTED:
            name = RelationId(f"d{len(self.disputed) + 1}")
            if not _is_claimed(claim, self.disputed):
                self.disputed.append(replace(claim, id=name, is_unconfirmed=True))
        elif agreement is Agreement.CONFIRMED:
            said = (each.span for each in self._read.contested_by(claim) if each.span)
            span = None if claim.is_implied else next(said, None)
            self._append(replace(claim, span=claim.span or span))
        else:
            self._append(replace(claim, is_unconfirmed=claim.span is not None))

    def _relation(
        self, claimed: AnsweredRelation, ends: Mentions, span: TextSpan | None
    ) -> Relation:
        subject, thing, *second = ends
        return Relation(
            id=CLAIMED,
            type=claimed.type,
            subject=subject.id,
            object=thing.id,
            second_object=second[0].id if second else None,
            span=span,
            is_implied=claimed.is_implied,
        )

    def _append(self, relation: Relation) -> None:
        if not _is_claimed(relation, self.relations):
            name = RelationId(f"r{len(self.relations) + 1}")
            self.relations.append(replace(relation, id=name))

    def _fitting(self, name: str) -> Mentions:
        """Return the mentions that a name may refer to; add a mention that the grammar missed."""
        found = _best_matches(name, self.mentions) or self._new_mention(name)
        if not found:
            self._note(f'The language model names "{name}", which is not in the prompt.', None)
        return found

    def _new_mention(self, name: str) -> Mentions:
        spans = _places(name, self._prompt.text)
        held = [[m for m in self.mentions if _distance(m.span, span) < 0] for span in spans]
        if all(held):
            return held[0] if held else ()
        span = spans[held.index([])]
        phrase = span.of(self._prompt.text)
        words = phrase.split()
        leading = list(takewhile(_is_count_or_colour, words[:-1]))
        counts = [word for word in leading if is_count(word)]
        mention = ObjectMention(
            id=free_mention_id({each.id for each in self.mentions}),
            phrase=phrase,
            head=" ".join(words[len(leading) :]).lower(),
            attributes=tuple(word for word in leading if word not in counts),
            is_plural=bool(counts) and counts[0].lower() not in ONES,
            span=span,
        )
        self.mentions.append(mention)
        return (mention,)

    def _free_places(self, claim: Claim, words: str) -> list[TextSpan]:
        """Return the places of the quoted words that do not already state the same claim."""
        places = _places(words, self._prompt.text)
        return [each for each in places if (claim, each) not in self._taken] or places

    def _known(
        self, type_id: str, choices: Sequence[Mentions], places: Sequence[TextSpan]
    ) -> Relation | None:
        """Find the same claim in the grammar's reading, preferably at the quoted words."""
        ids = [{mention.id for mention in choice} for choice in choices]
        fitting = [
            known
            for known in self._read.relations
            if known.type.id == type_id
            and all(end in fit for end, fit in zip(known.ends, ids, strict=True))
            and not _is_claimed(known, self.relations)
        ]
        return min(
            fitting,
            key=lambda known: all(_distance(place, known.span) >= 0 for place in places),
            default=None,
        )

    def _note(self, message: str, span: TextSpan | None) -> None:
        note = Note(message=message, span=span)
        if note not in self.notes:
            self.notes.append(note)


def _words_of(known: Relation, places: Sequence[TextSpan], *, is_implied: bool) -> TextSpan | None:
    """Return the quoted words of a claim that the grammar has read, else the grammar's words."""
    quoted = min(places, key=lambda place: _distance(place, known.span), default=None)
    if is_implied or known.span is None:
        return quoted
    return quoted if quoted and quoted.overlaps(known.span) else known.span


def _is_claimed(relation: Relation, others: Sequence[Relation]) -> bool:
    return any((each.type, each.ends) == (relation.type, relation.ends) for each in others)


def _nearest(
    choices: Sequence[Mentions], places: Sequence[TextSpan]
) -> tuple[list[ObjectMention], TextSpan | None]:
    """Choose the words and the mentions nearest to them: the subject before, the objects after."""
    if not places:
        return _different(choices), None
    chosen = []
    for place in places:
        keys = [_before(place), *[_behind(place)] * (len(choices) - 1)]
        sides = [sorted(choice, key=key) for choice, key in zip(choices, keys, strict=True)]
        ends = _different(sides)
        cost = [key(end) for key, end in zip(keys, ends, strict=True)]
        chosen.append((sum(wrong for wrong, _ in cost), sum(far for _, far in cost), ends, place))
    _, _, ends, place = min(chosen, key=lambda each: each[:2])
    return ends, place


def _different(choices: Sequence[Mentions]) -> list[ObjectMention]:
    """Take the first unused item of each choice, else the first."""
    ends: list[ObjectMention] = []
    for choice in choices:
        ends.append(next((each for each in choice if each not in ends), choice[0]))
    return ends


def _before(place: TextSpan) -> Callable[[ObjectMention], tuple[bool, int]]:
    return lambda each: (each.span.stop > place.start, _distance(each.span, place))


def _behind(place: TextSpan) -> Callable[[ObjectMention], tuple[bool, int]]:
    return lambda each: (each.span.start < place.stop, _distance(each.span, place))


def _distance(first: TextSpan, second: TextSpan | None) -> int:
    """Return the number of characters between two spans; negative if they overlap."""
    return 0 if second is None else max(first.start - second.stop, second.start - first.stop)


def _is_count_or_colour(word: str) -> bool:
    return is_count(word) or word.lower() in SHADES or colour_named(word) is not None


def _best_matches(name: str, mentions: Mentions) -> Mentions:
    """Return the mentions that a name refers to: same head, and most words in common."""
    named = _words(name)
    words = set(named) - TELLING_APART or set(named)
    tiers = (
        [each for each in mentions if set(_words(each.phrase)) - {"the"} == words],
        [each for each in mentions if set(_words(each.head)) <= words <= _all_words(each)],
        [each for each in mentions if set(_words(each.head)) == words],
        [each for each in mentions if words and words <= set(_words(each.head))],
    )
    fitting = next((tier for tier in tiers if tier), [])
    most = max((len(words & _all_words(each)) for each in fitting), default=0)
    return [each for each in fitting if len(words & _all_words(each)) == most]


def _all_words(mention: ObjectMention) -> set[str]:
    return {*_words(mention.phrase), *_words(mention.head)}


def _words(name: str) -> list[str]:
    """Return the words in lower case, with singular and plural merged."""
    return [word.removesuffix("s") for word in re.findall(r"[\w'-]+", name.lower())]


def _places(words: str, text: str) -> list[TextSpan]:
    """Find whole words, ignoring case and a plural "s"."""
    if not words:
        return []
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    found = re.finditer(rf"(?<!\w){pattern}(?:e?s)?(?!\w)", text, re.IGNORECASE)
    return [TextSpan(start=each.start(), stop=each.end()) for each in found]


CacheKey = tuple[str, str, str, str]


def build(surroundings: Surroundings) -> "LanguageModelExtractor":
    """Create the extractor with the user's server, the built-in instruction and the grammar."""
    folder = surroundings.resources / "prompts"
    return LanguageModelExtractor(
        settings_of_user(read_presets(folder / "servers.toml"), surroundings.settings),
        (folder / "instruction.md").read_text(encoding="utf-8"),
        build_grammar(surroundings),
    )


class LanguageModelExtractor:
    """Extracts relations with a language model, with the grammar as a fallback.

    Args:
        settings: Server settings; None to query no model.
        instruction: The system message; ``RELATION_TYPES`` in it is replaced by their list.
        grammar: Provides the mentions, checks the model's claims, and reads the prompt if the
            model fails.
        clock: Time in seconds, for the time budget.
    """

    id = "llm"

    def __init__(
        self,
        settings: ServerSettings | None,
        instruction: str,
        grammar: GrammarExtractor,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._settings = settings
        self._instruction = instruction
        self._grammar = grammar
        self._rate = CallRate(settings.calls_a_minute if settings else 0, clock)
        self._cache: OrderedDict[CacheKey, SceneGraph] = OrderedDict()

    def extract(self, prompt: Prompt, token: CancelToken | None = None) -> SceneGraph:
        """Extract mentions and relations; failures become a note on the grammar's reading.

        Args:
            prompt: The prompt to read.
            token: Checked while waiting for the server; None if it cannot be cancelled.

        Raises:
            PromptError: The prompt is empty.
            Cancelled: The token was cancelled.
        """
        plain = without_syntax(prompt.text)
        scene = self._extract(replace(prompt, text=plain.text), token)
        return plain.restored(scene, prompt)

    def _extract(self, prompt: Prompt, token: CancelToken | None) -> SceneGraph:
        read = self._grammar.extract(prompt)
        settings = self._settings
        if settings is None:
            where = f"in the settings, or by {SERVER_VARIABLE} and {MODEL_VARIABLE}"
            return _with_note(read, f"No language model is configured ({where}).")
        key = (settings.url, settings.model, prompt.text, self._version)
        if key in self._cache:
            self._cache.move_to_end(key)
            return replace(self._cache[key], prompt=prompt)
        try:
            scene = self._ask(settings, read, token)
        except ServerFailure as failure:
            return _with_note(read, f"The language model at {settings.host} {failure.reason}.")
        except UnreadableAnswer:
            return _with_note(read, f"The language model at {settings.host} returned no relations.")
        self._keep(key, scene, settings.cached_readings)
        return scene

    @property
    def _version(self) -> str:
        return hashlib.sha256(complete_instruction(self._instruction).encode()).hexdigest()

    def _ask(
        self, settings: ServerSettings, read: SceneGraph, token: CancelToken | None
    ) -> SceneGraph:
        if not self._rate.take():
            raise ServerFailure(
                f"has reached the limit of {settings.calls_a_minute} calls per minute"
            )
        question = ChatQuestion(
            instruction=complete_instruction(self._instruction),
            text=read.prompt.text,
            form=AnswerForm(name="relations", schema=answer_schema()),
        )
        answer = ChatClient(settings).ask(question, token)
        words = self._grammar.cut(read.prompt.text)
        return anchor(read_answer(answer.text), read, words, self.id)

    def _keep(self, key: CacheKey, scene: SceneGraph, size: int) -> None:
        self._cache[key] = scene
        if len(self._cache) > size:
            self._cache.popitem(last=False)


def _with_note(read: SceneGraph, message: str) -> SceneGraph:
    note = Note(message=f"{message} The prompt was parsed by the grammar.")
    return replace(read, notes=(note, *read.notes))
