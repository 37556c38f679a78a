"""NLTK's data files: found in a folder that the user names, never downloaded on the way.

`EVENHAND_NLTK` names the folder, and what is not there is absent then; without it NLTK's own search path counts. To get the
files:

    python -m nltk.downloader -d ~/nltk punkt_tab averaged_perceptron_tagger_eng wordnet stopwords vader_lexicon
    export EVENHAND_NLTK=~/nltk

Published numbers rest on the stop-word lists of early 2023 (29 languages) and on WordNet 3.0; later lists move the binary
unfair rate by under 0.1 point. Source: docs/papers.md#zhang-tokens.
"""

import hashlib
import os
from pathlib import Path
from types import ModuleType

from ...errors import DataError
from ...extras import need

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
    """
    nltk = need("nltk", feature)
    named = str(folder or os.environ.get(SETTING, ""))
    if named:
        if not Path(named).is_dir():
            raise DataError(f"{feature} looks for NLTK's data in {named!r} ({SETTING}), which is no folder")
        # first, since NLTK's readers take the first that they find
        nltk.data.path[:] = [named, *(each for each in nltk.data.path if each != named)]
    missing = [name for name in resources if not _is_there(nltk, name, named)]
    if missing:
        raise DataError(
            f"{feature} needs NLTK's data {', '.join(missing)}, which is not in {named or 'the search path of NLTK'}: "
            f"python -m nltk.downloader -d FOLDER {' '.join(missing)}, then set {SETTING}=FOLDER"
        )
    return nltk


def trained_digest(nltk: ModuleType, name: str) -> str:
    """First 6 hexadecimal digits of the SHA-256 of a resource's files, unpacked or in an archive.

    Args:
        nltk: as `open_nltk` gave it.
        name: a key of `TRAINED`, which is there.
    """
    place = _place(nltk, name)
    found = hashlib.sha256()
    for file in TRAINED[name]:
        with nltk.data.find(f"{place}{file}").open() as opened:
            found.update(opened.read())
    return found.hexdigest()[:6]


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
