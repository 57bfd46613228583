"""A new plan is checked without writing, then begins."""

import pytest

from spatialstudio.application.benchmark.check_plan import begin_benchmark, check_plan
from spatialstudio.domain.errors import SettingsError, TargetExists
from tests.application.benchmark.conftest import PLAN, PROMPTS


@pytest.fixture
def text(bench):
    bench.items()  # opens the studio
    return PLAN.format(seeds="0-2").replace('"prompts.txt"', f'"{bench.home}/prompts.txt"')


def test_a_plan_is_measured_and_nothing_is_written(bench, text):
    folder = bench.home / "new"
    checked = check_plan(lambda: bench.studio, text, folder)
    assert checked.estimate.pictures == len({item.key for item in bench.items().opened.items})
    assert sum(each.pictures for each in checked.costs) == checked.estimate.pictures
    assert checked.problems == ()
    assert not folder.exists()


def test_an_invalid_plan_names_the_line(bench, text):
    with pytest.raises(SettingsError, match="line 2"):
        check_plan(lambda: bench.studio, text.replace("0-2", "many"), bench.home / "new")


def test_a_plan_of_too_many_pictures_is_refused(bench, text):
    many = text.replace('"0-2"', '"0-9999"') + "".join(
        f'\n[[methods]]\nname = "m{number}"\nguidance = "none"\n' for number in range(20)
    )
    with pytest.raises(SettingsError, match="1,320,000 pictures"):
        check_plan(lambda: bench.studio, many, bench.home / "new")


def test_a_begun_benchmark_has_its_plan_and_prompts(bench, text):
    folder = begin_benchmark(lambda: bench.studio, text, bench.home / "new")
    assert (folder / "plan.toml").read_text() == text
    assert len((folder / "prompts.jsonl").read_text().splitlines()) == len(PROMPTS)


def test_another_plan_does_not_replace_a_benchmark(bench, text):
    begin_benchmark(lambda: bench.studio, text, bench.home / "new")
    with pytest.raises(TargetExists):
        begin_benchmark(lambda: bench.studio, text.replace("0-2", "0-1"), bench.home / "new")
