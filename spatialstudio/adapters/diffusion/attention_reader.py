"""Conversion of the attention of one pass to maps and PoS of a scene."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan

import numpy as np
import numpy.typing as npt
import torch

from spatialstudio.adapters.diffusion.attention_layers import AttentionLayer, map_size
from spatialstudio.adapters.diffusion.attention_tap import LayerWatch, LevelMeans
from spatialstudio.adapters.diffusion.invalid_numbers import refuse_invalid
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.scene import MentionId, Relation, RelationId, TokenSpan
from spatialstudio.science.pos.attention_maps import ColourPlaces, WordAttention, mention_maps
from spatialstudio.science.pos.superiority import can_guide, relation_pos


class AttentionReader:
    """Converts attention probabilities to maps of mentions.

    Args:
        layers: The layers from which maps and PoS are read.
        spans: Token spans of the mentions in the text that the denoiser attends to; a mention may
            have several, and all of them count.
        relations: Relations of the scene; muted ones are measured but not guided.
        smooths_maps: Whether the loss reads smoothed maps.
        whole_text: Positions of all words, for losses in which words compete; only of bound
            colours, or empty, for losses on mentions only.
        decoder: Layers of further levels, for losses that read them.

    Attributes:
        guided: Relations that the loss reads; by default those that PoS can guide.
        plurals: Mentions of more than one object; by default none.
        allows_invalid: Whether NaN and infinite values are read instead of raising.
    """

    def __init__(
        self,
        layers: Sequence[AttentionLayer],
        spans: Sequence[TokenSpan],
        relations: Sequence[Relation],
        *,
        smooths_maps: bool,
        whole_text: Sequence[int] = (),
        decoder: Sequence[Sequence[AttentionLayer]] = (),
    ) -> None:
        own = {index for span in spans for index in span.indices}
        self._levels = (tuple(layers), *decoder)
        self._names = tuple(layer.name for layer in layers)
        self.watch = LayerWatch(dict.fromkeys(layer for level in self._levels for layer in level))
        self.columns = tuple(sorted(own | set(whole_text)))
        self._wanted = torch.tensor(self.columns, dtype=torch.long)
        self.relations = tuple(r for r in relations if can_guide(r.type))
        self.guided = tuple(r for r in self.relations if r.is_guided)
        self.plurals: frozenset[MentionId] = frozenset()
        self._smooths_maps = smooths_maps
        self.allows_invalid = False
        self._colours: Mapping[MentionId, ColourPlaces] = {}
        self._places: dict[MentionId, list[int]] = {}
        for span in spans:
            places = [self.columns.index(index) for index in span.indices]
            known = self._places.setdefault(span.mention_id, [])
            known += [place for place in places if place not in known]

    def bind(self, colours: Mapping[MentionId, ColourPlaces]) -> None:
        """Let the loss read colours.

        Args:
            colours: Their tokens, as positions in the denoiser's text; all are among the columns.
        """
        self._colours = {
            name: replace(
                each,
                words=tuple(self.columns.index(at) for at in each.words),
                noun=tuple(self.columns.index(at) for at in each.noun),
            )
            for name, each in colours.items()
        }

    def mean(self) -> LevelMeans:
        """Return the accumulator for the layers of one pass."""
        return LevelMeans(self._wanted, self._levels)

    def read(self, taken: LevelMeans, latent_size: tuple[int, int]) -> WordAttention:
        """Convert the accumulated attention of a pass to maps.

        Args:
            taken: All layers of the pass.
            latent_size: (h, w) of the denoiser's input latents.

        Raises:
            BackendError: The attention holds NaN or infinite values.
        """
        means = zip(taken.means(), self._levels, strict=True)
        columns, *decoder = (_as_maps(mean, layers, latent_size) for mean, layers in means)
        if not self.allows_invalid:
            refuse_invalid(columns.detach())
        return WordAttention(
            columns,
            self._places,
            is_smoothed=self._smooths_maps,
            plurals=self.plurals,
            decoder=tuple(decoder),
            colours=self._colours,
        )

    def snapshot(self, attention: WordAttention) -> AttentionSnapshot:
        """Detach attention maps from the model and copy them to a snapshot."""
        return self._snapshot(attention.columns.numpy(force=True))

    def snapshot_of_mean(
        self, taken: LevelMeans, latent_size: tuple[int, int]
    ) -> AttentionSnapshot:
        """Return a snapshot of a pass when no loss reads its maps.

        Args:
            taken: All layers of the pass.
            latent_size: (h, w) of the denoiser's input latents.

        Raises:
            BackendError: The attention holds NaN or infinite values.
        """
        columns = _as_maps(taken.first().detach(), self._levels[0], latent_size)
        if not self.allows_invalid:
            refuse_invalid(columns)
        return self._snapshot(columns.numpy(force=True))

    def _snapshot(self, columns: npt.NDArray[np.float32]) -> AttentionSnapshot:
        return AttentionSnapshot(maps=mention_maps(columns, self._places), layers=self._names)

    def pos(self, snapshot: AttentionSnapshot) -> dict[RelationId, float]:
        """Return the PoS of each relation that can be measured on 2D maps; NaN on invalid maps."""
        return {
            relation.id: self._pos_of(relation, [snapshot.maps[end] for end in relation.ends])
            for relation in self.relations
        }

    def _pos_of(self, relation: Relation, maps: Sequence[FloatMap]) -> float:
        if self.allows_invalid and not all(np.isfinite(each).all() for each in maps):
            return nan
        return float(relation_pos(relation.type, maps))

    def guided_pos(self, pos: Mapping[RelationId, float]) -> dict[RelationId, float]:
        """Return the entries of ``pos`` that belong to guided relations."""
        return {relation.id: pos[relation.id] for relation in self.guided if relation.id in pos}


def _as_maps(
    mean: torch.Tensor, layers: Sequence[AttentionLayer], latent_size: tuple[int, int]
) -> torch.Tensor:
    """Reshape the mean attention of one level, (words, h * w), to maps, (words, h, w)."""
    return mean.reshape(-1, *map_size(*latent_size, layers[0].level))
