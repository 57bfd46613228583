import pytest

from spatialstudio.science.guidance.noise_search import indefinite_article


@pytest.mark.parametrize(
    ("article", "names"),
    [
        ("a", ["cat", "unicorn", "UFO", "USB stick", "NASA rocket", "U-boat", "TV", "euro"]),
        ("an", ["owl", "hourglass", "MP3 player", "SUV", "X-ray", "FBI agent", "8-ball", "LED"]),
        ("an", ["umbrella", "unidentified object", "heirloom", "RV", "ATM"]),
    ],
)
def test_the_article_follows_the_sound(article, names):
    assert {indefinite_article(name) for name in names} == {article}


def test_a_word_in_capitals_is_not_an_abbreviation():
    assert indefinite_article("HAT") == "an"
    assert indefinite_article("HAT", is_shouted=True) == "a"
