"""GLIGEN's boxes of the 200 prompts of SpatialBench-UC (arXiv:2601.13462)."""

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.benchmark.prompt_sets import read_prompt_sets
from spatialstudio.domain.benchmark_plan import PromptSetPlan, PromptSource
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.scene import Prompt
from spatialstudio.science.guidance.methods.gligen import grounded_boxes

LEFT, RIGHT = (0.05, 0.25, 0.35, 0.75), (0.65, 0.25, 0.95, 0.75)
TOP, BOTTOM = (0.25, 0.05, 0.75, 0.35), (0.25, 0.65, 0.75, 0.95)
BOXES = {
    "left_of": (LEFT, RIGHT),
    "right_of": (RIGHT, LEFT),
    "above": (TOP, BOTTOM),
    "below": (BOTTOM, TOP),
}
PROMPTS = 200


def test_every_prompt_gets_the_published_boxes():
    grammar = GrammarExtractor(resources_folder() / "prompts")
    listed = [PromptSetPlan(source=PromptSource.SPATIALBENCH_UC)]
    prompts = read_prompt_sets(listed, resources_folder())
    assert len(prompts) == PROMPTS
    for prompt in prompts:
        scene = grammar.extract(Prompt(text=prompt.text))
        names = {mention.id: mention.head for mention in scene.mentions}
        boxes = grounded_boxes(scene, GuidanceSettings(method_id="gligen"))
        made = [(names[mention], sides_of(box)) for mention, box in boxes.items()]
        subject, other = BOXES[prompt.stated.type.id]
        assert made == [(prompt.stated.subject, subject), (prompt.stated.object, other)]


def sides_of(box):
    return tuple(round(side, 6) for side in (box.left, box.top, box.right, box.bottom))
