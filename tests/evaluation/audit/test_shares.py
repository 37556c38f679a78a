from dataclasses import replace

import hypothesis
import numpy as np
import pytest
from audit_inputs import make_input, make_set, shares_of, two_sided
from hypothesis import strategies as st

from evenhand.benchmarks.calibration import Corpus, drawn_sets, generators, items, shares
from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.contents import BUR, SHARE_IN_SUMMARIES, SOF
from evenhand.evaluation.audit.figures import mean_deviation
from evenhand.evaluation.audit.shares import AGGREGATES, ValueShares, one_valued_sets, unmatched_summaries
from evenhand.fairness.groups.chance import DRAWS, sentences_drawn
from evenhand.fairness.groups.corpus import group_fairness
from evenhand.fairness.groups.masses import Masses, Unscored
from evenhand.fairness.groups.shares import compare
from evenhand.fairness.labelled import LabelledSummary, LabelledText
from evenhand.judges.measures import open_matcher

WORDS = open_matcher(MatcherSection(kind="words"))


def family(values=("left", "right"), mode="drop_zero", tau=0.8, target="ratio"):
    return shares_of(values, mode=mode, tau=tau, target=target)


def numbers(figures, sums=None):
    found = figures.all_sets() if sums is None else figures.reduce(sums)
    return {(str(q.measure), q.value): x for q, x in zip(figures.quantities, found.tolist(), strict=True)}


def random_masses(seed, n, values):
    generator = np.random.default_rng(seed)
    source = generator.integers(0, 6, size=(n, len(values))) * generator.integers(0, 2, size=(n, len(values)))
    target = generator.integers(0, 4, size=(n, len(values)))
    return [Masses(tuple(map(float, s)), tuple(map(float, t)), values) for s, t in zip(source, target, strict=True)]


def test_worked_by_hand():
    # sources: left 4 words of 6, right 2. First summary: 2 left, 2 right words: shares 1/2, 1/2, left lacks 2/3 - 1/2 = 1/6.
    # Second: 2 left words only: right lacks 1/3. Tolerated at 0.8: left .533, right .267, so both summaries are unfair.
    given = make_input(two_sided(2), mine=["Apple berry river stone.", "Cherry grape."])
    mine = family()
    found = numbers(mine.figures(mine.measure(given.items(given.systems[0]))))
    assert found["BUR (words)", None] == 1
    assert found["UER (words)", None] == pytest.approx((1 / 12 + 1 / 6) / 2)
    # mean shortfalls: left 1/12, right 1/6: each 1/24 from their mean
    assert found["SOF (words)", None] == pytest.approx(1 / 24)
    assert found["share in sources (words)", "left"] == pytest.approx(2 / 3)
    # each summary weighs by its matched words: 4 of 6 are left's
    assert found["share in summaries (words)", "left"] == pytest.approx(4 / 6)
    assert found["shortfall (words)", "right"] == pytest.approx(1 / 6)
    assert found["under-represented (words)", "left"] == pytest.approx(1 / 2)


@pytest.mark.parametrize("mode", ["drop_zero", "released", "paper"])
@pytest.mark.parametrize("target", ["ratio", "equal", (0.5, 0.2, 0.2, 0.1)])
def test_sums_over_sets_give_what_the_corpus_measures_give(mode, target):
    values = ("a", "b", "c", "d")
    masses = [m for m in random_masses(3, 300, values) if any(m.source)]
    mine = family(values, mode, 0.7, target)
    found = numbers(mine.figures(masses))
    expected = group_fairness(masses, tau=0.7, mode=mode, aim=target)
    assert found["BUR (words)", None] == pytest.approx(expected.bur)
    assert found["UER (words)", None] == pytest.approx(expected.uer)
    assert found["AUC (words)", None] == pytest.approx(expected.auc)
    assert found["SOF (words)", None] == pytest.approx(expected.sof)
    for row in expected.by_value:
        assert found["shortfall (words)", row.value] == pytest.approx(row.mean_shortfall)
        assert found["under-represented (words)", row.value] == pytest.approx(row.n_unfair / row.n_samples)


SAMPLES = st.lists(
    st.builds(
        lambda source, target: Masses(tuple(map(float, source)), tuple(map(float, target)), ("a", "b", "c")),
        st.tuples(*[st.integers(0, 5)] * 3).filter(any),
        st.tuples(*[st.integers(0, 5)] * 3),
    ),
    min_size=1,
    max_size=12,
)


@hypothesis.settings(max_examples=40)
@hypothesis.given(samples=SAMPLES, mode=st.sampled_from(["drop_zero", "paper"]), seed=st.integers(0, 9))
def test_order_of_sets_names_of_values_and_a_doubled_corpus_do_not_matter(samples, mode, seed):
    mine = family(("a", "b", "c"), mode)
    expected = pytest.approx(numbers(mine.figures(samples)), nan_ok=True)
    order = np.random.default_rng(seed).permutation(len(samples))
    assert numbers(mine.figures([samples[k] for k in order])) == expected
    assert numbers(mine.figures(samples * 2)) == expected
    turned = [Masses(m.source[::-1], m.target[::-1], m.names[::-1]) for m in samples]
    assert numbers(mine.figures(turned)) == expected


def test_a_set_drawn_twice_counts_twice():
    masses = [m for m in random_masses(5, 20, ("a", "b")) if any(m.source)]
    mine = family(("a", "b"))
    figures = mine.figures(masses)
    weights = np.arange(len(masses)) % 3
    doubled = [m for m, weight in zip(masses, weights, strict=True) for _ in range(weight)]
    drawn = numbers(figures, weights @ figures.columns)
    assert drawn == pytest.approx(numbers(mine.figures(doubled)), nan_ok=True)


def test_what_has_no_answer_adds_nothing_and_says_why():
    given = make_input(two_sided(2), mine=["Apple.", "  "])
    figures = family().figures(family().measure(given.items(given.systems[0])))
    assert figures.left_out == (None, "empty summary")
    assert not figures.columns[1].any()
    assert np.isnan(figures.unfairness[1])


def test_source_without_a_token_is_left_out():
    assert family().measure([]) == []
    given = make_input(two_sided(1), mine=["Apple."])
    item = given.items(given.systems[0])[0]
    blank = type(item)(item.id, item.values, tuple(type(d)("the of 12 🙂", d.value) for d in item.documents), "Apple.")
    assert family().measure([blank]) == [Unscored("source has no mass")]


def test_summaries_that_match_nothing_and_one_valued_sets_are_counted():
    found = [Masses((2.0, 1.0), (0.0, 0.0)), Masses((2.0, 0.0), (1.0, 0.0)), Unscored("empty summary")]
    assert unmatched_summaries(found) == 1
    assert one_valued_sets(found) == 1


def test_example_says_whose_words_each_sentence_has():
    given = make_input(two_sided(1), mine=["Apple berry cherry. Grape!"])
    item = given.items(given.systems[0])[0]
    mine = family()
    (found,) = mine.measure([item])
    example = mine.example(item, found)
    assert [line.takes for line in example.lines] == [{"left": 3.0, "right": 0.0}, {"left": 1.0, "right": 0.0}]
    assert example.left_out == ("right",)
    assert example.documents == ("river stone",)
    assert [(side.name, side.summary) for side in example.sides] == [("left", 1.0), ("right", 0.0)]


def test_sentence_counts_summaries():
    given = make_input(two_sided(4), mine=["Apple."] + ["Apple berry cherry grape river stone."] * 3)
    mine = family()
    figures = mine.figures(mine.measure(given.items(given.systems[0])))
    said = mine.sentence(BUR, "", figures)
    assert said == "In 1 of 4 summaries at least one stance gets at most 80 % of the room that its documents have."
    assert "less than 80 % of an equal share" in family(mode="paper", target="equal").sentence(BUR, "", figures)


def test_signature_names_what_changes_a_number():
    signatures = {
        family(tau=0.7).signature,
        family(mode="paper").signature,
        family(target="equal").signature,
        family().signature,
    }
    assert len(signatures) == 4
    assert all("words" in signature for signature in signatures)


def gaps(*texts, sets=None):
    """Of each value's share in summaries to what is expected of it."""
    given = make_input(sets or two_sided(len(texts)), mine=list(texts))
    mine = family(given.values)
    figures = mine.figures(mine.measure(given.items(given.systems[0])))
    beyond = figures.beyond(figures.columns.sum(axis=0)).tolist()
    return {q.value: x for q, x in zip(figures.quantities, beyond, strict=True) if q.kind == SHARE_IN_SUMMARIES}


@pytest.mark.parametrize("text", ["Apple berry cherry grape river stone.", "Apple berry. Cherry grape. River stone."])
def test_who_takes_up_every_word_is_at_the_chance_level(text):
    assert gaps(text) == pytest.approx({"left": 0, "right": 0})


def test_over_all_words_alike_the_mean_gap_is_nothing():
    # words drawn from the documents whoever wrote them: one summary each
    assert gaps("Apple.", "Berry.", "Cherry.", "Grape.", "River.", "Stone.") == pytest.approx({"left": 0, "right": 0})


def test_gaps_are_those_of_the_words_of_as_many_documents():
    # of 6 words 4 are the left's, each in one document
    assert gaps("Apple berry.") == pytest.approx({"left": 1 / 3, "right": -1 / 3})
    # the only word of two documents is both's: nothing else could be said with such a word
    shared = [make_set("set", ("left", "apple lake"), ("right", "river lake"))]
    assert gaps("Lake.", sets=shared) == pytest.approx({"left": 0, "right": 0})
    # where a word in two documents may be the left's alone, one of both has less of the left than is expected: of the four
    # occurrences all are the left's and two the right's, so 2/3 and 1/3 are expected
    mixed = [make_set("set", ("left", "apple lake"), ("left", "apple"), ("right", "river lake"))]
    assert gaps("Lake.", sets=mixed) == pytest.approx({"left": 1 / 2 - 2 / 3, "right": 1 / 2 - 1 / 3})


def test_summaries_without_a_match_are_no_part_of_the_gap():
    assert gaps("Snow.", "Apple.") == pytest.approx(gaps("Apple."))


def test_expected_shares_are_shares_where_summaries_say_what_both_sides_have():
    # a's documents share their words in pairs, and one of them with b's: of words in two documents nearly all are a's alone
    pairs = [
        ("a", f"{pair} {own}")
        for pair, own in zip("xylem xylem yeast yeast zebra".split(), "bark corn dune elm fern".split(), strict=True)
    ]
    sets = [make_set(f"set-{n}", *pairs, ("a", "zebra lake"), ("b", "lake river")) for n in range(6)]
    given = make_input(sets, mine=["Lake lake."] * 6)
    mine = family(given.values)
    figures = mine.figures(mine.measure(given.items(given.systems[0])))
    expected = figures.expect(figures.columns.sum(axis=0))
    known = [x for x, quantity in zip(expected, figures.quantities, strict=True) if quantity.kind == SHARE_IN_SUMMARIES]
    assert len(known) == 2
    assert all(0 <= x <= 1 for x in known)


def expected_aggregates(*texts, sets=None):
    """By name what is found and what is expected of each aggregate."""
    sets = sets or two_sided(len(texts))
    given = make_input(sets, mine=texts)
    mine = family(given.values)
    figures = mine.figures(mine.measure(given.items(given.systems[0])))
    found, expected = figures.all_sets(), figures.expect(figures.columns.sum(axis=0))
    return {q.kind.name: (found[k], expected[k]) for k, q in enumerate(figures.quantities) if q.value is None}


def test_aggregates_are_expected_by_sentences_that_are_as_common():
    # of 6 words 4 are the left's, each in one document, so of a word 2/3 are expected for the left. The summary's shares are
    # those of the documents. Two of its sentences are drawn: the first twice makes the right lack its 1/3, the second twice the
    # left its 2/3; one of each, as often as not, makes the summary itself
    found = expected_aggregates("Apple berry. River.", sets=two_sided(1))
    assert found["BUR"][0] == found["UER"][0] == found["SOF"][0] == 0
    unfair, error = found["BUR"][1], found["UER"][1]
    # 32 draws: three standard errors
    assert unfair == pytest.approx(1 / 2, abs=0.27)
    assert unfair * 1 / 3 / 2 < error < unfair * 2 / 3 / 2
    assert found["BUR of several values"] == found["BUR"]


def test_sets_that_declare_other_values_are_drawn_from_apart():
    sets, text = two_sided(4), "Apple berry. River."
    alone = expected_aggregates(*[text] * 4, sets=sets)["BUR"][1]
    given = make_input(sets, mine=[text] * 4)
    mine = family(("left", "middle", "right"))
    others = [
        LabelledSummary(f"other {k}", ("middle", "right"), (LabelledText("sand", "middle"), LabelledText("river", "right")),
                        "Sand sand sand sand. River.", "\n")
        for k in range(40)
    ]  # fmt: skip
    figures = mine.figures(mine.measure([*given.items(given.systems[0]), *others]))
    assert figures.expect(figures.columns[:4].sum(axis=0))[0] == pytest.approx(alone)


def calibrated(n_sets, own=0.3, manner="words"):
    """What is found in a fair corpus of simulated documents, by the family of its shares."""
    corpus = Corpus((5, 2, 1), n_sets, own, manner)
    generator = next(iter(generators(corpus, 1)))
    mine = shares(corpus.values)
    return mine, mine.measure(items(corpus, drawn_sets(corpus, generator), generator))


@pytest.mark.parametrize("manner", ["extract", "words"])
def test_sof_is_expected_as_of_whole_corpora_of_draws(manner):
    mine, found = calibrated(12, manner=manner)
    figures = mine.figures(found)
    generator, each = np.random.default_rng(3), np.arange(len(found))
    drawn = sentences_drawn([masses.chance for masses in found])
    source = np.array([masses.source for masses in found])
    short = compare(np.broadcast_to(source[:, None], drawn.shape), drawn).shortfall
    corpora = [short[each, generator.integers(DRAWS, size=len(each))].mean(axis=0) for _ in range(4000)]
    place = [q.kind for q in figures.quantities].index(SOF)
    expected = figures.expect(figures.columns.sum(axis=0))[place]
    assert expected == pytest.approx(mean_deviation(np.array(corpora)).mean(), rel=0.02)


def test_no_number_depends_on_the_order_of_lines():
    texts = [
        " ".join(f"{word}." for word in ("Apple", "Berry", "River", "Cherry", "Stone", "Grape")[: 4 + k % 3])
        for k in range(9)
    ]
    given = make_input(two_sided(9), mine=[f"{text} {text}" if k % 2 else text for k, text in enumerate(texts)])
    mine = family(given.values)
    found = mine.measure(given.items(given.systems[0]))
    one, other = mine.figures(found), mine.figures(found[::-1])
    expected = one.expect(one.columns.sum(axis=0))
    assert other.expect(other.columns.sum(axis=0)) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert np.isfinite(expected[: len(AGGREGATES)]).all()


def test_summaries_of_one_sentence_are_expected_as_others_are():
    # whichever sentence is drawn, one side has hardly a word
    found = expected_aggregates("Apple.", "Berry.", "River.", "Cherry.")
    assert found["BUR"] == (1, 1)
    # of one alone nothing is known but what is expected
    assert expected_aggregates("Apple.")["UER"] == (pytest.approx(1 / 3 / 2), 0)


def test_summaries_without_a_match_make_no_gap():
    both = expected_aggregates("Apple berry. River.", "Zzz.")
    alone = expected_aggregates("Apple berry. River.")
    assert both["UER"][0] - both["UER"][1] == pytest.approx((alone["UER"][0] - alone["UER"][1]) / 2)


def test_a_summary_whose_sentences_lean_alike_lies_above_what_is_expected():
    found = expected_aggregates(*["Apple. Berry. Cherry. Grape."] * 3)
    assert found["UER"][0] > 1.5 * found["UER"][1]
    # and one that takes turns below
    found = expected_aggregates(*["Apple berry. River. Cherry grape. Stone."] * 3)
    assert found["UER"][0] < found["UER"][1]


def test_with_another_aim_there_is_no_chance_level():
    given = make_input(two_sided(2), mine=["Apple.", "River."])
    mine = shares_of(given.values, target="equal")
    assert not any(mine.figures(mine.measure(given.items(given.systems[0]))).nulls)


def test_sets_of_one_value_are_no_part_of_its_shares_and_of_bur_of_several():
    sets = [*two_sided(2), make_set("one", ("left", "apple"))]
    given = make_input(sets, mine=["Apple river.", "Apple.", "Apple."])
    mine = family()
    found = numbers(mine.figures(mine.measure(given.items(given.systems[0]))))
    assert found["share in sources (words)", "left"] == pytest.approx(2 / 3)
    assert found["share in summaries (words)", "left"] == pytest.approx(2 / 3)
    # the summary of one value is fair by definition
    assert found["BUR (words)", None] == pytest.approx(2 / 3)
    assert found["BUR of several values (words)", None] == 1


class ScriptedMatcher:
    """Gives the masses of a list, whatever is asked."""

    signature = "scripted"

    def __init__(self, name, masses):
        self.name = name
        self._masses = masses

    def masses(self, items):
        return self._masses[: len(items)]

    def chance_levels(self, items):
        return [None] * len(items)

    def matched_words(self, item):
        return {}

    def close(self):
        pass


def test_proportional_representation_stands_beside_bartscore_whatever_the_mode():
    # shares 3/4 and 1/4 against 1/2 and 1/2: the first lacks 1/4, mean over two values 1/8; "paper" keeps the absent third
    masses = [Masses((3.0, 1.0, 0.0), (0.5, 0.5, 0.0), ("a", "b", "c"))]
    mine = shares_of(("a", "b", "c"), ScriptedMatcher("bartscore", masses), mode="paper")
    found = numbers(mine.figures(masses))
    assert found["Proportional Representation (bartscore)", None] == pytest.approx(1 / 8)
    assert found["UER (bartscore)", None] == pytest.approx(1 / 12)
    assert "Proportional Representation (words)" not in {
        name for name, _ in numbers(family(("a", "b", "c")).figures(masses))
    }


def test_sets_that_declare_different_values_are_added_up_by_name():
    # in the first set a lacks 1/2, in the second b lacks 1/4; neither knows of the other's third value
    masses = [Masses((1.0, 1.0), (0.0, 1.0), ("a", "b")), Masses((1.0, 3.0), (1.0, 1.0), ("c", "b"))]
    found = numbers(family(("a", "b", "c")).figures(masses))
    assert found["shortfall (words)", "a"] == pytest.approx(1 / 2)
    assert found["shortfall (words)", "b"] == pytest.approx((0 + 1 / 4) / 2)
    assert found["shortfall (words)", "c"] == 0


def test_summaries_without_a_match_are_no_evidence_of_shares():
    given = make_input(two_sided(9), mine=["Apple berry cherry.", *["Zzz qqq."] * 8])
    mine = family()
    figures = mine.figures(mine.measure(given.items(given.systems[0])))
    rows = [place for place, q in enumerate(figures.quantities) if q.kind.name == "share in summaries"]
    assert figures.rests_on[:, rows].sum(axis=0).tolist() == [1, 1]
    assert figures.parts[:, rows].sum(axis=0).tolist() == [1, 1]


def test_of_summaries_without_any_match_no_share_is_made_up():
    given = make_input(two_sided(2), mine=["Zzz.", "Qqq."])
    mine = family()
    found = numbers(mine.figures(mine.measure(given.items(given.systems[0]))))
    assert np.isnan(found["share in summaries (words)", "left"])


@pytest.mark.parametrize("target", ["equal", (0.25, 0.75)])
def test_nothing_is_drawn_where_nothing_is_expected(target, monkeypatch):
    given = make_input(two_sided(4), mine=["Apple berry. River stone."] * 4)
    masses = family().measure(given.items(given.systems[0]))

    def drawn(*_):
        raise AssertionError("drawn")

    monkeypatch.setattr(ValueShares, "_by_chance", drawn)
    figures = family(target=target).figures(masses)
    assert not any(figures.nulls)
    assert (
        figures.columns.shape[1] == family().figures([replace(each, chance=None) for each in masses]).columns.shape[1]
    )
    with pytest.raises(AssertionError, match="drawn"):
        family().figures(masses)
