"""Files of installed packages: found by the packages' metadata and read where they lie; the packages are never imported.

A package whose makers are not known may hold anything. What is read of it has a registered SHA-256, and its code does not run.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class Part:
    """A file or folder that a distribution carries."""

    distribution: str
    version: str
    # seen from where packages are installed
    path: str

    @property
    def pin(self) -> str:
        """What pip calls the distribution."""
        return f"{self.distribution}=={self.version}"

    def place(self) -> Path:
        """Where the file or folder lies, or would lie.

        Raises:
            PackageNotFoundError: the distribution is not installed.
        """
        return Path(str(distribution(self.distribution).locate_file(self.path)))


class LackReason(Enum):
    """What keeps a part from being read."""

    NOT_INSTALLED = 1
    OTHER_VERSION = 2
    LOST = 3


@dataclass(frozen=True)
class Lack:
    """What keeps a part from being read, and how it goes on behind the name of its distribution."""

    part: Part
    kind: LackReason
    # the version that is there, or the file that is not; "" of a distribution that is not installed
    found: str = ""

    def __str__(self) -> str:
        descriptions = {
            LackReason.NOT_INSTALLED: "is not installed",
            LackReason.OTHER_VERSION: f"is there in version {self.found}",
            LackReason.LOST: f"has lost {self.found}",
        }
        return descriptions[self.kind]


def lack(part: Part) -> Lack | None:
    """What keeps a part from being read; None when it is there."""
    try:
        package = distribution(part.distribution)
    except PackageNotFoundError:
        return Lack(part, LackReason.NOT_INSTALLED)
    if package.version != part.version:
        return Lack(part, LackReason.OTHER_VERSION, package.version)
    return None if part.place().exists() else Lack(part, LackReason.LOST, PurePosixPath(part.path).name)


def pip_install(parts: Iterable[Part], *, again: bool = False) -> str:
    """The command that installs these parts and nothing else: what is not a wheel would run its build.

    Args:
        parts: whose distributions are wanted.
        again: whether some are there already, in another version or damaged.
    """
    pins = dict.fromkeys(part.pin for part in parts)
    return f"pip install {'--force-reinstall ' if again else ''}--no-deps --only-binary :all: {' '.join(pins)}"


def is_as_installed(part: Part) -> bool:
    """Whether a file is what pip wrote, by the hash of pip's own record; True where that has none."""
    for file in distribution(part.distribution).files or ():
        if str(file) == part.path and file.hash is not None:
            with Path(str(file.locate())).open("rb") as opened:
                hash_bytes = file_digest(opened, file.hash.mode).digest()
            return urlsafe_b64encode(hash_bytes).rstrip(b"=").decode() == file.hash.value
    return True
