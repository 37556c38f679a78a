import numpy as np
import pytest

from evenhand.plugins.tone.measure import SourceTone, tones

# value 0 has "tea" in praise, value 1 has "bus" in blame; both say "staff"
SOURCE = SourceTone([(["tea", "staff"], 1.0, 0.0), (["tea"], 1.0, 1.0), (["bus", "staff"], 0.0, 2.0)], [0, 0, 1], 2)


def test_worked_by_hand():
    # beside "tea" 2 of 3 parts of tone are positive in the documents, beside "bus" none of 2, beside "staff" 1 of 3
    _, share, expected = tones(SOURCE.of([(["tea", "staff"], 0.0, 1.0)]))
    # no praise; expected by the word itself .667, by both words .5: the nearer one
    assert (share[0], expected[0]) == pytest.approx((0.0, 0.5))
    assert np.isnan(share[1])


def test_what_lies_between_both_answers_is_expected():
    _, share, expected = tones(SOURCE.of([(["tea", "bus"], 0.4, 0.6)]))
    # of "tea" .667 and .333, of "bus" 0 and .333; .4 lies within the first and beyond the second
    assert share == pytest.approx([0.4, 0.4])
    assert expected == pytest.approx([0.4, 1 / 3])


def test_documents_taken_over_whole_have_their_own_tone():
    lines = [(["tea", "staff"], 1.0, 0.0), (["tea"], 1.0, 1.0), (["bus", "staff"], 0.0, 2.0)]
    documents, share, expected = tones(SOURCE.of(lines))
    assert share == pytest.approx(documents)
    assert share == pytest.approx(expected)


def test_sentences_without_tone_or_without_a_word_of_the_documents_do_not_count():
    assert not SOURCE.of([(["tea"], 0.0, 0.0), (["moon"], 1.0, 0.0), (["staff"], 1.0, 0.0)]).any()
