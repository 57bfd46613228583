"""Files that claim, repeat or nest more than they hold; each with what a user opens it by.

Used by the tests of single surfaces and by ``tests.performance.measure_hostile_files``.
"""

import json
import os
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from PIL import Image

from spatialstudio.adapters.exports.bundle import open_bundle
from spatialstudio.adapters.images import PillowImages, png_bytes
from spatialstudio.adapters.metadata.reader import PictureMetadata
from spatialstudio.adapters.perception import perception_files
from spatialstudio.adapters.records.checker_config import read_checker_config
from spatialstudio.adapters.records.spatialbench_uc import SpatialBenchRuns
from spatialstudio.adapters.stores.run_files import RunFiles
from spatialstudio.adapters.stores.state_files import PlainStateFiles
from spatialstudio.application.flow.evaluate_pictures import read_prompts
from spatialstudio.cli import reading

SAMPLE = Path(__file__).parents[1] / "golden" / "run_of_schema_1"
BENCHMARK = {"prompt_id": "p", "prompt": "a cat above a dog", "relation": "above"}
MEGABYTE = 1024**2
FAR = 20 * 1024**3
"""Where a sparse file ends."""
HUGE = 13_000
"""Pixels of a side."""


@dataclass(frozen=True)
class Hostile:
    """A hostile file.

    Attributes:
        make: Writes it into a folder.
        open: Opens it as the program does; raises StudioError, or returns what was read.
        opens: Whether it is opened all the same, what is too much left out.
    """

    make: Callable[[Path], Path]
    open: Callable[[Path], object]
    opens: bool = False


def read_picture(path):
    return PillowImages().read(path)


def read_metadata(path):
    return PictureMetadata().read(path)


def open_trace(path):
    return RunFiles().load(path)


def import_bundle(path):
    return open_bundle(path, path.parent / "library")


def read_records(path):
    return SpatialBenchRuns(path).read(path if path.is_dir() else path.parent)


def read_settings(path):
    return PlainStateFiles().read_settings(path)


def read_prompt_list(path):
    return reading._lines(path)


def find_perception(path):
    return perception_files.PerceptionFiles(path.parent).find(path.stem)


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


def trace_with(folder, members, options=None):
    """A sound trace, other members put in and their hashes mended."""
    record, events = RunFiles().load(SAMPLE)
    picture = RunFiles().save(record, events, folder)
    path = picture.with_suffix(".strace")
    picture.unlink()
    with ZipFile(path) as archive:
        sound = {name: archive.read(name) for name in archive.namelist()}
    run = sound["run.json"].decode()
    for name, content in members.items():
        if name in sound and name != "run.json":
            digest = sha256(sound[name]).hexdigest()
            run = run.replace(digest, sha256(content).hexdigest())
    packed = {**sound, "run.json": run.encode(), **members}
    with ZipFile(path, "w") as archive:
        for name, content in packed.items():
            archive.writestr(name, content, compress_type=(options or {}).get(name, ZIP_STORED))
    return path


def preview_names():
    record, _ = RunFiles().load(SAMPLE)
    return [f"previews/{step.step:04}.webp" for step in record.trace]


def many_previews(content, count):
    return lambda folder: trace_with(
        folder, {f"previews/{number:04}.webp": content for number in range(count)}
    )


def maps_of(**arrays):
    """The content of ``maps.npz``."""
    buffer = BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def claimed_array(shape, dtype="<f4"):
    """An .npz with one array whose header claims a shape that is not there."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * 64
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("0/attention/m1.npy", array)
    return buffer.getvalue()


def zeros_archive(name, size, method=ZIP_DEFLATED):
    """An archive with one member of zeros, written in pieces."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", method) as archive, archive.open(name, "w", force_zip64=True) as file:
        for _ in range(size // MEGABYTE):
            file.write(bytes(MEGABYTE))
    return buffer.getvalue()


def listed_again(content, times, renamed=False):
    """An archive whose first member is listed many times in its directory."""
    end = content.rfind(b"PK\5\6")
    start = struct.unpack("<I", content[end + 16 : end + 20])[0]
    directory = content[start:end]
    name_length, extra, comment = struct.unpack("<HHH", directory[28:34])
    first = directory[: 46 + name_length + extra + comment]
    rows = []
    for number in range(times):
        name = (
            f"{number:0{name_length}}"[-name_length:].encode()
            if renamed
            else first[46:][:name_length]
        )
        rows.append(first[:46] + name + first[46 + name_length :])
    rows.append(directory)
    directory = b"".join(rows)
    count = min(times + 1, 0xFFFF)
    tail = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), start, 0)
    return content[:start] + directory + tail


def bundle_with(folder, index=None, change=None, files=None):
    """A bundle of one small run, its index changed."""
    picture = png_bytes(np.zeros((8, 8, 3), np.uint8)) if files is None else files
    run = {
        "name": "0000_a",
        "stem": "a",
        "month": "2026/11",
        "files": {".png": sha256(picture).hexdigest()},
    }
    told = {"format": "spatialstudio-bundle", "version": 1, "runs": [run]}
    if change is not None:
        change(told)
    path = folder / "out.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("runs/0000_a.png", picture)
        archive.writestr("bundle.json", json.dumps(told) if index is None else index)
    return path


def rewrite(path, change):
    path.write_bytes(change(path.read_bytes()))
    return path


def written(name, content):
    def make(folder):
        path = folder / name
        path.write_bytes(content() if callable(content) else content)
        return path

    return make


def sparse(name, size=FAR):
    def make(folder):
        path = folder / name
        with path.open("wb") as file:
            file.truncate(size)
        return path

    return make


def fifo(name):
    def make(folder):
        os.mkfifo(folder / name)
        return folder / name

    return make


def link(name, target="/dev/zero"):
    def make(folder):
        (folder / name).symlink_to(target)
        return folder / name

    return make


def records(line, name="per_sample.jsonl"):
    """A recorded run, one of whose files is hostile."""

    def make(folder):
        row = {"sample_id": "s", "object_a": "cat", "object_b": "dog", "gen_params": {"seed": 1}}
        (folder / "manifest.jsonl").write_text(json.dumps({**BENCHMARK, **row}))
        (folder / "per_sample.jsonl").write_text("{}")
        path = folder / name
        path.unlink()
        line(path)
        return folder

    return make


def laughs(levels):
    rows = ["a0: &a0 [lol, lol]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join([*rows, f"geometry: {{margin: *a{levels - 1}}}"]).encode()


def packed_masks(shape, size):
    def make(folder):
        facts = {"image_sha256": "", "size": size, "cut": [], "missing_classes": [], "depth": None}
        facts |= {"detections": [], "masks": [{"mention_id": "m", "score": 1, "source_id": "s"}]}
        path = folder / "key.npz"
        plain = np.frombuffer(json.dumps(facts).encode(), np.uint8)
        np.savez_compressed(path, facts=plain, masks=np.zeros(shape, np.uint8))
        return path

    return make


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
TRACES = {
    "trace, 30 WebPs of 13,000 x 13,000": Hostile(
        many_previews(webp_claiming(HUGE), 30), open_trace
    ),
    "trace, 30 WebPs of 3,000 x 3,000": Hostile(
        lambda folder: many_previews(webp_of(3000), 30)(folder), open_trace
    ),
    "trace, an array of 12 GB": Hostile(
        lambda folder: trace_with(folder, {"maps.npz": claimed_array((3_000_000_000,))}),
        open_trace,
    ),
    "trace, an array without bytes": Hostile(
        lambda folder: trace_with(folder, {"maps.npz": claimed_array((10**12,), "<V0")}),
        open_trace,
    ),
    "trace, maps of 2 GB of zeros": Hostile(
        lambda folder: trace_with(folder, {"maps.npz": zeros_archive("a.npy", 2048 * MEGABYTE)}),
        open_trace,
    ),
    "trace, a peak as large as its map": Hostile(
        lambda folder: trace_with(
            folder,
            {
                "maps.npz": maps_of(
                    **{
                        "0/attention/m1": np.ones((100_000, 1), np.float16),
                        "0/attention/m1/peak": np.ones((1, 100_000), np.float32),
                    }
                )
            },
        ),
        open_trace,
    ),
    "trace, a member of bzip2": Hostile(
        lambda folder: trace_with(folder, {"more": bytes(8 * MEGABYTE)}, {"more": ZIP_BZIP2}),
        open_trace,
    ),
    "trace, 40 MB of zeros": Hostile(
        lambda folder: trace_with(folder, {"more": bytes(60 * MEGABYTE)}, {"more": ZIP_DEFLATED}),
        open_trace,
    ),
    "trace, a member listed 100,000 times": Hostile(
        lambda folder: rewrite(trace_with(folder, {}), lambda c: listed_again(c, 100_000)),
        open_trace,
    ),
    "trace, a member under 1,000 names": Hostile(
        lambda folder: rewrite(trace_with(folder, {}), lambda c: listed_again(c, 1000, True)),
        open_trace,
    ),
    "trace, a deep record": Hostile(
        lambda folder: trace_with(folder, {"run.json": b"[" * 200_000}), open_trace
    ),
}
BUNDLES = {
    "bundle, a member listed 100,000 times": Hostile(
        lambda folder: rewrite(bundle_with(folder), lambda c: listed_again(c, 100_000)),
        import_bundle,
    ),
    "bundle, a member listed 2,000,000 times": Hostile(
        lambda folder: rewrite(bundle_with(folder), lambda c: listed_again(c, 2_000_000, True)),
        import_bundle,
    ),
    "bundle, an index of 500 MB": Hostile(
        lambda folder: bundle_with(folder, index=b" " * (500 * MEGABYTE)), import_bundle
    ),
    "bundle, an index of 10,000,000 brackets": Hostile(
        lambda folder: bundle_with(folder, index=b"[" * 10_000_000), import_bundle
    ),
    "bundle, an index of 10,000,000 values": Hostile(
        lambda folder: bundle_with(folder, index=b"[" + b"{}," * 10_000_000 + b"1]"),
        import_bundle,
    ),
    "bundle, one run listed 10,000 times": Hostile(
        lambda folder: bundle_with(folder, change=lambda t: t.update(runs=t["runs"] * 10_000)),
        import_bundle,
    ),
    "bundle, a picture of 2 GB of zeros": Hostile(
        lambda folder: written(
            "out.zip", lambda: zeros_archive("runs/0000_a.png", 2048 * MEGABYTE)
        )(folder),
        import_bundle,
    ),
    "sparse 20 GB as a bundle": Hostile(sparse("out.zip"), import_bundle),
    "FIFO as a bundle": Hostile(fifo("out.zip"), import_bundle),
    "/dev/zero as a bundle": Hostile(link("out.zip"), import_bundle),
}
TEXTS = {
    "YAML, a billion laughs": Hostile(written("c.yaml", laughs(12)), read_checker_config),
    "YAML, 30,000 brackets": Hostile(written("c.yaml", b"[" * 30_000), read_checker_config),
    "YAML, a number of 60,000 digits": Hostile(
        written("c.yaml", b"geometry: {margin: " + b"9" * 60_000 + b"}"), read_checker_config
    ),
    "YAML, 20 MB": Hostile(written("c.yaml", b"a: [1]\n" * 3_000_000), read_checker_config),
    "YAML, FIFO": Hostile(fifo("c.yaml"), read_checker_config),
    "records, a line of 100 MB": Hostile(
        records(lambda path: path.write_bytes(b'"' + b"x" * (100 * MEGABYTE))), read_records
    ),
    "records, a line of 200,000 brackets": Hostile(
        records(lambda path: path.write_bytes(b"[" * 200_000)), read_records
    ),
    "records, 20,000,000 values": Hostile(
        records(lambda path: path.write_bytes((b"[" + b"0," * 1000 + b"0]\n") * 20_000)),
        read_records,
    ),
    "records, a manifest of 20 GB": Hostile(
        records(lambda path: sparse(path.name)(path.parent), "manifest.jsonl"),
        read_records,
    ),
    "records, FIFO": Hostile(records(os.mkfifo), read_records),
    "settings, 200,000 brackets": Hostile(written("s.json", b"[" * 200_000), read_settings),
    "settings, sparse 20 GB": Hostile(sparse("s.json"), read_settings),
    "settings, FIFO": Hostile(fifo("s.json"), read_settings),
    "prompts, FIFO": Hostile(fifo("p.csv"), read_prompts),
    "prompts, sparse 20 GB": Hostile(sparse("p.csv"), read_prompts),
    "prompts, a deep line": Hostile(written("p.jsonl", b"[" * 200_000), read_prompts),
    "prompts, a cell of 10 MB": Hostile(
        written("p.csv", b"picture,prompt\na," + b"x" * (10 * MEGABYTE)), read_prompts
    ),
    "prompts to parse, /dev/zero": Hostile(link("p.jsonl"), read_prompt_list),
    "perception, masks of 8 GB": Hostile(
        packed_masks((1, 20_000, 2500), [20_000, 20_000]), find_perception, opens=True
    ),
    "perception, a width of 10^9": Hostile(
        packed_masks((1, 8, 1), [8, 10**9]), find_perception, opens=True
    ),
}
HOSTILE: dict[str, Hostile] = {
    **PICTURES,
    **LARGEST_PICTURES,
    **METADATA,
    **TRACES,
    **BUNDLES,
    **TEXTS,
}
