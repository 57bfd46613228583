"""Pictures and their metadata from elsewhere: refused with a sentence, or read without excess."""

import numpy as np
import pytest

from spatialstudio.adapters.storage.metadata.picture_texts import LONGEST_TEXT_BYTES, read_texts
from spatialstudio.domain.errors import ImageError
from spatialstudio.domain.scene import MOST_CHARACTERS
from tests.security.harness import attack, studio
from tests.security.hostile_files import fifo, written
from tests.security.hostile_pictures import (
    LARGEST_PICTURES,
    METADATA,
    PICTURES,
    chunk,
    parameters,
    png_with,
    read_metadata,
    read_picture,
)

LARGE = {"PNG, 200 MB behind the pixels", "compressed text of 1 GB"}
"""Files that take seconds to write."""
IDLE_AND_LIMIT_BYTES = 600 * 1024**2
"""The libraries that read pictures and the 256 MB that one may take."""


def cases(files, *, opens):
    return [
        pytest.param(file, id=name, marks=[pytest.mark.slow] if name in LARGE else [])
        for name, file in files.items()
        if file.opens is opens
    ]


@pytest.mark.parametrize("file", cases({**PICTURES, **METADATA}, opens=False))
def test_a_hostile_picture_is_rejected_with_one_sentence(tmp_path, file):
    path = file.make(tmp_path)
    with pytest.raises(ImageError) as caught:
        file.open(path)
    assert caught.value.message.endswith(".")
    assert ". " not in caught.value.message


@pytest.mark.parametrize("file", cases(METADATA, opens=True))
def test_oversized_metadata_is_left_out(tmp_path, file):
    settings = file.open(file.make(tmp_path))
    assert settings is None or len(settings.prompt) <= MOST_CHARACTERS


def test_a_prompt_that_is_left_out_is_named_and_the_rest_is_kept(tmp_path):
    settings = read_metadata(written("a.png", parameters("a" * 1_000_000))(tmp_path))
    assert settings.left_out == ("prompt",)
    assert (settings.prompt, settings.seed) == ("", 7)


def test_one_long_text_hides_no_other():
    long = chunk(b"tEXt", b"workflow\0" + b"x" * (LONGEST_TEXT_BYTES + 1))
    content = png_with(long, chunk(b"tEXt", b"parameters\0a cat"))
    assert read_texts(content) == {"parameters": "a cat"}


def test_a_text_whose_checksum_is_wrong_is_left_out():
    content = png_with(chunk(b"tEXt", b"parameters\0a cat")[:-4] + b"\0\0\0\0")
    assert read_texts(content) == {}


def test_the_largest_pictures_stay_within_memory(tmp_path):
    attacked = attack(
        "from pathlib import Path\n"
        "from tests.security.hostile_pictures import LARGEST_PICTURES\n"
        "for file in LARGEST_PICTURES.values():\n"
        "    print(file.open(file.make(Path())).shape)\n",
        tmp_path,
        limit_bytes=IDLE_AND_LIMIT_BYTES,
    )
    assert attacked.contained, attacked.output
    assert attacked.output.count("(") == len(LARGEST_PICTURES)


def test_one_hostile_file_hides_no_other_of_a_folder(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    fifo("a.png")(folder)
    written("b.png", png_with())(folder)
    (folder / "c.png").symlink_to("/dev/zero")
    words = ["--prompt", "a cat above a dog", "--detector", "sticker-segmenter"]
    attacked = studio(["evaluate", str(folder), *words], tmp_path)
    assert attacked.contained, attacked.output
    assert attacked.output.count("is not a regular file") == 2
    assert attacked.output.count("UNDECIDABLE") >= 1


def test_a_link_to_a_picture_is_a_picture(tmp_path):
    path = written("a.png", png_with())(tmp_path)
    (tmp_path / "b.png").symlink_to(path)
    assert np.array_equal(read_picture(tmp_path / "b.png"), read_picture(path))
