"""Train and test sets that have nothing in common.

A corpus either names its splits, or is split here by topic with a seed. Either way no document text stands on both sides:
a summarizer that has seen the test's documents in training is not being tested. What counts as the same text is decided by
content (whatever became of its quotes, hyphens and blanks), never by a title: titles repeat over different documents,
and a repeated set may carry another id.

A topic title that occurs on both sides is handled in two ways. A seeded split keeps sets of one title together. A split that
the corpus names is taken as published: PoliSum's own has titles that occur twice over different documents, so a shared title
there is a warning, which lists the sets.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence

from ..config import CorpusSection, SplitSection
from ..errors import DataError, RecipeError
from ..records import DocumentSet
from ..text import copy_key, fold
from ..text.digests import digest
from ..text.mistakes import listed
from ..text.shown import shortened

log = logging.getLogger(__name__)


def split_sets(
    sets: Sequence[DocumentSet], section: CorpusSection, seed: int, *, trains: bool = True
) -> dict[str, list[DocumentSet]]:
    """The sets to train on and to test on, under "train" and "test", each in corpus order.

    Where the recipe names splits, the sets' own `split` decides; sets of other splits are left out, and how many is
    logged. Where it names none, topics are drawn with the seed. One side may be empty where the corpus has only the other.
    A recipe that trains nothing holds nothing back: without a named test split every set is a test set.

    Raises:
        RecipeError: only one of the two splits is named.
        DataError: no set has a named split, there are fewer than two topics to split, or a document text stands on both sides.
    """
    names = (section.train.split, section.test.split)
    if not trains:
        test = [documents for documents in sets if names[1] in (None, documents.split)]
        if sets and not test:
            _refuse_no_split(sets, [], test, section)
        return {"train": [], "test": test}
    if names == (None, None):
        train, test = _seeded(sets, section.test_share, seed)
    elif None in names:
        raise RecipeError(
            f"corpus.train.split is {names[0]!r} and corpus.test.split is {names[1]!r}: name both, "
            "or write null for both to split by topic with the seed"
        )
    else:
        train, test = ([documents for documents in sets if documents.split == name] for name in names)
        _refuse_no_split(sets, train, test, section)
        titles = {title: documents.id for documents in reversed(train) for title in _title(documents)}
        for documents in test:
            for title in sorted(titles.keys() & _title(documents)):
                log.warning("corpus: test set %r has the title of train set %r", documents.id, titles[title])
    refuse_leakage(train, test)
    return {"train": train, "test": test}


def choose(sets: Sequence[DocumentSet], section: SplitSection) -> list[DocumentSet]:
    """The first `limit` sets of a split, all of them without a limit.

    Raises:
        DataError: the split is empty.
    """
    if not sets:
        raise DataError(
            f"no document set has the split {shortened(section.split)}, which this phase needs; "
            "name one that the corpus has with corpus.train.split or corpus.test.split"
        )
    return list(sets[: section.limit])


def refuse_leakage(train: Sequence[DocumentSet], test: Sequence[DocumentSet]) -> None:
    """Refuse a split in which a document text or a copy of it (`copy_key`) stands on both sides.

    Raises:
        DataError: texts are shared; the sets that share them are listed.
    """
    homes: dict[str, list[str]] = {}
    for documents in train:
        for text in _texts(documents):
            homes.setdefault(text, []).append(documents.id)
    shared = [
        f"test set {documents.id!r} has a document of train set {train_id!r}"
        for documents in test
        for train_id in dict.fromkeys(home for text in _texts(documents) for home in homes.get(text, ()))
    ]
    if shared:
        raise DataError(
            listed(shared)
            + "\nA test on documents seen in training measures nothing: give both sets the same split, take one of them out, "
            "or write null for corpus.train.split and corpus.test.split to split by topic with the seed"
        )


def _seeded(sets: Sequence[DocumentSet], test_share: float, seed: int) -> tuple[list[DocumentSet], list[DocumentSet]]:
    """Whole topics drawn for the test. The draw depends on seed and content, not on ids or on the order of the file."""
    topics = _topics(sets)
    if len(set(topics)) < 2:
        raise DataError(
            f"{len(sets)} document sets of {len(set(topics))} topic cannot be split by topic (sets with one title or one "
            "document in common are one topic); give the sets their own `topic`, or name splits in the corpus"
        )
    order = sorted(set(topics), key=lambda topic: digest([seed, topic]))
    # at least one topic on each side
    n_test = min(max(1, round(test_share * len(order))), len(order) - 1)
    held_back = set(order[:n_test])
    train = [documents for documents, topic in zip(sets, topics, strict=True) if topic not in held_back]
    test = [documents for documents, topic in zip(sets, topics, strict=True) if topic in held_back]
    return train, test


def _topics(sets: Sequence[DocumentSet]) -> list[str]:
    """For each set, the name of its topic: sets that share a title or a document text have the same one."""
    roots = joined([[*_title(documents), *_texts(documents)] for documents in sets])
    names: dict[str, str] = {}
    for root, documents in zip(roots, sets, strict=True):
        # named by its texts as they are spelled, so that a seed draws what it always drew
        spelled = min(f"text {digest(fold(document.text).casefold())}" for document in documents.documents)
        names[root] = min(spelled, names.get(root, spelled))
    return [names[root] for root in roots]


def joined(marks_of: Sequence[Sequence[str]]) -> list[str]:
    """For each member, the first mark in the alphabet of all members that it shares a mark with, directly or by way of others.

    Args:
        marks_of: of each member its marks, at least one.
    """
    parent: dict[str, str] = {}

    def root(mark: str) -> str:
        while parent.setdefault(mark, mark) != mark:
            mark = parent[mark]
        return mark

    for marks in marks_of:
        for mark in marks:
            # the smaller one leads, so that the order of the members does not matter
            low, high = sorted((root(marks[0]), root(mark)))
            parent[high] = low
    return [root(marks[0]) for marks in marks_of]


def _title(documents: DocumentSet) -> list[str]:
    """What copies of the title share, marked as a title; [] for a set without one."""
    return [f"title {copy_key(documents.topic)}"] if documents.topic.strip() else []


def _texts(documents: DocumentSet) -> list[str]:
    """Digests of what copies of the set's document texts share."""
    return [f"text {digest(copy_key(document.text))}" for document in documents.documents]


def _refuse_no_split(
    sets: Iterable[DocumentSet], train: Sequence[DocumentSet], test: Sequence[DocumentSet], section: CorpusSection
) -> None:
    """Refuse names that no set has, and log how many sets stand outside the named splits."""
    counts = Counter(documents.split for documents in sets)
    if not train and not test:
        has = ", ".join(sorted(shortened(name) for name in counts if name is not None)) or "no splits at all"
        raise DataError(
            f"no document set has the split {shortened(section.train.split)} or {shortened(section.test.split)}; the corpus "
            f"has {has}. Name these, or write null for corpus.train.split and corpus.test.split to split by topic with the seed"
        )
    for name, count in counts.items():
        if name not in (section.train.split, section.test.split):
            log.warning("corpus: %d sets left out, their split is %r", count, name)
