"""Taste of summarizers in sentences, and what it leaves."""

import numpy as np
import pytest

from evenhand.fairness.groups.extracts import EXTRACTS, extract
from evenhand.fairness.groups.taste import RIDGE, Credit, Source, Sources, read_source

SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


def source(*documents: list[str]) -> Source:
    return read_source(documents, lambda text: text.lower().strip(".!?").split())


def sentence(rng: np.random.Generator, n: int) -> str:
    """So many words that hardly any other sentence has."""
    return " ".join("".join(rng.choice(SYLLABLES, size=4)) for _ in range(n))


def test_credit_is_shared_by_all_sentences_that_have_a_word() -> None:
    found = source(["Apple berry.", "Apple apple."], ["Apple cherry."])
    # two apples for three sentences, whichever of them says it twice; a cherry for the last; the sand is nobody's
    assert found.credit(["apple", "apple", "cherry", "sand"]) == pytest.approx([2 / 3, 2 / 3, 2 / 3 + 1])
    assert found.by_document(found.credit(["apple", "berry"])) == pytest.approx([2 / 3 + 1, 1 / 3])
    assert found.words.tolist() == [4, 2]


def test_sentences_are_known_by_where_they_stand_and_by_their_marks() -> None:
    found = read_source([["I ran 3 miles!", "...", "Then Bob slept?", "fine"], [], ["so it is"]], str.split)
    # what has no word that counts is no sentence; here all have one
    assert found.document.tolist() == [0, 0, 0, 0, 2] and found.n_documents == 3
    assert found.place.tolist() == [0, 1 / 3, 2 / 3, 1, 0]
    # numbers, who speaks, exclamation, question, a name inside; first, and last of several
    assert found.marks.astype(int).tolist() == [
        [1, 1, 1, 0, 0, 1, 0], [0] * 7, [0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1, 0],
    ]  # fmt: skip
    silent = read_source([["..."], ["!"]], lambda _: ())
    assert silent.tokens == () and silent.words.tolist() == [0, 0] and silent.marks.shape == (0, 7)


def longest(made: Source, n: int = 1) -> np.ndarray:
    return made.credit([word for k in np.argsort(-made.length, kind="stable")[:n] for word in made.tokens[k]])


def test_a_taste_for_long_sentences_leaves_no_gap_where_sides_differ_in_length_alone() -> None:
    rng = np.random.default_rng(0)
    # the first document's sentences are about half as long again
    sets = [
        source(*[[sentence(rng, int(n)) for n in rng.integers(low, high, size=4)] for low, high in ((6, 15), (4, 10))])
        for _ in range(60)
    ]
    credits = [longest(each) for each in sets]
    found, expected, by_words = (
        np.sum([each.by_document(x) * w for each, x, w in zip(sets, amounts, of, strict=True)], axis=0)
        for amounts, of in (
            (credits, np.ones(60)),
            (Sources(tuple(sets)).expected(credits), [x.sum() for x in credits]),
            ([each.length / each.length.sum() for each in sets], [x.sum() for x in credits]),
        )
    )
    total = found.sum()
    assert (found - by_words)[0] / total > 0.2
    assert abs(found - expected)[0] / total < 0.02


def test_without_taste_as_much_is_expected_as_there_are_words() -> None:
    rng = np.random.default_rng(1)
    sets = [
        source(*[[sentence(rng, int(n)) for n in rng.integers(4, 12, size=3)] for _ in range(4)]) for _ in range(80)
    ]
    credits = []
    for each in sets:
        words = [word for tokens in each.tokens for word in tokens]
        credits.append(each.credit([str(word) for word in rng.choice(words, size=12)]))
    off = [
        np.abs(share - each.length / each.length.sum()).max()
        for each, share in zip(sets, Sources(tuple(sets)).expected(credits), strict=True)
    ]
    assert np.mean(off) < 0.03


def test_the_fit_has_found_its_highest_point() -> None:
    rng = np.random.default_rng(2)
    words = [sentence(rng, 1) for _ in range(60)]
    sets = tuple(
        source(*[[" ".join(rng.choice(words, size=int(n))) for n in rng.integers(2, 14, size=3)] for _ in range(3)])
        for _ in range(30)
    )
    made = Sources(sets)
    credits = [longest(each, 2) for each in sets]
    shares = made.expected(credits)
    assert all(share.sum() == pytest.approx(1) and (share > 0).all() for share in shares)
    # where the slope is 0 the penalty's is that of the likelihood: coefficients are known from the shares, and make them again
    left = np.concatenate([x - x.sum() * share for x, share in zip(credits, shares, strict=True)])
    level = made._room + made._columns @ (made._columns.T @ left / RIDGE)
    again = [np.exp(each - each.max()) for each in np.split(level, np.cumsum([len(each.tokens) for each in sets])[:-1])]
    for share, each in zip(shares, again, strict=True):
        assert share == pytest.approx(each / each.sum(), abs=1e-3)


def test_neither_the_order_of_sets_nor_of_documents_matters() -> None:
    rng = np.random.default_rng(3)
    texts = [[[sentence(rng, int(n)) for n in rng.integers(3, 12, size=2)] for _ in range(3)] for _ in range(20)]
    one, other = ([source(*its) for its in of] for of in (texts, [its[::-1] for its in texts[::-1]]))
    said = [each.tokens[int(each.length.argmax())] for each in one]
    first = Sources(tuple(one)).expected([each.credit(words) for each, words in zip(one, said, strict=True)])
    second = Sources(tuple(other)).expected([each.credit(words) for each, words in zip(other, said[::-1], strict=True)])
    for mine, theirs, a, b in zip(first, second[::-1], one, other[::-1], strict=True):
        assert a.by_document(mine) == pytest.approx(b.by_document(theirs)[::-1], abs=1e-5)


@pytest.mark.parametrize(
    "documents", [[["apple"]], [["apple"], ["apple"]], [["apple berry"], ["sand stone"]], [["a b", "c"], [], ["a"]]]
)
def test_what_there_is_little_of_has_shares_all_the_same(documents: list[list[str]]) -> None:
    each = source(*documents)
    (share,) = Sources((each,)).expected([each.credit(["apple", "a", "sand"])])
    assert share.sum() == pytest.approx(1) and np.isfinite(share).all()


def test_of_no_set_nothing_is_expected() -> None:
    assert Sources(()).expected([]) == []


def test_extracts_take_as_many_sentences_by_what_each_prefers() -> None:
    each = source(["stone of the sea", "cat"], ["the long tale of an old stone", "stone cat"], ["stone"])
    taken = {
        name: extract(name, Credit(each, np.zeros(5), 1), 0).amounts.round(3).tolist()
        for name in EXTRACTS
        if name not in ("random", "first sentences")
    }
    # one of one word, "cat" or "stone", by the seed; the one of seven words; and the one whose words most documents have
    assert sum(taken["short"]) == 1
    assert sum(taken["long"]) == 7 and max(taken["long"]) == taken["long"][2]
    assert taken["common words"] == each.credit(["stone"]).round(3).tolist()
    first = extract("first sentences", Credit(each, np.zeros(5), 3), 0)
    wanted = each.credit([word for place in (0, 2, 4) for word in each.tokens[place]])
    assert first.amounts == pytest.approx(wanted)
    # a summary without a sentence has one, and as many as there are at most
    assert extract("long", Credit(each, np.zeros(5), 0), 0).amounts.sum() == 7
    assert extract("random", Credit(each, np.zeros(5), 99), 0).amounts.sum() == sum(map(len, each.tokens))


def test_extracts_of_other_sets_decide_ties_otherwise_and_of_the_same_one_alike() -> None:
    each = source(*[[f"word{k}"] for k in range(40)])
    picks = [extract("random", Credit(each, np.zeros(40), 1), seed).amounts.argmax() for seed in range(30)]
    assert len(set(picks)) > 10
    assert extract("random", Credit(each, np.zeros(40), 1), 7).amounts.argmax() == picks[7]
