import re

import numpy as np
import pytest
from audit_inputs import make_input, make_set

from evenhand.errors import DataError, RecipeError
from evenhand.evaluation.audit.contents import WORD_LIST_BIAS
from evenhand.evaluation.audit.plan import read_word_lists
from evenhand.evaluation.audit.word_lists import ListedWords, listed_words
from evenhand.fairness.demographic.word_lists import WordLists
from evenhand.fairness.groups.masses import Unscored
from evenhand.fairness.labelled import LabelledSummary, LabelledText

WORDS = ListedWords(WordLists())


def item(source, summary):
    return LabelledSummary("s", ("left",), (LabelledText(source, "left"),), summary)


def test_counts_are_pooled_before_shares_are_formed():
    # sources: 3 female, 1 male; summaries: 1 female, 1 male: shares .75 and .5, distance .25
    found = WORDS.measure([item("She and her sister.", "She left."), item("He left.", "A man left.")])
    figures = WORDS.figures(found)
    assert figures.all_sets()[0] == pytest.approx(0.25)
    assert str(figures.quantities[0].measure) == "word-list bias (gender words)"
    said = WORDS.sentence(WORD_LIST_BIAS, "25.0", figures)
    assert said == "Of the gender words 75.0 % are female in the documents and 50.0 % in the summaries (4 and 2 words)."


def test_the_set_that_raises_the_bias_most_is_the_most_unfair():
    fair, unfair = item("She saw him.", "She saw him."), item("She saw him.", "He, his man, his son.")
    figures = WORDS.figures(WORDS.measure([fair, unfair, fair]))
    assert int(np.argmax(figures.unfairness)) == 1
    example = WORDS.example(unfair, WORDS.measure([unfair])[0], 0.1)
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


def test_words_of_the_users_groups_are_counted_and_named(tmp_path):
    path = tmp_path / "regions.yaml"
    path.write_text("name: town and country\ngroups:\n  town: [Tram, flat]\n  country: [barn]\n")
    mine = listed_words(read_word_lists(path, ("word-lists",)))
    given = make_input([make_set("s", ("a", "Tram by tram. A flat."), ("b", "A barn."))], mine=["A barn, a TRAM."])
    (found,) = mine.measure(given.items(given.systems[0]))
    assert found.tolist() == [[3, 1], [1, 1]]
    figures = mine.figures([found])
    assert str(figures.quantities[0].measure) == "word-list bias (town and country)"
    assert "Of the town and country 75.0 % are town" in mine.sentence(figures.quantities[0].kind, "", figures)
    # other words, another signature
    assert mine.signature != WORDS.signature


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("groups: {a: [x]}", "fewer than 2 groups"),
        ("groups: {a: [one two], b: [x]}", "groups.a: 'one two' is no single word"),
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
        read_word_lists(path, ("word-lists",))


def test_lists_without_their_measure_are_refused(tmp_path):
    with pytest.raises(DataError, match="--word-lists has no effect"):
        read_word_lists(tmp_path / "absent.yaml", ("coverage",))
