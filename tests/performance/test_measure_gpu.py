"""The measurements for accelerators, on the processor with models of a few thousand weights."""

import json
import math

import pytest

from tests.performance import measure_gpu

pytestmark = pytest.mark.filterwarnings("ignore:__array_:DeprecationWarning")  # diffusers 0.42


@pytest.mark.parametrize("name", ["sd-1.5", pytest.param("flux.1-dev", marks=pytest.mark.slow)])
def test_every_measurement_of_a_tiny_model_has_figures(name, tmp_path, capsys):
    file = tmp_path / "measured.json"
    arguments = [name, "--tiny", "--device", "cpu", "--steps", "2", "--json", str(file)]
    assert measure_gpu.main(arguments) == 0
    rows = {row.pop("what"): row for row in json.loads(file.read_text())["models"][name]}
    assert list(rows) == list(measure_gpu.MEASUREMENTS)
    assert all("error" not in row for row in rows.values())
    assert rows["time of steps"]["guided steps"] == 2
    assert rows["number formats"]["bfloat16, finite"]
    assert rows["cancelling"]["longest, s"] >= 0
    assert "left out" in rows["offloading"]
    assert ("left out" in rows["Attend-and-Excite"]) == (name != "sd-1.5")
    assert all(math.isfinite(value) and value > 0 for value in rows["memory"].values())
    assert name in capsys.readouterr().out


def test_no_measurement_begins_after_the_given_time(tmp_path):
    file = tmp_path / "measured.json"
    measure_gpu.main(["sdxl", "--tiny", "--device", "cpu", "--seconds", "0", "--json", str(file)])
    rows = json.loads(file.read_text())["models"]["sdxl"]
    assert [row["left out"] for row in rows] == ["no time left"] * len(measure_gpu.MEASUREMENTS)
