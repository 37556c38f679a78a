"""One file of runs, to be carried elsewhere, where `evenhand run verify` holds the finished ones to their cards.

    python -m evenhand.benchmarks.bundle FOLDER

What several runs have in common stands once, as hard links; checkpoints, and what a changed recipe has superseded, are left out.
"""

import gzip
import sys
import tarfile
from pathlib import Path

from ..storage import sha256_of

LEFT_OUT = frozenset(("checkpoints", "superseded", ".lock"))


def write_bundle(folder: Path) -> tuple[Path, str]:
    """Put a folder with runs into FOLDER.tar.gz beside it; that and its SHA-256. Equal files give equal bytes.

    Raises:
        OSError: a file cannot be read or written.
    """
    name_by_digest: dict[str, str] = {}
    target = folder.with_name(folder.name + ".tar.gz")
    unfinished = target.with_name(target.name + ".part")
    with (
        unfinished.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            inside = path.relative_to(folder)
            if LEFT_OUT.isdisjoint(inside.parts):
                _add(archive, path, (folder.name / inside).as_posix(), name_by_digest)
    unfinished.replace(target)
    return target, sha256_of(target)


def _add(archive: tarfile.TarFile, path: Path, name: str, name_by_digest: dict[str, str]) -> None:
    entry = tarfile.TarInfo(name)
    first = name_by_digest.setdefault(sha256_of(path), name)
    if first != name:
        entry.type, entry.linkname = tarfile.LNKTYPE, first
        archive.addfile(entry)
        return
    entry.size = path.stat().st_size
    with path.open("rb") as content:
        archive.addfile(entry, content)


def main(folder: Path) -> None:
    """Write the file, and print its name and SHA-256."""
    print("bundle: {}, SHA-256 {}".format(*write_bundle(folder)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
