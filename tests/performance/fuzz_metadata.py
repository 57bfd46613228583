"""Read spoilt picture files by the ten thousand; none may crash or hang the readers.

python -m tests.performance.fuzz_metadata [FILES] [SEED]
"""

import json
import random
import sys
import time
from io import BytesIO

from PIL import ExifTags, Image, PngImagePlugin

from spatialstudio.adapters.storage.metadata.reader import settings_in
from tests.adapters.storage.metadata.foreign import A1111, COMFYUI, FOOOCUS, SAMPLES
from tests.adapters.storage.metadata.spoilt_files import spoilt

FILES = 50_000
LONGEST_S = 1.0


def sound_files():
    """Make one file of each dialect, and two with EXIF."""
    for texts in SAMPLES.values():
        chunks = PngImagePlugin.PngInfo()
        for name, text in texts.items():
            chunks.add_itxt(name, text, zip=len(text) % 2 == 0)
        buffer = BytesIO()
        Image.new("RGB", (4, 4)).save(buffer, "PNG", pnginfo=chunks)
        yield buffer.getvalue()
    for kind, comment in (
        ("JPEG", b"UNICODE\0" + A1111.encode("utf-16-be")),
        ("WEBP", json.dumps(FOOOCUS).encode()),
        ("WEBP", json.dumps(COMFYUI).encode()),
    ):
        exif, buffer = Image.Exif(), BytesIO()
        exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.UserComment] = comment
        Image.new("RGB", (4, 4)).save(buffer, kind, exif=exif)
        yield buffer.getvalue()


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else FILES
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    seeds, understood, slowest = list(sound_files()), 0, 0.0
    for _ in range(count):
        content = spoilt(chance.choice(seeds), chance)
        started = time.thread_time()
        understood += settings_in(content) is not None
        slowest = max(slowest, time.thread_time() - started)
    sys.stdout.write(
        f"{count} files, {understood} understood all the same, 0 crashes, "
        f"slowest {slowest * 1000:.0f} ms of processor time\n"
    )
    return 1 if slowest > LONGEST_S else 0


if __name__ == "__main__":
    sys.exit(main())
