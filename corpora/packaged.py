"""Corpora that are read from a package and never shipped, by the names that stand for them wherever documents are asked for.

The texts are their writers'; evenhand has the names and hashes of the files alone.
"""

from pathlib import Path

from ..errors import DataError
from ..models.packages import LackReason, lack, pip_install
from ..records import DocumentSet
from ..storage import sha256_of
from .importers import IMPORTERS, PackagedCorpus, working_importers


def packaged_corpus(name: str) -> PackagedCorpus | None:
    """The corpus that a package has and that goes by this name; None where there is none."""
    return IMPORTERS[name].corpus if name in IMPORTERS else None


def packaged_names() -> list[str]:
    """Names of the corpora that a package has."""
    return [name for name, importer in working_importers().items() if importer.corpus]


def packaged_file(name: str) -> Path:
    """Where the file of a corpus lies in its package.

    Raises:
        DataError: the package is not installed, is there in another version, or its file is another.
    """
    corpus = packaged_corpus(name)
    assert corpus is not None
    if reason := lack(corpus.part):
        command = pip_install([corpus.part], again=reason.kind is not LackReason.NOT_INSTALLED)
        raise DataError(
            f"{name}: is read from the package {corpus.part.distribution}, which {reason}; {command} "
            "(in a checkout, with its hash: make data)"
        )
    path = corpus.part.place()
    if (sha256 := sha256_of(path)) != corpus.sha256:
        raise DataError(
            f"{name}: {path} has SHA-256 {sha256}, not {corpus.sha256}; {pip_install([corpus.part], again=True)} "
            "(in a checkout, with its hash: make data)"
        )
    return path


def read_packaged(name: str, attribute: str | None = None) -> list[DocumentSet]:
    """The document sets of a corpus that a package has.

    Raises:
        DataError: as `packaged_file`, or it has no such attribute.
    """
    importer = IMPORTERS[name]
    assert importer.corpus is not None
    assert importer.read is not None
    if attribute not in (None, *importer.corpus.attributes):
        raise DataError(
            f"{name}: its documents have no attribute {attribute!r}; they have {', '.join(importer.corpus.attributes)}"
        )
    return importer.read(packaged_file(name), None).sets
