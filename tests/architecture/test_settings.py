"""A setting of a run is named only by the modules that use it, not by those that pass it on."""

from pathlib import Path

import pytest

import spatialstudio

PACKAGE = Path(spatialstudio.__file__).parent
SAMPLER = {
    "application/benchmark/item_records.py": "is a field of the release's manifest",
    "application/benchmark/plan_items.py": "is a setting of a method in a plan",
    "domain/generation.py": "declares it",
    "adapters/diffusion/diffusers_backend.py": "draws with it",
    "adapters/diffusion/load_pipeline.py": "makes the scheduler",
    "adapters/storage/metadata/dialects/own.py": "is named like other programs' samplers",
    "adapters/storage/stores/picture_record.py": "is written for other programs",
    "application/models/model_lists.py": "depends on the model",
    "application/run/check_request.py": "depends on the model",
    "application/run/estimates.py": "may take two calls a step",
    "application/storage/store_call.py": "is stored with the run of a notebook",
    "application/storage/picture_settings.py": "is named like other programs' samplers",
    "cli/guidance_options.py": "is typed by its short name",
    "ui/run/generation_panel.py": "choices depend on the model",
    "ui/run/run_facts.py": "is stated with the steps",
    "ui/run/widgets/run_form.py": "choices depend on the model",
}
NUMBER_FORMAT = {
    "adapters/diffusion/memory_estimate.py": "counts bytes",
    "application/run/estimates.py": "runs of another one take another time",
    "ui/run/generation_panel.py": "choices depend on the device",
    "ui/run/widgets/guidance_form.py": "choices depend on the device",
}


def modules_with(text):
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if text in path.read_text(encoding="utf-8")
    }


@pytest.mark.parametrize(
    ("text", "reasons"),
    [("scheduler_id", SAMPLER), ("sampling.dtype", NUMBER_FORMAT)],
    ids=["sampler", "precision"],
)
def test_a_setting_is_named_only_where_it_is_used(text, reasons):
    assert modules_with(text) == set(reasons)
