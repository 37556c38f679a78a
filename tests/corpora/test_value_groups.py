"""Groups take the place of values wherever documents are read, and nothing is lost on the way."""

import json
from functools import partial

import pytest
from commands import invoked

import evenhand
from evenhand.config import ColumnsSection, CorpusSection
from evenhand.corpora import load_corpus, read_any
from evenhand.corpora.values import groups_in, settled
from evenhand.errors import DataError
from evenhand.records import RELEASED_PROMPTS, Document, DocumentSet

GROUP = "critical=1,2; mixed=3; praising=4,5"


def rows_of(*values, column="stars"):
    """A row of each value, all of one set."""
    return [{"set": "s", "text": f"text {k}", column: value} for k, value in enumerate(values)]


def groups_by_value(group, *values):
    """The group of each value."""
    documents = evenhand.load_documents(rows_of(*values), "stars", group=group)
    return [document.attributes["stars"] for document in documents.records[0].documents]


def test_values_become_groups_in_every_format(tmp_path):
    rows = rows_of(5, 1, 3, 2, 4)
    expected = ["praising", "critical", "mixed", "critical", "praising"]
    table, lines = tmp_path / "rows.csv", tmp_path / "sets.jsonl"
    table.write_text("set,text,stars\n" + "".join(f"{r['set']},{r['text']},{r['stars']}\n" for r in rows))
    lines.write_text(evenhand.load_documents(rows, "stars").records[0].model_dump_json() + "\n")
    corpus = CorpusSection(path=str(table), columns=ColumnsSection(), attribute="stars", group=GROUP)
    for sets in (
        evenhand.load_documents(rows, "stars", group=GROUP).records,
        evenhand.load_documents(evenhand.load_documents(rows, "stars"), group=GROUP).records,
        read_any(table, attributes=["stars"], group=[GROUP]),
        read_any(lines, attributes=["stars"], group=[GROUP]),
        load_corpus(corpus),
    ):
        assert [document.attributes["stars"] for document in sets[0].documents] == expected
        # tables have the groups in the order in which they were written, and files say what they are
        assert sets[0].declared_values("stars") == ("critical", "mixed", "praising")
        assert groups_in(sets, "stars") == GROUP


@pytest.mark.parametrize(
    ("group", "values", "expected"),
    [
        ("old=60..; young=..17; grown=18..59", ("17", "18", "59.0", "60"), ["young", "grown", "grown", "old"]),
        ("low=..2.5; high=2.5..", ("2.49", "2.5", "2.50", "2.51"), ["low", "low", "low", "high"]),
        ("high=2.5..; low=..2.5", ("2.49", "2.5", "2.51"), ["low", "high", "high"]),
        ("below=-5..-1; rest=*", ("-3", "0", "unknown"), ["below", "rest", "rest"]),
        ("home=US; abroad=*", ("us", "FR", "US"), ["home", "abroad", "home"]),
        ("low=1; high=*", ("1.0", "01", "2"), ["low", "low", "high"]),
        ({"low": [1], "high": "5.."}, (1.0, 7), ["low", "high"]),
    ],
)
def test_bands_the_rest_and_spellings(group, values, expected):
    assert groups_by_value(group, *values) == expected


@pytest.mark.parametrize(
    ("group", "match"),
    [
        (
            "a=1; b=2",
            r"values of 'stars' are in no group: '3' \(2 documents\), '4' \(1\); put each .* the rest: NAME=\*, or .* out: -=\*",
        ),
        (
            "a=1,2,3; b=4; c=9",
            r"group 'c' \(9\) has no document; stars is '1' \(1 document\), '2' \(1\), '3' \(2\), '4' \(1\)",
        ),
        ("a=..2; b=3..; c=*", r"group 'c' \(\*\) has no document"),
        # its row would be read as that of the value
        ("x=1; 1=*", r"'1' is in group 'x', and another group has its name; choose another name"),
    ],
)
def test_groups_that_do_not_fit_the_documents_are_refused_with_counts(group, match):
    with pytest.raises(DataError, match=match):
        groups_by_value(group, "1", "2", "3", "3", "4")


def reviews(name, *stars):
    members = (Document(id=f"{name}/{k}", text=f"text {k}", attributes={"stars": star}) for k, star in enumerate(stars))
    return DocumentSet(id=name, documents=tuple(members), key_points={"3": ("middling",), "5": ("great",)})


@pytest.mark.parametrize("group", ["low=1,2; high=4,5; -=3", {"low": "..2", "high": "4..", "-": "*"}])
def test_what_is_no_group_is_left_out_and_said(group, caplog):
    (result,) = settled([reviews("a", "1", "3", "5", "3")], ["stars"], [group], "docs.csv: ")
    assert [(d.id, d.attributes["stars"]) for d in result.documents] == [("a/0", "low"), ("a/2", "high")]
    assert result.key_points == {"high": ("great",)}
    assert result.declared_values("stars") == ("low", "high")
    assert groups_in([result], "stars").endswith(("-=3", "-=*"))
    assert "docs.csv: left out by the groups of 'stars': '3' (2 documents)" in caplog.text


def test_a_set_of_which_nothing_would_be_left_is_named():
    sets = [reviews("a", "1", "3", "5"), reviews("b", "3", "3")]
    with pytest.raises(
        DataError, match=r"sets have no document but those that -= leaves out: 'b'; take these sets out"
    ):
        settled(sets, ["stars"], ["low=1; high=5; -=3"])
    with pytest.raises(DataError, match="1 group, and a group is compared with others"):
        settled(sets, ["stars"], ["low=1,5; -=3"])


def test_bands_of_values_that_are_no_numbers_are_one_mistake():
    with pytest.raises(
        DataError, match=r"groups of numbers \(old, young\), and no value of 'stars' is one: 'x' \(2"
    ) as caught:
        groups_by_value("old=60..; young=..59", "x", "x", "y")
    assert len(str(caught.value).splitlines()) == 1


def test_key_points_go_with_their_values_and_prompts_of_other_sides_do_not():
    documents = DocumentSet(
        id="s",
        documents=tuple(Document(id=name, text=name, attributes={"side": name}) for name in ("left", "green", "right")),
        key_points={"left": ("a",), "green": ("b",), "right": ("c",), "overall": ("d",)},
        notes={RELEASED_PROMPTS: {"left": "Say what the left says."}, "source": "x"},
    )
    (result,) = settled([documents], ["side"], ["left=left,green; right=right"])
    assert result.key_points == {"left": ("a", "b"), "right": ("c",), "overall": ("d",)}
    assert result.released_prompt("left") is None and result.notes["source"] == "x"
    assert documents.released_prompt("left")


def test_an_imported_table_keeps_its_groups_and_an_audit_says_them(tmp_path):
    rows = [
        f"s{k},word{k} {value} text,{value},{place}"
        for k in range(6)
        for value, place in zip("12345", "UFUFF", strict=True)
    ]
    (tmp_path / "docs.csv").write_text("set,text,stars,country\n" + "\n".join(rows) + "\n")
    (tmp_path / "one.jsonl").write_text(
        "".join(json.dumps({"id": f"s{k}", "summary": f"word{k} 1 text"}) + "\n" for k in range(6))
    )

    run = partial(invoked, COLUMNS="100")

    names = ("--set", "set", "--text", "text", "--attribute", "stars", "--attribute", "country")
    groups = ("--group", f"stars: {GROUP}", "--group", "country: home=U; abroad=*")
    done = run("import", "table", tmp_path / "docs.csv", *names, *groups, "--out", tmp_path / "docs.jsonl")
    assert "stars: 'critical' 12, 'praising' 12 and 'mixed' 6 documents" in done.output
    assert "country: 'abroad' 18 and 'home' 12 documents" in done.output
    fast = (
        "--measures",
        "value-shares",
        "--matcher",
        "words",
        "--resamples",
        "100",
        "--summaries",
        tmp_path / "one.jsonl",
    )
    table = ("--documents", tmp_path / "docs.csv", "--attribute", "stars")
    run("audit", *table, "--group", GROUP, *fast, "--out", tmp_path / "a")
    run("audit", "--documents", tmp_path / "docs.jsonl", "--attribute", "stars", *fast, "--out", tmp_path / "b")
    first, second = (json.loads((tmp_path / name / "audit.json").read_text()) for name in "ab")
    assert first["groups"] == second["groups"] == GROUP and first["numbers"] == second["numbers"]
    assert f"Groups: {GROUP}." in (tmp_path / "a" / "audit.md").read_text()
    # what is in no group is said on the page as well, also of sets that were imported with groups
    partly = ("--attribute", "stars", "--group", "critical=1,2; -=3; praising=4,5")
    run("import", "table", tmp_path / "docs.csv", *names[:4], *partly, "--out", tmp_path / "partly.jsonl")
    run("audit", *table[:2], *partly, *fast, "--out", tmp_path / "d")
    run("audit", "--documents", tmp_path / "partly.jsonl", "--attribute", "stars", *fast, "--out", tmp_path / "e")
    for name in "de":
        warnings = json.loads((tmp_path / name / "audit.json").read_text())["warnings"]
        assert "6 of 30 documents are in no group of stars and are left out." in warnings
    # other groups of the same documents are no baseline
    others = ("--group", "low=1,2,3; high=4,5", "--fail-if", "worst_gap(shares) < -0.5", "--baseline", tmp_path / "a")
    with pytest.raises(DataError, match=f"its groups are '{GROUP}', and they are 'low=1,2,3; high=4,5' now"):
        run("audit", *table, *others, *fast, "--out", tmp_path / "c")
    python = evenhand.audit(
        str(tmp_path / "docs.jsonl"), {"one": tmp_path / "one.jsonl"}, "country", group={"x": "home", "y": "*"},
        measures="value-shares", matcher="words", resamples=100,
    )  # fmt: skip
    assert {number.side for number in python if number.side} == {"x", "y"}
