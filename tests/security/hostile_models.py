"""Files that attack their reader: devices, endless texts, code."""

import json
import os

GIGABYTE = 1024**3
EVIL = "import pathlib; pathlib.Path({path!r}).touch()\n"


def change(file, **settings):
    """Change settings in a JSON file, or begin one."""
    before = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**before, **settings}))


TEXTS = {
    "brackets": "[" * 200_000,
    "objects": '{"a":' * 200_000,
    "closed brackets": '{"a":' + "[" * 500 + "]" * 500 + "}",
    "a huge number": '{"sample_size": ' + "9" * 100_000 + "}",
    "a long number": '{"sample_size": ' + "9" * 4000 + "}",
    "bytes that are no text": "\udcff",
}


def fifo(path):
    os.mkfifo(path)


def endless(path):
    path.symlink_to("/dev/zero")


def sparse(path):
    with path.open("wb") as file:
        file.truncate(20 * GIGABYTE)


def loop(path):
    path.symlink_to(path)
