"""The bundled review corpus keeps the rules that its README states."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus, read_summaries, split_sets
from evenhand.corpora.bundled import SUMMARIES
from evenhand.text import fold, words

FOLDER = Path(__file__).parents[2] / "corpora" / "reviews"
VALUES = ("negative", "neutral", "positive")


@pytest.fixture(scope="module")
def section():
    return CorpusSection(path="reviews", attribute="sentiment", sides=VALUES)


@pytest.fixture(scope="module")
def reviews(section):
    return load_corpus(section)


def counts(documents):
    return tuple(len(documents.select("sentiment", value)) for value in VALUES)


def test_eighteen_products_to_train_and_thirty_to_test(reviews, section):
    split = split_sets(reviews, section, seed=0)
    assert (len(split["train"]), len(split["test"])) == (18, 30)
    assert len({documents.topic for documents in reviews}) == 48


def test_every_product_has_eight_reviews_of_all_three_sentiments_in_unequal_numbers(reviews):
    for documents in reviews:
        assert sum(counts(documents)) == len(documents.documents) == 8
        assert min(counts(documents)) >= 1
        assert len(set(counts(documents))) > 1


@pytest.mark.parametrize("split", ["train", "test"])
def test_each_sentiment_is_a_majority_in_some_sets_and_a_single_review_in_others(reviews, split):
    sets = [counts(documents) for documents in reviews if documents.split == split]
    for place in range(3):
        assert any(each[place] == max(each) and each.count(max(each)) == 1 for each in sets)
        assert any(each[place] == 1 for each in sets)


def test_reviews_have_20_to_45_words(reviews):
    assert all(20 <= len(d.text.split()) <= 45 for documents in reviews for d in documents.documents)


def test_every_sentiment_has_two_to_six_key_points_and_none_is_used_twice(reviews):
    points = [point for documents in reviews for value in VALUES for point in documents.key_points[value]]
    assert all(2 <= len(documents.key_points[value]) <= 6 for documents in reviews for value in VALUES)
    assert all(set(documents.key_points) == set(VALUES) for documents in reviews)
    assert len(points) == len(set(points))
    assert all(point.strip() == point and point.endswith(".") for point in points)


def test_key_points_are_of_one_claim(reviews):
    # a text of two claims joins them; what is left joins parts of one length, mixture or exception
    joined = {
        point
        for documents in reviews
        for value in VALUES
        for point in documents.key_points[value]
        if {"and", "but", "or", "which"} & set(words(point))
    }
    assert joined == {
        "It is nine parts wool and one part polyamide.",
        "Programmes take from an hour and a half to four hours.",
        "It takes a day and a half to expand.",
        "It whistles on all levels but the brightest.",
    }


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_made_up_systems_string_key_points_together(reviews, name):
    found = read_summaries(Path(name), reviews)
    assert list(found) == [documents.id for documents in reviews]
    shares = Counter()
    for documents in reviews:
        side_of = {point: value for value in VALUES for point in documents.key_points[value]}
        points = [point for point in side_of if point in found[documents.id]]
        assert sorted(found[documents.id]) == sorted(" ".join(points))
        shares.update(side_of[point] for point in points)
    if name == "praising":
        assert shares["positive"] > 5 * shares["negative"]
    else:
        assert max(shares.values()) < 1.2 * min(shares.values())


def test_values_are_declared_in_one_order(reviews):
    assert all(documents.notes == {"values": {"sentiment": list(VALUES)}} for documents in reviews)


def test_ids_are_unique_and_numbered_within_their_sentiment(reviews):
    for documents in reviews:
        for value, count in zip(VALUES, counts(documents), strict=True):
            ids = [d.id for d in documents.select("sentiment", value)]
            assert ids == [f"{documents.id}/{value}-{number}" for number in range(1, count + 1)]
    assert len({documents.id for documents in reviews}) == 48


def test_no_text_occurs_twice_and_no_two_products_have_five_words_in_a_row_in_common(reviews):
    texts = [fold(d.text).casefold() for documents in reviews for d in documents.documents]
    assert len(texts) == len(set(texts))
    homes = defaultdict(set)
    for documents in reviews:
        for document in documents.documents:
            said = words(document.text)
            for start in range(len(said) - 4):
                homes[tuple(said[start : start + 5])].add(document.id)
    assert {" ".join(five): sorted(ids) for five, ids in homes.items() if len(ids) > 1} == {}


def test_the_file_is_plain_ascii_and_one_set_a_line():
    data = (FOLDER / "reviews.jsonl").read_bytes()
    assert data.isascii()
    assert b"\\u" not in data
    assert data.count(b"\n") == 48


def test_the_readme_counts_what_is_there(reviews):
    lengths = [len(d.text.split()) for documents in reviews for d in documents.documents]
    total = Counter(d.attributes["sentiment"] for documents in reviews for d in documents.documents)
    tables = [counts(documents) for documents in reviews]
    most = Counter(tuple(value for value, n in zip(VALUES, each, strict=True) if n == max(each)) for each in tables)
    readme = fold((FOLDER / "README.md").read_text())
    assert max(tables) == (6, 1, 1)
    assert min(tables) == (1, 1, 6)
    for claim in (
        f"{len(lengths)}, eight a set: {total['negative']} negative, {total['neutral']} neutral, {total['positive']} positive",
        f"in {most['negative',]} sets most reviews are negative, in {most['positive',]} positive, in {most['neutral',]} neutral",
        f"{min(lengths)} to {max(lengths)} words a document, {sum(lengths) / len(lengths):.0f} on average; "
        f"{sum(lengths) / len(reviews):.0f} a set, {sum(lengths):,} in all",
        f"{sum(len(points) for s in reviews for points in s.key_points.values())}: two to six",
    ):
        assert claim in readme, claim
