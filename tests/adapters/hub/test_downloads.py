"""Downloads from a fake hub with the real client: complete, or resumable and not listed."""

import logging

import pytest

from spatialstudio.adapters.models.model_files import ModelFolders
from spatialstudio.adapters.perception.model_catalog import PerceptionFolders
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.errors import Cancelled
from spatialstudio.domain.hub import (
    GatedRepository,
    HubError,
    HubUnreachable,
    ModelOrigin,
    UnsuitableRepository,
)
from tests.adapters.keyrings import LockedKeyring, MemoryKeyring, used
from tests.hub_fakes import (
    DETECTOR,
    DIFFUSERS,
    FakeHub,
    altered,
    cut,
    drips,
    html,
    hub_in,
    stalls,
    status,
)

TOKEN = "secret" + "-of-a-user"
WANTED = [name for name in DIFFUSERS if not name.endswith((".md", ".bin"))]


def get(hub, name="maker/model", revision="main", report=lambda progress: None, flag=None):
    """Plan and perform a download."""
    return hub.download(hub.plan(name, revision), report, flag or CancelFlag())


def listed(cache):
    """List what the program would offer for drawing and judging."""
    models = [card.id for card in ModelFolders([], [cache]).cards()]
    return models + [card.ref.id for card in PerceptionFolders([], cache).cards()]


def is_whole(folder, files=DIFFUSERS):
    """Compare a finished model with what the hub has published."""
    return all((folder / name).read_bytes() == files[name] for name in WANTED)


def test_a_plan_states_everything_before_the_first_byte(hub, fake, cache):
    commit = fake.repositories["maker/model"].branches["main"]
    plan = hub.plan("maker/model")
    assert [each.name for each in plan.files] == WANTED
    assert plan.total_bytes == plan.missing_bytes == sum(len(DIFFUSERS[name]) for name in WANTED)
    assert (plan.commit, plan.licence, plan.is_gated) == (commit, "apache-2.0", False)
    assert plan.free_bytes > 0
    assert not cache.exists()


LICENCES = {
    "stated": ({"license": "mit"}, "mit", "https://huggingface.co/maker/model"),
    "none": ({}, "", "https://huggingface.co/maker/model"),
    "its own": (
        {"license": "other", "license_name": "own-licence", "license_link": "LICENSE.md"},
        "own-licence",
        "https://huggingface.co/maker/model/blob/main/LICENSE.md",
    ),
    "elsewhere": (
        {"license": "other", "license_name": "own", "license_link": "https://maker.example/own"},
        "own",
        "https://maker.example/own",
    ),
    "a script": (
        {"license": "own", "license_link": "javascript:alert(1)"},
        "own",
        "https://huggingface.co/maker/model",
    ),
}


@pytest.mark.parametrize("case", LICENCES.values(), ids=LICENCES)
def test_the_licence_is_read_from_the_repository(hub, fake, case):
    card, licence, address = case
    fake.add("maker/model", DIFFUSERS, card=card)
    plan = hub.plan("maker/model")
    assert (plan.licence, plan.licence_url) == (licence, address)


@pytest.mark.parametrize(
    ("card", "licence"),
    [({"license": "mit"}, "mit"), ({}, "apache-2.0"), ({"license": "apache-2.0"}, "apache-2.0")],
    ids=["another", "none", "the same"],
)
def test_the_licence_of_the_catalogue_is_the_fallback(hub, fake, card, licence):
    (entry,) = (each for each in hub.catalogue if each.id == "grounding-dino-tiny")
    fake.add(entry.repository, DETECTOR, card=card)
    plan = hub.plan(entry.id)
    assert plan.licence == licence
    assert (plan.licence_url == entry.licence_url) == (licence == entry.licence)


def test_a_download_is_complete_and_listed(hub, fake, cache):
    seen = []
    folder = get(hub, report=seen.append)
    assert is_whole(folder)
    assert listed(cache) == ["maker/model"]
    assert (cache / "models--maker--model" / "refs" / "main").read_text() == folder.name
    sizes = [each.done_bytes for each in seen]
    assert sizes == sorted(sizes)
    assert sizes[-1] == seen[-1].total_bytes
    assert hub.plan("maker/model").is_complete
    assert hub.unfinished() == ()


def test_only_files_of_the_model_are_requested(hub, fake):
    get(hub)
    commit = fake.repositories["maker/model"].branches["main"]
    paths = {path for path, _, _ in fake.requests if not path.startswith("/storage/")}
    listing = {"/api/models/maker/model/revision/main"}
    assert paths == listing | {f"/maker/model/resolve/{commit}/{name}" for name in WANTED}


def test_a_detector_is_listed_among_the_judges(hub, fake, cache):
    fake.add("maker/detector", DETECTOR)
    get(hub, "maker/detector")
    assert listed(cache) == ["maker/detector"]


def test_models_of_other_programs_are_not_downloaded_again(hub, fake):
    get(hub)
    fake.requests.clear()
    get(hub)
    assert not [path for path, _, _ in fake.requests if "/storage/" in path]


RECOVERED = {
    "cut once": ("storage", cut(0.5), 1),
    "cut again and again": ("storage", cut(0.4), 5),
    "cut at once, thrice": ("storage", cut(0.0), 3),
    "429, then an answer": ("storage", status(429, Retry_After="0"), 2),
    "500, then an answer": ("file", status(500), 2),
    "503 of the list": ("info", status(503), 2),
    "wrong hash once": ("storage", altered(lambda content: content[::-1]), 1),
    "too short once": ("storage", altered(lambda content: content[:-9]), 1),
    "too long once": ("storage", altered(lambda content: content + b"more"), 1),
    "login page once": ("storage", html, 1),
}


@pytest.mark.parametrize("fault", RECOVERED.values(), ids=RECOVERED)
def test_a_transient_failure_is_retried(hub, fake, cache, fault):
    kind, answer, times = fault
    fake.breaks(kind, answer, times)
    assert is_whole(get(hub))
    assert listed(cache) == ["maker/model"]


LASTING = {
    "cut": ("storage", cut(0.0), HubUnreachable, "was interrupted"),
    "429": ("storage", status(429), HubUnreachable, "limits the number of requests"),
    "500": ("storage", status(500), HubUnreachable, r"internal error \(500\)"),
    "503 of the list": ("info", status(503), HubUnreachable, r"internal error \(503\)"),
    "404 of a file": ("storage", status(404), HubError, "lists the file .* but does not have it"),
    "410": ("storage", status(410), HubError, r"rejects the request \(410\)"),
    "wrong hash": ("storage", altered(lambda content: content[::-1]), HubError, "is damaged"),
    "wrong size": ("storage", altered(lambda content: content[:-9]), HubError, "is damaged"),
    "endless": ("storage", altered(lambda content: content * 3), HubError, "is damaged"),
    "login page for the list": (
        "info",
        html,
        HubUnreachable,
        "does not respond like a Hugging Face hub",
    ),
    "login page for a file": ("storage", html, HubError, "is damaged"),
    "redirect loop": (
        "storage",
        lambda handler: handler.send(b"", 302, headers={"Location": handler.path}),
        HubUnreachable,
        "redirects to an address",
    ),
    "redirect to a file": (
        "storage",
        status(302, Location="file:///etc/passwd"),
        HubUnreachable,
        "redirects to an address",
    ),
    "403": ("info", status(403), GatedRepository, "denies access .* may be gated"),
}


@pytest.mark.parametrize("fault", LASTING.values(), ids=LASTING)
def test_a_permanent_failure_is_named_and_can_be_resumed(hub, fake, cache, fault):
    kind, answer, error, words = fault
    fake.breaks(kind, answer)
    with pytest.raises(error, match=words) as caught:
        get(hub)
    assert caught.value.hint.endswith(".")
    assert listed(cache) == []
    assert hub.installed() == ()
    fake.faults.clear()
    assert is_whole(get(hub))


def test_a_stalled_transfer_continues(impatient_hub, fake):
    fake.breaks("storage", stalls, 1)
    assert is_whole(get(impatient_hub))


@pytest.mark.parametrize("kind", ["info", "storage"])
def test_a_hub_that_does_not_answer_is_named(impatient_hub, fake, cache, kind):
    fake.breaks(kind, stalls)
    with pytest.raises(HubUnreachable, match="does not respond"):
        get(impatient_hub)
    assert listed(cache) == []


def test_a_slow_transfer_is_resumed_where_it_stopped(hasty_hub, fake):
    fake.breaks("storage", drips, 1)
    assert is_whole(get(hasty_hub))
    starts = [asked for path, _, asked in fake.requests if "/storage/" in path and asked]
    assert len(starts) == 1


@pytest.mark.parametrize("kind", ["info", "file", "storage"])
def test_a_slow_hub_is_named(hasty_hub, fake, cache, kind):
    fake.breaks(kind, drips)
    with pytest.raises(HubUnreachable, match="arrives too slowly"):
        get(hasty_hub)
    assert listed(cache) == []
    fake.faults.clear()
    assert is_whole(get(hasty_hub))


def test_bytes_on_disk_are_not_fetched_again(hub, fake):
    fake.breaks("storage", cut(0.5), 1)
    fake.breaks("storage", status(404))
    with pytest.raises(HubError):
        get(hub)
    (unfinished,) = hub.unfinished()
    assert 0 < unfinished.done_bytes < unfinished.total_bytes
    fake.faults.clear()
    fake.requests.clear()
    assert is_whole(get(hub))
    assert [asked for _, _, asked in fake.requests if asked]


def test_a_server_that_ignores_ranges_is_read_from_the_beginning(hub, fake):
    fake.breaks("storage", cut(0.5), 1)
    fake.breaks("storage", altered(lambda content: content), 1)
    assert is_whole(get(hub))


def test_an_oversized_partial_file_is_downloaded_again(hub, fake, cache):
    plan = hub.plan("maker/model")
    blobs = cache / "models--maker--model" / "blobs"
    blobs.mkdir(parents=True)
    for file in plan.files:
        (blobs / f"{file.digest}.incomplete").write_bytes(b"?" * (file.size_bytes + 1))
    assert is_whole(get(hub))


def test_a_download_can_be_paused_and_resumed(hub, fake, cache):
    flag = CancelFlag()

    def pause(progress):
        if progress.done_bytes > 200_000:
            flag.cancel()

    with pytest.raises(Cancelled):
        get(hub, report=pause, flag=flag)
    assert listed(cache) == []
    assert hub.unfinished()[0].done_bytes > 200_000
    assert is_whole(get(hub))


def test_an_unfinished_download_can_be_discarded(hub, fake, cache):
    fake.breaks("storage", cut(0.0))
    with pytest.raises(HubError):
        get(hub)
    hub.discard("maker/model")
    assert hub.unfinished() == ()
    assert not (cache / "models--maker--model").exists()


def test_a_branch_that_moves_does_not_mix_two_commits(hub, fake):
    fake.breaks("storage", status(404))
    with pytest.raises(HubError):
        get(hub)
    fake.faults.clear()
    changed = {name: content[::-1] for name, content in DIFFUSERS.items() if "safe" in name}
    fake.add("maker/model", {**DIFFUSERS, **changed, "new.json": b"{}"})
    assert is_whole(get(hub))


def test_a_deleted_commit_is_planned_again(hub, fake):
    fake.breaks("storage", status(404))
    with pytest.raises(HubError):
        get(hub)
    fake.faults.clear()
    del fake.repositories["maker/model"]
    fake.add("maker/model", {**DIFFUSERS, "vae/more.json": b"{}"})
    assert (get(hub) / "vae" / "more.json").exists()


def test_no_network_is_named(tmp_path):
    hub = hub_in(tmp_path, "http://127.0.0.1:9")
    with pytest.raises(HubUnreachable, match="cannot be reached"):
        hub.plan("maker/model")


@pytest.mark.parametrize("address", ["nonsense", "ftp://hub", "https://", "http://[x"])
def test_an_invalid_address_is_named(tmp_path, address):
    with pytest.raises(HubError, match="HF_ENDPOINT is not the address of a hub"):
        hub_in(tmp_path, address).plan("maker/model")


def test_the_offline_switch_is_named(hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HubUnreachable, match="HF_HUB_OFFLINE"):
        hub.plan("maker/model")


@pytest.mark.parametrize("name", ["no/such", "a/b/c", "..", "a--b/c", "", "maker/mod el"])
def test_an_unknown_repository_is_named(hub, name):
    with pytest.raises(HubError, match=r"no repository|not the name of a repository"):
        hub.plan(name)


def test_an_unknown_revision_is_named(hub):
    with pytest.raises(HubError, match="does not have this revision"):
        hub.plan("maker/model", "v9")


UNSUITABLE = {
    "pickles only": ({"config.json": b"{}", "model.bin": b"?"}, "pickle files"),
    "custom code": (
        {"config.json": b'{"auto_map": {"AutoModel": "x.X"}}', "model.safetensors": b"?"},
        "custom code",
    ),
    "pipeline code": (
        {
            "model_index.json": b'{"_class_name": "FluxPipeline", "unet": ["own", "Own"]}',
            "unet/own.py": b"",
            "unet/model.safetensors": b"?",
        },
        "custom code",
    ),
    "another pipeline": (
        {"model_index.json": b'{"_class_name": "NewPipeline"}', "unet/a.safetensors": b"?"},
        "NewPipeline",
    ),
    "no configuration": ({"anime.safetensors": b"?"}, "neither a diffusers folder"),
    "nothing": ({"README.md": b""}, "neither a diffusers folder"),
    "damaged settings": ({"config.json": b"<html>", "model.safetensors": b"?"}, "damaged"),
    "a way out": (
        {"config.json": b"{}", "..": b"", "model.safetensors": b"?", "\\..\\a.json": b""},
        "leaves its folder",
    ),
    "clashing names": (
        {"config.json": b"{}", "Config.json": b"{}", "model.safetensors": b"?"},
        "only by case",
    ),
    "too many files": ({f"{number}.json": b"" for number in range(5001)}, "more than 5000"),
}


@pytest.mark.parametrize("case", UNSUITABLE.values(), ids=UNSUITABLE)
def test_an_unsuitable_repository_is_rejected_before_the_first_byte(hub, fake, cache, case):
    files, words = case
    fake.add("maker/odd", files)
    with pytest.raises(UnsuitableRepository, match=words):
        hub.plan("maker/odd")
    assert not cache.exists()


def test_a_full_disk_is_named_before_the_first_byte(hub, fake, monkeypatch):
    plan = hub.plan("maker/model")
    monkeypatch.setattr("spatialstudio.adapters.hub.transfer.free_bytes", lambda _: 10_000)
    with pytest.raises(HubError, match=r"needs .* but only .* are free"):
        hub.download(plan, lambda progress: None, CancelFlag())


def test_a_gated_model_asks_for_a_token(hub, fake):
    fake.add("maker/gated", DIFFUSERS, token=TOKEN, is_gated=True)
    with pytest.raises(GatedRepository, match="accept the licence") as caught:
        hub.plan("maker/gated")
    assert "HF_TOKEN" in caught.value.hint


def test_an_account_without_access_is_named(hub, fake, monkeypatch):
    fake.add("maker/gated", DIFFUSERS, token=TOKEN, is_gated=True)
    monkeypatch.setenv("HF_TOKEN", "another")
    with pytest.raises(GatedRepository, match="has no access"):
        hub.plan("maker/gated")


def test_a_token_in_the_keyring_is_sent_for_gated_models_only(hub, fake, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    fake.add("maker/gated", DIFFUSERS, token=TOKEN, is_gated=True)
    with FakeHub() as storage, used(MemoryKeyring()):
        fake.storage = storage
        hub.store_token(TOKEN)
        assert hub.has_token()
        assert is_whole(get(hub, "maker/gated"))
        assert {key for _, key, _ in storage.requests} == {None}
    assert {key for _, key, _ in fake.requests} == {f"Bearer {TOKEN}"}
    assert TOKEN not in caplog.text
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]


def test_a_token_can_be_deleted(hub):
    with used(MemoryKeyring()):
        hub.store_token(TOKEN)
        hub.store_token("")
        assert not hub.has_token()


def test_a_system_without_a_keyring_is_named(hub):
    with used(LockedKeyring()), pytest.raises(HubError, match="no keyring"):
        hub.store_token(TOKEN)


def test_a_token_is_not_sent_unencrypted_to_another_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    client = hub_in(tmp_path, "http://mirror.example")._client()
    assert not client.has_token
    assert client.withholds_token


def test_an_unencrypted_mirror_of_a_gated_model_explains_the_unused_token(hub, fake, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(
        "spatialstudio.adapters.hub.hub_client.crosses_network_in_plain", lambda address: True
    )
    fake.add("maker/gated", DIFFUSERS, token=TOKEN, is_gated=True)
    with pytest.raises(GatedRepository, match="not sent unencrypted"):
        hub.plan("maker/gated")
    assert {key for _, key, _ in fake.requests} == {None}


def test_damage_is_found_and_repaired(hub, fake, cache):
    folder = get(hub)
    weights = folder / "unet" / "diffusion_pytorch_model.safetensors"
    blob = weights.resolve()
    blob.write_bytes(blob.read_bytes()[::-1])
    problems = {each.name: each.problem for each in hub.check("maker/model") if each.problem}
    assert problems == {"unet/diffusion_pytorch_model.safetensors": "wrong hash"}
    assert hub.installed() == ()
    assert is_whole(get(hub))
    assert not [each for each in hub.check("maker/model") if each.problem]


def test_removing_deletes_the_model_and_nothing_else(hub, fake, cache, tmp_path):
    fake.add("maker/detector", DETECTOR)
    get(hub)
    get(hub, "maker/detector")
    assert hub.remove("maker/model") > 1_000_000
    assert listed(cache) == ["maker/detector"]


def test_one_of_two_revisions_can_be_removed(hub, fake, cache):
    first = get(hub)
    fake.add("maker/model", {**DIFFUSERS, "vae/more.json": b"{}"})
    second = get(hub)
    hub.remove(f"maker/model@{first.name[:7]}")
    assert not first.exists()
    assert is_whole(second)
    assert [model.folder for model in hub.installed()] == [second]


def test_a_link_in_the_models_folder_is_removed_without_its_target(hub, tmp_path):
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "config.json").write_text("{}")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "linked").symlink_to(outside)
    hub.remove("linked")
    assert (outside / "config.json").exists()
    assert not (tmp_path / "models" / "linked").exists()


def test_models_of_other_programs_are_listed_and_stay(hub, tmp_path):
    checkpoints = tmp_path / "ComfyUI" / "models" / "checkpoints"
    checkpoints.mkdir(parents=True)
    (checkpoints / "anime.safetensors").write_bytes(b"?" * 99)
    assert hub.use_folder(tmp_path / "ComfyUI") == (checkpoints,)
    (model,) = hub.installed()
    assert (model.id, model.size_bytes, model.origin) == ("anime", 99, ModelOrigin.OTHER_PROGRAM)
    with pytest.raises(HubError, match="belongs to another program"):
        hub.remove("anime")


def test_the_cut_download_of_another_program_is_not_listed(hub, cache):
    snapshot = cache / "models--a--b" / "snapshots" / ("0" * 40)
    (snapshot / "unet").mkdir(parents=True)
    (snapshot / "model_index.json").write_bytes(DIFFUSERS["model_index.json"])
    (snapshot / "unet" / "config.json").write_bytes(DIFFUSERS["unet/config.json"])
    assert listed(cache) == []
    assert hub.installed() == ()
    assert [each.repository for each in hub.unfinished()] == ["a/b"]
    (problem,) = ModelFolders([], [cache]).damaged().values()
    assert "not finished" in problem.message
    hub.discard("a/b")
    assert hub.unfinished() == ()
    assert not snapshot.exists()
