"""From a tapped pass to what it says about the scene: maps, PoS and loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from spatialstudio.adapters.backends.attention_layers import AttentionLayer, map_size
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.prompt import MentionId, TokenSpan
from spatialstudio.domain.relation import Relation, RelationId
from spatialstudio.science.attention_maps import mean_attention, mention_maps, smooth
from spatialstudio.science.relation_rules import can_guide, relation_pos


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What one pass attended to. Stays on the thread of the model.

    Attributes:
        maps: Mention id to (h, w) probabilities with gradients, where there are any.
        smooth_maps: The same for the loss, smoothed where the family wants it.
    """

    maps: Mapping[MentionId, torch.Tensor]
    smooth_maps: Mapping[MentionId, torch.Tensor]


class AttentionReader:
    """Turns attention probabilities into maps of mentions.

    Args:
        layers: Those that are tapped, in the order in which they run.
        spans: Where the text that the denoiser attends to holds the mentions; of several for one
            mention all count.
        relations: What the scene claims.
        smooths_maps: Whether the loss reads smoothed maps.
    """

    def __init__(
        self,
        layers: Sequence[AttentionLayer],
        spans: Sequence[TokenSpan],
        relations: Sequence[Relation],
        *,
        smooths_maps: bool,
    ) -> None:
        self.layers = tuple(layers)
        self.columns = tuple(sorted({index for span in spans for index in span.indices}))
        self.relations = tuple(r for r in relations if can_guide(r.type))
        self._smooths_maps = smooths_maps
        self._places: dict[MentionId, list[int]] = {}
        for span in spans:
            places = [self.columns.index(index) for index in span.indices]
            known = self._places.setdefault(span.mention_id, [])
            known += [place for place in places if place not in known]

    def read(self, probabilities: Sequence[torch.Tensor], latent_size: tuple[int, int]) -> Reading:
        """Average what was tapped.

        Args:
            probabilities: (heads, positions, columns) of every layer.
            latent_size: (h, w) of the latents that the denoiser was given.
        """
        height, width = map_size(*latent_size, self.layers[0].level)
        columns = mean_attention(probabilities, height, width)
        maps = mention_maps(columns, self._places)
        if not self._smooths_maps:
            return Reading(maps, maps)
        return Reading(maps, mention_maps(smooth(columns), self._places))

    def snapshot(self, reading: Reading) -> AttentionSnapshot:
        """Copy a reading out of the model's world."""
        names = tuple(layer.name for layer in self.layers)
        maps = {mention: _to_numpy(weights) for mention, weights in reading.maps.items()}
        return AttentionSnapshot(maps=maps, layers=names)

    def pos(self, snapshot: AttentionSnapshot) -> dict[RelationId, float]:
        """Say how surely each relation holds that flat maps can show."""
        return {
            relation.id: float(
                relation_pos(relation.type, [snapshot.maps[end] for end in relation.ends])
            )
            for relation in self.relations
        }


def _to_numpy(weights: torch.Tensor) -> FloatMap:
    return np.asarray(weights.detach().cpu().numpy().copy(), dtype=np.float32)
