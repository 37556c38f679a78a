"""Matching by words."""

import pytest
from labelled_sets import BALANCED, FERRY, ONE_SIDED, item

from evenhand.config.fairness import MatcherSection
from evenhand.errors import DataError
from evenhand.fairness.groups.masses import Masses, Unscored
from evenhand.fairness.labelled import LabelledSource, LabelledSummary
from evenhand.judges.measures import open_matcher
from evenhand.judges.measures.words import WordMatcher, source_counter
from evenhand.judges.shared import SharedModels


def test_masses_count_content_words():
    masses, empty = open_matcher(MatcherSection(kind="words")).masses([item(BALANCED), item(" ")])
    # left: ferry cheap nurses need night / ferry helps poor families keeps harbour alive, less stop words ("keeps" is none);
    # right: ferry wastes taxes bridge pays / drivers want bridge companies lose hours day
    # summary: ferry cheap nurses need night ferry wastes taxes bridge pays; "ferry" is on both sides
    assert masses == Masses((12, 12), (6, 6), ("left", "right"))
    assert empty == Unscored("empty summary")


def test_declared_value_without_documents_has_no_mass():
    (masses,) = open_matcher(MatcherSection(kind="words")).masses([item(ONE_SIDED, values=("right", "middle", "left"))])
    assert masses.names == ("right", "middle", "left")
    assert (masses.source[1], masses.target[1]) == (0, 0)
    assert masses.target[0] < masses.target[2]


def test_equal_texts_are_tokenised_once():
    asked = []

    def tokenize(text):
        asked.append(text)
        return text.split()

    WordMatcher("mine", "mine", tokenize).masses([item(BALANCED), item(ONE_SIDED), item(BALANCED)])
    # two values and two distinct summaries
    assert len(asked) == len(set(asked)) == 4


def test_documents_are_counted_once_however_many_sentences_a_summary_has():
    matcher = WordMatcher("mine", "mine", str.split)
    documents = tuple(LabelledSource(f"{text} {n}", value) for n in range(20) for value, text in FERRY)
    values = tuple(dict.fromkeys(text.value for text in documents))
    pieces = [LabelledSummary("s", values, documents, f"sentence {n}") for n in range(50)]
    built = matcher._source
    matcher.masses(pieces)
    for piece in pieces:
        matcher.matched_words(piece)
    assert (built.cache_info().misses, built.cache_info().hits) == (1, 99)


@pytest.mark.needs("nltk")
def test_ngrams_are_those_of_the_published_pipeline():
    matcher = open_matcher(MatcherSection())
    assert matcher.signature.startswith("ngram|nltk:3.9")
    pairs = (("pos", "The dogs were running quickly."), ("neg", "Cats sleep."))
    (masses,) = matcher.masses([item("Some dog runs. Dogs run, cats sleep.", pairs)])
    # stems: dog, run (tagged alone "running" is a verb), quickli | cat, sleep; the summary has run, dog, run, cat, sleep: in
    # Danish "dog" is a stop word
    assert masses == Masses((3, 2), (3, 2), ("pos", "neg"))


@pytest.mark.needs("nltk")
def test_stop_words_are_part_of_the_signature():
    section = MatcherSection(stop_words="english")
    assert open_matcher(section).signature != open_matcher(MatcherSection()).signature
    assert source_counter(section)[0] == open_matcher(section).signature


def test_absent_language_data_are_named_and_nothing_else_is_taken(tmp_path, monkeypatch):
    pytest.importorskip("nltk")
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="EVENHAND_NLTK"):
        open_matcher(MatcherSection())


def test_words_count_sources_where_a_recipe_says_so():
    signature, count = source_counter(MatcherSection(kind="bartscore", tokens="words"))
    assert (signature, count(FERRY[0][1])) == (
        "words|content-tokens|v:4",
        ["ferry", "cheap", "nurses", "need", "night"],
    )


def test_words_that_match_are_told_as_they_are_written_in_the_summary():
    documents = (LabelledSource("Friendly staff.", "pos"), LabelledSource("The STAFF charged twice.", "neg"))
    item = LabelledSummary("s", ("pos", "neg", "neu"), documents, "Staff were friendly, staff charged nothing.")
    matcher = open_matcher(MatcherSection(kind="words"), SharedModels())
    assert matcher.matched_words(item) == {"pos": ("staff", "friendly"), "neg": ("staff", "charged")}
