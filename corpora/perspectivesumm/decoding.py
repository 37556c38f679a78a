"""Raw files in unknown encodings."""

from pathlib import Path

from ...storage import numbered_lines, read_bytes


def read_lines(path: Path) -> list[tuple[int, str]]:
    """The lines of a file that are not blank, stripped, with their numbers; UTF-8, or Latin-1 where that fails.

    A file named .gz is unpacked.

    Latin-1 can read anything, so a file in a third encoding comes out with wrong letters, not with an error.

    Raises:
        StorageError: the file cannot be read, or is named .gz and damaged.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return [(number, line.strip()) for number, line in numbered_lines(text)]
