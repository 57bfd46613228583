import pytest

from spatialstudio.application.evaluate.metrics import change_settings
from spatialstudio.domain.assertion import DA_REPRODUCE
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.verdict import (
    RECOMMENDED,
    REPRODUCE,
    StabilityMeasure,
)


def test_changed_values_are_listed():
    settings = change_settings(RECOMMENDED, ["margin=0.05", "overlap_bars_vertical = Yes"])
    assert (settings.margin, settings.overlap_bars_vertical) == (0.05, True)
    assert settings.preset == "recommended, margin=0.05, overlap_bars_vertical=True"
    assert settings.merges_duplicates == RECOMMENDED.merges_duplicates


def test_an_option_is_chosen_by_name():
    changed = change_settings(REPRODUCE, ["stability_measure=answers"])
    assert changed.stability_measure is StabilityMeasure.ANSWERS


def test_without_changes_the_settings_are_unchanged():
    assert change_settings(REPRODUCE, []) is REPRODUCE


@pytest.mark.parametrize(
    "change",
    [
        "margins=0.1",
        "preset=mine",
        "margin",
        "margin=much",
        "margin=-1",
        "margin=nan",
        "merges_duplicates=0.5",
        "stability_measure=both",
    ],
)
def test_an_invalid_setting_is_rejected_with_a_message(change):
    with pytest.raises(SettingsError, match=r"\.$"):
        change_settings(REPRODUCE, [change])


def test_settings_of_the_da_score_are_changed_the_same_way():
    settings = change_settings(DA_REPRODUCE, ["temperature=2", "relation_weight=3"])
    assert (settings.temperature, settings.relation_weight) == (2, 3)
    assert settings.preset == "reproduce, temperature=2.0, relation_weight=3.0"


@pytest.mark.parametrize("change", ["temperature=0", "temperature=1e9", "margin=0.1"])
def test_an_invalid_setting_of_the_da_score_is_rejected(change):
    with pytest.raises(SettingsError):
        change_settings(DA_REPRODUCE, [change])
