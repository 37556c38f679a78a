"""The door of importers: formats of other packages are read, recognised, imported by a command and named like a corpus."""

import json
import os
import sys

import pytest
from commands import started
from logs import warned
from made_packages import install

from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus, read_any, read_document_sets
from evenhand.corpora.importers import IMPORTERS, head_of, working_importers
from evenhand.errors import DataError, PluginError

# petitions: a line "petition TITLE", then lines "SIDE: TEXT"; a blank line ends one
PETITIONS = """\
from evenhand.corpora.entries import BuiltSets
from evenhand.corpora.importers import Importer
from evenhand.records import Document, DocumentSet


def read(path, attribute):
    sets, empty = [], 0
    for block in path.read_text(encoding="utf-8").strip().split("\\n\\n"):
        title, *lines = block.removeprefix("petition ").splitlines()
        parts = [line.split(": ", 1) for line in lines]
        documents = tuple(
            Document(id=f"{title}/{n}", text=text, attributes={"side": side, "place": "here"})
            for n, (side, text) in enumerate(parts, start=1)
        )
        sets += [DocumentSet(id=title, topic=title, documents=documents)] if documents else []
        empty += not documents
    return BuiltSets(sets, {"petitions without a text": empty} if empty else {})


PETITIONS = Importer(
    about="Petitions, signed and countersigned.",
    read=read,
    recognises=lambda head: head.text.startswith("petition "),
    form="petitions (blocks that begin with 'petition')",
)
"""
FILE = "petition Ferry\nfor: The ferry is cheap.\nagainst: The ferry is loud.\n\npetition Empty\n"


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Install a package with a module of this text that brings importers: name -> "module:thing"."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def make(package, text, **points):
        monkeypatch.delitem(sys.modules, package, raising=False)
        # what has been listed is listed anew, here and in the tests after
        vars(IMPORTERS).pop("_points", None)
        lines = ["[evenhand.importers]", *(f"{name} = {value}" for name, value in points.items())]
        entries = {f"{package}-1.0.dist-info/entry_points.txt": "\n".join(lines).encode()}
        install(site, package, "1.0", {**entries, f"{package}/__init__.py": text.encode()})
        return site

    yield make
    vars(IMPORTERS).pop("_points", None)


@pytest.fixture
def petitions(tmp_path):
    path = tmp_path / "petitions.txt"
    path.write_text(FILE)
    return path


def test_a_format_of_another_package_is_read_wherever_documents_are(bring, petitions, caplog):
    with pytest.raises(DataError, match="is not one of the formats of documents that can be read: evenhand's"):
        read_any(petitions)
    bring("petitions", PETITIONS, petitions="petitions:PETITIONS")
    (documents,) = read_any(petitions, "side")
    assert (documents.id, documents.values("side")) == ("Ferry", ("for", "against"))
    assert warned(caplog) == [f"{petitions}: left out: 1 petition without a text"]
    with pytest.raises(DataError, match=r"no document has the attribute 'sde'; did you mean 'side'\?"):
        read_any(petitions, "sde")
    petitions.write_text("Something else.")
    with pytest.raises(DataError, match=r"petitions \(blocks that begin with 'petition'\); all but Parquet"):
        read_any(petitions)


def test_it_has_a_command(bring, petitions, tmp_path):
    site = bring("petitions", PETITIONS, petitions="petitions:PETITIONS")
    out = tmp_path / "sets.jsonl"
    done = started(
        "import", "petitions", petitions, "--out", out, "--attribute", "side", "--split", "test",
        PYTHONPATH=f"{site}:{os.environ.get('PYTHONPATH', '')}",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{out}: 1 document set\nleft out: 1 petition without a text\n"
    (documents,) = read_document_sets(out, "side")
    assert documents.split == "test" and documents.documents[0].attributes == {"side": "for"}


@pytest.mark.parametrize(
    "name", ["table", "coverage", pytest.param("reordered", marks=pytest.mark.needs("plugins/order"))]
)
def test_a_command_that_is_there_is_not_replaced(bring, name, petitions, tmp_path):
    from evenhand.cli.app import CORE
    from evenhand.cli.door import read_verbs
    from evenhand.cli.importing import with_importers

    bring("petitions", PETITIONS, **{name: "petitions:PETITIONS"})
    with pytest.raises(PluginError, match=f"importer '{name}'"):
        with_importers(read_verbs(CORE))[f"import.{name}"].run()


@pytest.mark.parametrize("text", ["import nowhere\n", "PETITIONS = 7\n", ""])
def test_an_importer_that_cannot_be_had_is_a_warning_and_others_read(bring, text, tmp_path, caplog):
    bring("wrong", text, petitions="wrong:PETITIONS")
    bring("right", PETITIONS, pleas="right:PETITIONS")
    path = tmp_path / "pleas.txt"
    path.write_text(FILE)
    assert len(read_any(path)) == 1
    assert any("importer 'petitions' of package wrong 1.0" in each for each in warned(caplog))
    # of documents in evenhand's own formats nobody else is asked
    caplog.clear()
    own = tmp_path / "own.jsonl"
    own.write_text(json.dumps({"id": "a", "documents": [{"id": "1", "text": "Fine."}]}))
    assert len(read_any(own)) == 1 and not warned(caplog)
    with pytest.raises(PluginError, match="importer 'petitions' of package wrong"):
        load_corpus(CorpusSection(path="petitions", attribute="side"))


def test_several_that_recognise_a_file_are_named(bring, petitions):
    bring("petitions", PETITIONS, petitions="petitions:PETITIONS", pleas="petitions:PETITIONS")
    with pytest.raises(
        DataError, match=r"several importers recognise it, petitions and pleas; .*evenhand import petitions"
    ):
        read_any(petitions)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return BuiltSets(sets,", "return sets or (sets,", "importer 'petitions': gives list and no BuiltSets"),
        ("return BuiltSets(sets,", "return BuiltSets([],", "importer 'petitions' finds no document set in it"),
        ("return BuiltSets(sets,", "return BuiltSets(sets + sets,", "set 2: set id 'Ferry' occurs in set 1 already"),
    ],
)
def test_what_it_gives_is_checked(bring, petitions, old, new, said):
    assert old in PETITIONS
    bring("petitions", PETITIONS.replace(old, new), petitions="petitions:PETITIONS")
    with pytest.raises((DataError, PluginError), match=said):
        read_any(petitions)


def test_evenhands_own_formats_are_not_shown_to_importers(bring, tmp_path):
    greedy = PETITIONS.replace('head.text.startswith("petition ")', "True")
    bring("petitions", greedy, petitions="petitions:PETITIONS")
    path = tmp_path / "docs"
    own = {"id": "a", "documents": [{"id": "1", "text": "Fine."}]}
    rows = {"set": "a", "text": "Fine.", "side": "for"}
    entity = {"entity_id": "a", "reviews": [{"sentences": ["Fine."], "label": 1}]}
    for record in (own, rows, entity):
        path.write_text(json.dumps(record))
        assert [documents.id for documents in read_any(path, attributes=["side"])] == ["a"]


@pytest.mark.parametrize(
    ("text", "keys", "is_array"),
    [
        ("", (), False),
        ("plain", (), False),
        ('\n {"a": 1}\n{"b": 2}', ("a",), False),
        ('{"a": \n{"b": 2}', ("b",), False),
        (' [ {"a": [1, {"c": 3}], "b": 2}, {"d": 4}]', ("a", "b"), True),
        ('[{"a": 1}, broken', ("a",), True),
        ('[{"a": 1', (), True),
        ("[1, 2]", (), True),
        ("[" * 100_000, (), True),
        ('[{"a": ' + "[" * 100_000, (), True),
        ("[]", (), True),
    ],
)
def test_what_an_importer_is_shown_of_a_file(tmp_path, text, keys, is_array):
    head = head_of(tmp_path, text)
    assert (head.keys, head.is_array, head.text) == (frozenset(keys), is_array, text)


def test_every_importer_of_evenhand_does_what_it_says():
    for each in working_importers().values():
        assert each.read or each.recognises
        assert bool(each.recognises) == bool(each.form)
        assert not each.corpus or each.read
