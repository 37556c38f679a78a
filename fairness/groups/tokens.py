"""The tokens that N-gram matching compares: lower case, no stop words, lemma, stem.

Every step matters for published numbers: stop words of all languages (English ones alone move the binary unfair rate by up to
2.5 points), each token tagged alone, lemma before stem. Source: Zhang et al. 2024; docs/papers.md#zhang-tokens.
"""

import string
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ...extras import need
from ...storage import digest
from .nltk_data import open_nltk, trained_digest

Tokenize = Callable[[str], list[str]]

RESOURCES = ("punkt_tab", "averaged_perceptron_tagger_eng", "wordnet", "stopwords")
# besides punctuation and stop words: a separator of documents, the word that stands for everybody, quotes and dots
EXTRA_STOP_TOKENS = ("||", "people", "''", "``", "...", "..")
# first two letters of a tag -> WordNet's part of speech; every other tag counts as a noun
PARTS_OF_SPEECH = {"NN": "n", "JJ": "a", "VB": "v", "RB": "r"}
# distinct tokens whose stem is remembered
REMEMBERED = 1 << 18


class NgramTokenizer:
    """Turns a text into the tokens that count, in order, repeated ones as often as they stand there."""

    def __init__(self, stop_words: Literal["all", "english"] = "all", folder: Path | None = None) -> None:
        """Read the language resources (about two seconds).

        Args:
            stop_words: "all" languages of NLTK's corpus, as published, or only "english".
            folder: of NLTK's data; None reads `EVENHAND_NLTK`.

        Raises:
            MissingExtra: NLTK is not installed.
            DataError: some of NLTK's data is absent.
        """
        nltk = open_nltk("the N-gram token pipeline", RESOURCES, folder)
        listed = nltk.corpus.stopwords.words(None if stop_words == "all" else stop_words)
        stop_set = frozenset(listed).union(string.punctuation, EXTRA_STOP_TOKENS)
        tagger = need("nltk.tag.perceptron", "the N-gram token pipeline").PerceptronTagger()
        lemmatize = nltk.stem.WordNetLemmatizer().lemmatize
        stem = nltk.stem.PorterStemmer().stem

        @lru_cache(REMEMBERED)
        def reduced(token: str) -> str | None:
            """The token's stem; None for a stop token."""
            if token in stop_set:
                return None
            # a sentence of one word: the tag, and with it the lemma, depends on the token alone
            tag = tagger.tag([token])[0][1]
            return str(stem(lemmatize(token, PARTS_OF_SPEECH.get(tag[:2], "n"))))

        self._reduced = reduced
        self._split: Tokenize = nltk.word_tokenize
        reduced("warm")  # WordNet is read when it is first asked
        self.signature = (
            f"ngram|nltk:{nltk.__version__}|wordnet:{nltk.corpus.wordnet.get_version()}"
            f"|stop:{stop_words}-{len(stop_set)}-{digest(sorted(stop_set), 6)}"
            f"|punkt:{trained_digest(nltk, 'punkt_tab')}|tagger:{trained_digest(nltk, 'averaged_perceptron_tagger_eng')}"
        )

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text; [] when nothing but stop tokens stands there."""
        return [stem for stem in map(self._reduced, self._split(text.lower())) if stem is not None]
