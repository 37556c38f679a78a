import numpy as np
import pytest

from evenhand.evaluation.audit.contents import WORD_LIST_BIAS
from evenhand.evaluation.audit.word_lists import GenderWords
from evenhand.fairness.demographic.word_lists import WordLists
from evenhand.fairness.groups.masses import Unscored
from evenhand.fairness.labelled import LabelledSummary, LabelledText

WORDS = GenderWords(WordLists())


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
    assert figures.undefined == "no gender word in any document or summary"
    assert WORDS.figures(WORDS.measure([item("She.", "Rain.")])).undefined == "no gender word in any summary"
    assert figures.left_out == (None, "empty summary")
    assert WORDS.measure([item("Rain.", "")]) == [Unscored("empty summary")]
