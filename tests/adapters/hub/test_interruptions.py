"""Downloads that are killed, run twice at once, or fill the disk: separate processes."""

import os
import random
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from spatialstudio.adapters.hub.transfer import SPARE_BYTES
from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.hub import HubError
from spatialstudio.domain.safe_files import MEBIBYTE
from tests.adapters.hub.test_downloads import WANTED, is_whole
from tests.hub_fakes import DIFFUSERS, hub_in
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
MOST_S = 0.7
"""A little more than an undisturbed download takes."""

TOKEN = "secret" + "-in-the-environment"
PROGRAM = """
import sys
from pathlib import Path
from huggingface_hub import constants
from spatialstudio.adapters.hub.hub import HuggingFaceHub
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.resources import resources_folder

constants.HF_HUB_OFFLINE = False
url, cache, name = sys.argv[1:]
places = Surroundings(resources=resources_folder(), model_folders=())
hub = HuggingFaceHub(places, Path(cache), url)
said = []

def report(progress):
    if not said:
        said.append(print("fetching", flush=True))

try:
    plan = hub.plan(name)
    print("ready", flush=True)
    hub.download(plan, report, CancelFlag())
except StudioError as error:
    print(error.message, error.hint)
    sys.exit(1)
print("done")
"""


def start(fake, cache, **options):
    """Start a program that downloads the model."""
    environment = {**os.environ, "HF_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", PROGRAM, fake.url, str(cache), "maker/model"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def check_after(process, cache, hub):
    """Wait for an interrupted program: its model is whole, or is not listed and can be resumed."""
    process.stdout.close()
    process.wait(PATIENCE_S)
    models = ModelFolders([], [cache]).cards()
    is_listed = [card.id for card in models] == ["maker/model"]
    assert is_listed or not models
    assert [model.id for model in hub.installed()] == [card.id for card in models]
    if is_listed:
        assert is_whole(models[0].folder)
    return is_listed


def assert_resumes(hub, cache):
    """Finish the download, and look for the token in every file."""
    folder = hub.download(hub.plan("maker/model"), lambda progress: None, CancelFlag())
    assert is_whole(folder)
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]
    assert not [path for path in files if path.name.endswith(".incomplete")]


def kill_at_random(fake, cache, hub, rng, times):
    """Kill a download at random moments; return how often it was cut."""
    cuts = 0
    for _ in range(times):
        process = start(fake, cache)
        assert process.stdout.readline() == "ready\n"
        Event().wait(rng.uniform(0.0, MOST_S))
        process.kill()
        if check_after(process, cache, hub):
            shutil.rmtree(cache)  # complete: begin from nothing
        else:
            cuts += 1
    return cuts


def test_a_killed_download_is_not_listed_and_resumes(hub, fake, cache):
    fake.pause_s = 0.02
    kill_at_random(fake, cache, hub, random.Random(1), 2)
    fake.pause_s = 0.0
    assert_resumes(hub, cache)


@pytest.mark.slow
def test_fifty_kills_leave_nothing_partial(hub, fake, cache):
    fake.pause_s = 0.02
    cuts = kill_at_random(fake, cache, hub, random.Random(2), 50)
    fake.pause_s = 0.0
    assert cuts > 10
    assert_resumes(hub, cache)


def test_two_programs_at_once_download_each_file_once(hub, fake, cache):
    fake.pause_s = 0.01
    programs = [start(fake, cache) for _ in range(2)]
    answers = [process.communicate(timeout=PATIENCE_S)[0] for process in programs]
    assert answers == ["ready\nfetching\ndone\n"] * 2
    fetched = [path for path, _, _ in fake.requests if "/storage/" in path]
    large = [name for name in WANTED if name.endswith("safetensors")]
    assert len(fetched) == len(set(fetched)) == len(large)
    assert_resumes(hub, cache)


def test_a_disk_that_fills_up_is_named_and_the_download_resumes(hub, fake, cache):
    limit = len(DIFFUSERS["unet/diffusion_pytorch_model.safetensors"]) // 2
    process = start(
        fake,
        cache,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    answer, _ = process.communicate(timeout=PATIENCE_S)
    assert "The disk of the hub cache is full." in answer
    assert hub.unfinished()[0].done_bytes >= limit
    assert hub.installed() == ()
    assert_resumes(hub, cache)


@pytest.fixture
def volume(tmp_path):
    """A small file system of its own, in memory."""
    place = tmp_path / "volume"
    place.mkdir()
    try:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SPARE_BYTES + 16 * MEBIBYTE}", "tmpfs"]
        subprocess.run([*mount, str(place)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting needs the rights of root on Linux")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_volume_that_fills_up_is_named_and_the_download_resumes(fake, volume, tmp_path):
    fake.pause_s = 0.1
    process = start(fake, volume / "hub")
    assert process.stdout.readline() == "ready\n"
    assert process.stdout.readline() == "fetching\n"  # the free space is checked before
    space = shutil.disk_usage(volume).free
    (volume / "films").write_bytes(bytes(space - 300_000))
    answer, _ = process.communicate(timeout=PATIENCE_S)
    assert "The disk of the hub cache is full. Free some space. Resume" in answer
    hub = hub_in(volume, fake.url)
    assert 0 < hub.unfinished()[0].done_bytes < hub.unfinished()[0].total_bytes
    assert hub.installed() == ()
    with pytest.raises(HubError, match=r"needs .* with some spare, but only"):
        hub.download(hub.plan("maker/model"), lambda progress: None, CancelFlag())
    (volume / "films").unlink()
    fake.pause_s = 0.0
    assert_resumes(hub, volume / "hub")
