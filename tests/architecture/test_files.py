"""Files under version control contain nothing private, and shadow no library."""

import importlib.util
import pickle
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LARGEST_BYTES = 40_000_000

PRIVATE = {
    "a path of somebody's machine": r"/work/(?:main|shared|tmp)\b|/(?:home|Users)/\w+/|/root/\w"
    r"|[A-Z]:\\Users",
    "a host of somebody's network": r"\b[\w-]+\.(?:internal|intranet|corp|lan)\b(?!\()",
    "a token": r"\b(?:hf_\w{20}|sk-\w{20}|gh[opsu]_\w{20}|github_pat_\w{20}|AKIA\w{16})",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
}
PICKLE_NAMES = {".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".bin", ".joblib"}
PICKLE_STARTS = tuple(pickle.dumps(None, protocol)[:2] for protocol in (2, 3, 4, 5))


def tracked_files():
    """List the files that git knows."""
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def private_words(text):
    """Name what in a text is not for the public."""
    return [kind for kind, pattern in PRIVATE.items() if re.search(pattern, text)]


def is_pickle(name, content):
    """Say whether a file is a pickle by its name or by its first bytes."""
    return Path(name).suffix in PICKLE_NAMES or content.startswith(PICKLE_STARTS)


@pytest.fixture(scope="module")
def contents():
    """Every file under version control, by its path."""
    if not (ROOT / ".git").exists():
        pytest.skip("this copy of the studio is under no version control")
    return {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in tracked_files()}


def test_nothing_private_is_published(contents):
    texts = {name: content.decode(errors="ignore") for name, content in contents.items()}
    assert {name: kinds for name, text in texts.items() if (kinds := private_words(text))} == {}


@pytest.mark.parametrize(
    "text",
    ["/home/" + "ada/studio", "C:" + r"\Users\ada", "hf" + "_" + "a" * 30, "gpu7" + ".internal"],
    ids=["Linux", "Windows", "token", "host"],
)
def test_private_text_is_found(text):
    assert private_words(text)


def test_no_pickle_is_published(contents):
    assert [name for name, content in contents.items() if is_pickle(name, content)] == []


@pytest.mark.parametrize(
    ("name", "content"),
    [("weights.pt", b""), ("data.npz", pickle.dumps([1], protocol=4))],
    ids=["name", "content"],
)
def test_a_pickle_is_found(name, content):
    assert is_pickle(name, content)


def test_the_weights_stay_small(contents):
    weights = [len(data) for name, data in contents.items() if name.endswith(".safetensors")]
    assert sum(weights) <= LARGEST_BYTES


def test_the_folder_packaging_does_not_shadow_the_library_packaging():
    assert not (ROOT / "packaging" / "__init__.py").exists()
    assert importlib.util.find_spec("packaging.version") is not None
