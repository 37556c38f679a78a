"""Splits: nothing of the test has been seen in training."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config import CorpusSection, SplitSection
from evenhand.corpora.splits import choose, refuse_leakage, split_sets
from evenhand.errors import DataError, RecipeError
from evenhand.records import Document, DocumentSet

SEEDED = CorpusSection(train=SplitSection(), test=SplitSection(), test_share=0.25)


def a_set(name: str, *texts: str, topic: str | None = None, split: str | None = None) -> DocumentSet:
    texts = texts or (f"{name} says this", f"{name} says that")
    documents = tuple(
        Document(id=f"{name}/{n}", text=text, attributes={"stance": "left"}) for n, text in enumerate(texts)
    )
    return DocumentSet(id=name, topic=name if topic is None else topic, documents=documents, split=split)


def ids(sets):
    return [documents.id for documents in sets]


def test_named_splits_are_taken_from_the_corpus_in_its_order():
    sets = [a_set("c", split="train"), a_set("a", split="test"), a_set("b", split="train")]
    split = split_sets(sets, CorpusSection(), seed=1)
    assert ids(split["train"]) == ["c", "b"]
    assert ids(split["test"]) == ["a"]


def test_sets_of_other_splits_are_left_out_and_counted(caplog):
    sets = [
        a_set("a", split="train"),
        a_set("b", split="test"),
        a_set("c", split="dev"),
        a_set("d", split="dev"),
        a_set("e"),
    ]
    with caplog.at_level(logging.WARNING):
        split = split_sets(sets, CorpusSection(), seed=1)
    assert ids(split["train"] + split["test"]) == ["a", "b"]
    assert "2 sets left out, their split is 'dev'" in caplog.text
    assert "1 sets left out, their split is None" in caplog.text


def test_a_corpus_without_the_named_splits_is_refused_with_a_way_out():
    with pytest.raises(DataError, match=r"split 'train' or 'test'; the corpus has no splits at all.*write null"):
        split_sets([a_set("a"), a_set("b")], CorpusSection(), seed=1)
    with pytest.raises(DataError, match=r"the corpus has 'dev'"):
        split_sets([a_set("a", split="dev")], CorpusSection(), seed=1)


def test_naming_only_one_split_is_refused():
    with pytest.raises(RecipeError, match="name both, or write null for both"):
        split_sets([a_set("a", split="train")], CorpusSection(test=SplitSection()), seed=1)


def test_a_corpus_for_testing_alone_can_be_split_but_not_trained_on():
    split = split_sets([a_set("a", split="test")], CorpusSection(), seed=1)
    assert ids(choose(split["test"], CorpusSection().test)) == ["a"]
    with pytest.raises(DataError, match="no document set has the split 'train'"):
        choose(split["train"], CorpusSection().train)


def test_limit_takes_the_first_sets():
    sets = [a_set(name) for name in "abc"]
    assert ids(choose(sets, SplitSection(limit=2))) == ["a", "b"]
    assert ids(choose(sets, SplitSection(limit=9))) == ["a", "b", "c"]
    assert ids(choose(sets, SplitSection())) == ["a", "b", "c"]


@pytest.mark.parametrize(("n", "n_test"), [(2, 1), (3, 1), (4, 1), (8, 2), (20, 5), (32, 8)])
def test_a_seeded_split_holds_back_its_share_of_the_topics(n, n_test):
    split = split_sets([a_set(f"topic {i}") for i in range(n)], SEEDED, seed=3)
    assert (len(split["train"]), len(split["test"])) == (n - n_test, n_test)


def test_the_seed_decides_and_the_same_seed_decides_the_same():
    sets = [a_set(f"topic {i}") for i in range(20)]
    first, again = split_sets(sets, SEEDED, seed=3), split_sets(sets, SEEDED, seed=3)
    others = [ids(split_sets(sets, SEEDED, seed=seed)["test"]) for seed in range(4, 10)]
    assert first == again
    assert any(other != ids(first["test"]) for other in others)


def test_order_of_the_file_and_ids_do_not_change_who_is_held_back():
    sets = [a_set(f"topic {i}") for i in range(20)]
    renamed = [documents.model_copy(update={"id": f"new {n}"}) for n, documents in enumerate(reversed(sets))]
    first = {documents.topic for documents in split_sets(sets, SEEDED, seed=3)["test"]}
    assert {documents.topic for documents in split_sets(renamed, SEEDED, seed=3)["test"]} == first


def test_sets_of_one_title_stay_together_whatever_its_case_and_spaces():
    sets = [
        a_set(f"s{i}", topic=title) for i, title in enumerate(["The Wall", "the  wall", "THE WALL ", "Other", "Third"])
    ]
    for seed in range(20):
        split = split_sets(sets, SEEDED, seed)
        homes = {name for name, part in split.items() for documents in part if documents.id in ("s0", "s1", "s2")}
        assert len(homes) == 1


# what a copy of a text may have become, which no reader takes for another text
COPIES = [
    ("Biden's plan", "Biden\u2019s plan"),
    ("Pre-election talk", "Pre\u2013election  Talk"),
    ('"It is cheap", he said.', "\u201cIt is cheap,\u201d he said"),
    ("The ferry\u00ad is cheap", "The ferry is cheap"),
    ("caf\u00e9", "cafe\u0301"),
    ("Biden's", "Biden\u00b4s"),
    ("Great \u2764\ufe0f", "great \u2764!"),
    ("From 2019-2020 on.", "From 2019\u20132020 on"),
    ("At \u22121 degrees", "at -1 degrees"),
]
OTHERS = [
    ("+", "-"),
    ("The ferry is cheap", "The ferry is cheaper"),
    ("\u0926\u093f\u0928", "\u0926\u093e\u0928"),
    ("C", "C++"),
    ("C", "C#"),
    ("Great phone \U0001f44d", "Great phone \U0001f44e"),
    ("Tax > 5 %", "Tax < 5 %"),
    ("5 % more", "5 more"),
    ("$3.50", "$350"),
    ("1/2", "12"),
    ("+1", "-1"),
    ("At -1 degrees", "At 1 degrees"),
]


@pytest.mark.parametrize("of", ["title", "text"])
@pytest.mark.parametrize(("one", "other"), [*COPIES, *OTHERS])
def test_copies_of_a_title_or_a_text_stay_together_and_others_do_not(one, other, of):
    pair = [
        a_set(name, "x" + name if of == "title" else text, topic=text if of == "title" else name)
        for name, text in (("a", one), ("b", other))
    ]
    sets = [*pair, *(a_set(name) for name in "cdefgh")]
    homes = [
        {name for name, part in split_sets(sets, SEEDED, seed).items() for documents in part if documents.id in "ab"}
        for seed in range(20)
    ]
    assert any(len(names) == 2 for names in homes) == ((one, other) in OTHERS)


@pytest.mark.parametrize(("one", "other"), COPIES)
def test_a_copy_on_both_sides_of_a_named_split_is_refused(one, other):
    sets = [a_set("a", one, split="train"), a_set("b", other, split="test")]
    with pytest.raises(DataError, match="test set 'b' has a document of train set 'a'"):
        split_sets(sets, CorpusSection(), seed=1)


def test_a_seed_draws_what_it_drew_in_earlier_versions():
    # by version 0.2.0, which told texts apart by white space and case alone
    sets = [a_set(f"topic {i}") for i in range(20)]
    assert ids(split_sets(sets, SEEDED, seed=3)["test"]) == [f"topic {i}" for i in (3, 5, 11, 15, 19)]


def test_sets_that_share_a_text_stay_together_also_through_a_third_set():
    # a and b share a text, b and c share another, so a and c must not be torn apart
    sets = [
        a_set("a", "one", "two"),
        a_set("b", "Two ", "three"),
        a_set("c", "THREE", "four"),
        a_set("d"), a_set("e"), a_set("f"),
    ]  # fmt: skip
    for seed in range(20):
        split = split_sets(sets, SEEDED, seed)
        assert len({name for name, part in split.items() for documents in part if documents.id in "abc"}) == 1


def test_sets_without_a_title_are_topics_of_their_own():
    split = split_sets([a_set(name, topic="") for name in "abcd"], SEEDED, seed=1)
    assert (len(split["train"]), len(split["test"])) == (3, 1)


def test_a_single_topic_cannot_be_split():
    with pytest.raises(DataError, match=r"2 document sets of 1 topic cannot be split by topic"):
        split_sets([a_set("a", topic="x"), a_set("b", topic="X")], SEEDED, seed=1)


def test_a_text_on_both_sides_of_a_named_split_is_refused_and_every_pair_named():
    sets = [
        a_set("train-1", "The  ferry is cheap.", "x", split="train"),
        a_set("train-2", "the ferry is cheap.", split="train"),
        a_set("train-3", "innocent", split="train"),
        a_set("test-1", "y", "The ferry\nis cheap.", split="test"),
        a_set("test-2", "blameless", split="test"),
    ]
    with pytest.raises(DataError) as caught:
        split_sets(sets, CorpusSection(), seed=1)
    assert str(caught.value).splitlines()[:2] == [
        "test set 'test-1' has a document of train set 'train-1'",
        "test set 'test-1' has a document of train set 'train-2'",
    ]
    assert "train-3" not in str(caught.value)
    assert "test-2" not in str(caught.value)


def test_the_same_split_for_training_and_testing_is_leakage():
    section = CorpusSection(train=SplitSection(split="all"), test=SplitSection(split="all"))
    with pytest.raises(DataError, match="test set 'a' has a document of train set 'a'"):
        split_sets([a_set("a", split="all")], section, seed=1)


def test_a_title_on_both_sides_of_a_named_split_is_a_warning(caplog):
    sets = [a_set("a", topic="Impeachment", split="train"), a_set("b", topic="impeachment", split="test")]
    with caplog.at_level(logging.WARNING):
        split = split_sets(sets, CorpusSection(), seed=1)
    assert ids(split["test"]) == ["b"]
    assert "test set 'b' has the title of train set 'a'" in caplog.text


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 12), st.integers(0, 12)), min_size=2, max_size=20),
    st.integers(0, 9),
)
def test_whatever_is_shared_a_seeded_split_never_leaks(sketch, seed):
    sets = [a_set(f"s{i}", f"text {a}", f"text {b}", topic=f"t{t}") for i, (t, a, b) in enumerate(sketch)]
    try:
        split = split_sets(sets, SEEDED, seed)
    except DataError as error:
        assert "of 1 topic cannot be split" in str(error)
        return
    refuse_leakage(split["train"], split["test"])
    assert {s.topic for s in split["train"]}.isdisjoint(s.topic for s in split["test"])
    assert sorted(ids(split["train"] + split["test"])) == sorted(ids(sets))
    assert split["train"]
    assert split["test"]
