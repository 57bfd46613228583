"""By which sampler pictures are drawn: what is offered, and told of a run."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QComboBox

from spatialstudio.ui.run.presenters import sampler_choices
from tests.ui.by_name import named
from tests.ui.scripted_engine import STICKERS


@pytest.fixture
def field(panel):
    return named(panel, QComboBox, "Sampler")


def test_the_models_own_is_usual(field):
    assert field.currentText() == "DDPM (model's default)"
    assert field.currentData() == ""
    assert field.count() == 9


def test_a_model_that_tells_nothing_offers_its_own():
    (own,) = sampler_choices(replace(STICKERS, samplers=()), "")
    assert (own.id, own.title) == ("", "Model's default")


def test_what_was_chosen_elsewhere_stays_in_sight():
    *_, chosen = sampler_choices(STICKERS, "LCMScheduler")
    assert (chosen.id, chosen.title) == ("LCMScheduler", "LCM")
