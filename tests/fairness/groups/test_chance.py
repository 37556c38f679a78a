from itertools import product

import numpy as np
import pytest

from evenhand.fairness.groups.chance import (
    DRAWS,
    LEAST_SENTENCES,
    ChanceLevel,
    EqualCommonness,
    PointsAsCommon,
    mean_size,
    sentences_drawn,
)

DOCUMENTS = [
    "ferry cheap cheap harbour".split(),
    "ferry late harbour crew".split(),
    "bridge cheap tolls".split(),
    "ferry bridge noise noise noise".split(),
]
LABELS = (0, 0, 1, 2)
NULL = EqualCommonness(DOCUMENTS, LABELS, 3)


def common(word):
    return sum(word in tokens for tokens in DOCUMENTS)


def as_common(word):
    """Occurrences, in any document, of words that as many documents have."""
    return [other for tokens in DOCUMENTS for other in tokens if common(other) == common(word)]


def weighted(level):
    """What the null says is 0 on average."""
    return level.mass * (np.array(level.share) - level.expected)


def test_weighted_gap_is_zero_on_average_over_words_that_are_as_common():
    for words in (["ferry"], ["cheap", "crew"], ["ferry", "bridge", "noise"]):
        gaps = [weighted(NULL.level(drawn)) for drawn in product(*map(as_common, words))]
        assert np.mean(gaps, axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_words_that_hang_together_leave_the_average_at_zero():
    # whatever the first word is, the second is the same again
    gaps = [weighted(NULL.level([word, word])) for word in as_common("cheap")]
    assert np.mean(gaps, axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_expected_shares_are_those_of_words_that_are_as_common():
    # of the words in one document value 0 has late and crew, value 1 tolls, value 2 noise three times
    assert NULL.level(["crew"]).expected == pytest.approx((2 / 6, 1 / 6, 3 / 6))
    assert sum(NULL.level(["ferry", "cheap", "tolls"]).expected) == pytest.approx(1)


def test_share_is_that_of_the_words_found():
    # both words are of value 0 alone
    found = NULL.level(["crew", "late"])
    assert found.share == (1, 0, 0)
    assert found.mass == 2


def test_words_of_no_document_count_nowhere():
    assert NULL.level(["tax"]) is None
    assert NULL.level([]) is None
    assert NULL.level(["crew", "tax"]) == NULL.level(["crew"])


def test_sentences_add_up_to_the_summary():
    sentences = ["ferry crew".split(), ["tax"], "noise tolls bridge".split()]
    words = [word for its in sentences for word in its]
    level = NULL.level(words, sentences)
    # of the one in no document nothing is known
    assert len(level.sentences) == 2
    ((found, expected),) = NULL.level(words, [words]).sentences
    assert np.sum(level.sentences, axis=0) == pytest.approx(np.array([found, expected]))
    assert np.array(found) / sum(found) == pytest.approx(level.share)
    assert np.array(expected) / sum(expected) == pytest.approx(level.expected)
    assert level.documents == (2, 1, 1)


def level(*sentences, documents=(4, 4)):
    """Of a summary of sentences of matched and expected words."""
    whole = np.sum(sentences, axis=0)
    found, expected = (tuple(its / its.sum()) for its in whole)
    return ChanceLevel(expected, found, float(whole[0].sum()), documents, sentences)


def one(side, *expected):
    """A sentence of as many words, all of one side."""
    n = sum(expected or (3, 3))
    return ((n, 0.0) if side == "left" else (0.0, n)), (expected or (n / 2, n / 2))


def drawn_shares(levels):
    """The left's, (summaries, draws)."""
    drawn = sentences_drawn(levels)
    return drawn[..., 0] / drawn.sum(axis=-1)


def test_each_sentence_is_drawn_from_all_summaries():
    # one summary takes the left's side throughout and one the right's; of two sentences that are drawn half are of one side
    levels = [level(one("left"), one("left")), level(one("right"), one("right"))] * 40
    found = drawn_shares(levels)
    sides, times = np.unique(found, return_counts=True)
    assert sides.tolist() == [0, 0.5, 1]
    assert times / found.size == pytest.approx([0.25, 0.5, 0.25], abs=0.08)


def test_a_lean_that_all_sentences_share_is_not_expected():
    # nothing was left out as often as the left was taken up, so that nothing scatters
    assert drawn_shares([level(one("left"), one("left")) for _ in range(5)]) == pytest.approx(0.5 * np.ones((5, DRAWS)))
    # and of words of which three of four are of the left, half too are expected
    shared = level(((3.0, 1.0), (2.0, 2.0)), ((3.0, 1.0), (2.0, 2.0)))
    assert drawn_shares([shared] * 5) == pytest.approx(0.5 * np.ones((5, DRAWS)), abs=0.13)


def test_of_all_sentences_those_with_the_nearest_words_are_drawn():
    # long sentences are of one side, short ones of both
    levels = [level(((1.0, 1.0), (1.0, 1.0))) for _ in range(40)] + [
        level(one(side, 9.0, 9.0)) for side in ("left", "right")
    ] * 20
    found = drawn_shares(levels)
    assert set(found[:40].ravel()) == {0.5}
    assert set(found[40:].ravel()) == {0.0, 1.0}
    assert found[40:].mean() == pytest.approx(0.5, abs=0.1)


def test_of_equally_near_sentences_others_are_drawn_each_time():
    levels = [level(one("left" if k % 4 else "right")) for k in range(2000)]
    # a drawn left one has less than its 6 words, since the left has too many on the whole, and a drawn right one none
    of_either = sentences_drawn(levels)
    are_left = of_either[..., 0] > of_either[..., 1]
    # of 16 that are drawn from, three of four are the left's, if they are others each time
    assert are_left.mean() == pytest.approx(0.75, abs=0.02)
    assert 0.05 < are_left.mean(axis=1).std() < 0.2


def test_summaries_that_are_alike_are_drawn_apart():
    """Else the error of one draw would be that of all, however many there are."""
    levels = [level(one("left" if k % 2 else "right"), one("left" if k % 4 > 1 else "right")) for k in range(400)]
    found = drawn_shares(levels)
    assert found.mean() == pytest.approx(0.5, abs=0.03)
    assert (found == 0).mean() == pytest.approx(0.25, abs=0.03)


def test_without_any_sentence_nothing_is_drawn():
    bare = ChanceLevel((0.5, 0.5), (0.5, 0.5), 4.0, (4, 4))
    assert not sentences_drawn([bare] * 3).any()


def test_sentences_of_sets_that_are_divided_alike_are_enough():
    alike = [level(one("left"), documents=(4, 4)), level(one("right"), documents=(2, 2))] * (LEAST_SENTENCES // 2)
    other = level(((3.0, 3.0), (3.0, 3.0)), documents=(7, 1))
    found = drawn_shares([*alike, other])
    assert set(found[:-1].ravel()) == {0, 1}
    # the one of its kind takes in the nearest
    assert set(found[-1]) >= {0, 1}


def test_of_a_value_without_documents_no_words_are_drawn():
    levels = [*[level(one("left")), level(one("right"))] * 9, level(((4.0, 0.0), (4.0, 0.0)), documents=(8, 0))]
    drawn = sentences_drawn(levels)[-1]
    assert set(drawn[:, 1]) == {0}
    assert len(set(drawn[:, 0])) > 1


def test_draws_scatter_as_sentences_do_whatever_their_order():
    generator = np.random.default_rng(3)
    sentences = generator.normal(20, 2, size=(300, 4, 1, 2)) + generator.normal(size=(300, 4, 2, 2)) * [
        [[[2.0], [0.0]]]
    ]
    levels = [level(*(tuple(map(tuple, each)) for each in of_one.tolist())) for of_one in sentences]
    drawn = sentences_drawn(levels)
    assert drawn.shape == (300, DRAWS, 2)
    assert drawn.mean(axis=(0, 1)) == pytest.approx(sentences[:, :, 1].sum(axis=1).mean(axis=0), abs=0.3)
    # of four sentences about the expected words, which scatter by 2 each
    beyond = drawn - sentences[:, :, 1].sum(axis=1)[:, None]
    assert beyond.std(axis=(0, 1)) == pytest.approx([4, 4], rel=0.1)
    assert (sentences_drawn(levels[::-1])[::-1] == drawn).all()
    assert (drawn[0] != drawn[1]).any()


@pytest.mark.parametrize("mean", [-2.0, 0.0, 0.3, 5.0])
def test_mean_sizes_are_those_of_normal_numbers(mean):
    drawn = np.abs(np.random.default_rng(1).normal(mean, 0.7, size=200_000)).mean()
    assert mean_size(np.array(mean), np.array(0.49)) == pytest.approx(drawn, abs=0.005)
    # without scatter, and with what rounding leaves of none
    assert mean_size(np.array([mean, mean]), np.array([0.0, -1e-18])).tolist() == [abs(mean)] * 2


# four sentences: two of document 0 alone, one of document 1 alone, one that 1 and 2 have
SENTENCES = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.8], [0.0, 0.0, 0.0, 0.8]])


def test_a_point_is_expected_in_the_documents_of_sentences_that_are_in_as_many():
    null = PointsAsCommon(SENTENCES)
    # in one document: two of three such sentences are document 0's; in two: the only one is of 1 and 2
    assert null.expected(np.array([[0.0], [0.0], [0.9]])) == pytest.approx([0.6, 0.3, 0.0])
    assert null.expected(np.array([[0.6], [0.6], [0.0]])) == pytest.approx([0.0, 0.6, 0.6])
    # what is added up is the summary's own
    both = np.array([[0.0, 0.6], [0.0, 0.6], [0.9, 0.0]])
    assert null.expected(both) == pytest.approx([0.6, 0.9, 0.6])


def test_sentences_themselves_have_no_gap_on_average():
    expected = PointsAsCommon(SENTENCES).expected(SENTENCES)
    assert expected == pytest.approx(SENTENCES.sum(axis=1))


def test_points_in_a_number_of_documents_that_no_sentence_has_go_by_the_nearest():
    null = PointsAsCommon(SENTENCES)
    assert null.expected(np.array([[1.0], [1.0], [1.0]])) == pytest.approx([0.0, 1.5, 1.5])


def test_points_of_no_document_are_expected_nowhere():
    assert PointsAsCommon(SENTENCES).expected(np.zeros((3, 2))).tolist() == [0, 0, 0]
    assert PointsAsCommon(np.zeros((2, 1))).expected(np.array([[1.0], [0.0]])) == pytest.approx([0.5, 0.5])
