from pathlib import Path

import pytest

from spatialstudio.application.evaluate.metric_table_files import (
    correlation_figure,
    correlations_latex,
    picture_rows,
    write_metric_table,
)
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.metric_table import PictureScores
from spatialstudio.science.statistics.metric_agreement import compare_metrics

PICTURES = [
    PictureScores(name=f"p{n}", prompt="=1+1", scores={"a": n / 9, "b": (9 - n) / 9, "c": n % 4})
    for n in range(10)
]
TABLE = compare_metrics(PICTURES, {"a": "A & B_1", "b": "B", "c": "C"})


def test_the_latex_table_has_a_row_per_pair_with_escaped_names():
    lines = correlations_latex(TABLE).splitlines()
    (row,) = [each for each in lines if each.startswith(r"A \& B\_1 & B &")]
    assert "-1.00" in row
    assert row.endswith(r"& 10 \\")
    assert len([each for each in lines if each.endswith(r"\\")]) == 4


def test_pictures_have_scores_and_ranks_in_the_order_given():
    header, first, *_ = picture_rows(TABLE, TABLE.disagreements)
    assert header[3:] == ("a", "b", "c", "a_rank", "b_rank", "c_rank")
    largest = TABLE.disagreements[0]
    assert first[:3] == (largest.picture.name, "=1+1", largest.spread)


def test_another_suffix_is_refused():
    with pytest.raises(SettingsError, match="cannot be written"):
        write_metric_table(None, TABLE, (), None, Path("table.docx"))


def test_the_figure_holds_each_correlation_and_the_weakest_with_intervals():
    figure = correlation_figure(TABLE)
    names = [each.label for each in TABLE.columns]
    assert figure.heat_map.rows == tuple(names)
    for number, row in enumerate(figure.heat_map.shades):
        assert row[number] == 1
    ((_, first), *_) = figure.groups[0].rows
    assert first == TABLE.weakest_first[0].spearman
