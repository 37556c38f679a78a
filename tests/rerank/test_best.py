"""Best of n and its tie rule."""

from conftest import make_candidate, make_request

from evenhand.records import ScoredCandidate
from evenhand.rerank.best import best_of, first_of_each_text


def scored(ferry, *rows):
    request = make_request(ferry)
    return [
        ScoredCandidate(candidate=make_candidate(request, text, i), scores={}, reward=reward)
        for i, (reward, text) in enumerate(rows)
    ]


def test_highest_reward_wins(ferry):
    assert best_of(scored(ferry, (1.0, "The Left a."), (2.0, "The Left b."))).candidate.text == "The Left b."


def test_first_of_equals_wins(ferry):
    assert best_of(scored(ferry, (2.0, "The Left a."), (2.0, "The Left b."))).candidate.index == 0


def test_broken_contract_loses_a_tie_but_not_a_lead(ferry):
    assert best_of(scored(ferry, (2.0, "Sales rose."), (2.0, "The Left b."))).candidate.index == 1
    assert best_of(scored(ferry, (2.1, "Sales rose."), (2.0, "The Left b."))).candidate.index == 0


def test_unscored_candidates_never_win(ferry):
    assert best_of(scored(ferry, (None, "The Left a."), (-3.0, "The Left b."))).candidate.index == 1
    assert best_of(scored(ferry, (None, "The Left a."))) is None
    assert best_of([]) is None


def test_equal_texts_are_found_after_folding_white_space():
    # vector dedupe-01
    assert first_of_each_text(["a b", "a  b", "c", "a b ", "d"]) == [0, 2, 4]
