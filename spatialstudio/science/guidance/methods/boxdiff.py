"""BoxDiff: attention inside boxes, none outside, and edges aligned with the boxes.

    inner:  1 - mean of the top fifth of A inside;   outer: mean of the top fifth of A outside
    corner: mean over columns of |max over rows of A - box profile| near the box's two edges, and
            the same over rows

Refinement minimises only the inner term of the mention with the largest one: its thresholds apply
to that term, not to the sum. There are two presets: as published, with refinement at steps 0, 10
and 20, and as in SpatialBench-UC (Rostane 2026, arXiv:2601.13462), without.

Source: Xie et al. 2023, arXiv:2307.10816; implemented from the formulas. Ours: boxes are computed
from the relations, and the top fifth of a tiny box is at least one cell.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings, Refinement
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import Relation
from spatialstudio.science.guidance.method import ANY_FAMILY, STABLE_DIFFUSION, GuidanceMethod
from spatialstudio.science.scenes.relation_boxes import ShareBox, relation_boxes

if TYPE_CHECKING:
    import torch

    from spatialstudio.science.pos.attention_maps import WordAttention


@frozen(kw_only=False)
class BoxDiffLoss:
    """BoxDiff, a ``GuidanceLoss``.

    Attributes:
        top_share: Fraction of the cells inside and outside a box in the top means, (0, 1].
        reach: Number of cells on each side of an edge in the corner term.
    """

    top_share: float = 0.2
    reach: int = 1

    reads_whole_text = True

    def __call__(self, relations: Sequence[Relation], attention: "WordAttention") -> "torch.Tensor":
        """Return the () sum of the terms of every mention with a box, each term >= 0."""
        import torch

        maps = attention.excited_maps()
        boxes = relation_boxes(relations)
        return torch.stack([self._lack(maps[m], box) for m, box in boxes.items()]).sum()

    def refined(self, relations: Sequence[Relation], attention: "WordAttention") -> "torch.Tensor":
        """Return the () largest inner term over mentions, [0, 1]."""
        import torch

        maps = attention.excited_maps()
        boxes = relation_boxes(relations)
        return torch.stack([self._inner(maps[m], box) for m, box in boxes.items()]).amax()

    def _inner(self, weights: "torch.Tensor", box: ShareBox) -> "torch.Tensor":
        rows = _cells(box.top, box.bottom, weights.shape[0])
        columns = _cells(box.left, box.right, weights.shape[1])
        return (1 - self._top_mean(weights[rows, columns].flatten())).clamp_min(0)

    def _lack(self, weights: "torch.Tensor", box: ShareBox) -> "torch.Tensor":
        import torch

        rows = _cells(box.top, box.bottom, weights.shape[0])
        columns = _cells(box.left, box.right, weights.shape[1])
        inside = torch.zeros_like(weights, dtype=torch.bool)
        inside[rows, columns] = True
        outer = self._top_mean(weights[~inside]).clamp_min(0)
        across = self._edges(weights.amax(0), columns)
        down = self._edges(weights.amax(1), rows)
        return self._inner(weights, box) + outer + across + down

    def _top_mean(self, weights: "torch.Tensor") -> "torch.Tensor":
        count = max(int(self.top_share * weights.numel()), 1)
        return weights.topk(min(count, weights.numel())).values.mean()

    def _edges(self, profile: "torch.Tensor", box: slice) -> "torch.Tensor":
        wanted, counts = profile.new_zeros(profile.shape), profile.new_zeros(profile.shape)
        wanted[box] = 1
        for edge in (box.start, box.stop):
            counts[max(edge - self.reach, 0) : edge + self.reach + 1] = 1
        return ((profile - wanted).abs() * counts).mean()


def _cells(start: float, stop: float, count: int) -> slice:
    """Round an interval in [0, 1] to cells, at least one."""
    first = min(round(start * count), count - 1)
    return slice(first, max(round(stop * count), first + 1))


METHOD = GuidanceMethod(
    id="boxdiff",
    label="BoxDiff",
    description="Concentrates the attention to each object in a box derived from the relations.",
    order=5,
    presets={
        Preset.RECOMMENDED: {ANY_FAMILY: GuidanceSettings(strength=20)},
        Preset.PUBLISHED: {
            STABLE_DIFFUSION: GuidanceSettings(
                strength=20,
                last_step=24,
                refinements=(
                    Refinement(step=0, presence=0.05),
                    Refinement(step=10, presence=0.5),
                    Refinement(step=20, presence=0.8),
                ),
            )
        },
        Preset.SPATIALBENCH_UC: {STABLE_DIFFUSION: GuidanceSettings(strength=20, last_step=24)},
    },
    make_loss=lambda _: BoxDiffLoss(),
    make_refined=lambda _: BoxDiffLoss().refined,
)
