"""ComfyUI's other way to keep a graph: as its editor shows it, in ``workflow``.

    {"nodes": [{"id": 3, "type": "KSampler", "inputs": [{"name": "positive", "link": 4}, ...],
                "widgets_values": [7, "fixed", 20, 4.0, "euler", "normal", 1]}, ...],
     "links": [[4, 6, 0, 3, 1, "CONDITIONING"], ...]}

A link is told as its id, then the node and output that it comes from, then where it goes. Values
stand without their names, in the order of the node's fields; only the usual nodes are known here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

SAMPLING = ("steps", "cfg", "sampler_name", "scheduler")
SIZE = ("width", "height")
ANY = ""
"""A field that tells nothing of interest."""
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
"""Names of the values of the usual nodes, by the node's type, in order."""

_ID, _FROM, _OUTPUT = range(3)


def graph_of_workflow(workflow: Mapping[str, Any]) -> dict[str, Any]:
    """Return the graph as it stands in ``prompt``: nodes by id, their inputs by name."""
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
    told = values if isinstance(values, list) else []
    return {name: value for name, value in zip(names, told, strict=False) if name != ANY}


def _links(node: Mapping[str, Any], origins: Mapping[int, list[Any]]) -> dict[str, Any]:
    """Return the inputs that come from other nodes; they count more than values."""
    rows = [row for row in _rows(node, "inputs", dict) if isinstance(row.get("link"), int)]
    return {str(row.get("name")): origins[row["link"]] for row in rows if row["link"] in origins}


def _rows(told: Mapping[str, Any], name: str, kind: type) -> Iterator[Any]:
    rows = told.get(name)
    return (row for row in rows if isinstance(row, kind)) if isinstance(rows, list) else iter(())
