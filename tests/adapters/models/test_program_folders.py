"""The checkpoint folders of ComfyUI and AUTOMATIC1111 in made-up trees."""

import pytest

from spatialstudio.adapters.models.program_folders import (
    checkpoint_folders,
    searched_folders,
    store_folders,
)

FOLDERS = ("ComfyUI/models/checkpoints", "ComfyUI/models/loras", "webui/models/Stable-diffusion")
YAML = {
    "relative": "a:\n  base_path: programs/ComfyUI\n  checkpoints: models/checkpoints\n",
    "absolute": "a:\n  base_path: {home}/programs/ComfyUI/\n  checkpoints: models/checkpoints/\n",
    "home": "a:\n  base_path: ~/programs/ComfyUI\n  checkpoints: models/checkpoints\n",
    "variable": "a:\n  base_path: ${{HOME}}/programs/ComfyUI\n  checkpoints: models/checkpoints\n",
    "no base path": "a:\n  checkpoints: programs/ComfyUI/models/checkpoints\n",
    "home in the line": "a:\n  checkpoints: ~/programs/ComfyUI/models/checkpoints\n",
    "several lines": (
        "a:\n  base_path: programs/ComfyUI\n  is_default: true\n  checkpoints: |\n"
        "    models/checkpoints\n    models/missing\n\n  loras: models/loras\n"
    ),
    "several sections": (
        "a:\n  base_path: nowhere\n  checkpoints: models\nb: text\nc:\n  base_path: ~someone/x\n"
        "  checkpoints: y\nd:\n  base_path: programs/ComfyUI\n  checkpoints: models/checkpoints\n"
    ),
    "byte order mark": "\ufeffa:\n  checkpoints: programs/ComfyUI/models/checkpoints\n",
}
BAD_YAML = {
    "damaged": "a: [",
    "a list": "- checkpoints",
    "empty": "",
    "tag": "a: !!python/object/apply:os.mkdir [ran]",
    "tag in a value": "a:\n  checkpoints: !!python/name:os.system\n",
    "alias": "a: &x\n  checkpoints: y\nb: *x\n",
    "deep": "[" * 3000,
    "binary": "\x00\x01",
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Folders of both programs in the user's home."""
    for name in (
        "ComfyUI/models/checkpoints",
        "ComfyUI/models/loras",
        "webui/models/Stable-diffusion",
    ):
        (tmp_path / "programs" / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", YAML.values(), ids=YAML)
def test_folders_are_found_at_configured_paths(tree, text):
    file = tree / "extra_model_paths.yaml"
    file.write_text(text.format(home=tree), encoding="utf-8")
    assert checkpoint_folders(file) == (tree / "programs" / "ComfyUI" / "models" / "checkpoints",)


@pytest.mark.parametrize("text", BAD_YAML.values(), ids=BAD_YAML)
def test_a_damaged_file_is_rejected_without_executing_it(tree, text):
    file = tree / "extra_model_paths.yaml"
    file.write_text(text)
    with pytest.raises(ValueError):  # noqa: PT011 - the adapter translates it
        checkpoint_folders(file)
    assert not (tree / "ran").exists()


@pytest.mark.parametrize("value", ["[a, b]", "{x: y}", "null", "3", "2024-01-01", '"\\0"'])
def test_invalid_values_find_nothing(tree, value):
    file = tree / "extra_model_paths.yaml"
    file.write_text(f"a:\n  base_path: {value}\n  checkpoints: {value}\n")
    assert checkpoint_folders(file) == ()


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ("ComfyUI", "ComfyUI/models/checkpoints"),
        ("ComfyUI/models", "ComfyUI/models/checkpoints"),
        ("webui", "webui/models/Stable-diffusion"),
        ("webui/models", "webui/models/Stable-diffusion"),
    ],
)
def test_the_main_folder_or_the_models_folder_can_be_chosen(tree, chosen, found):
    assert checkpoint_folders(tree / "programs" / chosen) == (tree / "programs" / found,)


def test_subfolders_are_searched_except_those_of_models(tree):
    root = tree / "programs" / "webui" / "models" / "Stable-diffusion"
    (root / "SDXL" / "anime").mkdir(parents=True)
    (root / ".cache").mkdir()
    (root / "diffusers" / "unet").mkdir(parents=True)
    (root / "diffusers" / "model_index.json").write_text("{}")
    (root / "loop").symlink_to(root)
    store_folders(tree / "settings", (root,))
    found = searched_folders(tree / "settings")
    assert {root, root / "SDXL", root / "SDXL" / "anime"} <= set(found)
    assert not [each for each in found if "unet" in each.parts or ".cache" in each.parts]
    assert len(found) < 100
