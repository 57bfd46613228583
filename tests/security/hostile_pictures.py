"""Pictures and metadata that claim, repeat or nest more than a user's file would."""

import json
import struct
import zlib
from io import BytesIO

import numpy as np
from PIL import Image

from spatialstudio.adapters.images import PillowImages
from spatialstudio.adapters.storage.metadata.reader import PictureMetadata
from tests.fakes import png_bytes
from tests.security.hostile_files import MEGABYTE, Hostile, fifo, link, sparse, written

HUGE = 13_000
"""Pixels of a side."""


def read_picture(path):
    return PillowImages().read(path)


def read_metadata(path):
    return PictureMetadata().read(path)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_with(*chunks, side=8):
    """A small PNG with more chunks before its pixels."""
    plain = png_bytes(np.zeros((side, side, 3), np.uint8))
    return plain[:33] + b"".join(chunks) + plain[33:]


def png_claiming(width, height):
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def webp_claiming(side):
    """A lossless WebP whose header claims other sides than its pixels have."""
    buffer = BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "WEBP", lossless=True)
    content = bytearray(buffer.getvalue())
    content[21:25] = ((side - 1) | ((side - 1) << 14)).to_bytes(4, "little")
    return bytes(content)


def webp_of(side):
    buffer = BytesIO()
    Image.new("L", (side, side), 90).convert("RGB").save(
        buffer, "WEBP", lossless=True, quality=0, method=0
    )
    return buffer.getvalue()


def solid(width, height, kind, **options):
    buffer = BytesIO()
    Image.new("RGB", (width, height), (90, 40, 10)).save(buffer, kind, **options)
    return buffer.getvalue()


def repeated_scans(count):
    content = solid(3000, 3000, "JPEG", progressive=True)
    last = content[content.rfind(b"\xff\xda") : -2]
    return content[:-2] + last * count + b"\xff\xd9"


def commented_gif(blocks):
    buffer = BytesIO()
    Image.new("P", (8, 8)).save(buffer, "GIF")
    content = buffer.getvalue()
    place = content.index(b"\x2c")
    comment = b"\x21\xfe" + (b"\xff" + b"x" * 255) * blocks + b"\0"
    return content[:place] + comment + content[place:]


def run_length_bmp(side):
    rows = (b"\x01\x05" * side + b"\0\0") * side
    header = struct.pack("<IiiHHIIiiII", 40, side, side, 1, 8, 1, len(rows), 0, 0, 256, 0)
    start = 14 + len(header) + 1024
    return (
        b"BM" + struct.pack("<IHHI", start + len(rows), 0, 0, start) + header + bytes(1024) + rows
    )


def parameters(prompt):
    text = f"{prompt}\nSteps: 20, Sampler: Euler, Seed: 7, Size: 8x8"
    return png_with(chunk(b"tEXt", b"parameters\0" + text.encode()))


def told_as(name, text):
    return png_with(chunk(b"tEXt", name.encode() + b"\0" + text.encode()))


def circular_graph(nodes):
    graph = {
        str(number): {
            "class_type": "KSampler",
            "inputs": {
                "seed": 1,
                "positive": [str((number + 1) % nodes), 0],
                "latent_image": [str((number * 7) % nodes), 0],
            },
        }
        for number in range(nodes)
    }
    return told_as("prompt", json.dumps(graph))


PICTURES = {
    "PNG, 60,000 x 60,000": Hostile(written("a.png", png_claiming(60_000, 60_000)), read_picture),
    "PNG, 8,000 x 8,000": Hostile(written("a.png", lambda: solid(8000, 8000, "PNG")), read_picture),
    "WebP, 13,000 x 13,000": Hostile(written("a.webp", webp_claiming(HUGE)), read_picture),
    "WebP, 8,000 x 8,000": Hostile(written("a.webp", webp_claiming(8000)), read_picture),
    "JPEG, 100,000 scans": Hostile(written("a.jpg", lambda: repeated_scans(100_000)), read_picture),
    "PNG, 500,000 parts": Hostile(
        written("a.png", lambda: png_with(chunk(b"prVt", b"") * 500_000)), read_picture
    ),
    "PNG, 200 MB behind the pixels": Hostile(
        written(
            "a.png",
            lambda: png_with()[:-12] + chunk(b"prVt", bytes(200 * MEGABYTE)) + png_with()[-12:],
        ),
        read_picture,
    ),
    "GIF, a comment of 40 MB": Hostile(
        written("a.gif", lambda: commented_gif(160_000)), read_picture
    ),
    "BMP, run lengths": Hostile(written("a.bmp", lambda: run_length_bmp(3000)), read_picture),
    "FIFO as a picture": Hostile(fifo("a.png"), read_picture),
    "/dev/zero as a picture": Hostile(link("a.png"), read_picture),
    "sparse 20 GB as a picture": Hostile(sparse("a.png"), read_picture),
    "a folder as a picture": Hostile(lambda folder: folder, read_picture),
    "a name of 5,000 letters": Hostile(lambda folder: folder / ("a" * 5000), read_picture),
}
LARGEST_PICTURES = {
    "largest PNG that opens": Hostile(
        written("a.png", lambda: solid(5792, 5792, "PNG")), read_picture, opens=True
    ),
    "largest progressive JPEG": Hostile(
        written("a.jpg", lambda: solid(4200, 4200, "JPEG", progressive=True)),
        read_picture,
        opens=True,
    ),
    "largest WebP": Hostile(written("a.webp", lambda: webp_of(3400)), read_picture, opens=True),
    "largest TIFF": Hostile(
        written("a.tif", lambda: solid(4090, 4090, "TIFF", compression="tiff_lzw")),
        read_picture,
        opens=True,
    ),
}
METADATA = {
    "prompt of 1 MB": Hostile(
        written("a.png", lambda: parameters("a cat " * 170_000)), read_metadata, opens=True
    ),
    "100,000 extras": Hostile(
        written(
            "a.png",
            lambda: told_as("invokeai_metadata", json.dumps({f"k{n}": n for n in range(100_000)})),
        ),
        read_metadata,
        opens=True,
    ),
    "metadata of 200,000 brackets": Hostile(
        written("a.png", told_as("prompt", '{"a":' + "[" * 200_000)), read_metadata, opens=True
    ),
    "circular graph of 20,000 nodes": Hostile(
        written("a.png", lambda: circular_graph(20_000)), read_metadata, opens=True
    ),
    "compressed text of 1 GB": Hostile(
        written(
            "a.png",
            lambda: png_with(chunk(b"zTXt", b"parameters\0\0" + zlib.compress(bytes(1024**3), 9))),
        ),
        read_metadata,
        opens=True,
    ),
    "metadata of PNG, 60,000 x 60,000": Hostile(
        written("a.png", png_claiming(60_000, 60_000)), read_metadata, opens=True
    ),
    "/dev/zero, its metadata": Hostile(link("a.png"), read_metadata),
    "FIFO, its metadata": Hostile(fifo("a.png"), read_metadata),
    "sparse 20 GB, its metadata": Hostile(sparse("a.png"), read_metadata),
}
