"""Command that reads one prompt or a file of prompts."""

import argparse
from pathlib import Path
from typing import Any

from spatialstudio.application.compose.compare_readings import dispute_in_words
from spatialstudio.application.compose.list_relations import list_relations, names_of
from spatialstudio.application.error_reports import EXIT_FAILURE
from spatialstudio.application.evaluate.evaluate_pictures import LARGEST_LIST_BYTES
from spatialstudio.application.studio import Studio
from spatialstudio.cli.answers import scene_answer, scene_lines
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.printing import (
    show_json,
    show_lines,
    show_progress,
    show_row,
)
from spatialstudio.domain.errors import PromptError, StudioError
from spatialstudio.domain.safe_files import parse_limited, read_regular
from spatialstudio.domain.scene import SceneGraph

Row = dict[str, Any]


def parse(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Read a prompt, or every prompt of a file."""
    studio = open_studio(None)
    if options.file:
        return _parse_file(studio, options.file, options.extractor)
    scene = studio.parse_prompt(options.prompt, options.extractor)
    tokens = studio.token_spans(scene, options.model) if options.model else ()
    if options.json:
        show_json(scene_answer(scene, tokens))
    else:
        show_lines(scene_lines(scene, tokens))
    return 0


def _parse_file(studio: Studio, path: Path, extractor_id: str) -> int:
    """Print a JSON line per prompt; a prompt that cannot be read yields a row with the error."""
    failures = 0
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            row = _row(studio, line, number, extractor_id)
            failures += "error" in row
            show_row(row)
    return EXIT_FAILURE if failures else 0


def _lines(path: Path) -> list[str]:
    try:
        text = read_regular(path, LARGEST_LIST_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise PromptError(
            f"The file {path} cannot be read.",
            hint="Pass a text file in JSON Lines format.",
        ) from error
    return text.split("\n")


def _row(studio: Studio, line: str, number: int, extractor_id: str) -> Row:
    try:
        asked = parse_limited(line.encode("utf-8", "surrogatepass"))
        row_id, prompt = asked["id"], asked["prompt"]
    except (ValueError, KeyError, TypeError):
        return {"line": number, "error": 'The line is not a JSON object with "id" and "prompt".'}
    if not isinstance(prompt, str):
        return {"id": row_id, "error": "The prompt is not a string."}
    try:
        scene = studio.parse_prompt(prompt, extractor_id)
    except StudioError as error:
        return {"id": row_id, "error": error.message}
    if scene.extractor_id != extractor_id:
        show_progress(f"{row_id}: read by {scene.extractor_id}. {_said(scene)}")
    for claim in scene.disputed:
        show_progress(f"{row_id}: {dispute_in_words(claim, scene)}")
    return {
        "id": row_id,
        "objects": list(names_of(scene).values()),
        "relations": [relation.as_fields() for relation in list_relations(scene)],
    }


def _said(scene: SceneGraph) -> str:
    return " ".join(note.message for note in scene.notes)
