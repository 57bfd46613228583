"""Positions of a mention's tokens in a text encoder's sequence, from character offsets."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from spatialstudio.adapters.diffusion.text_streams import TextStream
from spatialstudio.domain.errors import PromptError, prompt_too_long
from spatialstudio.domain.requirements import BASIC_COLOURS, colour_words
from spatialstudio.domain.scene import (
    MentionId,
    ObjectMention,
    SceneGraph,
    SpanWeight,
    TextSpan,
    TokenReading,
    TokenSpan,
)
from spatialstudio.science.pos.attention_maps import ColourPlaces

Offsets: TypeAlias = Sequence[tuple[int, int]]
"""Start and end character of every token, half-open."""


def token_spans(
    streams: Sequence[TextStream], prompt: str, mentions: Sequence[ObjectMention]
) -> tuple[TokenSpan, ...]:
    """Locate the tokens of every mention, including all sub-tokens of its words.

    Args:
        streams: How the model's text encoders read the prompt.
        prompt: The pipeline's prompt.
        mentions: Mentions with spans in ``prompt``.

    Returns:
        One span for each encoder that reads a mention completely, as positions in its sequence.

    Raises:
        PromptError: A mention is beyond the limit of every text encoder, or no encoder reads it.
    """
    found: list[TokenSpan] = []
    cut: set[MentionId] = set()
    for stream in streams:
        reading = _Reading(stream, prompt)
        cut |= {mention.id for mention in mentions if reading.cuts(mention)}
        found += [
            TokenSpan(mention_id=mention.id, encoder_id=stream.encoder_id, indices=indices)
            for mention in mentions
            if not reading.cuts(mention) and (indices := reading.indices(mention.span))
        ]
    seen = {span.mention_id for span in found}
    _refuse([each for each in mentions if each.id in cut - seen], prompt, is_cut=True)
    _refuse([each for each in mentions if each.id not in seen], prompt, is_cut=False)
    return tuple(found)


def in_denoiser(streams: Sequence[TextStream], spans: Sequence[TokenSpan]) -> tuple[TokenSpan, ...]:
    """Convert spans from the encoders' sequences to the text that the denoiser attends to."""
    first = {stream.encoder_id: stream.first for stream in streams}
    return tuple(
        replace(span, indices=tuple(first[span.encoder_id] + index for index in span.indices))
        for span in spans
    )


MOST_PIECES = 2
"""Tokens of a word that a tokenizer knows; it spells unknown words letter by letter."""


def knows_colours(streams: Sequence[TextStream]) -> bool:
    """Return True if a text encoder has words for the basic colours.

    Tokenizers of models trained on captions of all kinds do; the embedded sticker model has never
    read one.
    """
    return any(
        all(
            len(stream.tokenizer(f" {term}", add_special_tokens=False).input_ids) <= MOST_PIECES
            for term in BASIC_COLOURS
        )
        for stream in streams
    )


def colour_places(
    streams: Sequence[TextStream], scene: SceneGraph
) -> dict[MentionId, ColourPlaces]:
    """Locate the colour words and nouns of coloured objects in the text of the denoiser.

    Objects whose words are beyond the limits of the text encoders are left out.
    """
    readings = [(stream.first, _Reading(stream, scene.prompt.text)) for stream in streams]
    found = {}
    for mention in scene.mentions:
        if stated := colour_words(scene, mention.id):
            places = [
                {first + at for first, reading in readings for at in reading.indices(span)}
                for span in (*stated.words, stated.noun)
            ]
            noun = places.pop()
            words = set().union(*places) - noun
            if words and noun:
                found[mention.id] = ColourPlaces(
                    words=tuple(sorted(words)), noun=tuple(sorted(noun)), terms=stated.terms
                )
    return found


def text_positions(streams: Sequence[TextStream], prompt: str) -> tuple[int, ...]:
    """List the positions of competing words, without start, end and template tokens.

    Source: Chefer et al. 2023, arXiv:2301.13826, and their code: everything between start and end
    for Stable Diffusion 1, padding included; for Stable Diffusion 2, the prompt's words only. Ours:
    the prompt's words only, for all families that they do not cover.
    """
    own = (place for stream in streams for place in _Reading(stream, prompt).positions())
    return tuple(sorted(set(own)))


def prompt_positions(streams: Sequence[TextStream], prompt: str) -> tuple[int, ...]:
    """List the positions of the prompt's own words in the denoiser's text, in order."""
    return tuple(words_by_position(streams, prompt, with_filling=False))


def token_weights(
    streams: Sequence[TextStream], prompt: str, weights: Sequence[SpanWeight]
) -> dict[int, float]:
    """Return the weight of each weighted token, by its position in the denoiser's text.

    A token that overlaps several spans gets the weight of the last; tokens beyond the limit of an
    encoder are left out.
    """
    return {
        stream.first + index: each.weight
        for stream in streams
        for reading in [_Reading(stream, prompt)]
        for each in weights
        for index in reading.indices(each.span)
    }


def words_by_position(
    streams: Sequence[TextStream], prompt: str, *, with_filling: bool
) -> dict[int, str]:
    """Return the word at each position of the text that the denoiser attends to.

    Args:
        streams: How the model's text encoders read the prompt.
        prompt: The pipeline's prompt.
        with_filling: Whether to include template, start, end and padding tokens, with empty words.
    """
    found: dict[int, str] = {}
    for stream in streams:
        found |= _Reading(stream, prompt).words(with_filling=with_filling)
    return dict(sorted(found.items()))


def token_readings(streams: Sequence[TextStream], prompt: str) -> tuple[TokenReading, ...]:
    """Return how each text encoder tokenizes a prompt, and how much of it is read."""
    return tuple(_Reading(stream, prompt).of_prompt() for stream in streams)


class _Reading:
    """The tokens of a prompt in one text encoder."""

    def __init__(self, stream: TextStream, prompt: str) -> None:
        text, tokenizer = stream.text(prompt), stream.tokenizer
        self._stream = stream
        self._prompt = prompt
        self._all: Offsets = tokenizer(text, return_offsets_mapping=True).offset_mapping
        self._read: Offsets = tokenizer(
            text, return_offsets_mapping=True, truncation=True, max_length=stream.limit
        ).offset_mapping

    def cuts(self, mention: ObjectMention) -> bool:
        """Return True if part of a mention is beyond the limit."""
        span = mention.span
        return len(self._tokens(self._all, span)) > len(self._tokens(self._read, span))

    def indices(self, span: TextSpan) -> tuple[int, ...]:
        """Return the positions of a span in the encoder's sequence; empty if it is not read."""
        shift = self._filled_in_front() - self._stream.drops
        places = [token + shift for token in self._tokens(self._read, span)]
        return tuple(place for place in places if place >= 0)

    def positions(self) -> Iterable[int]:
        """Return the positions of the prompt's words in the denoiser's text.

        If the padding token is the end token, as in Stable Diffusion 1, padding is included.
        """
        stream, tokenizer = self._stream, self._stream.tokenizer
        has_start = tokenizer.bos_token_id is not None
        if stream.is_filled and has_start and tokenizer.pad_token_id == tokenizer.eos_token_id:
            return range(stream.first + 1, stream.first + stream.limit - 1)
        return self.words(with_filling=False)

    def words(self, *, with_filling: bool) -> dict[int, str]:
        """Return the word at each position in the denoiser's text; empty for filling."""
        stream, text = self._stream, self._stream.text(self._prompt)
        front = self._filled_in_front() - stream.drops
        start, stop = stream.place(self._prompt, 0), stream.place(self._prompt, len(self._prompt))
        pieces = {
            stream.first + front + token: text[first:end]
            for token, (first, end) in enumerate(self._read)
            if first < stop and start < end
        }
        length = stream.length(self._prompt) if with_filling else 0
        filling = dict.fromkeys(range(stream.first, stream.first + length), "")
        return {place: word for place, word in (filling | pieces).items() if place >= stream.first}

    def of_prompt(self) -> TokenReading:
        """Return the prompt's own tokens, without template, start and end."""
        own = self._own(self._all)
        others = len(self._all) - len(own)
        return TokenReading(
            encoder_id=self._stream.encoder_id,
            tokens=own,
            read=len(self._own(self._read)),
            limit=max(self._stream.limit - others, 0),
        )

    def _own(self, offsets: Offsets) -> tuple[TextSpan, ...]:
        stream, prompt = self._stream, self._prompt
        cut = len(prompt) - len(prompt.lstrip()) if stream.is_plain else 0
        start, stop = stream.place(prompt, cut), stream.place(prompt, len(prompt))
        inside = ((max(first, start), min(end, stop)) for first, end in offsets)
        return tuple(
            TextSpan(start=first - start + cut, stop=end - start + cut)
            for first, end in inside
            if first < end
        )

    def _tokens(self, offsets: Offsets, span: TextSpan) -> list[int]:
        start = self._stream.place(self._prompt, span.start)
        stop = self._stream.place(self._prompt, span.stop)
        return [index for index, (first, end) in enumerate(offsets) if first < stop and start < end]

    def _filled_in_front(self) -> int:
        stream = self._stream
        if not stream.is_filled or stream.fills_behind or stream.tokenizer.padding_side == "right":
            return 0
        return max(stream.limit - len(self._read), 0)


def _refuse(mentions: Sequence[ObjectMention], prompt: str, *, is_cut: bool) -> None:
    if not mentions:
        return
    names = [mention.span.of(prompt) for mention in mentions]
    if is_cut:
        raise prompt_too_long(names)
    unseen = ", ".join(f'"{name}"' for name in names)
    raise PromptError(
        f"The text encoder drops {unseen}.", hint=("Replace unusual characters with plain letters.")
    )
