from pathlib import Path

import pytest

from spatialstudio.adapters.storage.records.spatialbench_uc import read_checker_config
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.verdict import REPRODUCE, CheckerSettings

PRECALIBRATION = CheckerSettings(
    preset="reproduce, other thresholds", margin=0.05, detection_score=0.3
)
GOLDEN = Path(__file__).parents[3] / "golden" / "spatialbench_run"


@pytest.fixture
def config(tmp_path):
    return tmp_path / "checker_config.yaml"


@pytest.mark.parametrize(
    ("evaluation", "settings"),
    [("eval", REPRODUCE), ("eval_precal", PRECALIBRATION)],
)
def test_the_files_of_the_release_are_read_unchanged(evaluation, settings):
    assert read_checker_config(GOLDEN / evaluation / "checker_config.yaml") == settings


def test_missing_values_default_to_the_published_ones(config):
    config.write_text("thresholds: {max_overlap_iou: 0.4}\nstability: {enabled: false}\n")
    settings = read_checker_config(config)
    assert settings.max_overlap_iou == 0.4
    assert settings.margin == REPRODUCE.margin
    assert settings.perturbations == ()


@pytest.mark.parametrize(
    "text",
    [
        "geometry: {margin: much}",
        "geometry: {margin: 1.5}",
        "geometry: {margin: true}",
        "geometry: {margin: .nan}",
        "confidence: {weights: {detection: 1}}",
        "stability: {perturbations: [{type: rotation, factor: 3}]}",
        "stability: {perturbations: [{type: brightness, factor: 0}]}",
        "stability: {perturbations: brightness}",
        "- a list",
        "a: [not closed",
        "",
    ],
)
def test_invalid_values_are_rejected_with_a_message(config, text):
    config.write_text(text)
    with pytest.raises(SettingsError, match=r"\.$"):
        read_checker_config(config)


def test_a_missing_file_is_rejected(config):
    with pytest.raises(SettingsError):
        read_checker_config(config)
