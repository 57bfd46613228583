"""Local repair of stored and open runs: what is redrawn, its request, and the picture it keeps."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from spatialstudio.application.models.model_lists import choose_guidance
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import RgbImage, hash_of_picture
from spatialstudio.domain.errors import RequestError, StoreError, StudioError
from spatialstudio.domain.generation import (
    LAYOUT,
    GenerationRequest,
    NoiseSearch,
    PlaceTarget,
    RequestId,
    new_request_id,
)
from spatialstudio.domain.library import LibraryEntry
from spatialstudio.domain.ports import ImageFiles, ModelCard
from spatialstudio.domain.repair import LocalRepair, Region
from spatialstudio.domain.run_settings import SketchedPlaces, places_of, with_places, with_values
from spatialstudio.domain.scene import MentionId
from spatialstudio.domain.steering import ONE_PARTICLE
from spatialstudio.science.refine.repair_region import RepairPlan, failed_objects, plan_repair

MOST_STARTS = 8
"""Pictures that are kept in memory; others are read from the library."""


class LocalRepairs:
    """Plans repairs, makes their requests, and finds the pictures that they start from.

    Args:
        path_of: Returns the picture file of a stored request; None if it is not stored.
        images: Returns the reader of picture files.
    """

    def __init__(
        self,
        path_of: Callable[[RequestId], Path | None],
        images: Callable[[], ImageFiles],
    ) -> None:
        self._path_of = path_of
        self._images = images
        self._starts: dict[str, RgbImage] = {}

    def plan(self, run: OpenRun, mention_id: MentionId | None = None) -> RepairPlan:
        """Plan a repair by the verdicts of a run; nothing is drawn.

        Args:
            run: A finished run.
            mention_id: The object to redraw; None for the one that failed.

        Raises:
            RequestError: The run is not judged, or nothing in it failed.
        """
        if run.evaluation is None:
            raise RequestError(
                "The picture is not judged, so the place of a repair is unknown.",
                hint="Judge it first, or give a region.",
            )
        targets = () if run.request is None else places_of(run.request).targets
        plan = plan_repair(run.scene, run.evaluation, targets, mention_id)
        if plan is None:
            raise RequestError(
                "Every relation of the picture passes.", hint="Give a region or an object."
            )
        return plan

    def plan_in(
        self, run: OpenRun, regions: Sequence[Region], mention_id: MentionId | None = None
    ) -> RepairPlan:
        """Plan a repair of given regions; the object should appear in the first.

        Args:
            run: A finished run.
            regions: What is redrawn.
            mention_id: The object; None for the one that failed, else the first of the prompt.

        Raises:
            RequestError: There is no region, or the prompt names no object.
        """
        failed = failed_objects(run.scene, run.evaluation) if run.evaluation else ()
        named = [mention_id] if mention_id is not None else failed
        known = [*named, *(each.id for each in run.scene.mentions)]
        if not regions or not known:
            raise RequestError(
                "A local repair needs a region and an object.",
                hint="Give a region, and name an object in the prompt.",
            )
        first = regions[0]
        x, y = first.x + first.width / 2, first.y + first.height / 2
        target = PlaceTarget(mention_id=known[0], x=x, y=y)
        return RepairPlan(mention_id=known[0], regions=tuple(regions), target=target)

    def request(
        self, run: OpenRun, plan: RepairPlan, model: ModelCard, *, seed: int | None = None
    ) -> GenerationRequest:
        """Return the request that carries a plan out, with guidance towards its target.

        Args:
            run: The run whose picture is repaired.
            plan: The plan.
            model: Its model.
            seed: Another seed for other noise in the regions; None for that of the run.

        Raises:
            RequestError: The picture was imported, or is not finished.
        """
        request = run.request
        if request is None or run.image is None:
            raise RequestError(
                "Only a finished picture of Spatial Studio is repaired locally.",
                hint="Generate a picture first; imported pictures have no settings.",
            )
        sha256 = self._keep(run.image)
        guidance = choose_guidance(LAYOUT, model, request.sampling.steps)
        places = SketchedPlaces(targets=places_of(request).targets).with_target(plan.target)
        repaired = with_values(
            request,
            id=new_request_id(),
            guidance=with_places(guidance, places),
            repair=LocalRepair(start=run.id, sha256=sha256, regions=plan.regions),
            search=NoiseSearch(),
            steering=ONE_PARTICLE,
            parent_run_id=run.path.stem if run.path else "",
            sweep=None,
        )
        return repaired if seed is None else with_values(repaired, seed=seed)

    def start_of(self, request: GenerationRequest) -> RgbImage | None:
        """Return the picture that a request repairs, (H, W, 3); None if it repairs none.

        Raises:
            StoreError: The picture is not in the library, or has changed.
            ImageError: Its file is damaged.
        """
        repair = request.repair
        if repair is None:
            return None
        if (known := self._starts.get(repair.sha256)) is not None:
            return known
        path = self._path_of(RequestId(repair.start))
        if path is None:
            raise StoreError(
                "The picture that is repaired is not in the library.",
                hint="Restore its run, or import it, then try again.",
            )
        image = self._images().read(path)
        if self._keep(image) != repair.sha256:
            raise StoreError(
                f'The picture "{path.name}" has changed since its repair.',
                hint="Restore the original file, or repair the picture again.",
            )
        return image

    def keep_file(self, path: Path) -> None:
        """Keep the picture of a file in memory, for requests that repair it.

        Raises:
            ImageError: The file is missing or damaged.
        """
        self._keep(self._images().read(path))

    def _keep(self, image: RgbImage) -> str:
        """Keep a picture in memory; return its hash."""
        sha256 = hash_of_picture(image)
        self._starts.pop(sha256, None)
        self._starts[sha256] = image
        while len(self._starts) > MOST_STARTS:
            self._starts.pop(next(iter(self._starts)))
        return sha256


def unjudged_picture(
    request: GenerationRequest,
    derived: Sequence[LibraryEntry],
    read: Callable[[Path], OpenRun],
) -> Path | None:
    """Return the stored picture of an equal request that was cut off before its verdicts.

    Args:
        request: Request of a repair.
        derived: The stored runs that were derived from the same run.
        read: Reads a stored run.
    """
    for entry in derived:
        if entry.is_missing or entry.summary.outcome is not None:
            continue
        try:
            run = read(entry.path)
        except StudioError:  # a damaged run does not stop a repair
            continue
        asked = run.request and replace(run.request, id=request.id)
        if run.evaluation is None and asked == request:
            return entry.path
    return None
