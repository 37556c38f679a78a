"""A file with several texts is refused, or the option says which are the summaries."""

import csv
import io
import json

import pytest

from evenhand.config import SummaryColumnsSection
from evenhand.corpora import read_summaries
from evenhand.corpora.summaries import summaries_of
from evenhand.corpora.summary_columns import OTHER_TEXTS, TEXTS, columns_of, parts_of
from evenhand.errors import DataError
from evenhand.records import BestSummary, Document, DocumentSet

SETS = [DocumentSet(id=name, documents=(Document(id=f"{name}/1", text="Fine."),)) for name in "abc"]
NAMES = {each.id: each for each in SETS}
USUAL = (*TEXTS, *OTHER_TEXTS)
# pairs of usual names, each name at least twice
PAIRS = [(USUAL[k], USUAL[(k + step) % len(USUAL)]) for k in range(len(USUAL)) for step in (1, 4)]


def text_of(name, kind):
    return f"What {kind} says about the matter of {name}."


def write(folder, name, records):
    file = io.StringIO()
    if name.endswith("csv"):
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    else:
        file.write("".join(json.dumps(each) + "\n" for each in records))
    (folder / name).write_text(file.getvalue(), encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_texts_are_refused_and_the_named_one_is_read(tmp_path, one, other):
    records = [{"id": name, one: text_of(name, one), other: text_of(name, other)} for name in "bca"]
    path = write(tmp_path, "out.csv" if len(one) % 2 else "out.jsonl", records)
    with pytest.raises(DataError, match=rf"has several texts: '{one}' \('What {one} says.*'{other}' \('What"):
        read_summaries(path, SETS)
    for name in (one, other):
        found = read_summaries(path, SETS, columns=SummaryColumnsSection(text=name))
        assert found == {each: text_of(each, name) for each in "abc"}


@pytest.mark.parametrize("name", [*USUAL, "Summary", " PREDICTION", "Generated Summary", "modelOutput"])
def test_a_single_text_is_read_under_any_usual_name(tmp_path, name):
    records = [{"id": each, name: text_of(each, "it")} for each in "abc"]
    assert read_summaries(write(tmp_path, "out.csv", records), SETS) == {e: text_of(e, "it") for e in "abc"}


@pytest.mark.parametrize(
    "other",
    ["", None, "gold", "human_summary", "mystery", "zusammenfassung"],
)
def test_an_empty_or_unknown_text_beside_it_is_refused(tmp_path, other):
    if other:
        records = [{"id": e, "prediction": text_of(e, "it"), other: text_of(e, other)} for e in "abc"]
    else:
        records = [{"id": e, "prediction": text_of(e, "it"), "summary": ""} for e in "abc"]
    if other is None:
        # null says that there is none
        records = [each | {"summary": None} for each in records]
        assert read_summaries(write(tmp_path, "out.jsonl", records), SETS) == {e: text_of(e, "it") for e in "abc"}
        return
    with pytest.raises(DataError, match="has several texts"):
        read_summaries(write(tmp_path, "out.jsonl", records), SETS)


@pytest.mark.parametrize(
    "beside",
    [
        {"source": "A long text that the system has read, line by line."},
        {"document": "A long text that the system has read, line by line."},
        {"articles": ["A long text", "and another"]},
        {"prompt": "Please summarise these texts in one sentence."},
        {"instruction": "Please summarise these texts.", "input": "A text of many words."},
        {"topic": "What the town should do with its ferry"},
        {"raw_text": "Sure, here is what I think of all that."},
        {"reasoning": "They want me to summarise these texts."},
        {"answer": "yes"},
        {"target": "left"},
        {"model": "a model that has a name of many words"},
        {"output": 3},
        {"response": {"status": 200}},
    ],
)
def test_what_is_no_summary_does_not_compete_with_one(beside):
    records = [{"id": e, "summary": text_of(e, "it"), **beside} for e in "abc"]
    assert summaries_of(records, NAMES) == {e: text_of(e, "it") for e in "abc"}


def test_files_of_our_own_are_read_whatever_is_named(tmp_path):
    best = [
        BestSummary(
            request_id=f"{name}/all", set_id=name, side="all", text=text_of(name, "it"), candidate_id="c", reward=None,
            scores={}, n_candidates=1,
        ).model_dump()
        for name in "abc"
    ]  # fmt: skip
    path = write(tmp_path, "best.jsonl", best)
    columns = SummaryColumnsSection(text="prediction", id="product")
    expected = {name: text_of(name, "it") for name in "abc"}
    assert read_summaries(path, SETS, columns=columns) == read_summaries(path, SETS) == expected
    # objects of ids and texts, and plain texts, have no columns
    assert summaries_of(expected, NAMES, columns=columns) == expected
    assert summaries_of(list(expected.values()), NAMES, columns=columns) == expected


def test_a_column_that_nobody_knows_is_named(tmp_path):
    records = [{"id": e, "zusammenfassung": text_of(e, "it")} for e in "abc"]
    path = write(tmp_path, "out.csv", records)
    with pytest.raises(DataError, match=r"has no text; .*it may be 'zusammenfassung' \('What it says"):
        read_summaries(path, SETS)
    with pytest.raises(DataError, match=r"has no column 'zusammenfasung'; did you mean 'zusammenfassung'"):
        read_summaries(path, SETS, columns=columns_of({"text": "zusammenfasung"}))
    assert len(read_summaries(path, SETS, columns=columns_of({"text": "zusammenfassung"}))) == 3


def test_lines_that_have_different_texts_are_not_mixed(tmp_path):
    records = [
        {"id": e, name: text_of(e, name)} for e, name in zip("abc", ("summary", "output", "output"), strict=True)
    ]
    with pytest.raises(DataError, match="has several texts"):
        read_summaries(write(tmp_path, "out.jsonl", records), SETS)


@pytest.mark.parametrize("given", [{"texts": "x"}, {"text": 3}, "text"])
def test_columns_that_cannot_be_named_are_refused(given):
    with pytest.raises(DataError, match="columns that can be named are text, id"):
        columns_of(given)


@pytest.mark.parametrize("kind", ["pandas", "pandas index", "pandas series", "arrow", "data set", "rows of polars"])
def test_summaries_may_be_a_table_in_memory(kind):
    rows = [{"id": e, "output": text_of(e, "it")} for e in "bca"]
    expected = {e: text_of(e, "it") for e in "abc"}
    if kind.startswith("pandas"):
        frame = pytest.importorskip("pandas").DataFrame(rows)
        given = {
            "pandas": frame,
            "pandas index": frame.set_index("id"),
            "pandas series": frame.set_index("id")["output"],
        }[kind]
    elif kind == "arrow":
        given = pytest.importorskip("pyarrow").Table.from_pylist(rows)
    elif kind == "data set":
        given = pytest.importorskip("datasets").Dataset.from_list(rows)
    else:

        class Frame:
            """What polars has."""

            def to_dicts(self):
                return rows

        given = Frame()
    assert summaries_of(given, NAMES) == expected


def test_a_frame_in_another_order_than_its_index_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"output": [text_of(e, "it") for e in "abc"]})
    assert summaries_of(frame, NAMES).by_order
    with pytest.raises(DataError, match="the summaries carry 'index' '2', '1', '0'"):
        summaries_of(frame.iloc[::-1], NAMES)


def test_names_are_told_by_their_words():
    assert {parts_of(name) for name in ("customId", "custom_id", "Custom ID", "custom-id", "CUSTOM_ID")} == {
        ("custom", "id")
    }


@pytest.mark.parametrize("joint", ["\n", " || ", "\n\n2. "])
@pytest.mark.parametrize(
    "output",
    [
        {},
        {"outputs": ["What it says of {}."]},
        {"choices": [{"message": {"content": "What it says of {}."}}]},
        {"comment": "What it says of it."},
    ],
)
def test_a_text_that_is_what_was_summarised_is_refused_until_it_is_named(tmp_path, joint, output):
    sets = [
        DocumentSet(id=e, documents=tuple(Document(id=f"{e}/{i}", text=f"Of {e},\n  voice {i} thinks.") for i in "12"))
        for e in "abc"
    ]
    sources = {each.id: joint.join(" ".join(d.text.split()) for d in each.documents) for each in sets}
    path = write(tmp_path, "out.jsonl", [{"id": e, "text": sources[e], **output} for e in "abc"])
    with pytest.raises(DataError, match=r"'text' holds all documents of 3 of 3 sets \('a', .* text=COLUMN"):
        read_summaries(path, sets)
    assert read_summaries(path, sets, columns=SummaryColumnsSection(text="text")) == sources
    # one document of two is a summary, and so is a whole one of a set or two in many
    halves = [{"id": e, "text": sources[e] if e == "a" else f"Of {e}, voice 2 thinks."} for e in "abc"]
    assert read_summaries(write(tmp_path, "halves.jsonl", halves), sets)["a"] == sources["a"]
