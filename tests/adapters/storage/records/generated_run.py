"""Writes run folders as other methods of the release leave them: every line is made here."""

import json

SIDE = 512
AGREEMENT = 0.5 * (0.5 + 0.5) + 0.25 + 0.25
"""Of a second detector that sees the very same boxes."""
BOXES = {"left": [40, 200, 160, 320], "right": [340, 200, 460, 320], "middle": [190, 200, 310, 320]}


def found(label, place, score=0.9):
    """A recorded detection."""
    return {"label": label, "score": score, "box_xyxy": BOXES[place]}


def drawn(prompt_id, seed, subject="dog", other="car", relation="left_of", **more):
    """A line of the manifest, with what guided methods add to it."""
    words = relation.replace("_", " ")
    return {
        "sample_id": f"sd14_gligen_{prompt_id}_seed{seed:04d}",
        "run_id": "sd14_gligen",
        "prompt_id": prompt_id,
        "image_path": f"images/{prompt_id}_{seed}.png",
        "model": {"pipeline": "StableDiffusionGLIGENPipeline", "revision": "d2820dc"},
        "gen_params": {
            "seed": seed,
            "height": SIDE,
            "width": SIDE,
            "gligen_scheduled_sampling_beta": 0.3,
            "boxes": [[0.05, 0.25, 0.35, 0.75], [0.65, 0.25, 0.95, 0.75]],
        },
        "prompt": f"A photo of a {subject} {words} a {other}.",
        "relation": relation,
        "object_a": subject,
        "object_b": other,
        **more,
    }


def selected_verdict(
    line, *detections, stability=0.9, agreement=AGREEMENT, second=None, margin=0.1
):
    """The record of a picture that was decided, or of one where an end is missing."""
    labels = {detection["label"].lower() for detection in detections}
    is_decided = {line["object_a"].lower(), line["object_b"].lower()} <= labels
    detectors = {"primary": {"type": "fasterrcnn", "detections": list(detections)}}
    if is_decided and second is not None:
        detectors["secondary"] = {"type": "grounding_dino", "detections": list(second)}
    return {
        "sample_id": line["sample_id"],
        "prompt_id": line["prompt_id"],
        "verdict_raw": "PASS",
        "conf": 0.8 if is_decided else 0.0,
        "conf_components": {
            "detection": 0.9,
            "geometry": 1.0,
            "stability": stability if is_decided else 0.0,
            "agreement": agreement if is_decided else 0.0,
        },
        "detectors": detectors,
        "geometry": {"delta": None, "margin": margin, "iou_ab": None},
        "overlay_path": None,
        "layout_boxes": "kept as it is",
    }


def write_run(folder, lines, records, evaluation="eval"):
    """Write both files; a line given as text is written as it is."""
    (folder / evaluation).mkdir(parents=True, exist_ok=True)
    for path, rows in (
        (folder / "manifest.jsonl", lines),
        (folder / evaluation / "per_sample.jsonl", records),
    ):
        texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder
