"""The figures of two checkouts are read from what the scripts print, and compared in pairs."""

import pytest

from tests.performance.compare_checkouts import MEASUREMENTS, lines

OUTPUTS = {
    "heartbeat": (
        "percentile      gap  lateness     work  in one turn   [ms]\n"
        "        95     12.0       2.0      5.0          3.0\n"
        "        99     15.6       5.6      9.0          3.9\n",
        [15.6, 9.0, 3.9],
    ),
    "opening": ('{"seconds": 0.44, "cpu": 0.43}\n', [0.44, 0.43]),
    "scrubbing": (
        "from key to picture and chart: 50th 13.8 ms (work 13.4), 95th 20.8 ms (work 19.0), "
        "100th 33.2 ms (work 32.9)\n"
        "from word to lit map: 50th 14.1 ms (work 13.7), 95th 19.0 ms (work 18.3)\n",
        [13.8, 13.4, 19.0, 13.7],
    ),
    "capture": (
        "relation words: 1.2 [0.8, 1.5] % more\n"
        "relation words, previews: -0.4 [-1.0, 0.2] % more\n"
        "every word: 3.0 [2.0, 4.0] % more\n",
        [1.2, -0.4, 3.0],
    ),
}


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_figures_are_read_from_the_output(name):
    output, figures = OUTPUTS[name]
    assert list(MEASUREMENTS[name].read(output).values()) == figures


def test_a_missing_figure_is_named():
    with pytest.raises(ValueError, match="every word"):
        MEASUREMENTS["capture"].read(OUTPUTS["capture"][0].replace("every", "each"))


def test_ratios_are_those_of_the_pairs():
    (line,) = lines("opening", [({"cpu": 1.0}, {"cpu": 2.0}), ({"cpu": 4.0}, {"cpu": 2.0})])
    assert line.split() == ["opening:", "cpu", "2.50", "2.00", "1.25", "0.50", "to", "2.00"]
