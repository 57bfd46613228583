from dataclasses import replace

from spatialstudio.domain.scene import (
    LEFT_OF,
    ObjectMention,
    Prompt,
    Relation,
    SceneGraph,
    TextSpan,
)
from spatialstudio.science.guidance.noise_search import objects_only


def scene(text, *words):
    mentions = []
    for number, word in enumerate(words):
        start = text.index(word, mentions[-1].span.stop if mentions else 0)
        span = TextSpan(start=start, stop=start + len(word))
        mentions.append(ObjectMention(id=str(number), phrase=word, head=word, span=span))
    claim = Relation(id="r", type=LEFT_OF, subject="0", object="1", span=TextSpan(start=0, stop=1))
    return SceneGraph(
        prompt=Prompt(text=text, negative="blur"),
        mentions=tuple(mentions),
        relations=(claim,),
        extractor_id="grammar",
    )


def test_the_objects_stand_alone_with_their_articles():
    variant = objects_only(scene("a photo of a red cup left of the dog", "red cup", "dog"))
    assert variant.prompt.text == "a red cup and the dog"
    assert variant.prompt.negative == "blur"


def test_mentions_are_found_again_in_the_new_text():
    variant = objects_only(scene("a dog left of a dog", "dog", "dog"))
    assert [m.span.of(variant.prompt.text) for m in variant.mentions] == ["dog", "dog"]
    assert variant.mentions[0].span.stop < variant.mentions[1].span.start


def test_relations_stay_without_their_words():
    (relation,) = objects_only(scene("a dog left of a car", "dog", "car")).relations
    assert (relation.type, relation.span) == (LEFT_OF, None)


def test_an_article_that_was_left_out_is_added():
    variant = objects_only(scene("apple left of car", "apple", "car"))
    assert variant.prompt.text == "an apple and a car"


def test_no_article_is_added_to_a_plural():
    single = scene("two dogs left of a car", "two dogs", "car")
    dogs, car = single.mentions
    several = replace(single, mentions=(replace(dogs, is_plural=True), car))
    assert objects_only(several).prompt.text == "two dogs and a car"
