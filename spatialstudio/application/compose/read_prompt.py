"""Stage 1: reading of a prompt into a scene, and edits of the scene.

Each edit also updates the prompt, because the text encoder reads the prompt and not the scene.
"""

import difflib
from collections.abc import Mapping
from dataclasses import replace

from spatialstudio.application.compose.write_prompt import rewrite
from spatialstudio.domain.errors import PluginError, PromptError, failures_named
from spatialstudio.domain.ports import RelationExtractor
from spatialstudio.domain.scene import (
    BY_HAND,
    MOST_CHARACTERS,
    MentionId,
    Note,
    ObjectMention,
    Prompt,
    Relation,
    RelationId,
    RelationType,
    SceneGraph,
    Shape,
    TextSpan,
    free_mention_id,
    is_text,
    relation_types,
)

COMMA = ", "
ANOTHER_EXTRACTOR = "Choose another extractor, or update its plugin."


def read_prompt(
    text: str, extractor: RelationExtractor, known_objects: Mapping[str, str] | None = None
) -> SceneGraph:
    """Read the relations that a prompt states.

    Args:
        text: Text as typed.
        extractor: Relation extractor.
        known_objects: Names, synonyms and plurals, mapped to the heads that the model knows; None
            if the model is not restricted.

    Raises:
        PromptError: The prompt is empty, too long or not text, or names an object that the model
            does not know.
        PluginError: The extractor failed, or returned an invalid scene.
    """
    if not is_text(text):
        raise PromptError(
            "The prompt is not valid UTF-8.", hint="Encode it in UTF-8, or type it again."
        )
    if len(text) > MOST_CHARACTERS:
        raise PromptError(
            f"The prompt is {len(text):,} characters long.",
            hint=f"The maximum is {MOST_CHARACTERS:,} characters.",
        )
    scene = _extracted(Prompt(text=text), extractor)
    return scene if known_objects is None else with_known_heads(scene, known_objects)


def _extracted(prompt: Prompt, extractor: RelationExtractor) -> SceneGraph:
    """Extract and validate a scene.

    Raises:
        PluginError: The extractor raised anything but a ``StudioError``, or the scene is invalid.
    """
    name = f'The relation extractor "{getattr(extractor, "id", "")}"'
    with failures_named(name, hint=ANOTHER_EXTRACTOR):
        scene = extractor.extract(prompt)
        fault = _fault_of(scene, prompt)
    if fault:
        raise PluginError(f"{name} returned an invalid scene: {fault}.", hint=ANOTHER_EXTRACTOR)
    return scene


def _fault_of(scene: object, prompt: Prompt) -> str:
    """Return why an extractor's result cannot be used; empty if it can."""
    if not isinstance(scene, SceneGraph):
        return f"it is a {type(scene).__name__}"
    if scene.prompt.text != prompt.text:
        return "its prompt is another one"
    relations = (*scene.relations, *scene.disputed)
    parts = ((scene.mentions, ObjectMention), (relations, Relation), (scene.notes, Note))
    for values, kind in parts:
        if not all(isinstance(each, kind) for each in values):
            return f"it has a value that is not a {kind.__name__}"
    for ids in ([each.id for each in scene.mentions], [each.id for each in relations]):
        if len(set(ids)) < len(ids):
            return "an id occurs twice"
    known = tuple(relation_types)
    if unknown := [each.type.id for each in relations if each.type not in known]:
        return f'the relation type "{unknown[0]}" is not registered'
    return "" if _last_character(scene) <= len(prompt.text) else "a span ends beyond the prompt"


def _last_character(scene: SceneGraph) -> int:
    spans = [span for each in scene.mentions for span in (each.span, *each.named_again)]
    spans += [each.span for each in (*scene.relations, *scene.disputed) if each.span]
    spans += [note.span for note in scene.notes if note.span]
    return max((span.stop for span in spans), default=0)


def read_thing(
    text: str, extractor: RelationExtractor, known_objects: Mapping[str, str] | None = None
) -> ObjectMention:
    """Read the name of one object, "red cup"; its id and span refer to this text.

    Args:
        text: Text as typed.
        extractor: Relation extractor.
        known_objects: As for ``read_prompt``.

    Raises:
        PromptError: The text names no object, several, or one that the model does not know.
    """
    scene = read_prompt(text, extractor)
    if len(scene.mentions) != 1:
        raise PromptError(
            f'"{text}" is not the name of one object.', hint='Name one object, such as "red cup".'
        )
    known = scene if known_objects is None else with_known_heads(scene, known_objects)
    return known.mentions[0]


def with_known_heads(scene: SceneGraph, known_objects: Mapping[str, str]) -> SceneGraph:
    """Replace every head by the name that the model knows: "kitten" becomes "cat".

    Raises:
        PromptError: An object is unknown to the model, or there is none.
    """
    if not scene.mentions:
        raise PromptError(
            "The prompt contains no object that this model supports.",
            hint=_what_is_known(known_objects),
        )
    mentions = tuple(
        replace(mention, head=_known_head(mention, known_objects)) for mention in scene.mentions
    )
    return replace(scene, mentions=mentions)


def only_known(scene: SceneGraph, known_objects: Mapping[str, str]) -> SceneGraph:
    """Replace heads by names that the model knows; remove unknown mentions with relations."""
    heads = {each.id: _head_among(each, known_objects) for each in scene.mentions}
    mentions = tuple(
        replace(each, head=head) for each in scene.mentions if (head := heads[each.id]) is not None
    )
    unknown = [each for each in scene.mentions if heads[each.id] is None]
    notes = (
        Note(message=f'The image model does not support "{each.phrase}".', span=each.span)
        for each in unknown
    )
    lost = {each.id for each in unknown}
    relations, disputed = (
        tuple(each for each in claims if lost.isdisjoint(each.ends))
        for claims in (scene.relations, scene.disputed)
    )
    return replace(
        scene,
        mentions=mentions,
        relations=relations,
        notes=(*scene.notes, *notes),
        disputed=disputed,
    )


def with_relation_type(
    scene: SceneGraph, relation_id: RelationId, new_type: RelationType
) -> SceneGraph:
    """Change the type of a relation, and its words in the prompt where possible.

    Raises:
        PromptError: "Between" was chosen in a scene of two mentions.
    """
    old = _relation(scene, relation_id)
    second = _flank(scene, old, new_type) if new_type.shape is Shape.BETWEEN else None
    new = replace(
        old,
        type=new_type,
        second_object=second,
        source=BY_HAND,
        is_implied=False,
        is_unconfirmed=False,
    )
    edited = replace(
        scene, relations=tuple(new if each is old else each for each in scene.relations)
    )
    if old.span is None or not _says_it_alone(scene, old):
        return rewrite(edited)
    return _with_words(edited, old.span, new_type.phrase)


def with_relation_added(
    scene: SceneGraph,
    relation_type: RelationType,
    subject: MentionId,
    *objects: MentionId,
) -> SceneGraph:
    """Add a relation between mentions of the scene; "between" takes two objects.

    Raises:
        ValueError: The number of objects does not match the type.
    """
    thing, *flank = objects
    relation = Relation(
        id=_new_relation_id(scene),
        type=relation_type,
        subject=subject,
        object=thing,
        second_object=flank[0] if flank else None,
        source=BY_HAND,
    )
    return rewrite(replace(scene, relations=(*scene.relations, relation)))


def with_thing_added(scene: SceneGraph, thing: ObjectMention) -> SceneGraph:
    """Add a mention after all others, before any style suffix.

    Args:
        scene: The scene.
        thing: A mention from another prompt; it gets an id and a span of the scene.
    """
    text = scene.prompt.text
    stop = max((mention.span.stop for mention in scene.mentions), default=len(text))
    start = stop + len(COMMA)
    grown = replace(
        thing,
        id=free_mention_id({mention.id for mention in scene.mentions}),
        span=TextSpan(start=start, stop=start + len(thing.phrase)),
        named_again=(),
    )
    return rewrite(
        replace(
            scene,
            prompt=replace(scene.prompt, text=f"{text[:stop]}{COMMA}{thing.phrase}{text[stop:]}"),
            mentions=(*scene.mentions, grown),
        )
    )


def with_thing_removed(scene: SceneGraph, mention_id: MentionId) -> SceneGraph:
    """Remove a mention and its relations; other mentions stay."""
    return rewrite(scene, without=mention_id)


def with_relation_removed(scene: SceneGraph, relation_id: RelationId) -> SceneGraph:
    """Remove a relation; its mentions stay."""
    gone = _relation(scene, relation_id)
    kept = tuple(each for each in scene.relations if each is not gone)
    return rewrite(replace(scene, relations=kept))


def _known_head(mention: ObjectMention, known_objects: Mapping[str, str]) -> str:
    head = _head_among(mention, known_objects)
    if head is None:
        raise PromptError(
            f'This model does not support "{mention.head}".',
            hint=_what_is_known(known_objects, mention.head),
        )
    return head


def _head_among(mention: ObjectMention, known_objects: Mapping[str, str]) -> str | None:
    """Return the model's name for a mention, from the longest known ending of its phrase."""
    name = mention.phrase.lower().partition(" of ")[0]
    endings = (
        " ".join(words[start:])
        for words in (name.split(), mention.head.split())
        for start in range(len(words))
    )
    return next((head for each in endings if (head := known_objects.get(each))), None)


def _what_is_known(known_objects: Mapping[str, str], word: str = "") -> str:
    """List the known objects, those spelled most like ``word`` first."""
    heads = sorted(set(known_objects.values()))
    close = difflib.get_close_matches(word.lower(), heads)
    names = ", ".join([*close, *(head for head in heads if head not in close)])
    return f"It supports these {len(heads)} objects: {names}."


def _relation(scene: SceneGraph, relation_id: RelationId) -> Relation:
    return next(relation for relation in scene.relations if relation.id == relation_id)


def _flank(scene: SceneGraph, relation: Relation, new_type: RelationType) -> MentionId:
    """Return the second object of "between": the present one, else the first unrelated mention."""
    free = (mention.id for mention in scene.mentions if mention.id not in relation.ends)
    flank = relation.second_object or next(free, None)
    if flank is None:
        raise PromptError(
            f'"{new_type.phrase.capitalize()}" needs a second object.',
            hint="Add another object to the prompt.",
        )
    return flank


def _new_relation_id(scene: SceneGraph) -> RelationId:
    taken = {relation.id for relation in scene.relations}
    numbers = range(1, len(taken) + 2)
    return next(name for n in numbers if (name := RelationId(f"r{n}")) not in taken)


def _says_it_alone(scene: SceneGraph, relation: Relation) -> bool:
    """Return True if a relation's words state nothing else and directly precede its object."""
    shared = [other for other in scene.relations if other.span == relation.span]
    if relation.span is None or len(shared) > 1 or relation.second_object is not None:
        return False
    before_object = scene.prompt.text[
        relation.span.stop : scene.mention(relation.object).span.start
    ]
    return len(before_object.split()) <= 1


def _with_words(scene: SceneGraph, span: TextSpan, words: str) -> SceneGraph:
    """Replace the text of a span, and shift all later spans."""
    text = scene.prompt.text
    if span.start == 0:
        words = words.capitalize()
    shift = len(words) - (span.stop - span.start)

    def moved(old: TextSpan) -> TextSpan:
        if old == span:
            return TextSpan(start=span.start, stop=span.start + len(words))
        if old.start < span.stop:
            return old
        return TextSpan(start=old.start + shift, stop=old.stop + shift)

    return replace(
        scene,
        prompt=replace(scene.prompt, text=text[: span.start] + words + text[span.stop :]),
        mentions=tuple(
            replace(each, span=moved(each.span), named_again=tuple(map(moved, each.named_again)))
            for each in scene.mentions
        ),
        relations=tuple(
            replace(each, span=moved(each.span) if each.span else None) for each in scene.relations
        ),
        notes=tuple(
            replace(each, span=moved(each.span) if each.span else None) for each in scene.notes
        ),
        disputed=(),
    )
