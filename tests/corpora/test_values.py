"""Spellings of one attribute value are one value, or a refusal with their counts; never several sides."""

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand
from evenhand.config import ColumnsSection, CorpusSection, TaskSection
from evenhand.corpora import load_corpus, read_any
from evenhand.corpora.tables import sets_of_rows
from evenhand.corpora.values import settled, single_valued
from evenhand.errors import DataError
from evenhand.records import Document, DocumentSet, Perspective
from evenhand.text import one_spelling, spelling_key

# ways to write the same without a difference that anybody sees
SPELLINGS = {
    "spaces around": lambda value: f"  {value}\t",
    "no-break space": lambda value: value.replace(" ", "\u00a0"),
    "thin and ideographic space": lambda value: f"\u3000{value.replace(' ', chr(0x2009))}",
    "a line break": lambda value: value.replace(" ", "\r\n"),
    "two spaces": lambda value: value.replace(" ", "  "),
    "byte order mark": lambda value: f"\ufeff{value}",
    "zero-width space": lambda value: f"{value[:2]}\u200b{value[2:]}",
    "zero-width joiner at the end": lambda value: f"{value}\u200d",
    "soft hyphen": lambda value: f"{value[:3]}\u00ad{value[3:]}",
    "word joiner": lambda value: f"\u2060{value}",
    "marks of direction": lambda value: f"\u202a{value}\u202c\u200e",
    "a control": lambda value: f"{value}\x00\x7f",
    "filler": lambda value: f"{value}\u3164",
    "selector": lambda value: f"{value}\ufe0f",
    "decomposed": lambda value: unicodedata.normalize("NFD", value),
    "full width": lambda value: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in value),
    "no-break hyphen": lambda value: value.replace("-", "\u2011"),
}
VALUES = ("left", "Très à gauche", "pro-life", "левые силы", "はい", "não sei")


def rows_of(values):
    return [{"set": f"s{k // 2}", "text": f"Text {k}.", "side": value} for k, value in enumerate(values)]


def sets_with(values):
    return settled(sets_of_rows(enumerate(rows_of(values), 1), ColumnsSection(), ["side"], source="rows"), ["side"])


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("value", VALUES)
def test_what_looks_the_same_is_one_value(value, spelling):
    spelt = SPELLINGS[spelling](value)
    assert one_spelling(spelt) == one_spelling(value)
    (found,) = sets_of_rows(enumerate(rows_of([value, spelt]), 1), ColumnsSection(), ["side"], source="rows")
    assert found.values("side") == (one_spelling(value),)
    assert len(found.select("side", one_spelling(value))) == 2


@given(st.text())
def test_one_spelling_has_none_of_its_own(text):
    once = one_spelling(text)
    assert one_spelling(once) == once and spelling_key(once) == spelling_key(text)


@pytest.mark.parametrize(
    "value",
    [
        "می‌خواهم",  # Persian, with the joiner that parts its prefix
        "क्‍ष",  # Hindi, with the joiner that keeps its half letter
        "👩‍💻",
        "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
        "🇩🇪",
        "Straße",
        "naïve",
        "C++",
        "50 %",
    ],
)
def test_what_is_seen_stays(value):
    assert one_spelling(value) == value


@pytest.mark.parametrize("other", ["Left.", "'left'", "\u201cleft\u201d", "left;", "(left)"])
def test_quotes_and_marks_alone_are_refused(other):
    match = rf"values of 'side' differ only by quotes or marks around them: 'left' \(2 doc.*\), {re.escape(repr(other))} \(1\)"
    with pytest.raises(DataError, match=match):
        sets_with(["left", "right", other, "right", "left", "right"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A", "A+"),
        ("A", "A*"),
        ("bob", "bob_"),
        ("C", "C#"),
        ("5", "5+"),
        ("5", ".5"),
        ("(0,10]", "(0,10)"),
        ('5"', "5'"),
        ("1", "-1"),
        ("<5", ">5"),
    ],
)
def test_grades_and_names_that_differ_by_marks_are_several(one, other):
    assert len(sets_with([one, other, one, other])) == 2


@pytest.mark.parametrize(("one", "other"), [("Left", "left"), ("LEFT", "left"), ("ÉTÉ", "été"), ("ЛЕВЫЕ", "левые")])
def test_capitals_alone_are_refused_wherever_documents_are_read(tmp_path, one, other):
    rows = rows_of([one, "right", other, "right", other, "right"])
    match = rf"values of 'side' differ only by capitals: '{one}' \(1 document\), '{other}' \(2\); write one of them"
    lines, table = tmp_path / "rows.jsonl", tmp_path / "rows.csv"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    table.write_text("set,text,side\n" + "".join(f"{','.join(row.values())}\n" for row in rows), encoding="utf-8")
    # as sets, which nobody checked when they were made
    sets = [
        DocumentSet(
            id=name,
            documents=tuple(
                Document(id=f"{name}/{k}", text=row["text"], attributes={"side": row["side"]})
                for k, row in enumerate(rows)
                if row["set"] == name
            ),
        )
        for name in ("s0", "s1", "s2")
    ]
    made = tmp_path / "sets.jsonl"
    made.write_text("".join(each.model_dump_json() + "\n" for each in sets), encoding="utf-8")
    for source in (lines, table, made):
        with pytest.raises(DataError, match=match) as caught:
            read_any(source, attributes=["side"])
        assert len(str(caught.value).splitlines()) == 1
    for source in (rows, lines, sets, [each.model_dump() for each in sets]):
        with pytest.raises(DataError, match=match):
            evenhand.load_documents(source, "side")
    # the only attribute need not be named
    with pytest.raises(DataError, match=match):
        evenhand.load_documents(sets)
    with pytest.raises(DataError, match=match):
        load_corpus(CorpusSection(path=str(made), attribute="side"))
    with pytest.raises(DataError, match=match):
        load_corpus(CorpusSection(path=str(table), columns=ColumnsSection(), attribute="side"))


def test_capitals_of_an_attribute_that_nobody_asked_for_are_no_reason_to_refuse():
    rows = [row | {"speaker": name} for row, name in zip(rows_of(["a", "b"]), ("Smith", "SMITH"), strict=True)]
    documents = evenhand.load_documents(rows, ["side", "speaker"][:1])
    assert documents.attributes == ("side",)
    sets = [
        {"id": "s", "documents": [
            {"id": str(k), "text": row["text"], "attributes": {"side": row["side"], "speaker": row["speaker"]}}
            for k, row in enumerate(rows)
        ]}
    ]  # fmt: skip
    assert evenhand.load_documents(sets, "side").values == ("a", "b")
    with pytest.raises(DataError, match="values of 'speaker' differ only by capitals"):
        evenhand.load_documents(evenhand.load_documents(sets), "speaker")


def test_what_users_type_is_spelt_as_documents_are():
    assert CorpusSection(sides=("le\u0301o", "two\u00a0words ")).sides == ("léo", "two words")
    assert TaskSection(labels={"left\u200b": "those of the left"}).labels == {"left": "those of the left"}
    assert Perspective(attribute="side", value=" left\ufeff").value == "left"
    noted = DocumentSet(
        id="s",
        documents=(Document(id="1", text="Fine.", attributes={"side": "two  words"}),),
        key_points={"two\u00a0words": ("A point.",)},
        notes={"values": {"side": ["two\u2009words", "other"]}, "released_prompts": {"two\u00a0words": "Write."}},
    )
    assert noted.declared_values("side") == ("two words", "other") and list(noted.key_points) == ["two words"]
    assert noted.released_prompt("two words") == "Write."


def test_values_that_nobody_sees_are_empty_cells():
    rows = rows_of(["left", "\u200b\u00ad"])
    with pytest.raises(DataError, match="column 'side' is empty in row 2"):
        sets_of_rows(enumerate(rows, 1), ColumnsSection(), ["side"], source="rows")
    with pytest.raises(ValueError, match="is empty"):
        Document(id="1", text="Fine.", attributes={"side": "\u2060"})


def test_sets_whose_names_look_the_same_are_refused_and_capitals_may_tell_ids_apart():
    rows = [{"set": name, "text": "Fine.", "side": "a"} for name in ("ferry", "ferry\u200b")]
    with pytest.raises(DataError, match=r"sets 'ferry', 'ferry\\u200b' have names that look the same"):
        sets_of_rows(enumerate(rows, 1), ColumnsSection(), ["side"], source="rows")
    rows = [{"set": name, "text": "Fine.", "side": "a"} for name in ("dQw4", "dqW4")]
    assert len(sets_of_rows(enumerate(rows, 1), ColumnsSection(), ["side"], source="rows")) == 2


# ways to write a number or a truth value
NUMBERS = {
    "1": ["1.0", "1,0", "01", "1.00", "+1", "1.", "\uff11", "\u0661", "True", "true", "TRUE"],
    "0": ["0.0", "-0", "00", "false", "False"],
    "-2": ["-2.0", "\u22122", "-2,00"],
    "2.5": ["2,5", "2.50", "02.5"],
    "1000": ["1,000", "1000.0", "1,000.00"],
    "1000000": ["1,000,000", "1000000,0"],
}


@pytest.mark.parametrize(("one", "other"), [(one, other) for one, others in NUMBERS.items() for other in others])
def test_one_number_or_truth_value_is_one_value_or_refused_with_counts(one, other):
    rows = rows_of([one, "7", other, "7", one, "7"])
    if one_spelling(other) == one:
        assert evenhand.load_documents(rows, "side").values == (one, "7")
        return
    with pytest.raises(DataError) as refusal:
        evenhand.load_documents(rows, "side")
    assert "values of 'side' differ only in how a number or truth value is written: " in str(refusal.value)
    assert f"'{one}' (2 documents), '{one_spelling(other)}' (1); write one of them" in str(refusal.value)


@pytest.mark.parametrize(
    "values",
    [
        ["1", "2", "10", "1.5"], ["-1", "1", "0"], ["true", "false"], ["0", "1", "yes", "no"], ["1,5", "15", "1,500"],
        ["18-24", "25-34", "65+"], ["1.2.3", "1.2"], ["1a", "1b"], ["2020-01-01", "2020-01-10"], ["1/2", "0.5 stars"],
        ["1" * 40, "1" * 41, f"{'1' * 40}.0"], ["NaN", "inf", "1e5"],
    ],
)  # fmt: skip
def test_other_numbers_are_values_of_their_own(values):
    assert evenhand.load_documents(rows_of(values), "side").values == tuple(dict.fromkeys(values))


def test_true_of_json_and_a_one_are_refused():
    with pytest.raises(DataError, match=r"'True' \(1 document\), '1' \(1\)"):
        evenhand.load_documents(rows_of([True, 1]), "side")


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_document_ids_that_look_the_same_are_refused(tmp_path, spelling):
    ids = ["doc-1 a", SPELLINGS[spelling]("doc-1 a")]
    documents = [{"id": name, "text": "Fine.", "attributes": {"side": "a"}} for name in ids]
    made = tmp_path / "sets.jsonl"
    made.write_text(json.dumps({"id": "s", "documents": documents}) + "\n")
    if ids[0] == ids[1]:
        match = "document ids occur more than once"
    else:
        match = r"sets\.jsonl:1: .*document ids look the same: 'doc-1 a', '.*; rename all but one"
    with pytest.raises(DataError, match=match):
        read_any(made, "side")
    rows = [{"set": "s", "text": "Fine.", "side": "a", "id": name} for name in ids]
    with pytest.raises(DataError, match=r"ids .*(look the same|occur more than once)"):
        list(sets_of_rows(enumerate(rows, 1), ColumnsSection(id="id"), ["side"], source="rows"))


def test_ids_that_differ_by_capitals_are_two(tmp_path):
    made = tmp_path / "sets.jsonl"
    documents = [{"id": name, "text": "Fine.", "attributes": {"side": "a"}} for name in ("Ab", "aB")]
    made.write_text("".join(json.dumps({"id": name, "documents": documents}) + "\n" for name in ("s", "S")))
    assert [each.id for each in read_any(made, "side")] == ["s", "S"]


def test_set_ids_that_look_the_same_are_refused_with_both_lines(tmp_path):
    made = tmp_path / "sets.jsonl"
    documents = [{"id": "1", "text": "Fine.", "attributes": {"side": "a"}}]
    made.write_text("".join(json.dumps({"id": name, "documents": documents}) + "\n" for name in ("s", "t", "s\u200b")))
    with pytest.raises(DataError, match=r"sets\.jsonl:3: set id 's\\u200b' looks like 's' in line 1; rename one"):
        read_any(made, "side")


@pytest.mark.parametrize(
    ("values_of_sets", "why"),
    [
        ([], ""),
        (["ab"], ""),
        (["aa", "a", "ab"], ""),
        (["aa", "aaa"], "all documents have side 'a'"),
        (["aa", "bb"], "every set has documents of one side only"),
        (["a", "bb"], "every set has documents of one side only"),
        (["a", "b"], "every set has a single document"),
        (["a"], "every set has a single document"),
    ],
)
def test_sets_without_two_values_are_told(values_of_sets, why):
    sets = [
        DocumentSet(
            id=f"s{k}",
            topic="t",
            documents=tuple(
                Document(id=f"s{k}/{i}", text="Fine.", attributes={"side": v}) for i, v in enumerate(values)
            ),
        )
        for k, values in enumerate(values_of_sets)
    ]
    said = single_valued(sets, "side")
    assert said.startswith(why) and bool(said) == bool(why)
