"""Attaching units to opinions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.encoding import encode
from evenhand.plugins.opinions.measures.attachment import DUMMY, Attacher


def attach_units(units, opinions, **options):
    """The opinion of each unit of a source, given as content tokens."""
    return Attacher(encode(units), opinions, **options).attach_source()


TOKENS = ["tax", "bridge", "ferry", "school"]
UNITS = st.lists(st.lists(st.sampled_from(TOKENS), max_size=5), max_size=6)
OPINIONS = st.lists(st.sets(st.sampled_from(TOKENS), min_size=1).map(sorted), min_size=1, max_size=4)


def test_cosine_worked_by_hand():
    # tax in both units, idf 1; bridge and ferry in one, idf w = ln(3/2) + 1
    # unit (1, w, 0) with opinions (1, 0, 0) and (0, w, w): 1/sqrt(1 + w^2) and w^2/(sqrt(1 + w^2) w sqrt(2))
    w = np.log(1.5) + 1
    found = attach_units([["tax", "bridge"], ["tax", "ferry"]], [["tax"], ["bridge", "ferry"]])
    expected = [1 / np.sqrt(1 + w**2), w / np.sqrt(2 * (1 + w**2))]
    assert found.similarity.toarray() == pytest.approx(np.array([expected, expected]))
    # w is 1.405: 0.580 and 0.576
    assert found.opinion.tolist() == [0, 0]


def test_a_token_of_two_keywords_counts_twice_and_a_repeated_keyword_once():
    # opinion "city hall", "city budget": counts city 2, hall 1, budget 1; all idf alike in one unit
    # unit city, hall, budget: (2 + 1 + 1) / (sqrt(3) sqrt(6))
    unit = ["city", "hall", "budget"]
    found = attach_units([unit], [["city hall", "city budget", "city hall"]])
    assert found.similarity.toarray().item() == pytest.approx(4 / np.sqrt(18))


@given(UNITS, OPINIONS)
def test_keyword_fraction_is_a_share_of_the_opinions_keywords(units, opinions):
    found = attach_units(units, opinions, method="keyword_fraction").similarity.toarray()
    expected = [[len(set(unit) & set(opinion)) / len(opinion) for opinion in opinions] for unit in units]
    np.testing.assert_allclose(found, np.array(expected).reshape(len(units), len(opinions)), atol=1e-12)


@pytest.mark.parametrize("method", ["tfidf", "keyword_fraction"])
@given(units=UNITS, opinions=OPINIONS, threshold=st.sampled_from([0.0, 0.3, 0.5]))
def test_a_unit_goes_to_the_first_of_the_most_similar_opinions_above_the_threshold(method, units, opinions, threshold):
    found = attach_units(units, opinions, method=method, threshold=threshold)
    for opinion, row in zip(found.opinion, found.similarity.toarray(), strict=True):
        assert row.min() >= 0 and row.max() <= 1
        above = row.max() > threshold
        assert opinion == (int(np.flatnonzero(row >= row.max() - 1e-12)[0]) if above else DUMMY)


@given(UNITS, OPINIONS)
def test_without_threshold_the_dummy_takes_what_shares_no_word_with_any_opinion(units, opinions):
    known = {keyword for opinion in opinions for keyword in opinion}
    found = attach_units(units, opinions).opinion
    assert [o == DUMMY for o in found] == [not known & set(unit) for unit in units]


def test_other_texts_are_attached_by_the_sources_weights_and_unknown_words_are_ignored():
    source = [["tax", "cuts"], ["school", "meals"], ["school", "roof"]]
    attacher = Attacher(encode(source), [["tax", "cuts"], ["school"]])
    found = attacher.attach_tokens([["unheard", "school", "words"], ["unheard"], ["tax", "cuts", "unheard"]])
    assert found.opinion.tolist() == [1, DUMMY, 0]
    assert found.similarity.toarray()[[0, 2], [1, 0]] == pytest.approx([1, 1])


def test_shares_that_only_rounding_tells_apart_are_tied():
    # 6/20 and 3/10: 0.3 and 0.30000000000000004 in floating point
    first, second = [f"a{i}" for i in range(20)], [f"b{i}" for i in range(10)]
    found = attach_units([first[:6] + second[:3]], [first, second], method="keyword_fraction")
    assert found.similarity.toarray()[0, 0] < found.similarity.toarray()[0, 1]
    assert found.opinion.tolist() == [0]


def test_a_similarity_at_the_threshold_goes_to_the_dummy():
    units = [["tax", "bridge"]]
    assert attach_units(units, [["tax", "ferry"]], method="keyword_fraction", threshold=0.5).opinion.tolist() == [DUMMY]
    assert attach_units(units, [["tax", "ferry"]], method="keyword_fraction", threshold=0.49).opinion.tolist() == [0]


@pytest.mark.parametrize(("units", "opinions"), [([], [["a"]]), ([["a"]], []), ([[]], [["a"]]), ([], [])])
def test_nothing_to_attach_gives_the_dummy(units, opinions):
    for method in ("tfidf", "keyword_fraction"):
        found = attach_units(units, opinions, method=method)
        assert found.opinion.tolist() == [DUMMY] * len(units)
        assert found.similarity.shape == (len(units), len(opinions))


def test_options_and_empty_opinions_are_refused():
    with pytest.raises(DataError, match="one of tfidf, keyword_fraction with a threshold"):
        attach_units([["a"]], [["a"]], method="bm25")
    with pytest.raises(DataError, match=r"threshold in \[0, 1\), got 'tfidf' and 1"):
        attach_units([["a"]], [["a"]], threshold=1.0)
    with pytest.raises(DataError, match=r"opinions \[1\] have no keyword"):
        attach_units([["a"]], [["a"], [" "]])
