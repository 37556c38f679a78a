import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.distinguishability import (
    count_vectors,
    distinguishability,
    score_texts,
    score_vectors,
)

VECTORS = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=n, max_size=n),
        st.lists(st.sampled_from("abc"), min_size=n, max_size=n),
    )
)


def trials_by_definition(vectors, groups):
    """Each summary against the others, one pair at a time."""
    array = np.array(vectors, dtype=float)
    length = np.linalg.norm(array, axis=1)
    found = []
    for i in range(len(groups)):
        near = [j for j in range(len(groups)) if j != i and length[j] > 0]
        cosine = {j: array[i] @ array[j] / length[i] / length[j] for j in near} if length[i] > 0 else {}
        own = [c for j, c in cosine.items() if groups[j] == groups[i]]
        other = [c for j, c in cosine.items() if groups[j] != groups[i]]
        if not own or not other:
            found.append(None)
            continue
        gap = sum(own) / len(own) - sum(other) / len(other)
        found.append(0.5 if abs(gap) <= 1e-9 else float(gap > 0))
    return found


@given(VECTORS)
def test_trials_follow_the_definition(drawn):
    vectors, groups = drawn
    assert list(score_vectors(vectors, groups).trials) == trials_by_definition(vectors, groups)


@given(VECTORS, st.randoms())
def test_order_and_length_of_vectors_do_not_matter(drawn, random):
    vectors, groups = drawn
    order = list(range(len(groups)))
    random.shuffle(order)
    moved = score_vectors([np.array(vectors[i]) * (i + 1.0) for i in order], [groups[i] for i in order])
    assert moved.score == pytest.approx(score_vectors(vectors, groups).score)


def test_vector_of_length_0_is_no_neighbour():
    # a1 to a2 .707, to b1 .640; with a3 counted as 0, a1 would be nearer to b1. a2 to b1 .996
    found = score_vectors([[1, 0], [1, 1], [0, 0], [1, 1.2]], list("aaab"))
    assert found.trials == (1.0, 0.0, None, None)


def test_very_small_and_very_large_vectors_have_directions_too():
    assert score_vectors([[1e-200, 0], [1e200, 0], [0, 1e-200], [0, 1e200]], list("aabb")).score == 1


def test_group_table_worked_by_hand():
    # a1 = a2 = (1, 0), b1 = (0, 1), b2 = (1, 0): a1, a2: own 1, others 1/2; b1: own 0, others 0, a tie; b2: own 0, others 1
    found = score_vectors([[1, 0], [1, 0], [0, 1], [1, 0]], ["a", "a", "b", "b"])
    assert found.trials == (1.0, 1.0, 0.5, 0.0)
    assert found.score == pytest.approx(2 * 2.5 / 4 - 1)


def test_summary_counts_what_was_left_out():
    apart = score_texts(["red fox", "red hen", "blue sky", "blue sea"], ["a", "a", "b", "b"])
    alone = score_texts(["red fox", "red hen"], ["a", "a"])
    same = score_texts(["sun"] * 4, ["a", "a", "b", "b"])
    found = distinguishability(iter([apart, alone, same]))
    assert found.score == 0.5
    assert (found.n_left_out, found.undefined) == (1, None)


def test_without_any_trial_there_is_no_score_but_a_reason():
    found = distinguishability([score_texts(["the", "and"], ["a", "b"])])
    assert found.score is None
    assert found.undefined == "no original has a summary that can be compared with both sides"
    assert distinguishability([]).score is None


def test_ties_end_at_the_tolerance():
    vectors = [[1, 0], [1, 1e-3], [1, 0], [1, 1e-3]]
    assert set(score_vectors(vectors, list("aabb")).trials) == {0.0}
    assert set(score_vectors(vectors, list("aabb"), tie_tolerance=1e-5).trials) == {0.5}


@pytest.mark.parametrize(
    ("vectors", "groups", "match"),
    [
        ([[1, 0], [1]], ["a", "b"], "unequal length"),
        ([[1, 0]], ["a", "b"], "1 summaries, but 2 groups"),
        ([[1, float("nan")]], ["a"], "finite"),
        ([1, 2], ["a", "b"], "shape"),
    ],
)
def test_vectors_that_do_not_hold_together_are_refused(vectors, groups, match):
    with pytest.raises(DataError, match=match):
        score_vectors(vectors, groups)


def test_negative_tolerance_is_refused():
    with pytest.raises(DataError, match="tie tolerance"):
        score_texts(["x"], ["a"], tie_tolerance=-1)


@given(st.lists(st.text(alphabet="aBc thE_1\u00e9\u0130'-.", max_size=30), min_size=1, max_size=5))
def test_similarities_are_those_of_scikit_learns_counts(texts):
    sklearn_text = pytest.importorskip("sklearn.feature_extraction.text")
    ours = count_vectors(texts)
    products = (ours @ ours.T).toarray()
    try:
        theirs = sklearn_text.CountVectorizer(stop_words="english").fit_transform(texts)
    except ValueError:  # scikit-learn refuses texts of stop words alone
        assert not products.any()
        return
    assert np.array_equal(products, (theirs @ theirs.T).toarray())
    assert ours.shape == theirs.shape


def test_texts_without_words_have_vectors_without_length():
    assert count_vectors(["", "the"]).shape == (2, 0)
