"""NLTK's data, found where they were put, and the tokens that N-gram matching compares.

`evenhand models fetch nltk` puts the data into evenhand's cache, where they are found first; then NLTK's own search path counts.
If `EVENHAND_NLTK` names a folder, it alone counts, and what is not there is absent. Nothing is downloaded on the way.

Tokens are lower case, not stop words, lemmatized and stemmed. Every step matters for published numbers: stop words of all
languages (English ones alone move the binary unfair rate by up to 2.5 points), each token tagged alone, lemma before stem. They
rest on the stop-word lists of early 2023 (29 languages) and on WordNet 3.0; later lists move the rate by under 0.1 point.

Source: Zhang et al. 2024; docs/papers.md#zhang-tokens.
"""

import hashlib
import os
import string
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from ...errors import DataError
from ...extras import need
from ...models.nltk_data import COMMAND, nltk_folder
from ...text.digests import digest
from ...text.forms import VERSION, normal_form

SETTING = "EVENHAND_NLTK"

# name for NLTK's downloader -> where NLTK keeps it, unpacked or as an archive
PLACES: dict[str, tuple[str, str]] = {
    "punkt_tab": ("tokenizers/punkt_tab/english/", "tokenizers/punkt_tab.zip/punkt_tab/english/"),
    "averaged_perceptron_tagger_eng": (
        "taggers/averaged_perceptron_tagger_eng/",
        "taggers/averaged_perceptron_tagger_eng.zip/averaged_perceptron_tagger_eng/",
    ),
    "wordnet": ("corpora/wordnet/", "corpora/wordnet.zip/wordnet/"),
    "stopwords": ("corpora/stopwords/", "corpora/stopwords.zip/stopwords/"),
    # VADER reads the archive only
    "vader_lexicon": (VADER := "sentiment/vader_lexicon.zip/vader_lexicon/vader_lexicon.txt", VADER),
}

# files of trained data, which have no version to be told by
TRAINED: dict[str, tuple[str, ...]] = {
    "punkt_tab": ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt"),
    "averaged_perceptron_tagger_eng": tuple(
        f"averaged_perceptron_tagger_eng.{part}.json" for part in ("classes", "tagdict", "weights")
    ),
}


def open_nltk(feature: str, resources: tuple[str, ...], folder: Path | None = None) -> ModuleType:
    """NLTK, with these resources at hand.

    NLTK keeps what it has read, so the first folder used in a process is the one that counts.

    Args:
        feature: what the user asked for, as the error should name it.
        resources: names of NLTK's downloader, keys of `PLACES`.
        folder: where they lie; None reads `EVENHAND_NLTK`.

    Raises:
        MissingExtra: NLTK is not installed.
        DataError: the folder or a resource is absent; all absent ones are named, with the command that gets them.
        DamagedFileError: those of the cache are not what was fetched.
    """
    nltk = need("nltk", feature)
    named = str(folder or os.environ.get(SETTING, ""))
    if named and not Path(named).is_dir():
        raise DataError(
            f"{feature} looks for NLTK's data in {named!r} ({SETTING}), which is not a folder; without {SETTING} they are found "
            f"where `{COMMAND}` puts them"
        )
    if first := named or str(nltk_folder() or ""):
        # since NLTK's readers take the first that they find
        nltk.data.path[:] = [first, *(path for path in nltk.data.path if path != first)]
    missing = [name for name in resources if not _is_there(nltk, name, named)]
    if missing:
        where = f"is not in {named}" if named else "NLTK does not find"
        remark = f"; they count where {SETTING} is not set" if named else ""
        raise DataError(
            f"{feature} needs NLTK's data ({', '.join(missing)}), which {where}. `{COMMAND}` gets all of them{remark}"
        )
    return nltk


def trained_digest(nltk: ModuleType, name: str) -> str:
    """First 6 hexadecimal digits of the SHA-256 of a resource's files, unpacked or in an archive.

    Args:
        nltk: as `open_nltk` gave it.
        name: a key of `TRAINED`, which is there.
    """
    place = _place(nltk, name)
    sha256 = hashlib.sha256()
    for file in TRAINED[name]:
        with nltk.data.find(f"{place}{file}").open() as opened:
            sha256.update(opened.read())
    return sha256.hexdigest()[:6]


def _is_there(nltk: ModuleType, name: str, folder: str) -> bool:
    """Whether NLTK's readers find a resource, and find it in the folder if there is one.

    They look everywhere for unpacked data before they open an archive, so one elsewhere can hide the folder's.
    """
    place = _place(nltk, name)
    if place is None or not folder:
        return place is not None
    try:
        return str(nltk.data.find(place)) == str(nltk.data.find(place, [folder]))
    except LookupError:
        return False


def _place(nltk: ModuleType, name: str) -> str | None:
    """The first of a resource's places where something is."""
    for place in PLACES[name]:
        try:
            nltk.data.find(place)
        except LookupError:
            continue
        return place
    return None


def english_wordnet(nltk: ModuleType) -> Any:
    """WordNet as `WordNetLemmatizer` asks it, read without the map to itself that other languages' data are found by.

    NLTK makes that map whenever it reads WordNet 3.0, which takes two thirds of the time.
    """

    class EnglishWordNet(nltk.corpus.reader.WordNetCorpusReader):  # type: ignore[misc, name-defined]
        def map_wn(self, version: str = "wordnet") -> None:
            """No map."""

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The multilingual functions")
        return EnglishWordNet(nltk.data.find(_place(nltk, "wordnet")), None)


def lemma(wordnet: Any, token: str, part: str) -> str:
    """The shortest lemma that WordNet knows of a token as this part of speech; the token itself without one."""
    return str(min(wordnet._morphy(token, part), key=len, default=token))


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
        wordnet = english_wordnet(nltk)
        stem = nltk.stem.PorterStemmer().stem

        @lru_cache(REMEMBERED)
        def reduced(token: str) -> str | None:
            """The token's stem; None for a stop token."""
            if token in stop_set:
                return None
            # a sentence of one word: the tag, and with it the lemma, depends on the token alone
            tag = tagger.tag([token])[0][1]
            return str(stem(lemma(wordnet, token, PARTS_OF_SPEECH.get(tag[:2], "n"))))

        @lru_cache(REMEMBERED)
        def counted(sentence: str) -> tuple[str, ...]:
            """The stems of a sentence; documents are read alone and, joined by value, once more."""
            words = nltk.word_tokenize(sentence, preserve_line=True)
            return tuple(stem for stem in map(reduced, words) if stem is not None)

        self._counted = counted
        self._sentences: Tokenize = nltk.sent_tokenize
        self.signature = (
            f"ngram|nltk:{nltk.__version__}|wordnet:{wordnet.get_version()}"
            f"|stop:{stop_words}-{len(stop_set)}-{digest(sorted(stop_set), 6)}"
            f"|punkt:{trained_digest(nltk, 'punkt_tab')}|tagger:{trained_digest(nltk, 'averaged_perceptron_tagger_eng')}"
            f"|text:normal-form-{VERSION}"
        )

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text's normal form; [] when nothing but stop tokens stands there."""
        return [stem for sentence in self._sentences(normal_form(text).lower()) for stem in self._counted(sentence)]
