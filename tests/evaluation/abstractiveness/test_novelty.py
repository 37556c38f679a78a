from evenhand.evaluation.abstractiveness import novel_ngrams


def test_every_occurrence_counts_and_not_every_kind():
    # new, new, ferry: two of three 1-grams are new; both 2-grams
    assert novel_ngrams(["The ferry."], "new new ferry", (1, 2)) == {1: 2 / 3, 2: 1.0}


def test_an_ngram_lies_within_one_passage():
    assert novel_ngrams(["cheap ferry", "at night"], "ferry at", (2,)) == {2: 1.0}
    assert novel_ngrams(["cheap ferry at night"], "ferry at", (2,)) == {2: 0.0}


def test_a_summary_that_is_too_short_tells_nothing():
    assert novel_ngrams(["a"], "one two three", (3, 4)) == {3: 1.0, 4: None}
    assert novel_ngrams(["a"], "", (1,)) == {1: None}


def test_a_source_without_words_makes_everything_new():
    assert novel_ngrams([], "the ferry", (1, 2)) == {1: 1.0, 2: 1.0}
