"""Files of a run: text, JSON and JSON lines, read with all their mistakes named, written whole.

Nothing is written in place: a file appears by renaming a temporary one. Work in progress lives in a journal, see `journal`.
"""

import bz2
import contextlib
import gzip
import hashlib
import json
import os
import re
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from .errors import DamagedFileError, DataError, FormatError, StorageError
from .text import did_you_mean
from .text.digests import digest
from .text.formats import refusal
from .text.json_text import NotJsonError, parse_json
from .text.mistakes import explain, listed_lines

# "s3://bucket", of which `Path` keeps one slash: as a path it would be a folder of that name here
ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:)/.*")
R = TypeVar("R", bound=BaseModel)

# name of a file that is being written, with the number of the process that writes it
TEMPORARY = re.compile(r"\..+\.([0-9]+)\.evenhand\.tmp")
# of a file that is read whole, and of a pipe or device, whose end nobody knows; of a line
MOST_BYTES, MOST_OF_PIPE, MOST_OF_LINE = 1 << 32, 1 << 26, 1 << 28
# that somebody has to write into a pipe
PATIENCE_SECONDS = 5.0
# first bytes of files of office programs, new and old
OFFICE = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def parse_line(line: str, model: type[R]) -> R:
    """The record on one line of a file that evenhand wrote itself.

    Raises:
        DataError: the line is not a JSON object or not such a record; the text says what is wrong, not where the line is.
    """
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            # the parser counts lines within the line
            problem = first["ctx"]["error"].replace(" at line 1 column", " at column")
            remedy = "; put an object that goes on in the next lines on one" if problem.startswith("EOF") else ""
            raise DataError(f"is not JSON ({problem}); one object a line is expected{remedy}") from error
        raise DataError(explain(error)) from error


def format_of(model: type[BaseModel]) -> str:
    """What files of these records call themselves: "evenhand-audit/9"."""
    (name,) = get_args(model.model_fields["format"].annotation)
    return str(name)


def parse_file(text: str, model: type[R]) -> R:
    """The record that a whole file of evenhand's own holds, which says by its `format` what it is.

    Raises:
        FormatError: it calls itself something else, or nothing.
        DataError: it is not a JSON object or not such a record; the text says what is wrong, not where the file is.
    """
    try:
        content = parse_json(text)
    except NotJsonError:
        content = None
    if why := refusal(content, format_of(model)):
        raise FormatError(why)
    return parse_line(text, model)


def parse_given_line(line: str, model: type[R]) -> R:
    """The record on one line of a file that people or other programs wrote; what is wrong is said as by `parse_line`.

    It sees what `parse_line` does not look for and takes two to three times as long: a key that occurs there twice, of which all
    but one would be lost, and numbers that no file can hold, wherever they are.

    Raises:
        DataError: as of `parse_line` and `parse_json`.
    """
    try:
        return model.model_validate(parse_json(line))
    except NotJsonError as error:
        if error.is_syntax:
            parse_line(line, model)
        raise
    except ValidationError:
        # in the words of JSON: "an array", where Python's are "a tuple"
        return parse_line(line, model)


def read_jsonl(path: Path, model: type[R]) -> list[R]:
    """The records of a JSON-lines file that evenhand wrote itself, in order; see `iter_jsonl`."""
    return list(iter_jsonl(path, model))


def iter_jsonl(path: Path, model: type[R]) -> Iterator[R]:
    """The records of a JSON-lines file that evenhand wrote itself, in order, one in memory at a time; blank lines are skipped.

    From the first wrong line on nothing is yielded, but the rest is read, so that the error lists all mistakes of the file.

    Raises:
        StorageError: the file cannot be read.
        DataError: some lines are wrong; all are listed with file and line number, up to 20.
    """
    mistakes = []
    for number, line in iter_lines(path):
        try:
            record = parse_line(line, model)
        except DataError as error:
            mistakes.append((number, str(error)))
            continue
        if not mistakes:
            yield record
    if mistakes:
        raise DataError(listed_lines(path, mistakes))


def iter_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file that are not blank, each with its number, as `read_text` would give them.

    Raises:
        StorageError: as of `read_text`.
    """
    if _may_be_endless(path):
        yield from numbered_lines(read_text(path))
        return
    try:
        packed: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
        opened = packed.get(path.suffix, open)
        with opened(path, "rt", encoding="utf-8-sig") as file:
            for number, line in enumerate(iter(lambda: file.readline(MOST_OF_LINE), ""), start=1):
                if len(line) == MOST_OF_LINE:
                    raise StorageError(f"{path}:{number}: is a line of {MOST_OF_LINE:,} characters or more; divide it")
                if line.strip():
                    yield number, line.removesuffix("\n")
    except StorageError:
        raise
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        # it finds the same fault again and can say where it is
        read_text(path)
        raise


def read_numbered(path: Path, model: type[R]) -> tuple[list[tuple[int, R]], list[tuple[int, str]]]:
    """The good records of a JSON-lines file that anybody wrote, and what is wrong with its other lines, each with its number.

    For readers that check more than single lines and report all mistakes together.

    Raises:
        StorageError: the file cannot be read.
    """
    records, mistakes = [], []
    for number, line in iter_lines(path):
        try:
            records.append((number, parse_given_line(line, model)))
        except DataError as error:
            mistakes.append((number, str(error)))
    return records, mistakes


def numbered_lines(text: str) -> list[tuple[int, str]]:
    """The lines of a text that are not blank, each with its number."""
    # not splitlines: a text may hold U+2028 and its like, which end no line of JSON
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def local_path(path: str | Path) -> Path:
    """The path, in which `~` is the home folder.

    Raises:
        DataError: there is none.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        # a file may be called so
        if Path(path).exists():
            return Path(path)
        raise DataError(
            f"{path}: {Path(path).parts[0]!r} is no home folder that this system knows; write the folder itself, or set HOME"
        ) from error


def near_files(path: Path) -> str:
    """How an error about a file that is not there goes on: "; did you mean 'nearest'?", or "." where none beside it is near."""
    try:
        names = [file.name for file in path.parent.iterdir()]
    except OSError:
        names = []
    return did_you_mean(path.name, names)


def no_disk(path: Path) -> str:
    """What is wrong with an address in a path's place, "s3://bucket/run"; "" for a path."""
    match = ADDRESS.fullmatch(str(path))
    if match is None:
        return ""
    if match[1] == "file:":
        return "begins with file://; write the path alone"
    return (
        f"begins with {match[1]}//, and files are read and written on disks alone: mount what it names, or take a disk that "
        "machines share, and name the folder there"
    )


def read_text(path: Path, limit: int = MOST_BYTES) -> str:
    """A UTF-8 file's text, without the byte order mark that some editors put first; a file named .gz is unpacked.

    Line ends of Windows and of old Macs become "\\n".

    Raises:
        StorageError: the file is absent or unreadable.
        DamagedFileError: it is not UTF-8, or named .gz and damaged.
    """
    try:
        text = read_bytes(path, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.object.startswith(OFFICE):
            raise DamagedFileError(
                f"{path}: is a file of an office program, and no text; save it as CSV (UTF-8)"
            ) from error
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DamagedFileError(f"{path}:{line}: is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    return StringIO(text, newline=None).read()


@contextlib.contextmanager
def as_given(place: str = "") -> Iterator[None]:
    """Where files are read that were given: one that cannot be read is a mistake in what was given, hence a DataError.

    Args:
        place: where the file was named, to begin the message with: "key 'corpus.path': ".

    Raises:
        DataError: in place of any StorageError within.
    """
    try:
        yield
    except StorageError as error:
        raise DataError(f"{place}{error}") from error


def read_bytes(path: Path, limit: int = MOST_BYTES) -> bytes:
    """A file's content; a file named .gz or .bz2 is unpacked.

    Raises:
        StorageError: the file is absent or unreadable, or has more than so many bytes.
        DamagedFileError: it is named .gz or .bz2 and damaged.
    """
    data = _bytes(path, limit)
    packed: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
    if path.suffix not in packed:
        return data
    try:
        with packed[path.suffix](BytesIO(data)) as file:
            content: bytes = file.read(limit + 1)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        kind = "gzip" if path.suffix == ".gz" else "bzip2"
        raise DamagedFileError(f"{path}: is not a whole {kind} file ({error}); get it again") from error
    if len(content) > limit:
        raise StorageError(f"{path}: comes to more than {limit:,} bytes, unpacked; divide it")
    return content


def file_digest(path: Path) -> str:
    """First 16 hexadecimal digits of the SHA-256 of a file's bytes, or of a folder's files by name.

    Raises:
        StorageError: the file cannot be read.
    """
    if path.is_dir():
        return digest({str(p.relative_to(path)): file_digest(p) for p in sorted(path.rglob("*")) if p.is_file()})
    if _may_be_endless(path):
        return hashlib.sha256(_bytes(path)).hexdigest()[:16]
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from error


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, 64 hexadecimal digits; read once in a process as long as size and time stay the same.

    Raises:
        StorageError: the file cannot be read.
    """
    try:
        status = path.stat()
        return _sha256(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from error


@cache
def _sha256(path: Path, size: int, mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _may_be_endless(path: Path) -> bool:
    """Whether it is a pipe or a device, of which nobody knows how much it gives."""
    try:
        mode = path.stat().st_mode
    except OSError:
        # which reading it says
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _bytes(path: Path, limit: int = MOST_BYTES) -> bytes:
    """A file's content as it lies there; a pipe's and a device's up to a bound, since they may have no end."""
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= limit:
            return path.read_bytes()
        if stat.S_ISREG(status.st_mode):
            raise StorageError(f"{path}: has {status.st_size:,} bytes, and {limit:,} are read; divide it")
        limit = min(limit, MOST_OF_PIPE)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            first = _first_of_pipe(path, descriptor) if stat.S_ISFIFO(status.st_mode) else b""
            os.set_blocking(descriptor, True)
            data = first + file.read(limit + 1)
    except StorageError:
        raise
    except OSError as error:
        near = near_files(path).rstrip(".") if isinstance(error, FileNotFoundError) else ""
        raise StorageError(f"{path}: cannot be read: {error.strerror}{near}") from error
    if len(data) > limit:
        raise StorageError(
            f"{path}: is no file on a disk and gives more than {limit:,} bytes, perhaps without an end; write what it "
            "gives into a file, and name that"
        )
    return data


def _first_of_pipe(path: Path, descriptor: int) -> bytes:
    """What a pipe gives first, b"" as soon as somebody has opened it to write."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if data := os.read(descriptor, 1 << 16):
                return data
        except BlockingIOError:
            return b""
        time.sleep(0.05)
    raise StorageError(f"{path}: is a pipe into which nobody writes; name a file")


def parse_json_of(path: Path, text: str, *, allow_nan: bool = False) -> Any:
    """The value of a JSON file whose text was read already; see `read_json`."""
    try:
        return parse_json(text, allow_nan=allow_nan)
    except NotJsonError as error:
        raise DataError(f"{path}:{error.line}: {error}") from error


def read_json(path: Path, *, allow_nan: bool = False) -> Any:
    """The value of a JSON file; `allow_nan` as of `parse_json`.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is not JSON, or has what `parse_json` refuses; the line is named.
    """
    return parse_json_of(path, read_text(path), allow_nan=allow_nan)


def is_writable(folder: Path) -> bool:
    """Whether files can be made in a folder that is there: tried, since rights alone do not tell it of every file system."""
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where it is not there.

    Raises:
        StorageError: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written: {error.strerror}; choose another place with --set output=FOLDER"
        ) from error


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the file system's errors within into one that names the file and the remedy."""
    try:
        yield
    except StorageError:
        # of another file, which the block reads
        raise
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written: {error.strerror}; make room, mend the rights, or choose another place"
        ) from error


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A file to be written in the block: it has a temporary name, is flushed to disk, then renamed into place.

    Where the block fails, nothing of it is left, and what was at `path` stays.

    Raises:
        StorageError: the folder or file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.evenhand.tmp")
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            # left by a process that had this number, or put there by somebody else as a link
            temporary.unlink(missing_ok=True)
            with temporary.open("x", encoding="utf-8") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
    finally:
        # gone after the rename; left over only when something went wrong
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_together(files: Mapping[Path, Iterable[str]]) -> None:
    """Write files that belong together: all are whole under their temporary names before the first is renamed.

    Whoever looks at them begins with the last one. It gives way before the others are renamed and is renamed after them, so that
    after a kill in between it is missing, and what was and what is are never taken for one.

    Args:
        files: path -> the parts of its text, in the order in which they are renamed.

    Raises:
        StorageError: a file cannot be written; what was there before is there still, unless renaming failed.
    """
    last = list(files)[-1]
    with contextlib.ExitStack() as opened:
        # what is opened last is renamed first
        for path in reversed([*files]):
            file = opened.enter_context(whole_file(path))
            with writing(path):
                file.writelines(files[path])
                file.flush()
        with writing(last):
            last.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole; see `whole_file`."""
    with whole_file(path) as file:
        file.write(text)


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, whole."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_jsonl(path: Path, records: Iterable[BaseModel]) -> None:
    """Write records as JSON lines, whole; one of them is in memory at a time."""
    with whole_file(path) as file:
        file.writelines(json_lines(records))


def json_lines(records: Iterable[BaseModel]) -> Iterator[str]:
    """Records as JSON lines, one of them in memory at a time."""
    return (f"{record.model_dump_json()}\n" for record in records)


def write_record(file: TextIO, record: BaseModel) -> None:
    """Write a record as one line."""
    file.write(record.model_dump_json() + "\n")
