"""The lines of the README, typed by a new user: empty home, fresh checkout, hub on loopback."""

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.end_to_end.published_models import SDXL, files_in, write_repositories
from tests.hub_fakes import FakeHub
from tests.packaging.test_bootstrap import POSIX_ONLY

ROOT = Path(__file__).parents[2]
TITLE = "### From nothing to pictures of SDXL"
MOST_LINES = 10
LONGEST_S = 600


def lines_of_the_readme():
    """Return the commands below the title."""
    (_, section) = (ROOT / "README.md").read_text(encoding="utf-8").split(TITLE, 1)
    return section.split("```")[1].strip().splitlines()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout, installed in its environment as the bootstrap script does it.

    The environment sees the libraries of the tests, since installing them needs the network.
    """
    place = tmp_path_factory.mktemp("new") / "checkout"
    place.mkdir()
    for name in ("README.md", "LICENSE", "pyproject.toml"):
        shutil.copy(ROOT / name, place)
    for name in ("packaging", "resources", "spatialstudio"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    venv.create(place / ".venv", symlinks=True)
    (packages,) = (place / ".venv").rglob("site-packages")
    libraries = [path for path in sys.path if Path(path).name == packages.name]
    (packages / "z_base.pth").write_text(f"import site; list(map(site.addsitedir, {libraries}))")
    pip = [sys.executable, "-P", "-m", "pip", "--python", str(place / ".venv" / "bin" / "python")]
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--ignore-installed", "--editable")
    subprocess.run([*pip, "install", *options, str(place)], check=True, timeout=LONGEST_S)
    spec = importlib.util.spec_from_file_location(
        "bootstrap_of_copy", place / "packaging" / "bootstrap.py"
    )
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    stamp = place / ".venv" / f"{bootstrap.LOCK.stem}.installed"
    stamp.write_text(bootstrap.fingerprint([bootstrap.LOCK]))
    return place


@pytest.fixture(scope="module")
def typed(checkout, tmp_path_factory):
    """What the terminal shows when the lines are typed in the checkout, and its exit code."""
    folder = tmp_path_factory.mktemp("published")
    home = tmp_path_factory.mktemp("home")
    with FakeHub() as hub:
        for repository, place in write_repositories(folder).items():
            hub.add(repository, files_in(place))
        interpreters = Path(sys.executable).resolve().parent
        environment = {
            "PATH": f"{interpreters}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "HF_ENDPOINT": hub.url,
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e"],
            input="\n".join(lines_of_the_readme()),
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        requests = tuple(hub.requests)
    return done, requests


@POSIX_ONLY
@pytest.mark.slow
def test_every_line_of_the_readme_works(typed, checkout):
    done, _ = typed
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("is complete and verified") == 4
    assert f"{SDXL}, seed 0, 50 steps, guidance psg" in done.stdout
    assert "Total: 1 " in done.stdout
    assert sorted(path.suffix for path in (checkout / "pictures").iterdir()) == [
        ".json",
        ".png",
        ".strace",
    ]


@POSIX_ONLY
@pytest.mark.slow
def test_the_downloaded_models_judge_the_picture(typed):
    done, _ = typed
    lines = [line for line in done.stdout.splitlines() if line.startswith("Judged by")]
    by = (
        "Judged by open-vocabulary (IDEA-Research/grounding-dino-tiny, facebook/sam2.1-hiera-tiny, "
        "depth-anything/Depth-Anything-V2-Small-hf)"
    )
    assert lines == [by, by]  # of generate and of evaluate


@POSIX_ONLY
@pytest.mark.slow
def test_only_files_of_the_models_are_fetched(typed):
    _, requests = typed
    fetched = [path for path, _, _ in requests if "/resolve/" in path]
    assert [
        path for path in fetched if path.endswith("unet/diffusion_pytorch_model.fp16.safetensors")
    ]
    assert not [path for path in fetched if "vae_1_0" in path or path.endswith((".pt", ".onnx"))]


def test_the_readme_needs_at_most_ten_lines():
    assert 0 < len(lines_of_the_readme()) <= MOST_LINES
