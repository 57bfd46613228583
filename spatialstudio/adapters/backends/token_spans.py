"""Where a text encoder's sequence holds the words of a mention, by character offsets."""

from collections.abc import Sequence
from typing import Any

from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.prompt import ObjectMention, TextSpan, TokenSpan


def token_spans(
    tokenizer: Any, encoder_id: str, text: str, mentions: Sequence[ObjectMention]
) -> tuple[TokenSpan, ...]:
    """Find every mention's tokens; all sub-tokens of all its words count.

    Args:
        tokenizer: The pipeline's own fast tokenizer.
        encoder_id: Which text encoder it belongs to.
        text: The prompt, as the pipeline gets it.
        mentions: Their spans are in ``text``.

    Raises:
        PromptError: A mention lies beyond what the text encoder reads, or it sees none of it.
    """
    offsets = tokenizer(text, return_offsets_mapping=True, truncation=False).offset_mapping
    last_readable = tokenizer.model_max_length - 1  # the end token takes the last place
    _refuse_cut_words(text, offsets[last_readable:-1], mentions)
    return tuple(
        TokenSpan(
            mention_id=mention.id,
            encoder_id=encoder_id,
            indices=_indices(offsets, mention, text),
        )
        for mention in mentions
    )


def _indices(
    offsets: Sequence[tuple[int, int]], mention: ObjectMention, text: str
) -> tuple[int, ...]:
    found = tuple(
        index for index, (start, stop) in enumerate(offsets) if _overlaps(start, stop, mention.span)
    )
    if not found:
        raise PromptError(
            f'The text encoder does not see "{mention.span.of(text)}".',
            hint="Write it with plain letters.",
        )
    return found


def _refuse_cut_words(
    text: str, cut: Sequence[tuple[int, int]], mentions: Sequence[ObjectMention]
) -> None:
    lost = [
        mention.span.of(text)
        for mention in mentions
        if any(_overlaps(start, stop, mention.span) for start, stop in cut)
    ]
    if lost:
        names = ", ".join(f'"{name}"' for name in lost)
        raise PromptError(
            f"The prompt is too long: the model does not read {names}.",
            hint="Shorten the prompt, or name these things earlier.",
        )


def _overlaps(start: int, stop: int, span: TextSpan) -> bool:
    return start < span.stop and span.start < stop
