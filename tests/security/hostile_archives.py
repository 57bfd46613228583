"""Traces and bundles that unpack to more than they hold, and name what they may not."""

import json
import struct
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

from spatialstudio.adapters.exports.bundle import open_bundle
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from tests.fakes import png_bytes
from tests.security.hostile_files import MEGABYTE, Hostile, fifo, link, sparse, written
from tests.security.hostile_pictures import HUGE, webp_claiming, webp_of

SAMPLE = Path(__file__).parents[1] / "golden" / "run_of_schema_1"


def open_trace(path):
    return RunFiles().load(path)


def import_bundle(path):
    return open_bundle(path, path.parent / "library")


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
