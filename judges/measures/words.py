"""Matching by words: the values whose words the summary uses. Nothing is loaded but word lists.

`ngram` is the published pipeline (stop words of all languages, lemma, stem) and needs NLTK's data. `words` takes content words as
they stand and runs anywhere; its numbers are its own, are named so, and are not to be compared with published ones.
Source: Zhang et al. 2024, section 3.2; docs/papers.md#zhang-tokens.
"""

import os
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from sys import intern
from typing import Literal

from ...config.fairness import MatcherSection
from ...fairness.content_tokens import VERSION, content_tokens
from ...fairness.groups.masses import EMPTY_SUMMARY, Masses, Unscored, n_matched
from ...fairness.groups.taste import Credit, Source, read_source
from ...fairness.groups.tokens import SETTING, NgramTokenizer, Tokenize
from ...fairness.labelled import LabelledSource, LabelledSummary
from ...text import sentences
from ...text.forms import normal_form
from ..shared import NoModel, SharedModels

WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
# texts whose tokens are remembered: those of about 1,500 document sets, which several families of an audit read; of long ones
# (800 words) they take 270 MiB
REMEMBERED = 1 << 14
# document sets whose sentences are remembered
MOST_SETS = 1 << 12
# changes when `content_tokens` does
WORDS_SIGNATURE = f"words|content-tokens|v:{VERSION}"


class WordMatcher(NoModel):
    """Masses by tokens in common."""

    def __init__(self, name: str, signature: str, tokenize: Tokenize) -> None:
        self.name = name
        self.signature = signature
        # documents are read as values' texts and as sentences; a token that many of them have is kept once
        self._tokenize = lru_cache(REMEMBERED)(lambda text: [*map(intern, tokenize(text))])
        # the last document set, of which every sentence of a summary may be asked
        self._source = lru_cache(maxsize=1)(self._read_source)
        # of all sets, as all families and systems learn from the same
        self._sentences = lru_cache(MOST_SETS)(self._read_sentences)

    def _read_source(
        self, documents: tuple[LabelledSource, ...], values: tuple[str, ...], separator: str
    ) -> tuple[tuple[int, ...], tuple[frozenset[str], ...]]:
        """Number of tokens of each value's text, and which they are."""
        texts = LabelledSummary("", values, documents, "", separator).value_texts()
        tokens = [self._tokenize(text) for text in texts]
        return tuple(map(len, tokens)), tuple(map(frozenset, tokens))

    def masses(self, items: Sequence[LabelledSummary]) -> list[Masses | Unscored]:
        """Masses of each item's declared values."""
        found: list[Masses | Unscored] = []
        for item in items:
            if not item.summary.strip():
                found.append(Unscored(EMPTY_SUMMARY))
                continue
            n_tokens, vocabularies = self._source(item.documents, item.values, item.separator)
            matched = n_matched(vocabularies, self._tokenize(item.summary))
            found.append(Masses(n_tokens, tuple(matched), item.values))
        return found

    def credit(self, item: LabelledSummary) -> Credit:
        """The summary's words, shared out among the sentences of its documents."""
        source = self._sentences(item.documents)
        return Credit(source, source.credit(self._tokenize(item.summary)), len(sentences(item.summary)))

    def _read_sentences(self, documents: tuple[LabelledSource, ...]) -> Source:
        return read_source([document.sentences or sentences(document.text) for document in documents], self._tokenize)

    def matched_words(self, item: LabelledSummary) -> dict[str, tuple[str, ...]]:
        """By value the words of the summary that its text has, as they are written there, each once; none of a value without."""
        tokens = list(dict.fromkeys(self._tokenize(item.summary)))
        # a word alone may be read otherwise than in its sentence: then the token stands for itself
        written = {token: word for word in WORD.findall(normal_form(item.summary)) for token in self._tokenize(word)}
        _, vocabularies = self._source(item.documents, item.values, item.separator)
        by_value = zip(item.values, vocabularies, strict=True)
        return {
            value: tuple(written.get(token, token) for token in tokens if token in has)
            for value, has in by_value
            if not has.isdisjoint(tokens)
        }

    def tokens(self, text: str) -> list[str]:
        """The words of a text that count."""
        return self._tokenize(text)


def open_ngram_matcher(section: MatcherSection, models: SharedModels) -> WordMatcher:
    """The published N-gram matching.

    Raises:
        MissingExtra: NLTK is not installed.
        DataError: some of NLTK's data is absent.
    """
    tokenizer = ngram_tokenizer(section.stop_words)
    return WordMatcher("ngram", tokenizer.signature, tokenizer)


def open_word_matcher(section: MatcherSection, models: SharedModels) -> WordMatcher:
    """Matching of content words."""
    return WordMatcher("words", WORDS_SIGNATURE, content_tokens)


def source_counter(section: MatcherSection) -> tuple[str, Tokenize]:
    """What counts the sources for matchers with a model: its signature, and the function from text to tokens.

    Raises:
        MissingExtra: NLTK is not installed.
        DataError: some of NLTK's data is absent.
    """
    if section.tokens == "words":
        return WORDS_SIGNATURE, content_tokens
    tokenizer = ngram_tokenizer(section.stop_words)
    return tokenizer.signature, tokenizer


def ngram_tokenizer(stop_words: Literal["all", "english"]) -> NgramTokenizer:
    """The token pipeline; its resources are read once a process."""
    return _read(stop_words, os.environ.get(SETTING, ""))


@cache
def _read(stop_words: Literal["all", "english"], folder: str) -> NgramTokenizer:
    return NgramTokenizer(stop_words)
