"""Multiple-choice questions on a prompt, from its scene graph; and checks of any questions. Ours.

Every object, exact number, colour and relation with one claim becomes a question of a known form
(``choice_forms``), if its words name one object. Wrong options contradict the prompt: objects that
it does not name, other numbers and colours, and the opposite place; what is to the left may be
above as well.
"""

from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from spatialstudio.domain.multiple_choice import (
    NONE_LETTER,
    ChoiceQuestion,
    QuestionCheck,
    QuestionSet,
    QuestionState,
    WrittenQuestions,
)
from spatialstudio.domain.requirements import BASIC_COLOURS, Quantity, requirements_of
from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    BELOW,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    MentionId,
    ObjectMention,
    Relation,
    RelationType,
    SceneGraph,
    relation_types,
)
from spatialstudio.science.questions.choice_forms import (
    NUMBERS,
    SUB_DOMAIN_OF,
    Form,
    place_option,
    read_place,
    read_stem,
)
from spatialstudio.science.questions.rendered_questions import Draft, lettered
from spatialstudio.science.questions.spatialgeneval import read_question

RULES_ID = "rules"
PLACES = ((LEFT_OF, RIGHT_OF), (ABOVE, BELOW), (IN_FRONT_OF, BEHIND), (NEAR, FAR_FROM))
"""Relation types that exclude each other, the options of one question."""


def questions_of_prompt(scene: SceneGraph, vocabulary: Sequence[str]) -> WrittenQuestions:
    """Return the questions that the scene graph of a prompt answers, in equal order every time.

    Args:
        scene: The scene graph.
        vocabulary: Names of objects, for wrong options.
    """
    rng = rng_of(scene.prompt.text)
    drafts: list[tuple[Draft, tuple[MentionId, ...]]] = []
    single = [each for each in scene.mentions if _is_named_once(each, scene)]
    for mention in single:
        drafts += [(draft, (mention.id,)) for draft in _on_object(mention, scene, vocabulary, rng)]
    for relation in scene.relations:
        if draft := _on_relation(relation, scene, single):
            drafts.append((draft, relation.ends))
    return WrittenQuestions(
        questions=QuestionSet(
            id=id_of(scene.prompt.text),
            scene="prompt",
            prompt=scene.prompt.text,
            questions=tuple(lettered(draft, rng) for draft, _ in drafts),
            types=tuple(SUB_DOMAIN_OF[draft.form] for draft, _ in drafts),
        ),
        mentions=tuple(mentions for _, mentions in drafts),
        source_id=RULES_ID,
    )


def rng_of(prompt: str) -> np.random.Generator:
    """Return random numbers that follow from a prompt."""
    return np.random.default_rng(int(_digest(prompt)[:16], 16))


def id_of(prompt: str) -> str:
    """Return the id of the questions on a prompt."""
    return _digest(prompt)[:12]


def _digest(prompt: str) -> str:
    return sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()


def _is_named_once(mention: ObjectMention, scene: SceneGraph) -> bool:
    return sum(each.head.lower() == mention.head.lower() for each in scene.mentions) == 1


def _on_object(
    mention: ObjectMention,
    scene: SceneGraph,
    vocabulary: Sequence[str],
    rng: np.random.Generator,
) -> list[Draft]:
    head, required = mention.head.lower(), requirements_of(scene, mention.id)
    drafts = []
    heads = {each.head.lower() for each in scene.mentions}
    absent = [name for name in vocabulary if name.lower() not in heads]
    if absent:
        wrong = [absent[place] for place in rng.permutation(len(absent))[: len(NUMBERS) - 1]]
        drafts.append(Draft(form=Form.PRESENT, names=(), right=head, wrong=tuple(wrong)))
    number = _exact(required.quantity)
    if str(number) in NUMBERS:
        noun = mention.phrase.split()[-1].lower() if mention.is_plural else head
        others = tuple(each for each in NUMBERS if each != str(number))
        drafts.append(Draft(form=Form.COUNT, names=(noun,), right=str(number), wrong=others))
    if len(required.colours) == 1 and not mention.is_plural:
        terms = required.colours[0].terms
        other_colours = [each for each in BASIC_COLOURS if each not in terms]
        wrong = [other_colours[place] for place in rng.permutation(len(other_colours))[:3]]
        drafts.append(Draft(form=Form.COLOUR, names=(head,), right=terms[0], wrong=tuple(wrong)))
    return drafts


def _exact(quantity: Quantity | None) -> int | None:
    if quantity is None or quantity.least != quantity.most:
        return None
    return quantity.least


def _on_relation(
    relation: Relation, scene: SceneGraph, single: Sequence[ObjectMention]
) -> Draft | None:
    ends = [scene.mention(end) for end in relation.ends]
    kinds = [places for places in PLACES if relation.type in places]
    if not kinds or not all(end in single and not end.is_plural for end in ends):
        return None
    draft = Draft(
        form=Form.PLACE,
        names=tuple(end.head.lower() for end in ends),
        right=place_option(relation.type),
        wrong=tuple(place_option(each) for each in kinds[0] if each != relation.type),
    )
    stated = _stated(draft.names[0], draft.names[1], scene)
    return draft if stated & set(kinds[0]) == {relation.type} else None


def check_question(question: ChoiceQuestion, scene: SceneGraph) -> QuestionCheck:
    """Compare a question with the scene graph of its prompt.

    Returns:
        Whether the prompt states the key and none of the wrong options; not checked for questions
        of unknown form and on what the prompt leaves open.
    """
    if not fits_one_line(question):
        return _contradicts("its options cannot be written in one line")
    options = dict(question.options)
    key = options.get(question.key, "").strip().lower()
    if not key or question.key == NONE_LETTER:
        return _contradicts("the right answer is none of the options")
    wrong = [
        text.strip().lower()
        for letter, text in question.options
        if letter not in {question.key, NONE_LETTER}
    ]
    if key in wrong or len(set(wrong)) < len(wrong):
        return _contradicts("two options have the same text")
    read = read_stem(question.stem)
    if read is None or read.form not in _CHECKED:
        return QuestionCheck(
            state=QuestionState.OPEN, reason="the scene cannot answer a question of this form"
        )
    unknown = [name for name in read.names if not _named(name, scene)]
    if unknown:
        return _contradicts(f"the prompt does not name the {unknown[0]}")
    right = _right_options(read.form, read.names, [key, *wrong], scene)
    if right is None:
        return QuestionCheck(state=QuestionState.OPEN, reason="the prompt leaves it open")
    if right == {key}:
        return QuestionCheck(state=QuestionState.AGREES)
    if key not in right:
        return _contradicts(f'the prompt does not state "{key}"')
    return _contradicts("several options are right")


_CHECKED = frozenset((Form.PRESENT, Form.COUNT, Form.COLOUR, Form.PLACE))


def fits_one_line(question: ChoiceQuestion) -> bool:
    """Return True if a question can be read again from its line in the form of the data."""
    try:
        reread = read_question(question.text, question.key)
    except ValueError:
        return False
    return (reread.stem, reread.options) == (question.stem, question.options)


def _contradicts(reason: str) -> QuestionCheck:
    return QuestionCheck(state=QuestionState.CONTRADICTS, reason=reason)


def _named(name: str, scene: SceneGraph) -> ObjectMention | None:
    """Return the mention with a name, singular or as written; None without."""
    plain = " ".join(name.lower().split())
    for mention in scene.mentions:
        words = {mention.head.lower(), mention.phrase.lower(), mention.phrase.split()[-1].lower()}
        if plain in words:
            return mention
    return None


def _right_options(
    form: Form, names: Sequence[str], options: Sequence[str], scene: SceneGraph
) -> set[str] | None:
    """Return the options that the prompt states; None if it leaves the question open."""
    if form is Form.PRESENT:
        return {option for option in options if _named(option, scene)}
    if form is Form.PLACE:
        stated = _stated(names[0], names[1], scene)
        found = {option for option in options if read_place(option) in stated}
        return found if stated else None
    mention = _named(names[0], scene)
    if mention is None:
        return None
    required = requirements_of(scene, mention.id)
    if form is Form.COLOUR:
        terms = {term for colour in required.colours for term in colour.terms}
        words = {colour.words.lower() for colour in required.colours}
        return {option for option in options if option in terms | words} if terms else None
    if required.quantity is None:
        return None
    quantity = required.quantity
    return {option for option in options if option.isdecimal() and quantity.allows(int(option))}


def _stated(name: str, other: str, scene: SceneGraph) -> set[RelationType]:
    """Return the relation types between two names with one claim each, inverse ones included."""
    found: set[RelationType] = set()
    for relation in scene.relations:
        ends = tuple(scene.mention(end) for end in relation.ends)
        named = (_named(name, scene), _named(other, scene))
        if len(ends) != len(named):
            continue
        kind = None
        if ends == named:
            kind = relation.type
        elif ends == named[::-1]:
            kind = relation_types.inverse(relation.type)
        if kind is not None:
            claims = set(kind.claims)
            found.add(kind)
            found |= {each for places in PLACES for each in places if set(each.claims) & claims}
    return found
