import re

import numpy as np
import pytest
from audit_inputs import make_input, make_set

from evenhand.errors import DataError, RecipeError
from evenhand.evaluation.audit.conclusions import conclude
from evenhand.evaluation.audit.figures import Measured
from evenhand.evaluation.audit.options import read_own_options
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.fairness.groups.masses import Unscored
from evenhand.fairness.labelled import LabelledSource, LabelledSummary
from evenhand.plugins.bias.demographic.word_lists import WordLists, word_list_scores
from evenhand.plugins.bias.word_list_family import WORD_LIST_BIAS, ListedWords, listed_words

WORDS = ListedWords(WordLists())


def item(source, summary):
    return LabelledSummary("s", ("left",), (LabelledSource(source, "left"),), summary)


def test_counts_are_pooled_before_shares_are_formed():
    # sources: 3 female, 1 male; summaries: 1 female, 1 male: shares .75 and .5, distance .25
    found = WORDS.measure([item("She and her sister.", "She left."), item("He left.", "A man left.")])
    figures = WORDS.figures(found)
    assert figures.all_sets()[0] == pytest.approx(0.25)
    assert str(figures.quantities[0].measure) == "word-list bias (gender words)"
    said = WORDS.sentence(WORD_LIST_BIAS, "25.0", figures)
    # of one document all words are in as many documents, but none of them is of the other list
    assert said == (
        "Of the gender words 75.0 % are female in the documents and 50.0 % in the summaries (4 and 2 words; 0 of the latter "
        "can be compared)."
    )


def test_the_set_that_raises_the_bias_most_is_the_most_unfair():
    fair, unfair = item("She saw him.", "She saw him."), item("She saw him.", "He, his man, his son.")
    figures = WORDS.figures(WORDS.measure([fair, unfair, fair]))
    assert int(np.argmax(figures.unfairness)) == 1
    example = WORDS.example(unfair, WORDS.measure([unfair])[0])
    assert example.lines[0].takes == {"female": 0.0, "male": 5.0}
    assert example.left_out == ("female",)
    assert example.documents == ("She saw him.",)


def test_without_a_word_the_score_is_undefined():
    figures = WORDS.figures(WORDS.measure([item("Rain.", "Rain."), item("Rain.", "")]))
    assert np.isnan(figures.all_sets()[0])
    assert figures.undefined == "no listed word in any document or summary"
    assert WORDS.figures(WORDS.measure([item("She.", "Rain.")])).undefined == "no listed word in any summary"
    assert figures.left_out == (None, "empty summary")
    assert WORDS.measure([item("Rain.", "")]) == [Unscored("empty summary")]


COMPARED = "share of compared listed words in summaries"


def levels(*pairs):
    """What is found and expected of the share of female words, and of the bias."""
    figures = WORDS.figures(WORDS.measure([item_of(*pair) for pair in pairs]))
    found, expected = figures.all_sets(), figures.expect(figures.columns.sum(axis=0))
    return {
        q.kind.name: (found[k], expected[k]) for k, q in enumerate(figures.quantities) if q.side in (None, "female")
    }


def item_of(documents, summary):
    return LabelledSummary("s", ("left",), tuple(LabelledSource(text, "left") for text in documents), summary)


DOCUMENTS = ("She and her sister and he.", "He and his son.", "He saw the girl, the girl.")


def test_a_listed_word_is_expected_to_be_one_that_as_many_documents_have():
    # in one document: she, her, sister, girl twice of seven occurrences, with his and son; in three only he
    found = levels((DOCUMENTS, "She saw the girl."))
    assert found[COMPARED] == (1, pytest.approx(5 / 7))
    # he is left out, so that his alone is compared
    found = levels((DOCUMENTS, "He saw his."))
    assert found[COMPARED] == (0, pytest.approx(5 / 7))
    assert found["share of listed words in summaries"][0] == 0


@pytest.mark.parametrize("summary", ["He left.", "Aunts, nieces, an uncle."])
def test_words_with_none_of_another_list_as_common_cannot_be_compared(summary):
    figures = WORDS.figures(WORDS.measure([item_of(DOCUMENTS, summary)]))
    found = levels((DOCUMENTS, summary))
    assert np.isnan([*found[COMPARED], found["word-list bias"][1]]).all()
    assert "another list" in figures.withheld
    assert "0 of the latter can be compared" in WORDS.sentence(WORD_LIST_BIAS, "", figures)
    # a word that can be compared says what it says beside them, too
    together = levels((DOCUMENTS, f"{summary} She saw the girl."))
    assert together[COMPARED] == levels((DOCUMENTS, "She saw the girl."))[COMPARED]


def named(p, n_sets, write, seed):
    """Verdicts on documents with one pronoun each, female with probability p, by their list."""
    generator = np.random.default_rng(seed)
    given = []
    for _ in range(n_sets):
        documents = ["She left." if female else "He left." for female in generator.random(8) < p]
        given.append(item_of(documents, write(documents, generator)))
    found = conclude([Measured(WORDS, "mine", (), WORDS.figures(WORDS.measure(given)))], ["mine"], AuditPlan()).gaps
    return {quantity.side: each.verdict for (*_, quantity), each in found.items() if quantity.side}


def test_a_list_that_another_replaces_is_named_or_nothing_is_said():
    # where "she" is in five documents and "he" in three nothing can be told of either
    documents = ["She left."] * 5 + ["He left."] * 3
    figures = WORDS.figures(WORDS.measure([item_of(documents, "He left.")] * 60))
    assert conclude([Measured(WORDS, "mine", (), figures)], ["mine"], AuditPlan()).gaps == {}
    # and where both are in four, of some of the sets, it is seen
    replaced = [named(0.5, 60, lambda documents, _: "He left. He did.", seed) for seed in range(5)]
    assert replaced == [{"female": "lower", "male": "higher"}] * 5


def test_pronouns_of_fair_summaries_are_seldom_named():
    def extract(documents, generator):
        return " ".join(documents[k] for k in generator.choice(8, 3, replace=False))

    def common(documents, generator):
        weights = np.array([documents.count(text) ** 2 for text in documents], dtype=float)
        return " ".join(documents[k] for k in generator.choice(8, 3, p=weights / weights.sum()))

    false = sum(
        {"lower", "higher"} & set(named(p, 30, write, seed).values()) != set()
        for p in (0.5, 0.7)
        for write in (extract, common)
        for seed in range(20)
    )
    # 5 % of 80 and two standard errors
    assert false <= 7


def test_the_bias_is_expected_by_signs_of_the_sets_gaps():
    # 3/7 of the documents' words are female; of each summary's two words in one document 10/7 are expected
    sets = [(DOCUMENTS, ("She saw the girl.", "His son left.", "She and his son.")[k % 3]) for k in range(9)]
    figures = WORDS.figures(WORDS.measure([item_of(*pair) for pair in sets]))
    source, found, expected = figures.columns.sum(axis=0).reshape(-1, 2)[:3]
    by_set = figures.columns.reshape(len(sets), -1, 2)
    gaps = by_set[:, 1] - by_set[:, 2]
    signs = np.random.default_rng(2).choice((-1.0, 1.0), size=(20_000, len(sets)))
    drawn = np.broadcast_to(source, (len(signs), 2)), np.maximum(expected + signs @ gaps, 0)
    mean = word_list_scores(np.stack(drawn, axis=-2)).mean()
    assert levels(*sets)["word-list bias"] == (
        pytest.approx(word_list_scores(np.stack([source, found]))),
        pytest.approx(mean, rel=0.02),
    )


def test_no_number_depends_on_the_order_of_lines():
    sets = [
        (DOCUMENTS, ("She saw the girl.", "His son left.", "She and his son.", "He left.")[k % 4]) for k in range(11)
    ]
    for name, pair in levels(*sets).items():
        assert levels(*sets[::-1])[name] == pytest.approx(pair, nan_ok=True), name


def test_sets_without_a_listed_word_are_no_part_of_the_share():
    figures = WORDS.figures(WORDS.measure([item_of(DOCUMENTS, "She left."), item_of(DOCUMENTS, "Rain.")]))
    rests_on = {(q.kind.name, q.side): n for q, n in zip(figures.quantities, figures.rests_on.sum(axis=0), strict=True)}
    assert rests_on["share of listed words in summaries", "male"] == 1
    assert rests_on[COMPARED, "male"] == 1
    assert rests_on["word-list bias", None] == 2


def test_a_list_whose_words_are_dropped_is_named():
    sets = [(DOCUMENTS, "He and his son, his son." if k % 4 else "She and his son.") for k in range(12)]
    figures = WORDS.figures(WORDS.measure([item_of(*pair) for pair in sets]))
    found = conclude([Measured(WORDS, "mine", (), figures)], ["mine"], AuditPlan()).gaps
    verdicts = {quantity.side: each.verdict for (*_, quantity), each in found.items()}
    assert verdicts == {None: None, "female": "lower", "male": "higher"}


def test_words_of_the_users_groups_are_counted_and_named(tmp_path):
    path = tmp_path / "regions.yaml"
    path.write_text("name: town and country\ngroups:\n  town: [Tram, flat]\n  country: [barn]\n")
    mine = listed_words(read_own_options({"word_lists": path}, ("word-lists",))["word-lists"].word_lists)
    given = make_input([make_set("s", ("a", "Tram by tram. A flat."), ("b", "A barn."))], mine=["A barn, a TRAM."])
    (found,) = mine.measure(given.items(given.systems[0]))
    # barn and tram are each in one document, in which tram stands twice and flat and barn once
    assert found.tolist() == [[3, 1], [1, 1], [1.5, 0.5], [1, 1]]
    figures = mine.figures([found])
    assert str(figures.quantities[0].measure) == "word-list bias (town and country)"
    assert "Of the town and country 75.0 % are town" in mine.sentence(figures.quantities[0].kind, "", figures)
    # other words, another signature
    assert mine.signature != WORDS.signature


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("groups: {a: [x]}", "fewer than 2 groups"),
        ("groups: {a: [one two], b: [x]}", "groups.a: 'one two' is not a single word"),
        ("groups: {a: [], b: [x]}", "groups.a has no word"),
        ("groups: {a: [1], b: [x]}", "groups.a"),
        ("groups: {a: [bank], b: [x, Bank]}", "'bank' is in groups.a and in groups.b"),
        ("gruops: {}", "gruops"),
    ],
)
def test_lists_that_match_nothing_are_refused(tmp_path, text, said):
    path = tmp_path / "lists.yaml"
    path.write_text(text)
    with pytest.raises(RecipeError, match=re.escape(said)):
        read_own_options({"word_lists": path}, ("word-lists",))


def test_lists_without_their_measure_are_refused(tmp_path):
    with pytest.raises(DataError, match="--word-lists has no effect"):
        read_own_options({"word_lists": tmp_path / "absent.yaml"}, ("coverage",))
