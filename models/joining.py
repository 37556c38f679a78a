"""Parts of packages become a model's file or folder.

What a killed process has written is continued at its last byte, and hashed whole at the end all the same. A zip is read when its
own hash is the registered one, and its files come out by the names that the registry expects; nothing else in it is read.
"""

import errno
import hashlib
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from ..errors import UnfitModelError
from ..extras import no_bars
from ..storage import sha256_of
from .cache import remove, whole_folder
from .embedded import EmbeddedModel
from .packages import is_as_installed, pip_install

BLOCK = 1 << 20
# of a file beside the weights; a zip that says more is not unpacked
MOST_BYTES_OF_SETTINGS = 1 << 26
# what damaged zips raise; errors of the file system are none of them
NO_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


class AnotherError(Exception):
    """What was joined is not the model; the text says in what."""


def from_packages(model: EmbeddedModel, target: Path) -> None:
    """Make a model's file or folder of the packages that are installed.

    Raises:
        UnfitModelError: a part cannot be read, or the parts are not those of the model. Nothing is left of what was joined.
        OSError: the file system fails.
    """
    parts = [part.place() for part in model.parts]
    refuse_unreadable(model, parts)
    unfinished, finish = unfinished_file(target), _unzip if model.how == "zipped" else _rename
    # a disk that lost power may hold other bytes than were written: what was continued is tried once more from its first byte
    if _join(parts, unfinished):
        try:
            _finish(finish, model, unfinished, target)
        except AnotherError:
            _join(parts, unfinished)
        else:
            return
    try:
        _finish(finish, model, unfinished, target)
    except AnotherError as error:
        raise UnfitModelError(
            f"embedded model {model.name!r}: {error}; what was assembled is removed. {_remedy(model)}"
        ) from error


def _finish(
    finish: Callable[[EmbeddedModel, Path, Path], None], model: EmbeddedModel, unfinished: Path, target: Path
) -> None:
    """Make the joined file the model, or take it away, whatever is wrong with it; only what is not joined yet is continued."""
    try:
        finish(model, unfinished, target)
    finally:
        remove(unfinished)


def _remedy(model: EmbeddedModel) -> str:
    if damaged := [part for part in model.parts if not is_as_installed(part)]:
        return f"Some packages are not what pip installed any more: {pip_install(damaged, again=True)}"
    return (
        f"The packages are as pip installed them, so one holds something else; install those whose hashes {model.lock} has "
        f"(in a checkout: {model.target})"
    )


def refuse_unreadable(model: EmbeddedModel, files: Sequence[Path]) -> None:
    """Refuse parts that are no files, or may not be read; all are told.

    Raises:
        UnfitModelError: there are some.
    """
    wrong = []
    for part, file in zip(model.parts, files, strict=True):
        try:
            with file.open("rb"):
                pass
        except OSError as error:
            wrong.append((part, f"{file} cannot be read: {error.strerror}"))
    if wrong:
        raise UnfitModelError(
            f"embedded model {model.name!r}: {'; '.join(reason for _, reason in wrong)}; mend its rights, or install it again: "
            f"{pip_install((part for part, _ in wrong), again=True)}"
        )


def unfinished_file(target: Path) -> Path:
    """Where parts are joined."""
    return target.with_name(target.name + ".part")


def _join(parts: Sequence[Path], unfinished: Path) -> bool:
    """Write what is not yet written of the parts in a row; whether some of it had been."""
    sizes = [part.stat().st_size for part in parts]
    done = unfinished.stat().st_size if unfinished.is_file() else 0
    if done > sum(sizes) or not unfinished.is_file():
        remove(unfinished)
        done = 0
    with unfinished.open("ab") as file, _bar(sum(sizes), done) as bar:
        for part, size, end in zip(parts, sizes, accumulate(sizes), strict=True):
            if end <= done:
                continue
            with part.open("rb") as source:
                source.seek(max(0, done - (end - size)))
                _copy(source, file, bar)
        file.flush()
        os.fsync(file.fileno())
    return done > 0


def _copy(source: IO[bytes], file: IO[bytes], bar: Any) -> str:
    """Copy to the end; the SHA-256 of what was copied."""
    sha256 = hashlib.sha256()
    while block := source.read(BLOCK):
        file.write(block)
        sha256.update(block)
        bar.update(len(block))
    return sha256.hexdigest()


def _bar(total: int, done: int = 0) -> Any:
    return tqdm(total=total, initial=done, unit="B", unit_scale=True, desc="assembling", disable=no_bars())


def _rename(model: EmbeddedModel, unfinished: Path, target: Path) -> None:
    """Make the joined file the model.

    Raises:
        AnotherError: it is another file.
    """
    _refuse_another(model.weights, sha256_of(unfinished), model.sha256)
    put(unfinished, target)


def put(file: Path, target: Path) -> None:
    """Give a whole file its name, whatever has it now."""
    if target.is_dir():
        remove(target)
    file.replace(target)


def _unzip(model: EmbeddedModel, unfinished: Path, target: Path) -> None:
    """Make a folder of the registered files of a zip.

    Raises:
        AnotherError: it is another zip, or a file in it is another.
    """
    if model.zip_sha256 is not None:
        _refuse_another("the zip of its parts", sha256_of(unfinished), model.zip_sha256)
    with whole_folder(target) as folder:
        try:
            _extract(model, unfinished, folder)
        except NO_ZIP as error:
            raise AnotherError(f"its parts make no zip of the model ({error})") from error
        except OSError as error:
            # a seek to where nothing can be, as a damaged zip names it
            if error.errno == errno.EINVAL:
                raise AnotherError(f"its parts make no zip of the model ({error})") from error
            raise


def _extract(model: EmbeddedModel, packed: Path, folder: Path) -> None:
    with zipfile.ZipFile(packed) as archive, _bar(model.n_bytes) as bar:
        for file, expected in model.files.items():
            inside = archive.getinfo(f"{model.name}/{file}")
            limit = model.n_bytes if file == model.weights else MOST_BYTES_OF_SETTINGS
            if inside.file_size > limit:
                raise AnotherError(f"{file} has {inside.file_size:,} bytes, more than the model's")
            path = folder / file
            path.parent.mkdir(exist_ok=True)
            with archive.open(inside) as source, path.open("wb") as opened:
                sha256 = _copy(source, opened, bar)
            _refuse_another(file, sha256, expected)


def _refuse_another(file: str, sha256: str, expected: str) -> None:
    if sha256 != expected:
        raise AnotherError(f"{file} has SHA-256 {sha256}, not {expected}")
