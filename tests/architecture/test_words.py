"""Names and sentences of the package use the field's terms; the reviewed list is words.toml."""

import pytest

from tests.architecture import words
from tests.architecture.test_smells import PACKAGE, ROOT, findings


def test_no_identifier_holds_a_discouraged_word():
    assert findings(words.discouraged_names, PACKAGE) == []


def test_no_identifier_of_a_plugin_holds_a_discouraged_word():
    assert findings(words.discouraged_names, ROOT / "plugins") == []


def test_no_sentence_of_window_or_terminal_holds_a_discouraged_phrase():
    assert findings(words.discouraged_sentences, PACKAGE) == []


@pytest.mark.parametrize(
    ("source", "path"),
    [
        pytest.param("def run_errands(): ...", "ui/a.py", id="function"),
        pytest.param("class ModelShelf: ...", "domain/a.py", id="class"),
        pytest.param("def store(told): ...", "domain/a.py", id="argument"),
        pytest.param("keeping = 1", "domain/a.py", id="variable"),
        pytest.param("self._wish = 1", "domain/a.py", id="attribute"),
        pytest.param("", "domain/switchboard.py", id="module"),
        pytest.param("looking_at = 1", "domain/a.py", id="whole name"),
        pytest.param("import a as glance", "domain/a.py", id="alias"),
    ],
)
def test_a_discouraged_name_is_found(source, path):
    assert list(words.discouraged_names(source, path))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param('REST = "Guidance rests"', id="constant"),
        pytest.param('tr("There is no kept run to take along.")', id="translated"),
        pytest.param('tr("Rest at PoS {pos}")', id="with a value"),
        pytest.param('help = f"none but those that {name} lists"', id="formatted"),
    ],
)
def test_a_discouraged_phrase_is_found(source):
    assert list(words.discouraged_sentences(source, "cli/a.py"))


@pytest.mark.parametrize(
    ("search", "source"),
    [
        pytest.param(words.discouraged_names, "read_bookshelf = untold = 1", id="part of a word"),
        pytest.param(words.discouraged_sentences, '"""It is told."""', id="docstring"),
        pytest.param(words.discouraged_sentences, 'x = "handmade office"', id="other words"),
    ],
)
def test_plain_words_are_accepted(search, source):
    assert list(search(source, "ui/a.py")) == []
