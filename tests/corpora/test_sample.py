"""The bundled sample corpus keeps the rules that its README states."""

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus, split_sets
from evenhand.corpora.controlled import read_controlled
from evenhand.text import fold, words

FOLDER = Path(__file__).parents[2] / "corpora" / "sample"


@pytest.fixture(scope="module")
def sample():
    return load_corpus(CorpusSection(sides=("left", "right")))


def test_twenty_topics_to_train_and_twelve_to_test(sample):
    split = split_sets(sample, CorpusSection(), seed=0)
    assert (len(split["train"]), len(split["test"])) == (20, 12)
    assert len({documents.topic for documents in sample}) == 32


def test_each_side_has_two_or_three_documents_of_50_to_110_words(sample):
    for documents in sample:
        assert documents.values("stance") == ("left", "right")
        for side in ("left", "right"):
            texts = [document.text for document in documents.select("stance", side)]
            assert 2 <= len(texts) <= 3, documents.id
            assert all(50 <= len(text.split()) <= 110 for text in texts), documents.id


def test_key_points_are_listed_for_each_side_and_none_is_used_twice(sample):
    listed = [point for documents in sample for side in ("left", "right") for point in documents.key_points[side]]
    assert all(set(documents.key_points) == {"left", "right"} for documents in sample)
    assert len(listed) == len(set(listed))
    assert all(point.strip() == point and point.endswith(".") for point in listed)


def test_controlled_summaries_are_made_of_the_key_points_that_they_count(sample):
    by_id = {documents.id: documents for documents in sample}
    controlled = read_controlled(Path("sample"))
    assert (len(controlled), len({each.topic for each in controlled})) == (16, 8)
    for each in controlled:
        set_id, _, side = each.id.partition("/")
        documents, other = by_id[set_id], {"left": "right", "right": "left"}[side]
        assert each.passages == tuple(document.text for document in documents.select("stance", side))
        assert each.key_points == documents.key_points[side]
        for summary in each.summaries:
            mine = [point for point in documents.key_points[side] if point in summary.text]
            others = [point for point in documents.key_points[other] if point in summary.text]
            assert sorted(summary.text) == sorted(" ".join([*mine, *others]))
            assert (len(mine), len(others), 0) == (summary.relevant, summary.opposite, summary.adversarial)


def test_each_set_says_what_the_sides_share_and_where_they_contradict(sample):
    for documents in sample:
        assert documents.notes["shared_points"], documents.id
        assert documents.notes["contradictions"], documents.id
        assert all(len(pair) == 2 and pair[0] != pair[1] for pair in documents.notes["contradictions"])


def test_ids_are_unique_over_the_whole_corpus(sample):
    ids = [documents.id for documents in sample] + [d.id for documents in sample for d in documents.documents]
    assert len(ids) == len(set(ids))


def test_no_document_text_occurs_twice(sample):
    texts = [fold(document.text).casefold() for documents in sample for document in documents.documents]
    assert len(texts) == len(set(texts))


def test_no_two_topics_have_five_words_in_a_row_in_common(sample):
    homes = defaultdict(set)
    for documents in sample:
        for document in documents.documents:
            said = words(document.text)
            for start in range(len(said) - 4):
                homes[tuple(said[start : start + 5])].add(documents.id)
    assert {" ".join(five): sorted(ids) for five, ids in homes.items() if len(ids) > 1} == {}


def test_the_file_is_plain_ascii_and_one_set_a_line():
    data = (FOLDER / "sample.jsonl").read_bytes()
    assert data.isascii()
    assert data.count(b"\n") == 32
    assert data.endswith(b"}\n")


def test_the_readme_counts_what_is_there(sample):
    documents = [document for s in sample for document in s.documents]
    lengths = [len(document.text.split()) for document in documents]
    by_side = [[d.attributes["stance"] for d in documents].count(side) for side in ("left", "right")]
    threes = sum(len(s.select("stance", side)) == 3 for s in sample for side in ("left", "right"))
    readme = fold((FOLDER / "README.md").read_text())
    assert threes == 8
    for claim in (
        f"{len(documents)}: {by_side[0]} left, {by_side[1]} right; two a side, in eight cases three",
        f"{min(lengths)} to {max(lengths)} words a document, {sum(lengths) / len(lengths):.0f} on average; "
        f"{sum(lengths) / len(sample):.0f} a set, {sum(lengths):,} in all",
        f"{sum(len(points) for s in sample for points in s.key_points.values())}: four or five a side",
        f"{sum(len(s.notes['shared_points']) for s in sample)}: one or two a set",
        f"{sum(len(s.notes['contradictions']) for s in sample)}: one to three a set",
    ):
        assert claim in readme


def test_documents_are_numbered_within_their_side(sample):
    for documents in sample:
        for side in ("left", "right"):
            ids = [document.id for document in documents.select("stance", side)]
            numbers = [int(re.fullmatch(rf"{documents.id}/{side}-(\d)", name)[1]) for name in ids]
            assert numbers[0] == 1
            assert all(b == a + 1 for a, b in pairwise(numbers))
