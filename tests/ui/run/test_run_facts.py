import pytest

from spatialstudio.domain.generation import SamplingSettings
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.ui.run.run_facts import option_facts

SEED = Option(id="seed", label="Chosen seed", help="Number", kind=OptionKind.INT, default=0)


@pytest.mark.parametrize(
    ("seed", "facts"), [(7, [("Chosen seed", "7")]), (0, [])], ids=["set", "usual"]
)
def test_an_option_of_a_run_is_a_fact_where_it_is_not_the_usual(monkeypatch, seed, facts):
    monkeypatch.setattr("spatialstudio.ui.run.run_facts.SAMPLING_OPTIONS", (SEED,))
    assert list(option_facts(SamplingSettings(seed=seed))) == facts


def test_the_number_format_is_stated_as_it_was_computed():
    assert list(option_facts(SamplingSettings(dtype="bfloat16"))) == []
