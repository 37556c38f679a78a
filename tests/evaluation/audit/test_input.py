import json
import re
from pathlib import Path

import pytest
from audit_inputs import ATTRIBUTE, make_set, two_sided, write_sets, write_summaries

from evenhand.config import ColumnsSection
from evenhand.errors import DataError
from evenhand.evaluation.audit.input import AuditFiles, read_input


def wanted(documents, *summaries, attribute=ATTRIBUTE, **keys):
    return AuditFiles(documents, attribute, summaries=tuple((path.stem, path) for path in summaries), **keys)


def test_all_mistakes_are_told_together(tmp_path):
    documents = write_sets(tmp_path / "docs.jsonl", two_sided(3))
    missing = write_summaries(tmp_path / "missing.jsonl", {"set-0": "x", "set-1": "y"})
    short = tmp_path / "short.txt"
    short.write_text("one\ntwo\n")
    with pytest.raises(DataError) as caught:
        read_input(wanted(documents, missing, short, tmp_path / "absent.jsonl", attribute="stanse", references=(1,)))
    said = str(caught.value)
    assert (
        "no document has the attribute 'stanse'; did you mean 'stance'? Attributes of its documents are stance." in said
    )
    assert re.search(r"missing\.jsonl: .*'set-2'", said)
    assert re.search(r"short\.txt: .*2.*3", said)
    assert "absent.jsonl" in said
    assert said.count("--allow-missing") == 1
    assert "no set has a reference 1" in said


def test_unreadable_documents_are_told_with_absent_summaries(tmp_path):
    with pytest.raises(DataError, match=r"(?s)docs\.jsonl.*out\.jsonl: is not a file"):
        read_input(wanted(tmp_path / "docs.jsonl", tmp_path / "out.jsonl"))


def test_documents_may_be_a_table_with_columns_of_any_name(tmp_path):
    documents = tmp_path / "posts.csv"
    documents.write_text("thread,party,body\na,left,Cheap.\na,right,Dear.\n")
    out = write_summaries(tmp_path / "out.jsonl", {"a": "Cheap and dear."})
    columns = ColumnsSection(set="thread", text="body")
    found = read_input(wanted(documents, out, attribute="party", columns=columns))
    assert [d.text for d in found.sets[0].documents] == ["Cheap.", "Dear."] and found.values == ("left", "right")
    with pytest.raises(DataError, match="has no column 'set'"):
        read_input(wanted(documents, out, attribute="party"))


def test_nearly_bundled_names_are_told_together():
    with pytest.raises(DataError, match=r"(?s)did you mean 'reviews'.*did you mean 'praising'.*absent: is not a file"):
        read_input(wanted(Path("review"), Path("prasing"), Path("absent"), attribute="sentiment"))


@pytest.mark.parametrize(
    ("values", "ordered"),
    [
        (["10", "2", "1"], ("1", "2", "10")),
        (["1.5", "-2", "0"], ("-2", "0", "1.5")),
        (["10", "2", "none"], ("10", "2", "none")),
        (["b", "a"], ("b", "a")),
    ],
)
def test_numbers_are_ordered_by_size_and_others_as_they_appear(tmp_path, values, ordered):
    documents = write_sets(tmp_path / "docs.jsonl", [make_set("a", *((value, "x") for value in values))])
    out = write_summaries(tmp_path / "out.jsonl", {"a": "x"})
    assert read_input(wanted(documents, out)).values == ordered


def test_documents_without_the_attribute_are_named(tmp_path):
    lacking = make_set("b", ("left", "x")).documents[0].model_copy(update={"attributes": {}})
    sets = [make_set("a", ("left", "x")), make_set("b", ("left", "x")).model_copy(update={"documents": (lacking,)})]
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    out = write_summaries(tmp_path / "out.jsonl", {"a": "x", "b": "y"})
    with pytest.raises(DataError, match=r"set 'b': document 'b/0' has no attribute 'stance'"):
        read_input(wanted(documents, out))


def test_two_systems_of_one_name_and_none_are_refused(tmp_path):
    documents = write_sets(tmp_path / "docs.jsonl", two_sided(1))
    out = write_summaries(tmp_path / "out.jsonl", {"set-0": "x"})
    with pytest.raises(DataError, match="two systems are called 'out'"):
        read_input(wanted(documents, out, out))
    with pytest.raises(DataError, match="nothing to audit"):
        read_input(wanted(documents))


def test_missing_summaries_are_left_to_be_counted_where_that_is_allowed(tmp_path):
    documents = write_sets(tmp_path / "docs.jsonl", two_sided(2))
    out = write_summaries(tmp_path / "out.jsonl", {"set-1": "x"})
    with pytest.raises(DataError, match="or give --allow-missing"):
        read_input(wanted(documents, out))
    given = read_input(wanted(documents, out, allow_missing=True))
    assert [item and item.summary for item in given.items(given.systems[0])] == [None, "x"]


def test_values_go_by_name_then_by_the_file_then_by_appearance(tmp_path):
    plain = [make_set("a", ("left", "x"), ("right", "y"))]
    noted = [each.model_copy(update={"notes": {"values": {ATTRIBUTE: ["right", "none", "left"]}}}) for each in plain]
    out = write_summaries(tmp_path / "out.jsonl", {"a": "x"})
    by_appearance = read_input(wanted(write_sets(tmp_path / "plain.jsonl", plain), out))
    by_file = read_input(wanted(write_sets(tmp_path / "noted.jsonl", noted), out))
    by_name = read_input(wanted(tmp_path / "noted.jsonl", out, values=("left", "right", "third")))
    assert [each.values for each in (by_appearance, by_file, by_name)] == [
        ("left", "right"),
        ("right", "none", "left"),
        ("left", "right", "third"),
    ]
    with pytest.raises(DataError, match="documents also have stance 'right'"):
        read_input(wanted(tmp_path / "noted.jsonl", out, values=("left",)))


def test_the_limit_draws_by_the_seed_and_keeps_the_order(tmp_path):
    documents = write_sets(tmp_path / "docs.jsonl", two_sided(20))
    out = write_summaries(tmp_path / "out.jsonl", {f"set-{k}": "x" for k in range(20)})
    one, again, other = (read_input(wanted(documents, out, limit=5, seed=seed)) for seed in (1, 1, 2))
    ids = [each.id for each in one.sets]
    assert ids == [each.id for each in again.sets] != [each.id for each in other.sets]
    assert ids == sorted(ids, key=lambda name: int(name.removeprefix("set-")))
    assert one.n_not_drawn == 15


def test_references_are_a_system(tmp_path):
    sets = [
        make_set("a", ("left", "x"), references=("one", "two")),
        make_set("b", ("left", "x"), references=("three",)),
    ]
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    both = read_input(wanted(documents, references=(1, 2), allow_missing=True))
    assert [system.label for system in both.systems] == ["reference 1", "reference 2"]
    assert read_input(wanted(documents, references=(1,))).systems[0].summaries == {"a": "one", "b": "three"}
    with pytest.raises(DataError, match="1 of 2 sets have no reference 2, for example 'b'; --allow-missing"):
        read_input(wanted(documents, references=(2,)))
    assert read_input(wanted(documents, references=(2,), allow_missing=True)).systems[0].summaries == {"a": "two"}


def test_separator_and_sentences_of_a_set_go_with_its_summaries(tmp_path):
    sets = [
        make_set("a", ("left", "x! y"), ("left", "z"), notes={"separator": "\n"}),
        make_set("b", ("left", "x! y\nz"), notes={"sentences": "lines"}),
    ]
    documents = write_sets(tmp_path / "docs.jsonl", sets)
    given = read_input(wanted(documents, write_summaries(tmp_path / "base.jsonl", {"a": "x", "b": "y"})))
    first, second = given.items(given.systems[0])
    assert (first.value_texts(), first.documents[0].sentences) == (("x! y\nz",), None)
    assert (second.separator, second.documents[0].sentences) == (" || ", ("x! y", "z"))
    assert not given.systems[0].by_order


def test_units_of_a_file_go_with_their_system(tmp_path):
    documents = write_sets(tmp_path / "docs.jsonl", two_sided(2))
    summaries = write_summaries(tmp_path / "base.jsonl", {"set-0": "x y", "set-1": "z"})
    other = write_summaries(tmp_path / "other.jsonl", {"set-0": "x y", "set-1": "z"})
    units = tmp_path / "units.json"
    units.write_text(json.dumps({"set-0": ["x", "y"]}))
    alone = read_input(wanted(documents, summaries, units=(("units", units),)))
    assert [each.units for each in alone.items(alone.systems[0])] == [("x", "y"), ()]
    assert alone.has_units
    without = read_input(wanted(documents, summaries))
    assert [each.units for each in without.items(without.systems[0])] == [None, None]
    both = read_input(wanted(documents, summaries, other, units=(("other", units), ("base", units))))
    assert all(system.units == {"set-0": ("x", "y")} for system in both.systems)
    with pytest.raises(
        DataError, match="--units are there for base, but base, other are audited: give --units NAME=FILE once"
    ):
        read_input(wanted(documents, summaries, other, units=(("base", units),)))
    units.write_text(json.dumps({"set-9": ["x"]}))
    with pytest.raises(DataError, match="units of none of the document sets, but of 'set-9'"):
        read_input(wanted(documents, summaries, units=(("base", units),)))


def test_a_bundled_corpus_goes_by_name_and_a_file_without_ids_by_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.txt").write_text("Fine.\n" * 48)
    given = read_input(wanted(Path("reviews"), tmp_path / "out.txt", attribute="sentiment"))
    assert len(given.sets) == 48
    assert given.documents == "reviews"
    assert given.systems[0].by_order
