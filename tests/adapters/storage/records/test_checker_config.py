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
def test_the_releases_files_are_read_as_they_are(evaluation, settings):
    assert read_checker_config(GOLDEN / evaluation / "checker_config.yaml") == settings


def test_what_a_file_leaves_out_stays_as_published(config):
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
def test_what_cannot_be_used_is_refused_in_a_sentence(config, text):
    config.write_text(text)
    with pytest.raises(SettingsError, match=r"\.$"):
        read_checker_config(config)


def test_a_file_that_is_not_there_is_refused(config):
    with pytest.raises(SettingsError):
        read_checker_config(config)
