"""Pictures of every common kind are read as people see them; anything else is refused kindly."""

import struct
import zlib
from contextlib import suppress
from io import BytesIO

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from spatialstudio.adapters.durable_files import write_whole
from spatialstudio.adapters.images import PillowImages
from spatialstudio.domain.errors import ImageError, StoreError
from tests.fakes import png_bytes

SIZE = (12, 8)
RED, WHITE, BLUE = (255, 0, 0), (255, 255, 255), (0, 0, 255)


@pytest.fixture
def images():
    return PillowImages()


@pytest.fixture
def picture():
    """(8, 12, 3): every pixel another colour."""
    return np.arange(8 * 12 * 3, dtype=np.uint16).reshape(8, 12, 3).astype(np.uint8)


def saved(image, path, **options):
    image.save(path, **options)
    return path


def test_a_written_picture_is_read_back_to_the_bit(images, picture, tmp_path):
    write_whole(tmp_path / "p.png", png_bytes(picture))
    assert np.array_equal(images.read(tmp_path / "p.png"), picture)
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]


def test_a_file_cannot_be_the_folder_of_a_picture(picture, tmp_path):
    (tmp_path / "file").write_text("taken")
    with pytest.raises(StoreError, match="is not a folder"):
        write_whole(tmp_path / "file" / "p.png", png_bytes(picture))


@pytest.mark.parametrize(
    ("mode", "colour", "seen"),
    [
        ("RGB", RED, RED),
        ("L", 90, (90, 90, 90)),
        ("1", 1, WHITE),
        ("RGBA", (*RED, 255), RED),
        ("RGBA", (*BLUE, 0), WHITE),
        ("RGBA", (*RED, 51), (255, 204, 204)),
        ("LA", (0, 0), WHITE),
        ("I;16", 65535, WHITE),
        ("I;16", 0x8000, (128, 128, 128)),
    ],
)
def test_every_kind_of_png_is_read_as_displayed(images, tmp_path, mode, colour, seen):
    path = saved(Image.new(mode, SIZE, colour), tmp_path / "p.png")
    read = images.read(path)
    assert read.shape == (8, 12, 3)
    assert read.dtype == np.uint8
    assert read[0, 0].tolist() == list(seen)


def test_transparent_colours_of_a_palette_become_white(images, tmp_path):
    image = Image.new("P", SIZE, 1)
    image.putpalette([*RED, *BLUE])
    image.putpixel((0, 0), 0)
    path = saved(image, tmp_path / "p.png", transparency=1)
    read = images.read(path)
    assert read[0, 0].tolist() == list(RED)
    assert read[1, 1].tolist() == list(WHITE)


def test_a_cmyk_picture_is_read(images, tmp_path):
    path = saved(Image.new("CMYK", SIZE, (0, 255, 255, 0)), tmp_path / "p.jpg", quality=95)
    red, green, blue = images.read(path)[0, 0]
    assert red > 200
    assert max(green, blue) < 60


def test_a_photo_taken_sideways_is_read_upright(images, tmp_path):
    image = Image.new("RGB", SIZE, RED)
    exif = Image.Exif()
    exif[0x0112] = 6
    path = saved(image, tmp_path / "p.jpg", exif=exif)
    assert images.read(path).shape == (12, 8, 3)


def test_the_first_frame_of_an_animation_is_read(images, tmp_path):
    frames = [Image.new("RGB", SIZE, colour) for colour in (RED, BLUE)]
    path = saved(frames[0], tmp_path / "p.gif", save_all=True, append_images=frames[1:])
    assert images.read(path)[0, 0].tolist() == list(RED)


def test_colours_follow_the_profile_of_the_picture(images, tmp_path):
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
    path = saved(
        Image.new("LAB", SIZE, (255, 128, 128)), tmp_path / "p.tif", icc_profile=lab.tobytes()
    )
    assert images.read(path)[0, 0].min() > 250


def test_a_broken_profile_counts_as_srgb(images, tmp_path):
    path = saved(Image.new("RGB", SIZE, RED), tmp_path / "p.png", icc_profile=b"nonsense")
    assert images.read(path)[0, 0].tolist() == list(RED)


def png_that_claims(width, height):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in [(b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    )


def encoded(kind):
    buffer = BytesIO()
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (40, 40, 3), np.uint8)).save(buffer, format=kind)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a picture."),
        (b"Dear diary", "is not a picture."),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is not a picture."),
        (encoded("PNG")[:1000], "is damaged or not complete."),
        (encoded("JPEG")[:1000], "is damaged or not complete."),
        (encoded("WEBP")[:1000], "is damaged or not complete."),
        (png_that_claims(9000, 9000), "is too large to open safely."),
        (png_that_claims(12_000, 12_000), "is too large to open safely."),
        (png_that_claims(60_000, 60_000), "is too large to open safely."),
    ],
    ids=["empty", "text", "eps", "cut png", "cut jpeg", "cut webp", "large", "huge", "bomb"],
)
def test_an_invalid_picture_has_a_message_and_a_hint(images, tmp_path, content, sentence):
    path = tmp_path / "p.png"
    path.write_bytes(content)
    with pytest.raises(ImageError) as caught:
        images.read(path)
    assert sentence in caught.value.message
    assert caught.value.hint.endswith(".")


def test_floating_point_pixels_are_rejected(images, tmp_path):
    path = saved(Image.new("F", SIZE, 0.5), tmp_path / "p.tif")
    with pytest.raises(ImageError, match="Floating-point"):
        images.read(path)


def test_a_missing_file_is_reported(images, tmp_path):
    with pytest.raises(ImageError, match="There is no file"):
        images.read(tmp_path / "p.png")


def test_a_folder_is_reported(images, tmp_path):
    with pytest.raises(ImageError, match="is a folder, not a picture"):
        images.read(tmp_path)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"])
@given(
    place=st.floats(0, 0.999),
    noise=st.binary(min_size=1, max_size=12),
    length=st.floats(0.2, 1),
)
@settings(
    max_examples=settings.default.max_examples // 3,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_corrupted_file_is_a_picture_or_rejected(images, tmp_path, kind, place, noise, length):
    content = bytearray(encoded(kind))
    start = int(place * len(content))
    content[start : start + len(noise)] = noise
    path = tmp_path / "p"
    path.write_bytes(content[: int(length * len(content))])
    with suppress(ImageError):
        assert images.read(path).dtype == np.uint8
