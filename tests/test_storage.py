"""Files of a run: written whole, and damage is named with its place."""

import bz2
import gzip
import json
import math
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from evenhand.errors import DataError, StorageError
from evenhand.records import Document, DocumentSet
from evenhand.storage import (
    as_given,
    file_digest,
    iter_jsonl,
    iter_lines,
    local_path,
    parse_line,
    read_json,
    read_jsonl,
    read_numbered,
    read_text,
    write_json,
    write_jsonl,
    write_text,
)
from evenhand.text.json_text import parse_json
from evenhand.text.shown import shortened


class Line(BaseModel):
    number: int
    text: str = ""


def test_an_absent_file_is_refused_with_the_nearest_beside_it(tmp_path):
    (tmp_path / "topics.jsonl").touch()
    with pytest.raises(
        StorageError, match=r"topic.jsonl: cannot be read: No such file or directory; did you mean 'topics.jsonl'\?$"
    ):
        read_text(tmp_path / "topic.jsonl")
    for path in (tmp_path / "reviews.csv", tmp_path / "absent" / "topic.jsonl"):
        with pytest.raises(StorageError, match=r"cannot be read: No such file or directory$"):
            read_text(path)


def test_records_are_written_and_read_back(tmp_path):
    records = [Document(id=str(n), text=text) for n, text in enumerate(["a", "b\nc", "d\u2028e", "\U0001f6a2 ä"])]
    write_jsonl(tmp_path / "new" / "records.jsonl", records)
    assert read_jsonl(tmp_path / "new" / "records.jsonl", Document) == records


def test_the_same_records_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_jsonl(tmp_path / name, [Line(number=1, text="ä")])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == '{"number":1,"text":"ä"}\n'.encode()


def test_json_is_indented_for_people_and_refuses_what_json_cannot_hold(tmp_path):
    write_json(tmp_path / "a.json", {"b": [1]})
    assert (tmp_path / "a.json").read_text() == '{\n  "b": [\n    1\n  ]\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "b.json", {"x": float("nan")})
    assert not (tmp_path / "b.json").exists()


def test_records_are_read_one_by_one_until_the_first_mistake_and_then_all_mistakes_are_told(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"number": 1}\r\n\n{"number": 2}\n{"number": "x"}\n{"number": 3}\n{"numb')
    lines = iter_jsonl(path, Line)
    assert [next(lines).number, next(lines).number] == [1, 2]
    with pytest.raises(DataError) as caught:
        next(lines)
    places = [line.split(": ")[0] for line in str(caught.value).splitlines()]
    assert places == [f"{path}:4", f"{path}:6"]


@pytest.mark.parametrize(
    "data", [b'{"number": 1}\n\xff', gzip.compress(b'{"number": 1}\n')[:-4]], ids=["latin", "gzip"]
)
def test_a_file_that_breaks_midway_is_told_as_if_it_had_been_read_whole(tmp_path, data):
    path = tmp_path / ("lines.jsonl.gz" if data[0] == 0x1F else "lines.jsonl")
    path.write_bytes(data)
    with pytest.raises(StorageError) as whole:
        read_text(path)
    with pytest.raises(StorageError) as streamed:
        list(iter_jsonl(path, Line))
    assert str(streamed.value) == str(whole.value)


def test_records_that_cannot_all_be_made_leave_the_old_file(tmp_path):
    path = tmp_path / "lines.jsonl"
    write_jsonl(path, [Line(number=1)])

    def records():
        yield Line(number=2)
        raise DataError("the second cannot be made")

    with pytest.raises(DataError, match="the second"):
        write_jsonl(path, records())
    assert read_jsonl(path, Line) == [Line(number=1)]
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_replaces_its_predecessor_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "file.txt"
    write_text(path, "old")
    write_text(path, "new ä")
    assert path.read_text(encoding="utf-8") == "new ä"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path):
    path = tmp_path / "file.txt"
    path.mkdir()
    (path / "inside").touch()
    with pytest.raises(StorageError, match="cannot be written"):
        write_text(path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["file.txt"]


def test_a_place_that_cannot_be_written_is_named_with_a_way_out(tmp_path):
    # below a file no folder can be made, not even by root
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "x" / "out.jsonl"
    with pytest.raises(StorageError, match=r"out\.jsonl: cannot be written: Not a directory.*choose another place"):
        write_jsonl(place, [])


def test_a_reader_never_sees_half_a_file(tmp_path):
    path = tmp_path / "file.txt"
    texts = ["a" * 200_000, "b" * 100_000]
    write_text(path, texts[0])
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for text in texts:
                write_text(path, text)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert {path.read_text() for _ in range(200)} <= set(texts)
    finally:
        stop.set()
        writer.join()


def test_a_file_named_gz_is_unpacked_or_told_to_be_damaged(tmp_path):
    path = tmp_path / "docs.jsonl.gz"
    packed = gzip.compress("\ufeffnew \u00e4\n".encode())
    path.write_bytes(packed)
    assert read_text(path) == "new \u00e4\n"
    for damaged in (packed[:-4], b"no gzip at all", packed[:12] + b"\xff" * 20):
        path.write_bytes(damaged)
        with pytest.raises(StorageError, match=r"docs\.jsonl\.gz: is not a whole gzip file"):
            read_text(path)
    with pytest.raises(StorageError, match=r"absent\.gz: cannot be read: No such file"):
        read_text(tmp_path / "absent.gz")


def test_text_is_read_as_utf8_or_refused(tmp_path):
    (tmp_path / "a").write_bytes("one\ntwo\nä".encode("latin-1"))
    with pytest.raises(StorageError, match=":3: is not UTF-8 at byte 8; save it as UTF-8"):
        read_text(tmp_path / "a")
    with pytest.raises(StorageError, match="cannot be read: Is a directory"):
        read_text(tmp_path)


def test_json_file_is_read_and_a_broken_one_named_with_its_line(tmp_path):
    path = tmp_path / "list.json"
    path.write_text("[1,\n 2]")
    assert read_json(path) == [1, 2]
    path.write_text("[1,\n 2")
    with pytest.raises(DataError, match=r"list\.json:2: is not JSON"):
        read_json(path)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[1, 2", r"is not JSON \(Expecting ',' delimiter at column 6\)"),
        ("9" * 5000, "a whole number of more digits"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (r'["\ud83d"]', "half a character"),
        (r'{"\uDE00": 1}', "half a character"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "the key 'b' twice"),
        ("[" * 101 + "]" * 101, "nested too deeply to be read: more than 100 levels"),
        ('["' + "]" * 200 + '", ' + "[" * 100 + "]" * 101, "nested too deeply"),
        ('{"a": [NaN]}', "the number 'NaN', which JSON has not"),
        ("[-Infinity]", "the number '-Infinity'"),
        ("[1e999]", "the number '1e999'"),
    ],
    ids=[
        "broken",
        "digits",
        "arrays",
        "objects",
        "high half",
        "low half",
        "key twice",
        "a level too many",
        "behind a string",
        "nan",
        "infinity",
        "huge",
    ],
)
def test_json_that_cannot_be_worked_with_is_a_data_error(tmp_path, text, match):
    with pytest.raises(DataError, match=match):
        parse_json(text)
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=rf"a\.json:1: .*{match}"):
        read_json(tmp_path / "a.json")


def test_brackets_in_strings_nest_nothing():
    value = ["[{" * 500, '"[' * 500, "\\" + "[" * 500, {"[" * 200: '\\"['}]
    assert parse_json(json.dumps(value)) == value
    deepest = json.loads("[" * 100 + "]" * 100)
    assert parse_json(json.dumps(deepest)) == deepest


def test_nan_is_read_where_a_format_has_it():
    assert math.isnan(parse_json("[NaN]", allow_nan=True)[0])


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ('{"number": 1, "text": "first", "text": "second"}', "has an object with the key 'text' twice; keep one"),
        ('{"number": 1, "notes": {"deep": [NaN]}}', "holds the number 'NaN'"),
        ('{"number": 1, "notes": {"deep": 1e400}}', "holds the number '1e400'"),
        (
            '{"number": 1,',
            r"is not JSON \(EOF while parsing a value at column 13\); one object a line is expected; put",
        ),
        ('{"number": 1, "notes": {}, "texts": 1}', "'texts': is not a key of this record"),
        ('{"number": "five"}', "'number': should be a valid integer"),
        ("[1]", "'record': should be an object"),
    ],
)
def test_lines_of_others_are_read_with_suspicion(tmp_path, line, match):
    class Noted(BaseModel):
        model_config = ConfigDict(extra="forbid")
        number: int
        text: str = ""
        notes: dict[str, Any] = {}

    path = tmp_path / "a.jsonl"
    path.write_text('{"number": 1}\n' + line + "\n")
    records, mistakes = read_numbered(path, Noted)
    assert records == [(1, Noted(number=1))]
    ((number, text),) = mistakes
    assert number == 2
    assert re.match(match, text)


@pytest.mark.parametrize(
    "value",
    ["x" * 10**7, ["x" * 10**6] * 1000, dict.fromkeys(range(10**5), "x"), 10**10_000, [[[[[[[[[[1]]]]]]]]]]],
    ids=["text", "list", "dict", "number", "deep"],
)
def test_a_shown_value_is_cut_whatever_it_is(value):
    assert len(shortened(value)) <= 80


def test_a_given_file_that_cannot_be_read_is_wrong_data(tmp_path):
    with pytest.raises(DataError, match=r"absent: cannot be read: No such file"), as_given():
        read_text(tmp_path / "absent")


def test_both_halves_of_a_character_are_one():
    # U+1F600 as UTF-16 writes it
    assert parse_json(r'["\ud83d\ude00"]') == ["\U0001f600"]


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda each: st.lists(each) | st.dictionaries(st.text(), each))
)
def test_any_other_json_is_read_as_json_reads_it(value):
    assert parse_json(json.dumps(value)) == value


def test_line_ends_are_the_same_packed_and_plain(tmp_path):
    data = b"One.\r\nTwo.\rThree.\n"
    (tmp_path / "a").write_bytes(data)
    (tmp_path / "a.gz").write_bytes(gzip.compress(data))
    assert read_text(tmp_path / "a") == read_text(tmp_path / "a.gz") == "One.\nTwo.\nThree.\n"


def test_an_object_over_several_lines_is_told_how_it_is_written():
    with pytest.raises(
        DataError, match=r"one object a line is expected; put an object that goes on in the next lines on one"
    ):
        parse_line('{"id": "a", "documents": [', DocumentSet)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_lines_of_packed_files_are_those_of_the_text(tmp_path, suffix, pack):
    path = tmp_path / f"docs.jsonl{suffix}"
    path.write_bytes(pack("first \u00e4\n\nthird\n".encode()))
    assert list(iter_lines(path)) == [(1, "first \u00e4"), (3, "third")]
    path.write_bytes(pack(b"first\n" * 100)[:-6])
    with pytest.raises(StorageError, match=r"docs\.jsonl\.\w+: is not a whole"):
        list(iter_lines(path))


@pytest.mark.parametrize("name", ["~nobody-of-that-name/a.jsonl", "~nobody-of-that-name"])
def test_a_home_folder_that_is_not_there_is_named(name):
    with pytest.raises(DataError, match="'~nobody-of-that-name' is no home folder that this system knows"):
        local_path(name)


@pytest.mark.parametrize("name", ["a~b.jsonl", "a/~/b", "/tmp/~"])
def test_only_a_tilde_that_begins_a_path_is_a_home_folder(name):
    assert local_path(name) == Path(name)


def test_a_file_that_begins_with_a_tilde_is_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("~nobody-of-that-name").write_text("")
    assert local_path("~nobody-of-that-name").read_text() == ""


def test_a_file_digest_follows_the_bytes_and_a_folder_digest_the_names_too(tmp_path):
    (tmp_path / "one" / "sub").mkdir(parents=True)
    (tmp_path / "one" / "a").write_bytes(b"a")
    (tmp_path / "one" / "sub" / "b").write_bytes(b"b")
    # printf a | sha256sum
    assert file_digest(tmp_path / "one" / "a") == "ca978112ca1bbdca"
    before = file_digest(tmp_path / "one")
    (tmp_path / "one").rename(tmp_path / "two")
    assert file_digest(tmp_path / "two") == before
    (tmp_path / "two" / "sub" / "b").rename(tmp_path / "two" / "sub" / "c")
    assert file_digest(tmp_path / "two") != before


def test_the_digest_of_an_absent_file_is_a_storage_error(tmp_path):
    with pytest.raises(StorageError, match=r"absent: cannot be read: No such file"):
        file_digest(tmp_path / "absent")
