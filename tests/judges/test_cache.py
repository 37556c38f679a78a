"""The cache of verdicts."""

import math
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from evenhand.errors import StorageError
from evenhand.judges.cache import JUDGEMENTS, CacheCount, VerdictCache, cache_counts, verdict_key
from evenhand.judges.judge import Verdict
from evenhand.models import cache_folder

SCORED = Verdict(4.25, None, '{"4":0.75,"5":0.25}', 1)
UNSCORED = Verdict(None, "unreadable reply", "hm", 3)


@pytest.fixture
def cache(tmp_path):
    opened = VerdictCache(tmp_path / "cache.sqlite")
    yield opened
    opened.close()


def test_kept_score_is_found_as_it_was(cache):
    cache.keep("judge", {("source", "summary"): SCORED})
    assert cache.find("judge", [("source", "summary"), ("source", "other")]) == {("source", "summary"): SCORED}


def test_verdict_is_found_by_judge_source_and_summary_only_together(cache):
    cache.keep("judge", {("a", "b"): SCORED})
    assert cache.find("other", [("a", "b")]) == {}
    assert cache.find("judge", [("b", "a"), ("ab", ""), ("", "ab")]) == {}


def test_key_cannot_be_shifted_between_its_parts():
    keys = {
        verdict_key(*parts)
        for parts in [("j", ("a", "b")), ("ja", ("", "b")), ("j", ("a,b", "")), ('j","a', ("b", ""))]
    }
    assert len(keys) == 4


def test_unscored_verdict_is_kept_but_not_served(cache):
    cache.keep("judge", {("a", "b"): UNSCORED})
    assert cache.find("judge", [("a", "b")]) == {}
    assert cache.counts() == [CacheCount("judge", scored=0, unscored=1)]


def test_score_replaces_a_failure_and_the_first_score_stays(cache):
    for verdict in (UNSCORED, SCORED, UNSCORED, Verdict(1.0)):
        cache.keep("judge", {("a", "b"): verdict})
    assert cache.find("judge", [("a", "b")]) == {("a", "b"): SCORED}


def test_more_texts_than_sqlite_takes_parameters(cache):
    every = {("source", f"summary {i}"): Verdict(float(i)) for i in range(1201)}
    cache.keep("judge", every)
    assert cache.find("judge", list(every)) == every


def test_what_was_kept_is_there_after_closing(tmp_path):
    first = VerdictCache(tmp_path / "cache.sqlite")
    first.keep("judge", {("a", "b"): SCORED})
    first.close()
    second = VerdictCache(tmp_path / "cache.sqlite")
    assert second.find("judge", [("a", "b")]) == {("a", "b"): SCORED}
    second.close()


WRITER = """
import sys
from pathlib import Path
from evenhand.judges.cache import VerdictCache
from evenhand.judges.judge import Verdict
cache = VerdictCache(Path(sys.argv[1]))
for i in range(100):
    cache.keep("both", {("source", str(i)): Verdict(float(i))})
    cache.keep(sys.argv[2], {("source", str(i)): Verdict(float(i))})
cache.close()
"""


def test_two_processes_write_at_once_and_nothing_is_lost(tmp_path, cache):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(cache.path), name], stderr=subprocess.PIPE)
        for name in ("first", "second")
    ]
    errors = [writer.communicate(timeout=60)[1].decode() for writer in writers]
    assert errors == ["", ""]
    assert cache.counts() == [CacheCount(name, 100, 0) for name in ("both", "first", "second")]


def test_shared_cache_lies_in_the_cache_folder_and_is_not_made_by_looking(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "folder"))
    assert cache_counts() == []
    assert JUDGEMENTS.forget() == 0
    assert not (tmp_path / "folder").exists()
    opened = VerdictCache()
    opened.keep("judge", {("a", "b"): SCORED, ("a", "c"): SCORED})
    opened.close()
    assert JUDGEMENTS.path == tmp_path / "folder" / "judgements.sqlite"
    assert cache_counts() == [CacheCount("judge", 2, 0)]
    assert JUDGEMENTS.forget() == 2
    assert cache_counts() == []


def test_file_that_is_no_database_is_named_with_the_remedy(tmp_path):
    path = tmp_path / "cache.sqlite"
    path.write_text("this is no database, but it is long enough to look like one" * 20)
    with pytest.raises(StorageError, match=r"cache\.sqlite.*file is not a database.*delete the file"):
        VerdictCache(path)


def test_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="EVENHAND_CACHE"):
        VerdictCache(tmp_path / "file" / "cache.sqlite")


def test_other_table_of_that_name_is_reported(tmp_path):
    path = tmp_path / "cache.sqlite"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE verdicts (key TEXT)")
    database.commit()
    database.close()
    cache = VerdictCache(path)
    with pytest.raises(StorageError, match="cached judgements cannot be kept there"):
        cache.find("judge", [("a", "b")])
    cache.close()


def test_a_file_that_another_process_writes_is_to_be_waited_for_and_not_deleted(tmp_path):
    path = tmp_path / "cache.sqlite"
    cache = VerdictCache(path, patience=0.1)
    writer = sqlite3.connect(path)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match=r"cache\.sqlite: another process writes cached judgements there") as caught:
        cache.keep("judge", {("a", "b"): Verdict(1.0)})
    assert "delete" not in str(caught.value)
    assert "EVENHAND_CACHE" in str(caught.value)
    writer.close()
    cache.keep("judge", {("a", "b"): Verdict(1.0)})
    cache.close()


@pytest.mark.parametrize("change", ["score = 'abc'", "score = 9e999", "score = x'00'", "attempts = 'x'", "raw = x'ff'"])
def test_a_row_of_other_types_is_one_message(tmp_path, change):
    path = tmp_path / "cache.sqlite"
    judged = ("text", "summary")
    with closing(VerdictCache(path)) as cache:
        cache.keep("judge", {judged: Verdict(0.5, None, None, 1)})
        with closing(sqlite3.connect(path)) as database, database:
            database.execute(f"UPDATE verdicts SET {change}")  # noqa: S608
        with pytest.raises(StorageError, match=r"cache\.sqlite: .*it holds \(.*instead of a score.*delete the file"):
            cache.find("judge", [judged])


@pytest.mark.parametrize(
    ("given", "said"), [("s3://bucket/cache", "begins with s3://"), ("file:///home/x", "write the path alone")]
)
def test_a_cache_folder_that_is_an_address_is_refused_and_not_made(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENHAND_CACHE", given)
    with pytest.raises(StorageError, match=f"^EVENHAND_CACHE .*{said}"):
        cache_folder()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("altered", [5.0, -0.1, 1e308, 1.01])
def test_a_score_that_the_judge_cannot_give_is_forgotten_and_made_again(cache, caplog, altered):
    cache.keep("judge", {("a", "b"): Verdict(altered), ("c", "d"): Verdict(1.0), ("e", "f"): Verdict(0.0)})
    texts = [("a", "b"), ("c", "d"), ("e", "f")]
    assert list(cache.find("judge", texts, 0.0, 1.0)) == texts[1:]
    assert "1 scores of the judge judge are none that it gives (0 to 1)" in caplog.text
    cache.keep("judge", {("a", "b"): Verdict(0.5)})
    assert cache.find("judge", texts, 0.0, 1.0)["a", "b"].score == 0.5


def test_scores_at_the_ends_of_a_scale_and_of_scales_without_ends_are_served(cache):
    cache.keep("judge", {("a", "b"): Verdict(1.0000001), ("c", "d"): Verdict(-1e6)})
    assert ("a", "b") in cache.find("judge", [("a", "b")], 0.0, 1.0)
    assert ("c", "d") in cache.find("judge", [("c", "d")], -math.inf, math.inf)
