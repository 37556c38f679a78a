"""Tweet sets: the published drawing, its pools and its sizes."""

import gzip
import hashlib
import json
from dataclasses import replace

import pytest

from evenhand.errors import DataError, StorageError
from evenhand.plugins.perspectivesumm.tweets import CLARITIN, ELECTION, Tweet, build_tweets, read_tweets


def tweets(n, labels):
    """Tweets of ten words, labels taking turns."""
    return [
        Tweet(str(i), labels[i % len(labels)], f"tweet {i} of a series that has ten words or more") for i in range(n)
    ]


def count(text):
    return len(text.split())


def drawn(documents, attribute):
    """Texts by value, then the texts in the order of the model's input."""
    texts = {d.id: d.text for d in documents.documents}
    values = documents.notes["values"][attribute]
    by_value = [[d.text for d in documents.select(attribute, value)] for value in values]
    return [*by_value, [texts[name] for name in documents.notes["model_input"]]]


@pytest.mark.parametrize(
    ("plan", "n", "digest"),
    [(CLARITIN, 80, "241bae4d42ea0683"), (ELECTION, 120, "03658b4991de540e")],
    ids=["claritin", "election"],
)
def test_draws_are_those_of_the_released_loaders(plan, n, digest):
    # digests of what the loaders of the released code draw from these tweets with Python's generator seeded 42
    sets = build_tweets(tweets(n, list(plan.values)), plan, count).sets
    assert len(sets) == 1350
    content = json.dumps([drawn(documents, plan.attribute) for documents in sets])
    assert hashlib.sha256(content.encode()).hexdigest()[:16] == digest


def test_sizes_and_ratios_nest_as_published():
    sets = build_tweets(tweets(120, list(ELECTION.values)), ELECTION, count).sets
    shares = [
        tuple(len(documents.select("politics", value)) for value in ("repu", "demo", "neutral"))
        for documents in sets[::150]
    ]
    # (0.2, 0.6), (0.4, 0.4), (0.6, 0.2) of 10, then of 30, then of 50
    assert shares == [
        (2, 6, 2), (4, 4, 2), (6, 2, 2), (6, 18, 6), (12, 12, 6), (18, 6, 6), (10, 30, 10), (20, 20, 10), (30, 10, 10)
    ]  # fmt: skip
    assert sets[0].id == "election-0001"
    assert sets[-1].notes["meta"] == {"type": "tweets", "num_tweets": 50, "repu_ratio": 0.6, "demo_ratio": 0.2}


def test_the_same_seed_gives_the_same_sets_and_another_gives_others():
    small = replace(CLARITIN, sizes=(10,), n_per_setting=3)
    given = tweets(40, list(small.values))
    assert build_tweets(given, small, count) == build_tweets(given, small, count)
    assert build_tweets(given, small, count, seed=1).sets != build_tweets(given, small, count).sets


def test_what_is_in_no_pool_is_counted_by_reason():
    small = replace(CLARITIN, sizes=(10,), n_per_setting=1)
    odd = [
        Tweet("a", "male", "nine words are not enough for this plan ok"),
        Tweet("b", "unknown", "x " * 20),
        Tweet("c", "male", "x " * 71),
    ]
    built = build_tweets([*tweets(4, ["male", "female"]), *odd], small, count)
    assert built.left_out == {"under 10 words": 1, "label 'unknown'": 1, "over 70 words": 1}


def test_election_keeps_texts_longer_than_ten_characters():
    small = replace(ELECTION, sizes=(3,), ratios=((0.34, 0.34),), n_per_setting=1)
    given = [Tweet("1", "repu", "12345678901"), Tweet("2", "demo", "12345678901"), Tweet("3", "neutral", "12345678901")]
    built = build_tweets([*given, Tweet("4", "neutral", "1234567890")], small, count)
    assert built.left_out == {"under 11 characters": 1}
    assert len(built.sets) == 1


def test_too_few_tweets_are_refused_with_their_number():
    with pytest.raises(DataError, match="politics 'demo' has 4 tweets, but 6 are needed"):
        build_tweets(tweets(12, list(ELECTION.values)), ELECTION, count)
    with pytest.raises(DataError, match="gender 'female' has 0 tweets, but 1 are needed"):
        build_tweets(tweets(12, ["male"]), CLARITIN, count)


def test_raw_lines_are_read_in_utf8_or_latin1(tmp_path):
    path = tmp_path / "input.txt"
    path.write_bytes("1<||>male<||>Caf\u00e9 <||> bar\n\n2<||>female<||>Fine.\r\n".encode("latin-1"))
    assert read_tweets(path) == [Tweet("1", "male", "Caf\u00e9 <||> bar"), Tweet("2", "female", "Fine.")]
    path.write_text("1<||>male<||>Caf\u00e9", encoding="utf-8")
    assert read_tweets(path) == [Tweet("1", "male", "Caf\u00e9")]


def test_wrong_raw_lines_are_listed(tmp_path):
    path = tmp_path / "input.txt"
    path.write_text("1<||>male<||>Good.\n2<||>male\n3<||>male<||> \n")
    with pytest.raises(DataError) as caught:
        read_tweets(path)
    assert [line.split(": ")[0] for line in str(caught.value).splitlines()] == [f"{path}:2", f"{path}:3"]
    with pytest.raises(StorageError, match=r"absent\.txt: cannot be read"):
        read_tweets(tmp_path / "absent.txt")


def test_labels_are_stripped_and_packed_files_read(tmp_path):
    path = tmp_path / "input.txt.gz"
    path.write_bytes(gzip.compress(b"1 <||> male <||> Good.\n"))
    assert read_tweets(path) == [Tweet("1", "male", " Good.")]


def test_a_refusal_says_what_was_left_out_and_of_which_file(tmp_path):
    given = [Tweet("1", "Male", "x " * 20), Tweet("2", "Male", "x " * 20), Tweet("3", "female", "x")]
    with pytest.raises(DataError) as caught:
        build_tweets(given, CLARITIN, count, path=tmp_path / "input.txt")
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/input.txt: gender 'male' has 0 tweets, but 1 are needed",
        f"{tmp_path}/input.txt: gender 'female' has 0 tweets, but 1 are needed",
        f"{tmp_path}/input.txt: left out: 2 tweets: label 'Male'",
        f"{tmp_path}/input.txt: left out: 1 tweets: under 10 words",
        f"{tmp_path}/input.txt: labels that are known in the raw file are male, female; add tweets",
    ]


def test_characters_need_no_counter_of_words(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "absent"))
    small = replace(ELECTION, sizes=(3,), ratios=((0.34, 0.34),), n_per_setting=1)
    given = tweets(9, list(ELECTION.values))
    assert len(build_tweets(given, small).sets) == 1
    with pytest.raises(DataError, match="counting the words of tweets looks for NLTK's data"):
        build_tweets(given, CLARITIN)
