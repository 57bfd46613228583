"""The filter line is read as it is meant, and says what it does not understand."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialstudio.application.gallery.library import read_filter
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.library import (
    EVERYTHING,
    Condition,
    Field,
    Filter,
    Flag,
    Sign,
    Word,
)
from spatialstudio.domain.scene import (
    ABOVE,
    IN_FRONT_OF,
    LEFT_OF,
)
from spatialstudio.domain.verdict import Outcome


def test_the_example_of_the_guide_is_parsed():
    wanted = read_filter("verdict:fail relation:left model:Sticker pos<0.6 cat")
    assert wanted.conditions == (
        Condition(field=Field.VERDICT, sign=Sign.HAS, wanted=(Outcome.FAIL,)),
        Condition(field=Field.RELATION, sign=Sign.HAS, wanted=(LEFT_OF.id,)),
        Condition(field=Field.MODEL, sign=Sign.HAS, wanted=("sticker",)),
        Condition(field=Field.POS, sign=Sign.LESS, wanted=(0.6,)),
    )
    assert wanted.words == (Word(text="cat"),)


@pytest.mark.parametrize(
    ("text", "field", "sign", "wanted"),
    [
        ("verdict:fail,undecidable", Field.VERDICT, Sign.HAS, (Outcome.FAIL, Outcome.UNDECIDABLE)),
        ('relation:"left of"', Field.RELATION, Sign.HAS, (LEFT_OF.id,)),
        ("relation:count", Field.RELATION, Sign.HAS, ("count",)),
        ("relation:colour", Field.RELATION, Sign.HAS, ("colour",)),
        ("relation:front", Field.RELATION, Sign.HAS, (IN_FRONT_OF.id,)),
        ("RELATION:Above", Field.RELATION, Sign.HAS, (ABOVE.id,)),
        ("stars>=3", Field.STARS, Sign.AT_LEAST, (3.0,)),
        ("date:2026-11", Field.DATE, Sign.HAS, ("2026-11",)),
        ("date<=2026-11-20", Field.DATE, Sign.AT_MOST, ("2026-11-20",)),
        ('tag:"my tag"', Field.TAG, Sign.HAS, ("my tag",)),
        ("is:rejected", Field.IS, Sign.HAS, (Flag.REJECTED,)),
    ],
)
def test_every_field_takes_its_values(text, field, sign, wanted):
    (condition,) = read_filter(text).conditions
    assert (condition.field, condition.sign, condition.wanted) == (field, sign, wanted)


def test_a_minus_negates_and_quotes_make_a_phrase():
    wanted = read_filter('-tag:draft "to the left" -dog')
    assert wanted.conditions[0].is_negated
    assert wanted.words == (
        Word(text="to the left", is_phrase=True),
        Word(text="dog", is_negated=True),
    )


@pytest.mark.parametrize("line", ["", "   "])
def test_an_empty_filter_matches_everything(line):
    assert read_filter(line) == EVERYTHING


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("colour:red", '"colour" is not a filter field'),
        ("verdict:", "needs a value"),
        ("verdict:maybe", "not a value"),
        ("relation:inside", "not a value"),
        ("pos<high", "not a value"),
        ("model<3", "cannot be compared"),
        ("pos<0.1,0.2", "cannot be compared"),
        ("date:yesterday", "not a value"),
        ("is:nice", "not a value"),
        ('"open', "not closed"),
        ("x" * 3000, "too long"),
    ],
)
def test_an_invalid_filter_is_reported_with_an_example(line, told):
    with pytest.raises(SettingsError, match=told) as caught:
        read_filter(line)
    assert caught.value.hint


@given(st.text(max_size=80))
def test_any_filter_is_parsed_or_rejected(line):
    with suppress(SettingsError):
        assert isinstance(read_filter(line), Filter)
