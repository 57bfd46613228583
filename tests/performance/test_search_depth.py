"""The table of the search counts what it says."""

from spatialstudio.domain.generation import CandidateScore
from tests.performance.search_depth import Row, best_of, table


def row(seed, pse, is_right, prompt_id="p"):
    score = CandidateScore(seed=seed, pse=pse, lead=0.0, found=2, sureness=1.0, second=0.0)
    return Row(prompt_id=prompt_id, score=score, is_right=is_right)


def test_the_best_of_the_first_is_chosen_by_the_search_not_by_the_judge():
    search = [row(0, 0.2, True), row(1, 0.9, False), row(2, 1.0, True)]
    assert best_of(search, 2).score.seed == 1
    assert best_of(search, 8).score.seed == 2


def test_eight_seeds_that_follow_each_other_are_one_search():
    lines = list(table([row(seed, seed / 16, seed % 8 == 7) for seed in range(16)]))
    assert lines[0] == "16 pictures of 2 searches"
    assert lines[1].endswith("12.5 [12.5, 12.5]")
    assert "best of 8, %       100.0" in lines[-1]
