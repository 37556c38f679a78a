"""Phrases of pages."""

from evenhand.evaluation.pages.words import slope_words


def test_one_candidate_a_request_is_no_request_without_differing_lengths():
    assert slope_words([], "overlap").startswith("No request has two scored candidates of different length")
