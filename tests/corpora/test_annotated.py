"""Annotated articles: the bundled ones, JSON lines of one's own, and the released evidence file."""

import json

import pytest

from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus
from evenhand.corpora.annotated import SAMPLE, read_annotated
from evenhand.corpora.controlled import read_controlled
from evenhand.errors import DataError

ARTICLE = {
    "id": "ferry/left",
    "topic": "The ferry",
    "side": "left",
    "passages": ["The ferry is cheap.", "Nurses need it."],
    "excerpts": [{"passage": 0, "text": "cheap"}, {"passage": 1, "text": "Nurses need it."}],
}


def lines(folder, *articles):
    path = folder / "articles.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in articles))
    return str(path)


def refusal(path):
    with pytest.raises(DataError) as caught:
        read_annotated(path)
    return str(caught.value)


def test_bundled_articles_are_the_sample_corpus_documents_and_their_spans():
    sets = {each.id: each for each in load_corpus(CorpusSection())}
    articles = read_annotated(SAMPLE)
    assert len(articles) == 8
    assert sum(len(each.excerpts) for each in articles) == 34
    assert sum(len(each.key_points) for each in articles) == 25
    for article in articles:
        documents = sets[article.id.partition("/")[0]]
        assert article.topic == documents.topic
        assert article.passages == tuple(d.text for d in documents.select("stance", article.side))
        for excerpt in article.excerpts:
            spans = excerpt.text.split(". ")
            assert all(span.removesuffix(".") in article.passages[excerpt.passage] for span in spans), excerpt
        assert all(point.startswith("The article argues that ") for point in article.key_points)


@pytest.mark.parametrize("title", ["The ferry", "\u201cThe Ferry\u201d"])
def test_articles_of_a_topic_answer_each_other(tmp_path, title):
    right = ARTICLE | {"id": "ferry/right", "side": "right", "topic": title}
    articles = read_annotated(lines(tmp_path, ARTICLE, right, ARTICLE | {"id": "bridge", "topic": "The bridge"}))
    assert [[other.id for other in each.others(articles)] for each in articles] == [["ferry/right"], ["ferry/left"], []]


def test_key_points_are_counted_before_they_are_written(tmp_path):
    given = ARTICLE | {"id": "b", "side": "b", "excerpts": [], "key_points": ["One.", "Two.", "Three."]}
    none = ARTICLE | {"id": "c", "side": "c", "excerpts": []}
    assert [each.n_key_points for each in read_annotated(lines(tmp_path, ARTICLE, given, none))] == [2, 3, 0]


def test_all_mistakes_of_a_file_are_told_with_their_lines(tmp_path):
    path = lines(
        tmp_path,
        ARTICLE,
        ARTICLE | {"id": "twice"},
        ARTICLE | {"side": "right"},
        ARTICLE | {"id": "far", "side": "x", "excerpts": [{"passage": 2, "text": "cheap"}]},
        ARTICLE | {"id": "short", "side": "y", "key_points": ["One."]},
        {key: value for key, value in ARTICLE.items() if key != "side"} | {"id": "nowhere"},
    )
    told = refusal(path)
    for claim in (
        "jsonl:2: topic 'The ferry' has an article of side 'left' in line 1 already",
        "jsonl:3: id 'ferry/left' occurs in line 1 already",
        "jsonl:4: 'record': an excerpt is of passage 2, but there are 2, counted from 0",
        "jsonl:5: 'record': has 2 excerpts, but 1 key points",
        "jsonl:6: article 'nowhere' has neither a side nor opposite points",
    ):
        assert claim in told
    assert len(told.splitlines()) == 5


def test_a_file_without_articles_is_refused(tmp_path):
    assert "is empty" in refusal(lines(tmp_path))
    (tmp_path / "empty.json").write_text("[]")
    assert "is not a JSON list" in refusal(str(tmp_path / "empty.json"))


RELEASED = {
    "topic": "The ferry",
    "source": ["The ferry  is cheap.", "Nurses need it."],
    "excerpts": [{"article": "Nurses need it.", "excerpt": "Nurses"}],
    "evidence": {"relevant": ["Needed."], "opposite": ["Dear.", "Slow."], "adversarial": ["Not needed."]},
}


def test_released_entry_has_its_points_and_the_place_of_its_excerpts(tmp_path):
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps([RELEASED]))
    (article,) = read_annotated(str(path))
    assert (article.side, article.excerpts[0].passage, article.n_key_points) == (None, 1, 1)
    assert (article.key_points, article.opposite, article.adversarial) == (
        ("Needed.",), ("Dear.", "Slow."), ("Not needed.",)
    )  # fmt: skip


def test_released_mistakes_are_told_together(tmp_path):
    path = tmp_path / "evidence.json"
    strange = RELEASED | {"excerpts": [{"article": "A bridge.", "excerpt": "bridge"}]}
    path.write_text(json.dumps([strange, RELEASED, {"topic": "The ferry"}]))
    told = refusal(str(path))
    assert "entry 1: 1 excerpts are of passages that 'source' does not have: 'A bridge.'" in told
    assert "entry 3: 'source': is missing" in told
    assert "entry 2" not in told


def test_released_evidence_belongs_to_the_released_sets(polisum):
    articles = read_annotated(str(polisum / "evidence_dev.json"))
    sets = read_controlled(polisum / "controlled_dev.json", polisum / "evidence_dev.json")
    assert [(a.id, a.topic, a.passages, a.key_points) for a in articles] == [
        (s.id, s.topic, s.passages, s.key_points) for s in sets
    ]
    # the released evidence file: one adversarial point for each key point
    assert all(len(a.adversarial) == len(a.key_points) == len(a.excerpts) for a in articles)
