"""The one table of all verbs."""

import io

import pytest
from rich.console import Console

from evenhand.cli.terminal import plain_table


@pytest.mark.parametrize("width", [30, 45, 80])
def test_names_and_numbers_are_whole_and_words_wrap_where_it_is_narrow(width):
    rows = [("\nfolder/",), ("ZeRO-2 *", "of several words each", "1,234,567"), ("モデル", "short", "9")]
    terminal = Console(width=width, file=io.StringIO())
    columns = ("strategy", "used by", "requests that fit")
    terminal.print(plain_table(columns, rows, "Title", words=("used by",), numbers=columns[2:]))
    said = terminal.file.getvalue()
    lines = [line.rstrip() for line in said.splitlines()]
    assert "Title" in lines and "folder/" in lines
    assert [line.split("  ")[0] for line in lines if line.endswith(("1,234,567", " 9"))] == ["ZeRO-2 *", "モデル"]
    assert " ".join(said.split()).count("requests that fit") == (width > 30)
    assert all(word in said for word in "of several words each".split()) and "…" not in said
