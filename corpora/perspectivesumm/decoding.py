"""Raw files in unknown encodings."""

from pathlib import Path

from ...errors import StorageError


def read_lines(path: Path) -> list[tuple[int, str]]:
    """The lines of a file that are not blank, stripped, with their numbers; UTF-8, or Latin-1 where that fails.

    Latin-1 can read anything, so a file in a third encoding comes out with wrong letters, not with an error.

    Raises:
        StorageError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
