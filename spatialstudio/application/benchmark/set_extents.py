"""How much of each prompt set a plan takes, and the licence of its prompts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from spatialstudio.application.benchmark.plan_file import read_plan
from spatialstudio.application.benchmark.prompt_sets import set_size
from spatialstudio.application.benchmark.result_store import PLAN_FILE
from spatialstudio.domain.benchmark_plan import BenchmarkPlan, PromptSetPlan, PromptSource
from spatialstudio.domain.frozen import frozen

LICENCES: Mapping[PromptSource, str] = {
    PromptSource.SPATIALBENCH_UC: "CC BY 4.0",
    PromptSource.VISOR: "MIT",
}
"""Licences of generated sets; the user's copies have their own."""
NO_LICENCE = "not stated"


@frozen
class SetExtent:
    """The part of a prompt set that a plan takes.

    Attributes:
        name: Source of the set, with the name of its file.
        prompts: Number of prompts that are taken; None for a whole file that is not read.
        size: Number of prompts of the whole set; None for a file that is not read.
        licence: Licence of the prompts.
    """

    name: str
    prompts: int | None
    size: int | None
    licence: str

    @property
    def text(self) -> str:
        """The extent in words: "visor: sample of 500 of 25,280 prompts, licence MIT"."""
        if self.prompts is None:
            extent = "all prompts"
        elif self.prompts == self.size:
            extent = f"all {self.prompts:,} prompts"
        else:
            whole = "" if self.size is None else f" of {self.size:,}"
            extent = f"sample of {self.prompts:,}{whole} prompts"
        return f"{self.name}: {extent}, licence {self.licence}"


def set_extents(plan: BenchmarkPlan, resources: Path) -> tuple[SetExtent, ...]:
    """Return how much of its prompt sets a plan takes, in order.

    Args:
        plan: The plan.
        resources: Folder of the shipped resources.

    Raises:
        PromptError: A file of the plan cannot be read.
    """
    return tuple(_extent(each, set_size(each, resources)) for each in plan.prompts)


def stored_extents(folders: Sequence[Path], resources: Path) -> tuple[SetExtent, ...]:
    """Return how much of their prompt sets benchmarks take; files of prompts are not read.

    Args:
        folders: Benchmarks, and run folders without a plan.
        resources: Folder of the shipped resources.

    Raises:
        SettingsError: The plan of a benchmark is invalid.
    """
    plans = [read_plan(each / PLAN_FILE) for each in folders if (each / PLAN_FILE).is_file()]
    sets = dict.fromkeys(each for plan in plans for each in plan.prompts)
    return tuple(
        _extent(each, None if each.source.needs_file else set_size(each, resources))
        for each in sets
    )


def _extent(plan: PromptSetPlan, size: int | None) -> SetExtent:
    own = "of your copy" if plan.source.needs_file else NO_LICENCE
    return SetExtent(
        name=plan.source.value if plan.file is None else f"{plan.source.value} {plan.file.name}",
        prompts=size if plan.sample is None else plan.sample,
        size=size,
        licence=LICENCES.get(plan.source, own),
    )
