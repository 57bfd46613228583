"""What was found in a prompt: the relations, and notes on what was not understood."""

from itertools import product

from spatialstudio.adapters.extractors.references import ALTERNATIVE, Ends, References
from spatialstudio.adapters.extractors.words import Claim
from spatialstudio.domain.prompt import Note, TextSpan
from spatialstudio.domain.relation import FLANKS, Relation, RelationId, Shape


class Findings:
    """Relations and notes of one prompt, as they come up.

    Args:
        text: The prompt as typed.
        references: Its mentions.

    Attributes:
        relations: In order of the text.
        notes: What was not understood.
    """

    def __init__(self, text: str, references: References) -> None:
        self.relations: list[Relation] = []
        self.notes: list[Note] = []
        self._text = text
        self._references = references

    def relate(self, claim: Claim, subjects: Ends, objects: Ends) -> None:
        """Add the claim for every subject with every object."""
        groups: list[Ends] = [(thing,) for thing in objects]
        if claim.type.shape is Shape.BETWEEN:
            flanks = self.as_pair(objects)
            groups = [flanks] if len(flanks) == FLANKS else []
            if objects and not groups:
                self.note(f'Name both things after "{claim.text}".', claim.span)
        self._references.place((*subjects, *objects))
        for subject, (first, *second) in product(subjects, groups):
            if any(end.startswith(ALTERNATIVE) for end in (subject, first, *second)):
                continue
            self.relations.append(
                Relation(
                    id=RelationId(f"r{len(self.relations) + 1}"),
                    type=claim.type,
                    subject=subject,
                    object=first,
                    second_object=second[0] if second else None,
                    span=claim.span,
                )
            )

    def as_pair(self, ends: Ends) -> Ends:
        """Take one mention of several things for two: "between two cats"."""
        is_several = len(ends) == 1 and self._references.is_several(*ends)
        return ends * FLANKS if is_several else ends

    def note_alternatives(self) -> None:
        """Name the things that "or" leaves open."""
        for span in self._references.alternatives:
            self.note_not_understood(span)

    def note_unrelated(self) -> None:
        """Name the things that no relation places, when there are things to place."""
        related = {end for relation in self.relations for end in relation.ends}
        mentions = self._references.mentions
        lost = [f'"{mention.phrase}"' for mention in mentions if mention.id not in related]
        if not mentions:
            self.note("I found no object in this prompt.", None)
        elif lost and len(mentions) > 1:
            *first, last = lost
            where = "between them" if first else "for it"
            named = f"{', '.join(first)} and {last}" if first else last
            self.note(f"I found {named}, but no relation {where}.", None)

    def note_not_understood(self, first: TextSpan, last: TextSpan | None = None) -> None:
        """Tell which words make no sense, up to ``last`` where that is given."""
        span = TextSpan(start=first.start, stop=(last or first).stop)
        self.note(f'I do not understand "{span.of(self._text)}".', span)

    def note(self, message: str, span: TextSpan | None) -> None:
        """Add a note on some words, or on the whole prompt."""
        self.notes.append(Note(message=message, span=span))
