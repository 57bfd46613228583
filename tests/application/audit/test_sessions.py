"""What is shown in which order, and what a rater's votes become."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from spatialstudio.adapters.storage.stores.vote_journal import FileVoteJournals
from spatialstudio.application.audit.sessions import (
    AuditSessions,
    SessionPlan,
    Voting,
    plan_session,
    sentence_of,
)
from spatialstudio.domain.audit_session import (
    Answer,
    AuditTask,
    EntryKind,
    GoldItem,
    Preference,
    rater_quality,
)
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.verdict import Outcome
from tests.audit_population import item_of, population_of, session_of
from tests.call_counts import calls_of

PASS, FAIL = Answer(verdict=Outcome.PASS), Answer(verdict=Outcome.FAIL)


class Clock:
    """A clock that the test moves."""

    seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def sessions(tmp_path):
    return AuditSessions(tmp_path / "audits", FileVoteJournals())


@pytest.fixture
def voting(sessions):
    voting = sessions.start(session_of(4))
    yield voting
    voting.close()


def ids(items):
    return [item.candidate.id for item in items]


def correct_answers(population, answer):
    return [GoldItem(sample_ids=(each,), correct=answer) for each in ids(population)]


def pair(first, second, preferred):
    return GoldItem(sample_ids=(first, second), correct=Answer(preferred=preferred))


def following(name):
    """Return the id of the next picture of the generated population, of the same prompt."""
    return f"sample {int(name.split()[1]) + 1:04d}"


def test_the_order_follows_from_the_seed_alone():
    first, again, other = (session_of(40, seed=seed).showings for seed in (7, 7, 8))
    assert first == again
    assert first != other
    assert sorted(first, key=str) == sorted(other, key=str)


def test_the_sample_and_its_weights_are_those_of_the_terminal(tmp_path):
    plan = SessionPlan(rater="Ada", size=60, allocation="proportional")
    session = plan_session(population_of(200), plan)
    assert sum(item.weight for item in session.sample) == pytest.approx(200)
    assert len(session.showings) == 60


def test_repeats_follow_their_picture_by_a_gap_and_are_no_labels():
    session = session_of(60, repeats=12)
    places = {}
    gaps = []
    for place, showing in enumerate(session.showings):
        if showing.is_repeat:
            gaps.append(place - places[showing.sample_ids])
        places[showing.sample_ids] = place
    assert len(gaps) == 12
    assert min(gaps) >= 8


def test_gold_items_come_from_outside_the_sample():
    population = population_of(100)
    correct = correct_answers(population, FAIL)
    session = plan_session(population, SessionPlan(rater="Ada", size=30, gold=5), correct)
    assert len(session.gold) == 5
    assert not {item.candidate.id for item in session.sample} & session.gold_ids
    assert len(session.showings) == 35
    assert len(session.items) == 35


def test_too_few_gold_items_are_stated():
    population = population_of(20)
    correct = correct_answers(population, FAIL)
    plan = SessionPlan(rater="Ada", size=18, gold=3)
    with pytest.raises(SettingsError, match="Only 2 of 3 gold items"):
        plan_session(population, plan, correct)


def test_gold_pairs_share_no_picture_with_the_sample_and_compare_one_claim():
    population = population_of(40)
    other = population_of(80)[-1]  # of another prompt
    first = ids(population)[:16:4]
    correct = [pair(each, following(each), Preference.FIRST) for each in first]
    correct += [pair(ids(population)[1], other.candidate.id, Preference.FIRST)]
    plan = SessionPlan(rater="Ada", task=AuditTask.PREFERENCE, size=None, gold=4)
    session = plan_session([*population, other], plan, correct)
    assert session.gold_ids == {each for one in correct[:4] for each in one.sample_ids}
    assert not set(ids(session.sample)) & session.gold_ids
    assert {one.sample_ids for one in session.gold} <= {one.sample_ids for one in session.showings}


@pytest.mark.parametrize("seed", range(6))
def test_gold_pairs_share_no_picture_with_each_other(seed):
    population = population_of(40)
    names = ids(population)
    chains = [names[first : first + 4] for first in range(0, 24, 4)]
    correct = [pair(*both, Preference.FIRST) for each in chains for both in pairwise(each)]
    plan = SessionPlan(rater="Ada", task=AuditTask.PREFERENCE, size=4, gold=6, seed=seed)
    session = plan_session(population, plan, correct)
    assert len(session.gold) == 6
    assert len(session.gold_ids) == 12


def test_too_few_gold_pairs_are_stated():
    names = ids(population_of(40))
    correct = [pair(names[0], other, Preference.FIRST) for other in names[1:4]]
    plan = SessionPlan(rater="Ada", task=AuditTask.PREFERENCE, size=4, gold=2)
    with pytest.raises(SettingsError, match="Only 1 of 2 gold pairs compare") as stated:
        plan_session(population_of(40), plan, correct)
    assert "fewer pictures" not in stated.value.hint


@pytest.mark.parametrize(
    ("again", "is_refused"), [(Preference.FIRST, True), (Preference.SECOND, False)]
)
def test_contradictory_answers_on_a_pair_are_refused(again, is_refused):
    first, second = ids(population_of(40))[:2]
    correct = [pair(first, second, Preference.FIRST), pair(second, first, again)]
    plan = SessionPlan(rater="Ada", task=AuditTask.PREFERENCE, size=4, gold=1)
    if is_refused:
        with pytest.raises(SettingsError, match=f'"{first}" and "{second}" contradict'):
            plan_session(population_of(40), plan, correct)
    else:
        assert len(plan_session(population_of(40), plan, correct).gold) == 1


def test_pairs_show_one_relation_of_one_prompt_by_different_methods():
    session = session_of(80, task=AuditTask.PREFERENCE)
    items = {item.candidate.id: item for item in session.items}
    pairs = [[items[each] for each in one.sample_ids] for one in session.showings]
    assert all(a.fields["prompt"] == b.fields["prompt"] for a, b in pairs)
    assert any(a.candidate.stratum.method != b.candidate.stratum.method for a, b in pairs)


def test_pictures_without_a_partner_cannot_be_compared():
    plan = SessionPlan(rater="Ada", task=AuditTask.PREFERENCE)
    with pytest.raises(SettingsError, match="No two pictures"):
        plan_session([item_of(0), item_of(9)], plan)


@pytest.mark.parametrize(("rater", "count"), [("", 3), ("Ada", 0)], ids=["no rater", "no pictures"])
def test_a_session_needs_a_rater_and_pictures(rater, count):
    with pytest.raises(SettingsError, match="no rater or no pictures"):
        plan_session(population_of(count), SessionPlan(rater=rater))


def test_a_claim_is_one_sentence():
    assert sentence_of(item_of(0)) == "The dog is to the left of the cat."


def test_votes_go_on_and_undo_returns(voting):
    first = ids(voting.items)
    voting.vote(PASS, note="clear")
    assert ids(voting.items) != first
    assert voting.undo()
    assert ids(voting.items) == first
    assert not voting.undo()
    kinds = [entry.kind for entry in voting.state.entries]
    assert kinds == [EntryKind.VOTE, EntryKind.UNDO]


def test_skipped_pictures_come_last_in_their_order(voting):
    order = [each.sample_ids[0] for each in voting.session.showings]
    voting.skip()
    voting.skip()
    shown = []
    while voting.items:
        shown += ids(voting.items)
        voting.vote(FAIL)
    assert shown == [order[2], order[3], order[0], order[1]]
    assert voting.state.is_complete


def test_an_answer_to_another_question_is_not_stored(voting):
    with pytest.raises(ValueError, match="does not answer"):
        voting.vote(Answer(score=50.0))


def test_a_picture_revealed_before_its_vote_is_no_label(voting):
    item = voting.reveal()
    voting.vote(PASS)
    voting.vote(PASS)
    assert item.candidate.id not in [label.sample_id for label in voting.state.labels]
    assert len(voting.state.labels) == 1


def test_labels_carry_note_rater_and_time(sessions):
    session = session_of(1)
    now = datetime(2026, 11, 24, tzinfo=UTC)
    voting = Voting(FileVoteJournals().create(session, sessions.folder), now=lambda: now)
    voting.vote(PASS, note="half hidden")
    voting.close()
    (label,) = voting.state.labels
    assert (label.rater, label.notes) == ("Ada", "half hidden")
    assert label.timestamp.startswith("2026-11-24T00:00:00")


def test_consistency_counts_repeats_and_gold(sessions):
    population = population_of(30)
    correct = correct_answers(population, PASS)
    plan = SessionPlan(rater="Ada", size=20, repeats=4, gold=5)
    voting = sessions.start(plan_session(population, plan, correct))
    while voting.items:
        is_repeat = voting.session.showings[voting.state.current].is_repeat
        voting.vote(FAIL if is_repeat else PASS)
    voting.close()
    quality = rater_quality(voting.state)
    assert (quality.repeats, quality.gold, quality.right_gold) == (4, 5, 5)
    assert quality.equal_repeats == 0
    assert len(voting.state.labels) == 20


def test_gold_scores_are_right_within_the_tolerance_and_are_no_scores(sessions):
    population = population_of(30)
    correct = correct_answers(population, Answer(score=60.0))
    plan = SessionPlan(rater="Ada", task=AuditTask.SCORE, size=20, gold=4, tolerance=7.5)
    voting = sessions.start(plan_session(population, plan, correct))
    gold, given = voting.session.gold_ids, iter((52.5, 67.5, 67.6, 0.0))
    while voting.items:
        is_gold = ids(voting.items)[0] in gold
        voting.vote(Answer(score=next(given) if is_gold else 60.0))
    voting.close()
    quality = rater_quality(voting.state)
    assert (quality.gold, quality.right_gold, quality.tolerance) == (4, 2, 7.5)
    assert len(voting.state.scores) == 20
    assert not voting.state.scores.keys() & gold
    assert {one.sample_ids[0] for one in voting.state.answers} == voting.state.scores.keys()


@pytest.mark.parametrize("seed", range(6))
def test_gold_preferences_are_right_in_either_order_and_are_no_preferences(sessions, seed):
    population = population_of(40)
    winner = {each: following(each) for each in ids(population)[:16:4]}  # the second one
    correct = [pair(*each, Preference.SECOND) for each in winner.items()]
    plan = SessionPlan(rater="Ada", task=AuditTask.PREFERENCE, size=9, gold=4, seed=seed)
    voting = sessions.start(plan_session(population, plan, correct))
    wrong = next(iter(voting.session.gold)).sample_ids
    while voting.items:
        shown = tuple(ids(voting.items))
        is_second = (shown[1] in winner.values()) != (shown == wrong)
        voting.vote(Answer(preferred=Preference.SECOND if is_second else Preference.FIRST))
    voting.close()
    quality = rater_quality(voting.state)
    assert (quality.gold, quality.right_gold, quality.tolerance) == (4, 3, None)
    assert len(voting.state.preferences) == 9


def test_a_revealed_pair_is_no_preference(sessions):
    voting = sessions.start(session_of(8, task=AuditTask.PREFERENCE))
    voting.reveal()
    voting.vote(Answer(preferred=Preference.FIRST))
    assert voting.state.preferences == ()
    voting.close()


def test_scores_and_preferences_are_read_back(sessions):
    voting = sessions.start(session_of(3, task=AuditTask.SCORE))
    voting.vote(Answer(score=72.5))
    assert list(voting.state.scores.values()) == [72.5]
    voting.close()
    voting = sessions.start(session_of(8, task=AuditTask.PREFERENCE))
    pair = voting.session.showings[0].sample_ids
    voting.vote(Answer(preferred=Preference.SECOND))
    assert voting.state.preferences == ((*pair, Preference.SECOND),)
    voting.close()


@pytest.mark.parametrize(
    "answer", [{}, {"score": 101.0}, {"score": 1.0, "verdict": Outcome.PASS}], ids=str
)
def test_an_answer_is_exactly_one_in_range(answer):
    with pytest.raises(SettingsError):
        Answer(**answer)


def test_a_break_is_suggested_after_long_voting_and_a_pause_counts(sessions):
    clock = Clock()
    voting = Voting(FileVoteJournals().create(session_of(6), sessions.folder), clock)
    clock.seconds = 26 * 60.0 - 10
    voting.take_break()
    clock.seconds += 10
    voting.vote(PASS)
    assert voting.progress.seconds_per_vote == 10
    assert voting.progress.seconds_left == 50
    assert not voting.progress.needs_break
    clock.seconds += 26 * 60.0
    assert voting.progress.needs_break
    voting.vote(PASS)  # the pause before this vote was the break
    assert not voting.progress.needs_break
    voting.close()


def test_sessions_are_listed_and_continue(sessions):
    voting = sessions.start(session_of(3))
    voting.vote(PASS)
    voting.close()
    ((path, state),) = sessions.list()
    assert len(state.votes) == 1
    again = sessions.open(path)
    assert ids(again.items) == ids(voting.items)
    again.close()


def test_the_search_for_a_withdrawn_vote_finds_the_current_picture_once(sessions):
    calls = []
    for votes in (40, 160):
        voting = sessions.start(session_of(votes + 1, seed=votes))
        for _ in range(votes):
            voting.vote(PASS)
        calls.append(calls_of(lambda state=voting.state: state.withdrawn))
        voting.close()
    few, many = calls
    assert many < 2 * few
