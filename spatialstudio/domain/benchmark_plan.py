"""Benchmark plans: prompt sets x methods x seeds, judged by judge sets under metrics."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from pathlib import Path

from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import LAYOUT, UNGUIDED, GenerationRequest
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.multiple_choice import AnswerCost, AskSettings, QuestionSet
from spatialstudio.domain.options import OptionValue
from spatialstudio.domain.refinement import REFINE_RECOMMENDED, RefineRules
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import LoraUse, RelationType
from spatialstudio.domain.verdict import REPRODUCE


class PromptSource(Enum):
    """Where the prompts of a set come from."""

    SPATIALBENCH_UC = "spatialbench-uc"
    """The 200 prompts of the release, generated."""
    VISOR = "visor"
    """The templates of VISOR over the names of COCO: 25,280 prompts, or a sample."""
    CONTRAST = "contrast"
    """Left, right, top and bottom with the objects in both orders: 728 prompts."""
    COMPBENCH = "t2i-compbench"
    """A file of T2I-CompBench, one prompt per line: ``spatial_val.txt``, ``3d_spatial_val.txt``."""
    GENEVAL = "geneval"
    """Lines of GenEval's metadata; those without the tag "position" are left out."""
    HRS = "hrs"
    """The table of HRS-Bench's spatial compositions; its thirds are the levels."""
    SPATIALGENEVAL = "spatialgeneval"
    """The JSON lines of SpatialGenEval; each prompt brings its questions."""
    LIST = "list"
    """A list of the user: one prompt per line, a CSV column, or JSON Lines."""

    @property
    def needs_file(self) -> bool:
        """Whether the prompts are read from the user's copy."""
        generated = {PromptSource.SPATIALBENCH_UC, PromptSource.VISOR, PromptSource.CONTRAST}
        return self not in generated


@frozen
class PromptSetPlan:
    """One prompt set of a plan.

    Attributes:
        source: Where the prompts come from.
        file: The user's copy; None for a generated set.
        column: Column or key of the prompt in a list; empty for "prompt".
        sample: Number of prompts to draw without replacement, in the order of the set; None for
            all of them.
        sample_seed: Seed of that sample.
    """

    source: PromptSource
    file: Path | None = None
    column: str = ""
    sample: int | None = None
    sample_seed: int = 0


@frozen
class StatedRelation:
    """The relation that a benchmark states for a prompt, beside its text.

    Attributes:
        type: The relation.
        subject: Name of the object placed.
        object: Name of the object it is placed against.
    """

    type: RelationType
    subject: str
    object: str


@frozen
class BenchmarkPrompt:
    """One prompt of a benchmark. Created by ``read_prompt_sets``.

    Attributes:
        id: Unique in its plan.
        text: The prompt.
        set_id: The source of its set.
        counterpart_id: Prompt with the objects swapped and the same meaning; empty for none.
        tags: Difficulty tags, such as "multi_word_object" or "level_2".
        stated: The relation of its benchmark; None where the text alone states it.
        questions: The multiple-choice questions of its benchmark; None to ask on the scene.
    """

    id: str
    text: str
    set_id: str
    counterpart_id: str = ""
    tags: tuple[str, ...] = ()
    stated: StatedRelation | None = None
    questions: QuestionSet | None = None


@frozen
class MethodPlan:
    """One method of a plan; None, and empty texts, stand for the default of its model or preset.

    Attributes:
        name: Unique in its plan, one path component.
        model_id: The model; empty for the embedded one.
        guidance: "none", or the id of a guidance method.
        preset: Preset of its settings.
        strength: Step size of guidance; 0 is off.
        guided_steps: Number of guided steps, from the first.
        steps: Denoising steps.
        guidance_scale: Classifier-free guidance scale.
        width: Pixels.
        height: Pixels.
        sampler: diffusers class name.
        negative: Negative prompt.
        candidates: Pictures of a noise search, of which the best is kept; 1 is no search.
        particles: Particles of steering; None for the recommended number, 1 for none.
        loras: LoRAs that change the model.
        options: Options of the guidance method, by id.
        refine: Rules of Evaluate-and-Refine, whose best picture is the item's; None to draw one
            picture. The first judge set of the plan scores its rounds.
    """

    name: str
    model_id: str = ""
    guidance: str = LAYOUT
    preset: Preset = Preset.RECOMMENDED
    strength: float | None = None
    guided_steps: int | None = None
    steps: int | None = None
    guidance_scale: float | None = None
    width: int | None = None
    height: int | None = None
    sampler: str = ""
    negative: str = ""
    candidates: int = 1
    particles: int | None = None
    loras: tuple[LoraUse, ...] = ()
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    refine: RefineRules | None = None

    @property
    def rounds(self) -> int:
        """Maximum number of pictures that are drawn for an item, noise searches aside."""
        return 1 if self.refine is None else self.refine.rounds


REFINE = "refine"
"""Name of Evaluate-and-Refine among the methods of a new plan."""


def new_method(name: str, model_id: str = "") -> MethodPlan:
    """Return the method of a new plan: Evaluate-and-Refine, or a guidance method by its id."""
    if name == REFINE:
        return MethodPlan(
            name=name, guidance=UNGUIDED, model_id=model_id, refine=REFINE_RECOMMENDED
        )
    return MethodPlan(name=name, guidance=name, model_id=model_id)


@frozen
class JudgePlan:
    """One judge set of a plan.

    Attributes:
        name: Unique in its plan, one path component.
        choice: Its models.
    """

    name: str = "default"
    choice: JudgeSetChoice = field(default_factory=JudgeSetChoice)


@frozen
class BenchmarkPlan:
    """A benchmark: every prompt by every method with every seed, judged by every judge set.

    Attributes:
        name: Title in reports.
        prompts: Prompt sets, in order.
        methods: Methods, in order.
        seeds: Distinct seeds, in order.
        judges: Judge sets, in order; the first judges while the model is loaded.
        metrics: Names of the metrics; empty for all.
        choice_answerer: Answerer of the multiple-choice questions of the metric ``choices``: a
            server or a model on this machine; empty for the perception.
        asking: How it is asked, and how its answers are counted.
        checker: Preset of the checker, or a settings file.
        threads: Processor threads of each engine; on a processor, pictures depend on it.
        text: The plan file as read.
    """

    name: str
    prompts: tuple[PromptSetPlan, ...]
    methods: tuple[MethodPlan, ...]
    seeds: tuple[int, ...]
    judges: tuple[JudgePlan, ...] = (JudgePlan(),)
    metrics: tuple[str, ...] = ()
    choice_answerer: str = ""
    asking: AskSettings = field(default_factory=AskSettings)
    checker: str = REPRODUCE.preset
    threads: int = 1
    text: str = ""


@frozen(eq=False)
class PlannedItem:
    """One picture of a plan. Created by ``items_of``.

    Attributes:
        key: Hash of everything that determines the picture; equal items have equal keys.
        prompt: The prompt.
        method: The method.
        seed: The seed.
        request: The request; None if the prompt or the settings cannot be drawn.
        error: Why there is no request; None if there is one.
    """

    key: str
    prompt: BenchmarkPrompt
    method: MethodPlan
    seed: int
    request: GenerationRequest | None
    error: StudioError | None = None


@frozen
class PlanEstimate:
    """Expected cost of a plan.

    Attributes:
        prompts: Number of prompts.
        pictures: Number of pictures, each item once.
        unusable: Pictures that cannot be drawn, as a prompt or setting does not fit the model.
        seconds: Total drawing time on one device, of all rounds of refined items; None if nothing
            like it was measured.
        disk_bytes: Size of the stored runs, of all rounds as well.
        memory_bytes: Peak memory of the most demanding method; None if unknown.
        free_bytes: Free disk space at the target.
        answers: Expected cost of multiple-choice answers, none of them cached; None if no answerer
            is asked.
    """

    prompts: int
    pictures: int
    unusable: int
    seconds: float | None
    disk_bytes: int
    memory_bytes: int | None
    free_bytes: int
    answers: AnswerCost | None = None
