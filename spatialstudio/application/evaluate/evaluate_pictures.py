"""Evaluation of many images; an image that fails yields an error and does not stop the others."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import (
    Cancelled,
    ErrorReport,
    ImageError,
    PromptError,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import ImageFiles
from spatialstudio.domain.safe_files import MEBIBYTE, open_regular, parse_limited
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation

PICTURE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
PICTURE_COLUMN = "picture"
PROMPT_COLUMN = "prompt"
LARGEST_LIST_BYTES = 32 * MEBIBYTE
"""Largest size of a prompt file."""


@frozen
class PictureTask:
    """An image to evaluate.

    Attributes:
        path: Path of the image file.
        prompt: Prompt to evaluate against; None if unknown.
    """

    path: Path
    prompt: str | None


@frozen(eq=False)
class JudgedPicture:
    """The result for one image: an evaluation or an error.

    Attributes:
        task: The image.
        scene: Scene of the prompt; None if the prompt could not be read.
        evaluation: None after an error.
        error: None after an evaluation.
    """

    task: PictureTask
    scene: SceneGraph | None = None
    evaluation: Evaluation | None = None
    error: ErrorReport | None = None


def evaluate_pictures(
    tasks: Sequence[PictureTask],
    images: ImageFiles,
    read_scene: Callable[[str], SceneGraph],
    judge: Callable[[RgbImage, SceneGraph], Evaluation],
) -> Iterator[JudgedPicture]:
    """Evaluate images one after the other.

    Args:
        tasks: The images.
        images: Reads image files.
        read_scene: Reads prompts.
        judge: Evaluates one image.

    Raises:
        Cancelled: The user cancelled.
    """
    for task in tasks:
        scene = None
        try:
            scene = read_scene(_prompt_of(task))
            evaluation = judge(images.read(task.path), scene)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - one picture's failure must not end the others
            report = report_on(error, f'Judging "{task.path.name}"')
            yield JudgedPicture(task=task, scene=scene, error=report)
        else:
            yield JudgedPicture(task=task, scene=scene, evaluation=evaluation)


def list_tasks(
    paths: Sequence[Path], prompt: str | None, prompts: Mapping[str, str]
) -> tuple[PictureTask, ...]:
    """List the images in files and folders, each with its prompt.

    Args:
        paths: Files and folders; images of a folder are sorted by name.
        prompt: Prompt of all images without an individual prompt.
        prompts: Prompts by image name, with or without suffix.

    Raises:
        ImageError: No image was found.
    """
    pictures = [picture for path in paths for picture in _pictures_at(path)]
    if not pictures:
        raise ImageError(
            "There is no picture to judge.", hint="Pass picture files or folders of pictures."
        )
    return tuple(
        PictureTask(path=path, prompt=prompts.get(path.name, prompts.get(path.stem, prompt)))
        for path in pictures
    )


def read_prompts(path: Path) -> Mapping[str, str]:
    """Read a file that assigns prompts to images.

    Args:
        path: A CSV file, or JSON lines, with the fields "picture" and "prompt".

    Returns:
        Prompts by image name.

    Raises:
        PromptError: The file cannot be read.
    """
    try:
        with TextIOWrapper(open_regular(path, LARGEST_LIST_BYTES), "utf-8-sig") as file:
            lines = (line for line in file if line.strip())
            is_table = path.suffix.lower() == ".csv"
            rows = csv.DictReader(lines) if is_table else map(_parsed, lines)
            return {str(row[PICTURE_COLUMN]): str(row[PROMPT_COLUMN]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise PromptError(
            f'The prompts in "{path}" cannot be read.',
            hint='It must be CSV or JSON Lines with "picture" and "prompt".',
        ) from error


def _parsed(line: str) -> Any:
    return parse_limited(line.encode("utf-8", "surrogatepass"))


def _pictures_at(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(found for found in path.iterdir() if found.suffix.lower() in PICTURE_SUFFIXES)


def _prompt_of(task: PictureTask) -> str:
    if task.prompt is None:
        raise PromptError(
            f'There is no prompt for "{task.path.name}".',
            hint="Pass --prompt, or add the picture to the prompts file.",
        )
    return task.prompt
