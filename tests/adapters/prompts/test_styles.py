"""Style words are no objects: tags, openings and "in the style of"; a painting on a wall is one."""

import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.compose.write_prompt import write_prompt
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.scene import Prompt

extractor = GrammarExtractor(resources_folder() / "prompts")


def heads(text):
    return [mention.head for mention in extractor.extract(Prompt(text=text)).mentions]


@pytest.mark.parametrize(
    "ending",
    [
        ", watercolor painting",
        ", digital art, concept art, 35mm lens, bokeh",
        ", studio lighting, golden hour, octane render",
        ", depth of field, film grain, volumetric fog",
        ", children's book illustration, low angle shot",
        ", black and white photography",
        ", ink on paper",
        " - pixel art",
        " in watercolor style, soft light",
        " in the style of a children's book",
        " in the style of Van Gogh",
    ],
)
def test_style_is_no_object_and_is_kept_when_rewritten(ending):
    text = f"a cat above a dog{ending}"
    assert heads(text) == ["cat", "dog"]
    assert write_prompt(extractor.extract(Prompt(text=text))) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("an oil painting hangs above a sofa", ["oil painting", "sofa"]),
        ("a sofa with a painting above it", ["sofa", "painting"]),
        ("from left to right: a clock, a painting, a mirror", ["clock", "painting", "mirror"]),
        ("clock, painting, mirror from left to right", ["clock", "painting", "mirror"]),
        ("left: a cat, right: painting", ["cat", "painting"]),
        ("a shelf under a vase, painting, and clock", ["shelf", "vase", "painting", "clock"]),
    ],
)
def test_a_picture_in_the_scene_is_an_object(text, expected):
    assert heads(text) == expected
