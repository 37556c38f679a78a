"""One file of finished runs, to be carried elsewhere: every run in it is accepted by `evenhand run verify`.

What several runs have in common stands once, as hard links; checkpoints, and what a changed recipe has superseded, are left out.
"""

import gzip
import tarfile
from pathlib import Path

from ..storage import sha256_of

LEFT_OUT = frozenset(("checkpoints", "superseded", ".lock"))


def write_bundle(folder: Path, target: Path) -> str:
    """Put a folder with runs into a compressed tar archive; the archive's SHA-256. Equal files give equal bytes.

    Args:
        folder: of the runs; the archive has its name at the top.
        target: file that the archive replaces.

    Raises:
        OSError: a file cannot be read or written.
    """
    name_by_digest: dict[str, str] = {}
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
    return sha256_of(target)


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
