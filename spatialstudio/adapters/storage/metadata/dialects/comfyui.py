"""Metadata dialect of ComfyUI: the node graph as JSON in ``prompt``.

    {"3": {"class_type": "KSampler", "inputs": {"seed": 7, "positive": ["6", 0], ...}},
     "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a cat", "clip": ["4", 1]}}, ...}

An input is a value, or a link: a node id and an output index. There is no list of settings; they
are collected upstream from the sampler node. WebP and JPEG files hold the graph in EXIF texts that
begin with "prompt:". Some pictures hold only the editor's workflow, see ``graph_of_workflow``.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from spatialstudio.adapters.storage.metadata.parse_values import (
    Dialect,
    parse_float,
    parse_int,
    parse_object,
    parse_text,
)
from spatialstudio.domain.picture_settings import PictureSettings

SAMPLING = ("steps", "cfg", "sampler_name", "scheduler")
SIZE = ("width", "height")
ANY = ""
"""A widget value that is ignored."""
FIELDS: Mapping[str, tuple[str, ...]] = {
    "KSampler": ("seed", ANY, *SAMPLING),
    "KSamplerAdvanced": (ANY, "noise_seed", ANY, *SAMPLING),
    "KSamplerSelect": ("sampler_name",),
    "BasicScheduler": ("scheduler", "steps"),
    "RandomNoise": ("noise_seed",),
    "FluxGuidance": ("guidance",),
    "CLIPTextEncode": ("text",),
    "CLIPTextEncodeFlux": ("clip_l", "t5xxl", "guidance"),
    "CLIPTextEncodeSDXL": (ANY, ANY, ANY, ANY, ANY, ANY, "text_g", "text_l"),
    "EmptyLatentImage": SIZE,
    "EmptySD3LatentImage": SIZE,
    "CheckpointLoaderSimple": ("ckpt_name",),
    "UNETLoader": ("unet_name",),
    "PrimitiveString": ("value",),
    "PrimitiveStringMultiline": ("value",),
}
"""Names of the widget values of common node types, in order."""

_ID, _FROM, _OUTPUT = range(3)


def graph_of_workflow(workflow: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a workflow to the graph format of ``prompt``: nodes by id, their inputs by name."""
    origins = {
        link[_ID]: [str(link[_FROM]), link[_OUTPUT]]
        for link in _rows(workflow, "links", list)
        if len(link) > _OUTPUT and isinstance(link[_ID], int)
    }
    return {
        str(node.get("id")): {
            "class_type": node.get("type"),
            "inputs": {**_values(node), **_links(node, origins)},
        }
        for node in _rows(workflow, "nodes", dict)
    }


def _values(node: Mapping[str, Any]) -> dict[str, Any]:
    values = node.get("widgets_values")
    if isinstance(values, dict):
        return values
    names = FIELDS.get(str(node.get("type")), ())
    fields = values if isinstance(values, list) else []
    return {name: value for name, value in zip(names, fields, strict=False) if name != ANY}


def _links(node: Mapping[str, Any], origins: Mapping[int, list[Any]]) -> dict[str, Any]:
    """Return the inputs linked to other nodes; links take precedence over values."""
    rows = [row for row in _rows(node, "inputs", dict) if isinstance(row.get("link"), int)]
    return {str(row.get("name")): origins[row["link"]] for row in rows if row["link"] in origins}


def _rows(fields: Mapping[str, Any], name: str, kind: type) -> Iterator[Any]:
    rows = fields.get(name)
    return (row for row in rows if isinstance(row, kind)) if isinstance(rows, list) else iter(())


DIALECT = "comfyui"
NAME = "prompt"
WORKFLOW = "workflow"
EXIF_NAMES = ("Make", "Model", "ImageDescription")
MOST_NODES = 5000
LINK_LENGTH = 2
POSITIVE, NEGATIVE = "positive", "negative"
NO_TEXT = "ConditioningZeroOut"
"""Node that zeroes the conditioning, used in place of a negative prompt."""

_SEEDS = ("seed", "noise_seed")
_MODELS = ("ckpt_name", "unet_name", "model_name")
_TEXTS = ("text", "text_g", "t5xxl", "clip_l", "prompt", "string", "value")

Node = Mapping[str, Any]


def read(texts: Mapping[str, str]) -> PictureSettings | None:
    """Read the settings; None if the picture has none in this dialect."""
    graph = _Graph(parse_object(_graph_text(texts, NAME)))
    sampler = graph.sampler()
    if sampler is None:
        graph = _Graph(graph_of_workflow(parse_object(_graph_text(texts, WORKFLOW))))
        sampler = graph.sampler()
    if sampler is None:
        return None
    up = tuple(graph.upwards(sampler))
    positive = graph.linked(up, (POSITIVE, "conditioning"))
    negative = graph.linked(up, (NEGATIVE,))
    latent = graph.linked(up, ("latent_image",))
    sized = (*(graph.upwards(latent) if latent is not None else ()), *up)
    return PictureSettings(
        dialect=DIALECT,
        prompt=graph.text_above(positive, besides=NEGATIVE),
        negative=graph.text_above(negative, besides=POSITIVE),
        seed=parse_int(_first(up, _SEEDS)),
        steps=parse_int(_first(up, ("steps",))),
        guidance_scale=parse_float(_first(up, ("cfg", "guidance"))),
        sampler=parse_text(_first(up, ("sampler_name",))),
        scheduler=parse_text(_first(up, ("scheduler",))),
        width=parse_int(_first(sized, ("width",))),
        height=parse_int(_first(sized, ("height",))),
        model=parse_text(_first(up, _MODELS)),
    )


def _graph_text(texts: Mapping[str, str], wanted: str) -> str:
    if wanted in texts:
        return texts[wanted]
    for name in EXIF_NAMES:
        head, colon, graph = texts.get(name, "").partition(":")
        if colon and head.strip().lower() == wanted:
            return graph
    return ""


class _Graph:
    """Nodes by id; dangling and circular links are allowed."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        named = [(key, node) for key, node in plain.items() if isinstance(node, dict)]
        self._nodes: dict[str, Node] = {
            key: node for key, node in named[:MOST_NODES] if isinstance(node.get("inputs"), dict)
        }

    def sampler(self) -> Node | None:
        """Return the sampler node, the one with most settings."""
        marks = ("latent_image", "positive", "sampler", "sigmas", *_SEEDS)
        scored = [(sum(m in node["inputs"] for m in marks), node) for node in self._nodes.values()]
        best = max(scored, key=lambda pair: pair[0], default=None)
        return best[1] if best is not None and best[0] >= LINK_LENGTH else None

    def upwards(self, start: Node, besides: str = "") -> Iterator[Node]:
        """Yield a node and all nodes upstream, nearest first, each once.

        Links of the input ``besides`` are not followed.
        """
        seen, waiting = {id(start)}, deque([start])
        while waiting:
            node = waiting.popleft()
            yield node
            for name, value in node["inputs"].items():
                above = self._at(value) if name != besides else None
                if above is not None and id(above) not in seen:
                    seen.add(id(above))
                    waiting.append(above)

    def linked(self, nodes: tuple[Node, ...], names: tuple[str, ...]) -> Node | None:
        """Return the node linked to the first of the given inputs among the nodes."""
        for node in nodes:
            for name in names:
                if (above := self._at(node["inputs"].get(name))) is not None:
                    return above
        return None

    def text_above(self, start: Node | None, besides: str) -> str:
        """Return the nearest text upstream of a node; empty if there is none.

        A node that passes on both prompts, such as a ControlNet, has an input for each.
        """
        for node in self.upwards(start, besides) if start is not None else ():
            if node.get("class_type") == NO_TEXT:
                return ""
            if text := _text_of(node["inputs"]):
                return text
        return ""

    def _at(self, value: object) -> Node | None:
        if (
            isinstance(value, list)
            and len(value) == LINK_LENGTH
            and isinstance(value[0], str | int)
        ):
            return self._nodes.get(str(value[0]))
        return None


def _text_of(inputs: Mapping[str, Any]) -> str:
    halves = [parse_text(inputs.get(name)) for name in ("string_a", "string_b")]
    joined = parse_text(inputs.get("delimiter")).join(filter(None, halves))
    return next(filter(None, (parse_text(inputs.get(name)) for name in _TEXTS)), joined)


def _first(nodes: tuple[Node, ...], names: tuple[str, ...]) -> object:
    for node in nodes:
        for name in names:
            value = node["inputs"].get(name)
            if isinstance(value, str | int | float):
                return value
    return None


DIALECTS = (Dialect(order=50, read=read),)
