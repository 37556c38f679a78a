"""Summaries without ids go by order only where nothing that they carry says otherwise."""

import csv
import io
import json

import pytest

from evenhand.config import SummaryColumnsSection
from evenhand.corpora import read_summaries
from evenhand.corpora.summaries import summaries_of
from evenhand.errors import DataError
from evenhand.records import Document, DocumentSet

N = 12
SETS = [
    DocumentSet(
        id=f"s{k}",
        topic=f"Topic of {k}",
        documents=tuple(
            Document(id=f"s{k}/{side}", text=f"For {side} in {k}. We say it.") for side in ("left", "right")
        ),
    )
    for k in range(N)
]
ORDERS = {
    "descending": list(range(N))[::-1],
    "as text": sorted(range(N), key=str),
    "two exchanged": [1, 0, *range(2, N)],
    "shuffled": sorted(range(N), key=lambda k: k * 5 % 13),
    "one position on": [*range(1, N), 0],
}
# what counts: the column's name, and its value for the set of this number
COUNTERS = {
    "custom id of a batch": ("custom_id", lambda k: f"request-{k}"),
    "custom id in camel case": ("customId", lambda k: f"req{k}"),
    "custom id with zeros": ("custom_id", lambda k: f"batch7-{k:05}"),
    "index": ("index", lambda k: k),
    "idx from 1": ("idx", lambda k: k + 1),
    "row as text with zeros": ("row", lambda k: f"{k:03}"),
    "unnamed index of pandas": ("", str),
    "unnamed index in a later file": ("Unnamed: 0", str),
    "line as a float": ("line", float),
    "an unknown name": ("pos7x", lambda k: k),
    "nested": ("metadata", lambda k: {"index": k}),
    "example id": ("example_id", lambda k: 1000 + k),
}
NAMES = {
    "topic": ("topic", lambda k: f"Topic of {k}"),
    "topic in another spelling": ("title", lambda k: f"topic-of_{k}"),
    "document": ("doc_id", lambda k: f"s{k}/left"),
    "document of any name": ("first", lambda k: f"S{k}/right"),
    "nested topic": ("meta", lambda k: {"topic": f"Topic of {k}"}),
    "nested list of documents": ("documents", lambda k: [f"s{k}/left", f"s{k}/right"]),
    "source": ("document", lambda k: f"For left in {k}. We say it. ||| For right in {k}. We say it."),
    "nested chat": (
        "messages",
        lambda k: [{"role": "user", "content": f"Summarise this: For left in {k}. We say it."}],
    ),
}


def text_of(k):
    return f"What people think about matter {k}."


def as_csv(records):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(records[0]))
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue()


FORMATS = {
    "summaries.jsonl": lambda records: "".join(json.dumps(each) + "\n" for each in records),
    "summaries.json": json.dumps,
    "summaries.csv": as_csv,
}


def records_of(column, order):
    name, value = column
    return [{name: value(k), "prediction": text_of(k)} for k in order]


def read(tmp_path, name, records, **options):
    path = tmp_path / name
    path.write_text(FORMATS[name](records), encoding="utf-8")
    return read_summaries(path, SETS, **options)


@pytest.mark.parametrize(
    ("name", "kind"),
    # a table has no objects within
    [(n, k) for n in FORMATS for k in (*COUNTERS, *NAMES) if not (n.endswith("csv") and "nested" in k)],
)
def test_what_counts_or_names_in_the_order_of_the_sets_is_taken(tmp_path, name, kind):
    column = (COUNTERS | NAMES)[kind]
    found = read(tmp_path, name, records_of(column, range(N)))
    assert found == {f"s{k}": text_of(k) for k in range(N)} and found.by_order


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", [*COUNTERS, *NAMES])
def test_what_counts_or_names_in_another_order_is_refused(tmp_path, kind, order):
    column = (COUNTERS | NAMES)[kind]
    name = list(FORMATS)[len(kind) % (2 if "nested" in kind else 3)]
    with pytest.raises(DataError, match=r'the summaries carry .*write the ids of the sets under "id", .* out'):
        read(tmp_path, name, records_of(column, ORDERS[order]))
    # in memory as in a file
    with pytest.raises(DataError, match="the summaries carry"):
        summaries_of(records_of(column, ORDERS[order]), {each.id: each for each in SETS})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("index", [0, 1, 3, *range(4, N + 1)]),  # one was dropped, another added
        ("index", [0, 1, 1, *range(3, N)]),  # one twice
        ("custom_id", [f"request-{k}" for k in (0, 1, 1, *range(3, N))]),
        ("uuid", [f"{(k * 7919) % 104729:x}-ab{k}c{k}" for k in range(N)]),  # names nothing that is known
        ("topic", ["Topic of 1", "Topic of 1", *(f"Topic of {k}" for k in range(2, N))]),
        ("topic", ["renamed", *(f"Topic of {k}" for k in reversed(range(N - 1)))]),
        ("Doc ID", [f"s{k}/right" for k in ORDERS["shuffled"]]),
    ],
)
def test_gaps_repetitions_and_ids_of_something_else_are_refused(tmp_path, name, values):
    records = [{name: value, "output": text_of(k)} for k, value in enumerate(values)]
    with pytest.raises(DataError, match=rf"carry '{name}' "):
        read(tmp_path, "summaries.jsonl", records)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("model_id", ["m"] * N),
        ("created", [1_700_000_000 + k * k % 17 for k in range(N)]),
        ("created_at", [f"2024-01-{N - k:02}T10:00:00" for k in range(N)]),
        ("date", [f"2024-01-{N - k:02}" for k in range(N)]),
        ("n_tokens", [20 + k * 5 % 7 for k in range(N)]),
        ("score", [1 / (k + 1) for k in range(N)]),
        ("seed", [k * 31 % 97 for k in range(N)]),
        ("rating", [k % 5 + 1 for k in reversed(range(N))]),
        ("rank", list(reversed(range(1, N + 1)))),
        ("topic", ["the ferry"] * N),
        ("ok", [k % 2 == 0 for k in range(N)]),
    ],
)
def test_what_neither_counts_nor_names_is_no_reason_to_refuse(tmp_path, name, values):
    records = [{name: value, "output": text_of(k)} for k, value in enumerate(values)]
    assert read(tmp_path, "summaries.jsonl", records).by_order


def test_an_entry_may_lack_what_counts(tmp_path):
    records = [{"index": k, "output": text_of(k)} for k in range(N)]
    del records[4]["index"]
    assert read(tmp_path, "summaries.jsonl", records).by_order
    with pytest.raises(DataError, match="carry 'index' '11', '10', '9'"):
        read(tmp_path, "summaries.jsonl", records[::-1])


def test_numbers_that_are_ids_of_sets_come_before_counting():
    sets = {name: SETS[0].model_copy(update={"id": name}) for name in ("3", "1", "2")}
    in_order = [{"index": int(name), "output": f"On {name} they differ."} for name in sets]
    assert list(summaries_of(in_order, sets).values()) == [each["output"] for each in in_order]
    with pytest.raises(DataError, match=r"holds ids of document sets, '1', '2', '3', .*--summary-columns id=index"):
        summaries_of(sorted(in_order, key=lambda each: each["index"]), sets)


def test_plain_lines_that_are_numbered_must_count_up(tmp_path):
    path = tmp_path / "summaries.txt"
    for order, is_whole in (range(N), True), (ORDERS["descending"], False), (ORDERS["as text"], False):
        path.write_text("".join(f"{k + 1}. {text_of(k)}\n" for k in order))
        if is_whole:
            assert read_summaries(path, SETS).by_order
        else:
            with pytest.raises(DataError, match="begin with numbers that do not count up"):
                read_summaries(path, SETS)
    path.write_text("".join(f"{2024 - k}: {text_of(k)}\n" for k in range(N)))
    assert read_summaries(path, SETS).by_order


@pytest.mark.parametrize("kind", ["topic", "set"])
def test_a_column_that_is_named_gives_the_sets(tmp_path, kind):
    name = {"topic": "about it", "set": "product_name"}[kind]
    records = [{name: SETS[k].topic if kind == "topic" else f"s{k}", "output": text_of(k)} for k in ORDERS["shuffled"]]
    columns = SummaryColumnsSection(id=name)
    found = read(tmp_path, "summaries.csv", records, columns=columns)
    assert found == {f"s{k}": text_of(k) for k in range(N)} and not found.by_order
    with pytest.raises(DataError, match=rf"has no column '{name}s'; did you mean '{name}'"):
        read(tmp_path, "summaries.csv", records, columns=SummaryColumnsSection(id=f"{name}s"))


def test_ids_that_differ_in_what_is_hard_to_see_are_one_mistake(tmp_path):
    for spelt in (str.upper, lambda name: f"{name}\u200b", lambda name: f"\u00a0{name}"):
        records = [{"id": spelt(f"s{k}"), "output": text_of(k)} for k in range(N)]
        with pytest.raises(DataError, match=r"ids differ from the documents' only by capitals, .* for 's0'") as caught:
            read(tmp_path, "summaries.json", records)
        assert len(str(caught.value).splitlines()) == 1
    sets = [DocumentSet(id="B\u00e4der", topic="", documents=SETS[0].documents)]
    with pytest.raises(DataError, match=r"how letters with accents are written: 'Ba\\u0308der' for 'B\\xe4der'; write"):
        summaries_of([{"id": "Ba\u0308der", "summary": "A ferry."}], {each.id: each for each in sets})


def test_an_id_column_without_an_id_gives_way_to_the_one_that_has_them(tmp_path):
    records = [{"id": f"chat-{k}", "product": f"s{k}", "output": text_of(k)} for k in range(N)]
    with pytest.raises(DataError, match=r"'id' holds no id of a document set, and 'product' does; .* id=product"):
        read(tmp_path, "summaries.jsonl", records)


@pytest.mark.parametrize("ids", [["1.23E+17", "9.06E+17"], [1.23e17, 9.06e17], ["9007199254740993.0", "7"]])
def test_ids_that_have_lost_their_digits_are_refused(ids):
    records = [{"id": name, "output": text_of(k)} for k, name in enumerate(ids)]
    with pytest.raises(DataError, match="'id' holds numbers in scientific notation or too large for a float"):
        summaries_of(records, {each.id: each for each in SETS})


def test_small_whole_floats_are_ids(tmp_path):
    sets = {str(k): SETS[k].model_copy(update={"id": str(k)}) for k in range(3)}
    assert summaries_of([{"id": float(k), "output": text_of(k)} for k in (2, 0, 1)], sets)["2"] == text_of(2)
