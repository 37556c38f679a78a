import hypothesis
import numpy as np
import pytest
from audit_inputs import make_input, make_set, shares_of, taken, two_sided
from hypothesis import strategies as st

from evenhand.benchmarks.calibration import Corpus, drawn_sets, generators, items, shares
from evenhand.config.fairness import MatcherSection
from evenhand.evaluation.audit.kinds import BUR, SHARE_IN_SUMMARIES, SHARE_OF_DOCUMENTS
from evenhand.evaluation.audit.shares import one_valued_sets, unmatched_summaries
from evenhand.fairness.groups.extracts import EXTRACTS
from evenhand.fairness.groups.masses import Masses, Unscored
from evenhand.fairness.groups.shares import compare, under_represented, unfair, unfair_error_rate
from evenhand.judges.measures import open_matcher

WORDS = open_matcher(MatcherSection(kind="words"))


def family(values=("left", "right"), mode="drop_zero", tau=0.8, target="ratio"):
    return shares_of(values, mode=mode, tau=tau, target=target)


def numbers(figures, sums=None):
    found = figures.all_sets() if sums is None else figures.reduce(sums)
    return {(str(q.measure), q.side): x for q, x in zip(figures.quantities, found.tolist(), strict=True)}


def random_masses(seed, n, values):
    generator = np.random.default_rng(seed)
    source = generator.integers(0, 6, size=(n, len(values))) * generator.integers(0, 2, size=(n, len(values)))
    target = generator.integers(0, 4, size=(n, len(values)))
    return [
        taken(Masses(tuple(map(float, s)), tuple(map(float, t)), values)) for s, t in zip(source, target, strict=True)
    ]


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
def test_sums_over_sets_give_what_sets_have_one_by_one(mode, target):
    values = ("a", "b", "c", "d")
    masses = [m for m in random_masses(3, 300, values) if any(m.masses.source)]
    mine = family(values, mode, 0.7, target)
    found = numbers(mine.figures(masses))
    alone = [compare(each.masses.source, each.masses.target, mode=mode, aim=target) for each in masses]
    assert found["BUR (words)", None] == pytest.approx(np.mean([unfair(each, 0.7) for each in alone]))
    assert found["UER (words)", None] == pytest.approx(np.mean([unfair_error_rate(each) for each in alone]))
    curve = [np.mean([unfair(each, tau / 10) for each in alone]) for tau in range(11)]
    assert found["AUC (words)", None] == pytest.approx(np.mean([curve[:-1], curve[1:]]))
    means = []
    for place, value in enumerate(values):
        its = [each for each in alone if each.kept[place]]
        means.append(np.mean([each.shortfall[place] for each in its]))
        assert found["shortfall (words)", value] == pytest.approx(means[-1])
        short = np.mean([under_represented(each, 0.7)[place] for each in its])
        assert found["under-represented (words)", value] == pytest.approx(short)
    assert found["SOF (words)", None] == pytest.approx(np.abs(means - np.mean(means)).mean())


@pytest.mark.parametrize("mode", ["drop_zero", "paper"])
def test_of_one_set_second_order_fairness_is_the_mean_deviation_of_its_shortfalls(mode):
    # shares aimed at .3 .7, found .2 .8: the first lacks .1; mean .05, both are .05 from it
    found = numbers(family(("a", "b"), mode).figures([taken(Masses((30, 70), (10, 40), ("a", "b")))]))
    assert found["SOF (words)", None] == pytest.approx(0.05)
    # a single value is fair
    alone = numbers(family(("a",), mode).figures([taken(Masses((12,), (0,), ("a",)))]))
    assert (alone["UER (words)", None], alone["SOF (words)", None]) == (0, 0)


def test_value_that_never_takes_part_has_no_mean_and_no_set_no_number():
    found = numbers(family(("a", "b")).figures([taken(Masses((3, 0), (1, 1), ("a", "b")))]))
    assert np.isnan(found["shortfall (words)", "b"])
    empty = numbers(family(("a", "b")).figures([Unscored("empty summary")]))
    assert np.isnan([*empty.values()]).all()


SAMPLES = st.lists(
    st.builds(
        lambda source, target: taken(Masses(tuple(map(float, source)), tuple(map(float, target)), ("a", "b", "c"))),
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
    turned = [taken(Masses(m.source[::-1], m.target[::-1], m.names[::-1])) for m in (each.masses for each in samples)]
    assert numbers(mine.figures(turned)) == expected


def test_a_set_drawn_twice_counts_twice():
    masses = [m for m in random_masses(5, 20, ("a", "b")) if any(m.masses.source)]
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
    found = [*map(taken, (Masses((2.0, 1.0), (0.0, 0.0)), Masses((2.0, 0.0), (1.0, 0.0)))), Unscored("empty summary")]
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
    assert example.documents == ("river stone 0",)
    assert [(side.name, side.summary) for side in example.sides] == [("left", 1.0), ("right", 0.0)]


def test_sentence_counts_summaries():
    given = make_input(two_sided(4), mine=["Apple."] + ["Apple berry cherry grape river stone."] * 3)
    mine = family()
    figures = mine.figures(mine.measure(given.items(given.systems[0])))
    said = mine.sentence(BUR, "", figures)
    assert said.startswith("In 1 of 4 ") and "at most 80 %" in said
    said = family(mode="paper", target="equal").sentence(BUR, "", figures)
    assert "less than 80 %" in said and "equal share" in said


def test_signature_names_what_changes_a_number():
    signatures = {
        family(tau=0.7).signature,
        family(mode="paper").signature,
        family(target="equal").signature,
        family().signature,
    }
    assert len(signatures) == 4
    assert all("words" in signature for signature in signatures)


def of_room(*texts, sets=None, kind=SHARE_IN_SUMMARIES):
    """Of each value's share of the summaries' words, or of another kind, what it is and its gap to what is expected."""
    given = make_input(sets or two_sided(len(texts)), mine=list(texts))
    mine = family(given.values)
    figures = mine.figures(mine.measure(given.items(given.systems[0])))
    found, beyond = figures.all_sets().tolist(), figures.beyond(figures.columns.sum(axis=0)).tolist()
    rows = zip(figures.quantities, found, beyond, strict=True)
    return {q.side: (share, gap) for q, share, gap in rows if q.kind == kind}


def gaps(*texts, sets=None):
    return {value: gap for value, (_, gap) in of_room(*texts, sets=sets).items()}


@pytest.mark.parametrize("text", ["Apple berry cherry grape river stone.", "Apple berry. Cherry grape. River stone."])
def test_who_takes_up_every_word_gives_everybody_what_is_expected(text):
    assert gaps(text) == pytest.approx({"left": 0, "right": 0})


def test_over_all_words_alike_the_mean_gap_is_nothing():
    # words drawn from the documents whoever wrote them: one summary each
    assert gaps("Apple.", "Berry.", "Cherry.", "Grape.", "River.", "Stone.") == pytest.approx({"left": 0, "right": 0})


def test_where_all_sentences_are_alike_what_is_expected_are_the_documents_words():
    # of 6 words 4 are the left's
    assert of_room("Apple berry.") == {
        "left": pytest.approx((1, 1 / 3)), "right": pytest.approx((0, -1 / 3), abs=1e-12),
    }  # fmt: skip
    # a word of two documents is half of each
    shared = [make_set("set", ("left", "apple lake"), ("right", "river lake"))]
    assert of_room("Lake.", sets=shared)["left"] == pytest.approx((1 / 2, 0))


def test_a_word_that_many_documents_have_is_shared_out_among_them():
    # of lake a quarter for each document, of apple all for the first: of two words 1 + 1/4 and 3 * 1/4
    sets = [
        make_set("set", ("left", "lake apple"), ("right", "lake sand"), ("right", "lake stone"), ("right", "lake fern"))
    ]
    assert of_room("Lake apple.", sets=sets)["left"][0] == pytest.approx(5 / 8)
    # documents by themselves, whatever they say
    assert of_room("Lake apple.", sets=sets, kind=SHARE_OF_DOCUMENTS)["left"][0] == pytest.approx(1 / 4)


def test_summaries_weigh_by_their_words_that_are_in_documents():
    # 4 words, of which 2 are left's, and 1 of the left
    assert of_room("Apple berry river stone. Snow.", "Grape.")["left"][0] == pytest.approx(3 / 5)


def test_summaries_without_a_match_are_no_part_of_the_gap():
    assert gaps("Snow.", "Apple.") == pytest.approx(gaps("Apple."))


def test_documents_without_a_word_are_nobodys_room():
    silent = [make_set("set", ("left", "apple berry"), ("left", "it is so"), ("right", "river stone"))]
    assert of_room("Apple.", sets=silent, kind=SHARE_OF_DOCUMENTS)["left"][0] == pytest.approx(1 / 2)
    # where the others all have one value there is nobody to compare with
    alone = [make_set("set", ("left", "apple berry"), ("right", "it is so"))]
    assert all(np.isnan(share) for share, _ in of_room("Apple.", sets=alone).values())


def calibrated(n_sets, own=0.3, manner="words", sizes=(5, 2, 1)):
    """What is found in a fair corpus of simulated documents, by the family of its shares."""
    corpus = Corpus(sizes, n_sets, own, manner)
    generator = next(iter(generators(corpus, 1)))
    mine = shares(corpus.values)
    return mine, mine.measure(items(corpus, drawn_sets(corpus, generator), generator))


@pytest.mark.parametrize("manner", ["extract", "longest", "common words"])
def test_what_is_expected_are_shares_and_leftovers_of_a_set_add_up_to_nothing(manner):
    mine, found = calibrated(12, manner=manner)
    figures = mine.figures(found)
    sums = figures.columns.sum(axis=0)
    expected = figures.expect(sums)[figures.naming]
    assert expected.sum() == pytest.approx(1) and (expected > 0).all()
    assert figures.beyond(sums)[figures.naming].sum() == pytest.approx(0)
    for (left,) in figures.leftover:
        assert left.amounts.sum() == pytest.approx(0)
        assert (len(left.amounts), sorted(left.labels)) == (8, [0] * 5 + [1] * 2 + [2])


def test_no_number_depends_on_the_order_of_lines():
    mine, found = calibrated(9)
    one, other = mine.figures(found), mine.figures(found[::-1])
    expected = one.expect(one.columns.sum(axis=0))
    assert other.expect(other.columns.sum(axis=0)) == pytest.approx(expected, abs=1e-6, nan_ok=True)
    assert np.isfinite(expected[one.naming]).all()


def test_extracts_that_know_no_label_stand_beside():
    mine, found = calibrated(12, manner="extract")
    blind = mine.blind_gaps(found)
    assert set(blind) == set(EXTRACTS)
    assert all(each.shape == (3,) and each.sum() == pytest.approx(0) for each in blind.values())
    # nothing is known where no summary has a word
    assert all(np.isnan(each).all() for each in mine.blind_gaps([Unscored("empty summary")]).values())


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

    def matched_words(self, item):
        return {}

    def close(self):
        pass


def test_proportional_representation_stands_beside_bartscore_whatever_the_mode():
    # shares 3/4 and 1/4 against 1/2 and 1/2: the first lacks 1/4, mean over two values 1/8; "paper" keeps the absent third
    masses = [taken(Masses((3.0, 1.0, 0.0), (0.5, 0.5, 0.0), ("a", "b", "c")))]
    mine = shares_of(("a", "b", "c"), ScriptedMatcher("bartscore", masses), mode="paper")
    found = numbers(mine.figures(masses))
    assert found["Proportional Representation (bartscore)", None] == pytest.approx(1 / 8)
    assert found["UER (bartscore)", None] == pytest.approx(1 / 12)
    assert "Proportional Representation (words)" not in {
        name for name, _ in numbers(family(("a", "b", "c")).figures(masses))
    }


def test_sets_that_declare_different_values_are_added_up_by_name():
    # in the first set a lacks 1/2, in the second b lacks 1/4; neither knows of the other's third value
    masses = [taken(Masses((1.0, 1.0), (0.0, 1.0), ("a", "b"))), taken(Masses((1.0, 3.0), (1.0, 1.0), ("c", "b")))]
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
def test_nobody_is_tested_where_nothing_is_expected(target):
    given = make_input(two_sided(4), mine=["Apple berry. River stone."] * 4)
    found = family().measure(given.items(given.systems[0]))
    figures = family(target=target).figures(found)
    assert (figures.leftover, figures.naming, any(figures.nulls)) == ((), [], False)
    assert len(family().figures(found).leftover) == 4
