"""What the words of a prompt refer to: new mentions, earlier ones, pronouns."""

from spatialstudio.adapters.extractors.noun_phrases import NounPhrase
from spatialstudio.adapters.extractors.words import Word, WordKind
from spatialstudio.domain.prompt import MentionId, Note, ObjectMention

Ends = tuple[MentionId, ...]


class References:
    """The mentions of one prompt, as they come up.

    Attributes:
        mentions: In order of the text.
        notes: Pronouns that were guessed or not resolved.
    """

    def __init__(self) -> None:
        self.mentions: list[ObjectMention] = []
        self.notes: list[Note] = []

    @property
    def latest(self) -> Ends:
        """The mention that was entered last, if any."""
        return tuple(mention.id for mention in self.mentions[-1:])

    def refer(self, phrase: NounPhrase) -> MentionId:
        """Point back with "the", or enter a new mention."""
        if phrase.is_definite and (earlier := self._antecedent(phrase)):
            return earlier.id
        mention = ObjectMention(
            id=MentionId(f"m{len(self.mentions) + 1}"),
            phrase=phrase.text,
            head=phrase.head,
            attributes=phrase.attributes,
            span=phrase.span,
        )
        self.mentions.append(mention)
        return mention.id

    def stand_for(self, pronoun: Word, subjects: Ends) -> Ends:
        """Resolve a pronoun, given the subjects of its clause.

        "itself" is these; "them" all other things, "it" the nearest of them, which is noted when
        others could be.
        """
        if pronoun.kind is WordKind.ITSELF:
            return subjects
        others = [mention for mention in self.mentions if mention.id not in subjects]
        if pronoun.kind is WordKind.IT:
            if len(others) > 1:
                self._note(f'I read "{pronoun.text}" as "{others[-1].phrase}".', pronoun)
            others = others[-1:]
        if not others:
            self._note(f'I do not know what "{pronoun.text}" stands for.', pronoun)
        return tuple(mention.id for mention in others)

    def _antecedent(self, phrase: NounPhrase) -> ObjectMention | None:
        for earlier in reversed(self.mentions):
            same_head = earlier.head == phrase.head
            if same_head and set(phrase.attributes) <= set(earlier.attributes):
                return earlier
        return None

    def _note(self, message: str, word: Word) -> None:
        self.notes.append(Note(message=message, span=word.span))
