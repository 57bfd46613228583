"""Detection of the noun phrases of a prompt."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import TypeGuard

from spatialstudio.adapters.prompts.pieces import (
    NounPhrase,
    Piece,
    is_word,
)
from spatialstudio.adapters.prompts.verb_readings import is_singular, looks_plural
from spatialstudio.adapters.prompts.vocabulary import LONGEST_NOUN, Vocabulary
from spatialstudio.adapters.prompts.word_runs import (
    ONE,
    SINGULAR_BE,
    WordRun,
)
from spatialstudio.adapters.prompts.words import (
    CLAUSE_BOUNDS,
    DETERMINERS,
    JOINERS,
    RELATIONS,
    Word,
    WordKind,
)
from spatialstudio.domain.requirements import COLOUR_TERMS, SHADES
from spatialstudio.domain.scene import ORDINALS, TextSpan

RUN_KINDS = {WordKind.WORD, WordKind.FALSE_FRIEND}
SILENT_KINDS = {WordKind.OTHER, WordKind.STYLE_OF, WordKind.REQUEST}
POSSESSIVES = {"his", "her", "its"}
ONES_OF_PAIR = {"first": WordKind.FORMER, "second": WordKind.LATTER}
ONES_OF_SEVERAL = {"one", "another", "another one"} | {
    f"the {place}{one}" for place in (*ORDINALS, "last", "other") for one in ("", " one")
}
FARTHEST = 100
"""Maximum number of pieces between "one" and its antecedent."""


class PhraseFinder:
    """Finds the noun phrases of one prompt.

    Args:
        text: The prompt as typed.
        vocabulary: The known words.
    """

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self._text = text
        self._vocabulary = vocabulary
        self._pieces: list[Piece] = []
        self._is_terse = self._is_list = False
        self._elliptic: dict[int, Sequence[Word]] = {}

    def find(self, words: Sequence[Word]) -> list[Piece]:
        """Replace runs of words by noun phrases and verbs; other words become a single gap."""
        self._is_terse = not any(word.kind in DETERMINERS for word in words)
        words = _without_joined_colours(words)
        position = 0
        while position < len(words):
            word = self._as_determiner(words[position])
            self._is_list = self._is_list or word.kind is WordKind.ROW
            if word.kind not in DETERMINERS | RUN_KINDS:
                self._pieces += [word] if word.kind not in SILENT_KINDS else []
                position += 1
                continue
            determiner = word if word.kind in DETERMINERS else None
            start = position + 1 if determiner else position
            position = self._end_of_run(words, start, determiner)
            run = [each for each in words[start:position] if each.kind is not WordKind.COMMA]
            self._take_run(run, determiner, next(iter(words[position:]), None))
        return self._pieces

    def _as_determiner(self, word: Word) -> Word:
        """Read "that" after a relation as a determiner: "next to that bridge"."""
        before = self._pieces[-1] if self._pieces else None
        is_behind = isinstance(before, Word) and before.kind in {*RELATIONS, WordKind.PREPOSITION}
        points = word.kind is WordKind.RELATIVE and word.text.lower() == "that"
        return replace(word, kind=WordKind.DEFINITE) if points and is_behind else word

    def _take_run(
        self, words: Sequence[Word], determiner: Word | None, following: Word | None
    ) -> None:
        before = self._pieces[-1] if self._pieces else None
        if _is_the_one(determiner, words) and is_word(before, WordKind.BE):
            return
        if one := self._one_of_several(words, determiner, following):
            self._pieces.append(one)
            return
        if determiner and (kind := _one_of_pair(determiner, words)):
            self._pieces.append(replace(determiner, kind=kind))
            return
        if self._is_object_before_verb(words, determiner, following):
            assert determiner is not None
            self._pieces.append(replace(determiner, kind=WordKind.IT))
            determiner = None
        if not words:
            if determiner is not None and determiner.text.lower() in POSSESSIVES:
                self._pieces.append(replace(determiner, kind=WordKind.IT))
            return
        cut = self._end_of_terse_phrase(words, before, following) or self._second_thing(
            words, determiner, before
        )
        after = words[cut] if cut < len(words) else following
        run = WordRun(self._text, tuple(words[:cut]), determiner, before, after, self._is_list)
        if determiner is None and run.is_qualified_by_place(self._vocabulary):
            self._pieces[-1] = words[0]
            return
        found = run.pieces(self._vocabulary, self._latest_thing())
        if determiner or self._is_counted(words):
            self._share_noun(words, found[0] if found else None)
        self._pieces += found
        if cut < len(words):
            self._take_run(words[cut:], None, following)

    def _share_noun(self, words: Sequence[Word], found: Piece | None) -> None:
        """Give "a red" of "a red and a blue car" the noun of the joined phrase that follows."""
        since = self._pieces[max(self._elliptic) + 1 :] if self._elliptic else ()
        if not all(is_word(piece, *JOINERS) for piece in since):
            self._elliptic = {}
        if isinstance(found, NounPhrase) and found.attributes:
            if found.text.lower().split()[-1] not in ONE:
                for place, own in self._elliptic.items():
                    self._pieces[place] = self._sharing(own, found)
            self._elliptic = {}
        elif self._lacks_noun(words):
            self._elliptic[len(self._pieces)] = words

    def _lacks_noun(self, words: Sequence[Word]) -> bool:
        """Return True for colours and sizes, counted or not."""
        lower = [word.text.lower() for word in words]
        is_number = lower[-1] in self._vocabulary.numbers
        return not is_number and all(
            word in self._vocabulary.qualities and self._vocabulary.noun([word]) is None
            for word in lower
        )

    def _sharing(self, words: Sequence[Word], thing: NounPhrase) -> NounPhrase:
        span = TextSpan(start=words[0].span.start, stop=words[-1].span.stop)
        numbers = [word for word in words if word.text.lower() in self._vocabulary.numbers]
        return replace(
            thing,
            text=span.of(self._text),
            span=span,
            attributes=tuple(word.text for word in words if word not in numbers),
            is_plural=bool(numbers),
        )

    def _is_counted(self, words: Sequence[Word]) -> bool:
        return any(word.text.lower() in self._vocabulary.numbers for word in words[:1])

    def _is_object_before_verb(
        self, words: Sequence[Word], determiner: Word | None, following: Word | None
    ) -> bool:
        """Return True if "her" is an object: "behind her stood a man", "above her flew owls"."""
        is_behind = bool(self._pieces) and is_word(self._pieces[-1], WordKind.RELATION)
        if determiner is None or determiner.text.lower() not in POSSESSIVES or not is_behind:
            return False
        verbs = [word.text.lower() in self._vocabulary.acting_verbs for word in words[:1]]
        after = words[1].text.lower() if len(words) > 1 else ""
        is_article = following is not None and following.kind in DETERMINERS and len(words) == 1
        return any(verbs) and (is_article or after in self._vocabulary.numbers)

    def _one_of_several(
        self, words: Sequence[Word], determiner: Word | None, following: Word | None
    ) -> NounPhrase | None:
        """Read "one" and "the other" as members of a plural: "two mugs, one left of ..."."""
        alone = [word.text.lower() for word in (*filter(None, [determiner]), *words)]
        is_part = following is not None and following.kind is WordKind.WITH
        if is_part or " ".join(alone) not in ONES_OF_SEVERAL:
            return None
        several = next(filter(_is_several, reversed(self._pieces)), self._latest_phrase())
        is_definite = determiner is not None and determiner.kind is WordKind.DEFINITE
        if several is None or (is_definite and not several.is_plural):
            return None
        first = determiner or words[0]
        last = words[-1] if words else first
        span = TextSpan(start=first.span.start, stop=last.span.stop)
        text = span.of(self._text)
        return replace(
            several,
            text=text,
            span=span,
            attributes=(),
            is_definite=is_definite,
            is_plural=False,
            is_member=True,
        )

    def _end_of_terse_phrase(
        self, words: Sequence[Word], before: Piece | None, following: Word | None
    ) -> int:
        """Find where a clause starts without a comma: "cup on plate fan behind plate"; else 0."""
        opens = all(is_word(piece, *CLAUSE_BOUNDS) for piece in self._pieces[-2:-1])
        ends = following is None or following.kind in CLAUSE_BOUNDS
        goes_on = (opens and ends) or (following is not None and following.kind in RELATIONS)
        is_between = is_word(before, *RELATIONS) and goes_on
        texts = [word.text for word in words]
        noun = self._vocabulary.noun
        if not (self._is_terse and is_between and len(words) > 1) or noun(texts):
            return 0
        cuts = range(len(words) - 1, 0, -1)
        return next((cut for cut in cuts if noun(texts[:cut]) and noun(texts[cut:])), 0)

    def _second_thing(
        self, words: Sequence[Word], determiner: Word | None, before: Piece | None
    ) -> int:
        """Find where a second thing starts: after a verb, or with a number."""
        after_be = isinstance(before, Word) and before.kind is WordKind.BE
        if (
            after_be
            and not determiner
            and len(words) > 1
            and words[0].text.lower() in self._vocabulary.verbs
        ):
            return 1
        for place in range(1, len(words)):
            if words[place].text.lower() in self._vocabulary.numbers:
                return place
            starts_sentence = place + 1 < len(words) and self._is_finite_verb(words, place)
            agrees = is_singular(determiner, None) and looks_plural(words[place].text)
            if starts_sentence and (agrees or self._ends_with_noun(words[:place])):
                return place + 1
        return len(words)

    def _is_finite_verb(self, words: Sequence[Word], place: int) -> bool:
        """Return True if a word is a finite verb: "finds", or "watches" after an acting subject."""
        text = words[place].text.lower()
        acts = (
            text.endswith(("s", "ing")) and words[place - 1].text.lower() in self._vocabulary.actors
        )
        return text in self._vocabulary.verbs and (acts or self._vocabulary.noun([text]) is None)

    def _ends_with_noun(self, words: Sequence[Word]) -> bool:
        return self._vocabulary.noun([words[-1].text]) is not None

    def _latest_phrase(self) -> NounPhrase | None:
        phrases = (piece for piece in self._latest_pieces() if isinstance(piece, NounPhrase))
        return next(phrases, None)

    def _latest_thing(self) -> NounPhrase | None:
        """Return the antecedent of "one", excluding places: "two pianos in a shop, a black one"."""
        latest = pairwise(chain(self._latest_pieces(), [None]))
        things = (
            piece
            for piece, before in latest
            if isinstance(piece, NounPhrase) and not is_word(before, WordKind.PREPOSITION)
        )
        return next(things, None) or self._latest_phrase()

    def _latest_pieces(self) -> Iterator[Piece]:
        return islice(reversed(self._pieces), FARTHEST)

    def _end_of_run(self, words: Sequence[Word], start: int, determiner: Word | None) -> int:
        stop = start
        while stop < len(words) and (
            words[stop].kind in RUN_KINDS
            or (stop > start and self._goes_on(words, start, stop, determiner))
        ):
            stop += 1
        return stop

    def _goes_on(
        self, words: Sequence[Word], start: int, place: int, determiner: Word | None
    ) -> bool:
        """Return True if a run continues: "a green one", "a tall, slender vase", "bus stop"."""
        lower = words[place].text.lower()
        if lower in ONE:
            return True
        if determiner is None:
            return False
        if place + 1 == len(words):
            return lower in self._vocabulary.base_verbs and is_singular(determiner, None)
        if self._ends_compound(words[start : place + 1]):
            return True
        if words[place].kind is WordKind.COMMA:
            before = [word.text.lower() for word in words[start:place] if word.kind in RUN_KINDS]
            is_word = words[place + 1].kind in RUN_KINDS
            return is_word and all(map(self._vocabulary.is_plain_adjective, before))
        is_inverted = words[place + 1].kind in DETERMINERS
        is_subject = words[place + 1].text.lower() in SINGULAR_BE
        is_one = self._is_one(determiner, words[place - 1].text.lower())
        is_noun = is_subject or (is_one and not is_inverted)
        return is_noun and lower in self._vocabulary.base_verbs

    def _is_one(self, determiner: Word, noun: str) -> bool:
        """Return True if the phrase is singular, so its verb ends in "s": "a drip", "the drip"."""
        before = self._pieces[-1] if self._pieces else None
        if is_singular(determiner, before):
            return True
        is_joined = isinstance(before, Word) and before.kind is WordKind.AND
        is_unchanged = self._vocabulary.noun([noun]) == noun and not looks_plural(noun)
        is_definite = determiner.kind is WordKind.DEFINITE and not is_joined
        return is_definite and is_unchanged and noun not in self._vocabulary.actors

    def _ends_compound(self, words: Sequence[Word]) -> bool:
        """Return True if a possible verb ends a known compound: "the newspaper stand"."""
        lower = [word.text.lower() for word in words[-LONGEST_NOUN:]]
        names = (lower[start:] for start in range(len(lower) - 1))
        return any(" ".join(name) in self._vocabulary.nouns for name in names)


def _is_the_one(determiner: Word | None, words: Sequence[Word]) -> bool:
    """Return True for "the one": "the red cat is the one left of a dog"."""
    return not words and determiner is not None and determiner.text.lower() == "one"


def _one_of_pair(determiner: Word, words: Sequence[Word]) -> WordKind | None:
    """Read "the first" and "the second" alone as the former and the latter."""
    alone = [word.text.lower() for word in words]
    is_definite = determiner.kind is WordKind.DEFINITE
    return ONES_OF_PAIR.get(alone[0]) if len(alone) == 1 and is_definite else None


def _is_several(piece: Piece) -> TypeGuard[NounPhrase]:
    return isinstance(piece, NounPhrase) and piece.is_plural


def _without_joined_colours(words: Sequence[Word]) -> list[Word]:
    """Drop "red and" of "a red and white bus": the requirements read it from the prompt."""
    kept: list[Word] = []
    position = 0
    while position < len(words):
        stop = _end_of_colours(words, position)
        after = stop
        while after < len(words) and words[after].kind in JOINERS:
            after += 1
        if stop > position and after > stop and _precede_noun(words, after):
            position = after
        else:
            kept.append(words[position])
            position += 1
    return kept


def _end_of_colours(words: Sequence[Word], start: int) -> int:
    """Return where the words of one colour end, shades included; the start if there is none."""
    stop = start
    while stop < len(words) and words[stop].text.lower() in SHADES:
        stop += 1
    return stop + 1 if stop < len(words) and words[stop].text.lower() in COLOUR_TERMS else start


def _precede_noun(words: Sequence[Word], start: int) -> bool:
    """Return True if colours, joined or not, come before another word."""
    stop = _end_of_colours(words, start)
    if stop == start:
        return False
    after = stop
    while after < len(words) and words[after].kind in JOINERS:
        after += 1
    if after > stop:
        return _precede_noun(words, after)
    return stop < len(words) and words[stop].kind is WordKind.WORD
