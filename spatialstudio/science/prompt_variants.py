"""Other wordings of a prompt that a picture may be drawn from.

Source: Rezaei et al. 2025, arXiv:2506.23418, tables 4 and 19, variant "and": the model is told the
objects alone, and guidance holds the relations. Ours: articles as the user wrote them, and none is
added to several of a kind.
"""

import re
from dataclasses import replace

from spatialstudio.domain.prompt import ObjectMention, TextSpan
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.science.articles import indefinite_article

_AND = " and "
_ARTICLE = re.compile(r"\b(a|an|the)\s+$", re.IGNORECASE)


def objects_only(scene: SceneGraph) -> SceneGraph:
    """Return the scene of "a dog and a car": the same mentions and relations, in another text."""
    if not scene.mentions:
        return scene
    text = ""
    mentions = []
    for mention in scene.mentions:
        words = mention.span.of(scene.prompt.text)
        text += _AND if text else ""
        text += _article(mention, words, scene.prompt.text)
        mentions.append(
            replace(mention, span=TextSpan(start=len(text), stop=len(text) + len(words)))
        )
        text += words
    relations = tuple(replace(relation, span=None) for relation in scene.relations)
    prompt = replace(scene.prompt, text=text)
    return replace(scene, prompt=prompt, mentions=tuple(mentions), relations=relations)


def _article(mention: ObjectMention, words: str, text: str) -> str:
    """Return what stands before a mention, a space at its end; empty for no article."""
    written = _ARTICLE.search(text[: mention.span.start])
    if written is not None:
        return f"{written.group(1).lower()} "
    if mention.is_plural:
        return ""
    return f"{indefinite_article(words, is_shouted=text.isupper())} "
