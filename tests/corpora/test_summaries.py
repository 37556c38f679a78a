"""Anybody's summaries find their sets, or every mistake is told."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.corpora import read_summaries
from evenhand.corpora.summaries import Summaries
from evenhand.errors import DataError
from evenhand.records import BestSummary, Document, DocumentSet
from evenhand.text.thoughts import without_thoughts


def a_set(name):
    return DocumentSet(id=name, documents=(Document(id=f"{name}/1", text="Fine."),))


SETS = [a_set("a"), a_set("b"), a_set("c")]
TEXTS = {"a": "First.", "b": "", "c": "Third\u2028with a line separator."}


def lines(*records):
    return "".join((r if isinstance(r, str) else json.dumps(r, ensure_ascii=False)) + "\n" for r in records)


def best(name, text, side="all"):
    record = BestSummary(
        request_id=f"{name}/{side}", set_id=name, side=side, text=text, candidate_id=None, reward=None, scores={},
        n_candidates=1,
    )  # fmt: skip
    return record.model_dump()


def write(folder, content, name="out"):
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def mistakes_of(path, sets=SETS, **options):
    with pytest.raises(DataError) as caught:
        read_summaries(path, sets, **options)
    return str(caught.value).splitlines()


FORMS = {
    "best.jsonl": lines(*[best(name, text) for name, text in TEXTS.items()]),
    "id and summary": lines(*[{"id": name, "summary": text} for name, text in TEXTS.items()]),
    "set and summary": lines(*[{"set": name, "summary": text, "id": "a candidate"} for name, text in TEXTS.items()]),
    "set_id and text": lines(*[{"set_id": name, "text": text} for name, text in TEXTS.items()]),
    "request_id and prediction": lines(
        *[{"request_id": f"{name}/all", "prediction": text} for name, text in TEXTS.items()]
    ),
    "entity_id, another order": lines(*[{"entity_id": name, "text": TEXTS[name]} for name in "cab"]),
    "with the source beside": lines(
        *[{"id": name, "source": "Read.", "summary": text} for name, text in TEXTS.items()]
    ),
    "array": json.dumps([{"id": name, "summary": TEXTS[name]} for name in "cab"]),
    "array of strings": json.dumps(list(TEXTS.values())),
    "object": json.dumps(TEXTS, ensure_ascii=False),
    "object, indented": json.dumps(TEXTS, indent=2),
    "predictions": lines(*[{"prediction": text} for text in TEXTS.values()]),
    "predictions with a text": lines(*[{"prediction": {"text": text}} for text in TEXTS.values()]),
    "plain": lines(*TEXTS.values()),
    "plain, no final line break": lines(*TEXTS.values())[:-1],
    "plain, Windows": lines(*TEXTS.values()).replace("\n", "\r\n"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_every_form_gives_the_same_summaries_in_the_order_of_the_sets(tmp_path, content, packed):
    path = tmp_path / ("out.gz" if packed else "out")
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    found = read_summaries(path, SETS)
    assert found == TEXTS
    assert list(found) == ["a", "b", "c"]


def comes_back(text):
    """Whether it has no return, which JSON lines may end with, and no mark of a model's thoughts, which are left out."""
    return "\r" not in text and without_thoughts(text, is_summary=True).text == text


@given(st.lists(st.text().filter(comes_back), min_size=2, max_size=5))
def test_any_text_comes_back_from_json_lines(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("any") / "out.jsonl"
    sets = [a_set(f"s{number}") for number in range(len(texts))]
    records = [json.dumps({"id": s.id, "summary": t}) for s, t in zip(sets, texts, strict=True)]
    path.write_text("\n".join(reversed(records)))
    assert list(read_summaries(path, sets).values()) == texts


@pytest.mark.parametrize(
    "content", ['{"id": "a", "summary": "One."}', '{"prediction": "One."}', '{"a": "One."}', "One.", "One.\n"]
)
def test_a_file_of_a_single_summary_is_understood(tmp_path, content):
    assert read_summaries(write(tmp_path, content), SETS[:1]) == {"a": "One."}


def test_a_set_that_is_called_like_a_key_is_still_a_set(tmp_path):
    assert read_summaries(write(tmp_path, '{"text": "One."}'), [a_set("text")]) == {"text": "One."}


def test_ids_may_be_numbers(tmp_path):
    assert read_summaries(write(tmp_path, '{"id": 7, "summary": "One."}\n'), [a_set("7")]) == {"7": "One."}


def test_all_mistakes_of_lines_are_listed_in_their_order(tmp_path):
    content = lines(
        {"id": "a", "summary": "One."}, "{broken", {"id": "x", "summary": "?"}, {"id": "a", "summary": "Again."},
        {"summary": "whose?"}, {"id": "b", "summary": 3}, {"id": "b"}, "[]",
    )  # fmt: skip
    path = write(tmp_path, content)
    found = mistakes_of(path)
    for line, expected in zip(
        found,
        [
            f"{path}:2: is not JSON",
            f"{path}:3: no document set has the id 'x'; the documents' ids are like 'a'",
            f"{path}:4: set 'a' has a summary already, in {path}:1",
            f"{path}:5: {{'summary': 'whose?'}} has no id, but other entries do",
            f"{path}:6: 3 is not a text",
            f"{path}:7: set 'b' has a summary already, in {path}:6",
            f"{path}:8: [] has no id, but other entries do",
            f"{path}: has no summary of 'c'",
        ],
        strict=True,
    ):
        assert line.startswith(expected)


def test_mistakes_of_an_object_are_listed(tmp_path):
    path = write(tmp_path, '{"a": "One.", "b": 3, "x": "?"}')
    assert [line.removeprefix(f"{path}: ").split(";")[0] for line in mistakes_of(path)] == [
        "3 is not a text",
        "no document set has the id 'x'",
        "has no summary of 'c'",
    ]
    twice = write(tmp_path, '{"a": "One.", "a": "Again."}')
    assert "has an object with the key 'a' twice" in mistakes_of(twice)[0]


def test_missing_summaries_are_left_out_when_allowed(tmp_path):
    path = write(tmp_path, lines(best("a", "One."), best("b", None)))
    assert read_summaries(path, SETS, allow_missing=True) == {"a": "One."}
    assert mistakes_of(path)[0].startswith(f"{path}: has no summary of 'b', 'c'; add it")


def test_unknown_ids_are_no_less_wrong_when_missing_ones_are_allowed(tmp_path):
    path = write(tmp_path, '{"a": "One.", "x": "?"}')
    assert len(mistakes_of(path, allow_missing=True)) == 1


@pytest.mark.parametrize("content", ["One.\nTwo.\n", "One.\n\n\n\n", lines({"prediction": "One."})])
@pytest.mark.parametrize("allow_missing", [False, True])
def test_without_ids_the_numbers_must_be_equal(tmp_path, content, allow_missing):
    with pytest.raises(DataError, match=r"has \d summaries of 3 document sets; without ids there must be one for each"):
        read_summaries(write(tmp_path, content), SETS, allow_missing=allow_missing)


@pytest.mark.parametrize(
    ("name", "content"), [("s.jsonl", ""), ("s.json", "[]"), ("s.csv", "id,summary\n"), ("s.txt", "")]
)
def test_a_file_without_summaries_is_said_to_have_none(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(DataError, match=f"{name}: has no summaries; write one of each of the 3 document sets"):
        read_summaries(path, SETS)


def test_summaries_of_sides_are_refused_with_what_to_do(tmp_path):
    path = write(tmp_path, lines(best("a", "One.", "left"), best("a", "Two.", "right")))
    (mistake,) = mistakes_of(path)
    assert "holds summaries of one side each (left, right)" in mistake
    assert "task.scope: all" in mistake


@pytest.mark.parametrize("content", ["{not json\nat all\n", '{"a": \n'])
def test_what_begins_like_json_and_is_none_is_refused(tmp_path, content):
    assert "begins like JSON" in mistakes_of(write(tmp_path, content))[0]


def test_a_text_in_brackets_is_no_array(tmp_path):
    assert read_summaries(write(tmp_path, "[sic] One."), SETS[:1]) == {"a": "[sic] One."}


def test_summaries_of_several_systems_in_one_file_are_refused(tmp_path):
    rows = [{"system": system, "id": each.id, "summary": "One."} for system in ("alpha", "beta") for each in SETS]
    (said,) = mistakes_of(write(tmp_path, json.dumps(rows)))
    assert "holds summaries of several systems (alpha, beta, by 'system'); write a file for each" in said
    # one system's own file may say so
    assert len(read_summaries(write(tmp_path, json.dumps(rows[: len(SETS)])), SETS)) == len(SETS)


def test_mistakes_of_an_array_name_its_entries(tmp_path):
    path = write(tmp_path, json.dumps([{"id": "a", "summary": "One."}, "Two.", {"id": "a", "summary": "Three."}]))
    found = mistakes_of(path)
    assert found[0].startswith(f"{path}: entry 2: 'Two.' has no id, but other entries do; write")
    assert found[1].startswith(f"{path}: entry 3: set 'a' has a summary already, in {path}: entry 1")
    assert found[2].startswith(f"{path}: has no summary of 'b', 'c'")


@pytest.mark.parametrize("name", FORMS)
def test_it_is_told_whether_a_file_went_by_order(tmp_path, name):
    found = read_summaries(write(tmp_path, FORMS[name]), SETS)
    assert found.by_order == name.startswith(("prediction", "plain", "array of strings"))


def test_ids_under_a_key_of_another_name_are_not_passed_over(tmp_path):
    given = [{"doc_id": name, "summary": text} for name, text in TEXTS.items()]
    (mistake,) = mistakes_of(write(tmp_path, lines(*reversed(given))))
    assert "holds ids of document sets, 'c', 'b'" in mistake


def test_numbers_are_ids_only_when_all_lines_have_another_known_one(tmp_path):
    sets = [a_set("1"), a_set("2")]
    swapped = write(tmp_path, lines({"idx": 2, "summary": "One."}, {"idx": 1, "summary": "Two."}))
    assert "holds ids of document sets, '2', '1'" in mistakes_of(swapped, sets)[0]
    for words in ((1, 1), (2, 3)):
        path = write(tmp_path, lines(*[{"n_words": n, "summary": "One."} for n in words]))
        assert read_summaries(path, sets).by_order


def test_a_sentence_may_begin_with_its_topic_and_a_comma(tmp_path):
    path = write(tmp_path, lines("a, the first letter, is here.", "Nothing, then, is amiss.", "Letters; many."))
    assert read_summaries(path, SETS)["a"] == "a, the first letter, is here."


def test_lines_that_are_all_broken_are_told_each_with_its_mistake(tmp_path):
    path = write(tmp_path, lines(*[f'{{"id": "{name}", "summary": "\\ud800"}}' for name in "abc"]))
    found = mistakes_of(path)
    assert [line.split(": ")[0] for line in found] == [f"{path}:{number}" for number in (1, 2, 3)]
    assert all("holds half a character" in line for line in found)


def test_many_mistakes_are_counted_after_the_first_twenty(tmp_path):
    found = mistakes_of(write(tmp_path, json.dumps({f"x{number}": "?" for number in range(30)})))
    # 30 unknown, and one line for the 3 missing
    assert len(found) == 21
    assert found[-1] == "... and 11 more"


def test_the_released_predictions_go_with_their_sets(perspectivesumm):
    from evenhand.corpora import read_any

    sets = read_any(perspectivesumm / "yelp.json.gz")
    found = read_summaries(perspectivesumm / "yelp_alpaca_predictions.jsonl.gz", sets)
    assert len(found) == 1500
    assert found["yelp-0001"].startswith("The reviews of Willow restaurant were generally positive")


def test_missing_sets_are_one_line_after_the_causes_in_the_order_of_the_sets(tmp_path):
    sets = [a_set(f"s{number}") for number in range(1500, 0, -1)]
    path = write(tmp_path, lines({"id": "x1", "summary": "One."}, {"id": "x2", "summary": "Two."}))
    assert mistakes_of(path, sets) == [
        f"{path}:1: no document set has the id 'x1'; the documents' ids are like 's1500'",
        f"{path}:2: no document set has the id 'x2'; the documents' ids are like 's1500'",
        f"{path}: has no summary of 's1500', 's1499', 's1498', 's1497', 's1496' and 1,495 more; "
        'add it ("" if it is empty) or take the set out',
    ]


@pytest.mark.parametrize("given", [2.5, ["a"], None, True, {"a": 1}])
def test_an_id_that_is_no_id_is_refused_and_the_file_does_not_go_by_order(tmp_path, given):
    path = write(tmp_path, lines(*[{"id": given, "summary": "One."}] * 3))
    found = mistakes_of(path)
    assert found[:3] == [f"{path}:{n}: 'id' is {given!r}; an id is a text or a whole number" for n in (1, 2, 3)]
    assert found[3].startswith(f"{path}: has no summary of 'a', 'b', 'c'")


def test_a_quoted_line_among_plain_ones_is_a_quotation(tmp_path):
    content = 'One.\n"Two."\nThree.\n'
    assert list(read_summaries(write(tmp_path, content), SETS).values()) == content.split("\n")[:3]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('"One."\n"Two."\n"Three."\n', 1),
        ('"One."\n\n"Three."\n', 1),
        ('["a", "One."]\n["b", "Two."]\n["c", "Three."]\n', 1),
        ('One.\n{"id": "c-2", "summary": "Two."}\nThree.\n', 2),
    ],
)
def test_json_that_plain_text_would_be_measured_with_is_refused(tmp_path, text, line):
    with pytest.raises(DataError, match=rf":{line}: is JSON in a file of plain text"):
        read_summaries(write(tmp_path, text), SETS)


@pytest.mark.parametrize(
    "content",
    [
        "b\tTwo.\na\tOne.\nc\tThree.\n",
        "b,Two.\na,One.\nc,Three.\n",
        "B: Two.\nA: One.\nC: Three.\n",
        lines(*({"meta": {"no": name}, "prediction": "Text."} for name in "bac")),
        lines(*({"name": name, "prediction": "Text."} for name in "BAC")),
        lines(*({"request": f"{name}/all", "prediction": "Text."} for name in "bac")),
        lines({"name": "b", "text": "Two."}, {"key": "a", "text": "One."}, {"name": "c", "text": "Three."}),
    ],
)
def test_ids_in_another_place_are_refused_and_not_passed_over(tmp_path, content):
    with pytest.raises(DataError, match=r"holds ids of document sets, 'b', 'a'"):
        read_summaries(write(tmp_path, content), SETS)


def test_quoted_speech_in_every_line_is_text(tmp_path):
    content = '"Loud."\n"Quiet," they said.\n"No."\n'
    assert list(read_summaries(write(tmp_path, content), SETS).values()) == content.split("\n")[:3]


def test_quotation_marks_and_brackets_within_plain_lines_are_text(tmp_path):
    content = '"One," they said.\n[sic] Two.\n{curly} Three.\n'
    assert list(read_summaries(write(tmp_path, content), SETS).values()) == content.split("\n")[:3]


def test_an_object_without_a_text_is_no_text_and_not_missing(tmp_path):
    path = write(tmp_path, lines(*[{"prediction": {"txt": "One."}}] * 3))
    found = mistakes_of(path, allow_missing=True)
    assert found[0] == f"{path}:1: {{'txt': 'One.'}} is not a text"


def test_a_single_record_with_another_text_key_is_told_of_that_key(tmp_path):
    found = mistakes_of(write(tmp_path, '{"id": "a", "outcome": "One."}'), SETS[:1])
    assert "has no text; name it by one of summary, prediction, text" in found[0]


def test_a_map_that_breaks_is_told_with_its_line(tmp_path):
    (mistake,) = mistakes_of(write(tmp_path, '{\n"a": "One.",\n"b": "Two."\n"c": "Three."\n}'))
    assert "as one object it breaks in line 4, which is not JSON (Expecting ',' delimiter at column 1)" in mistake


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("9" * 5000, "whole number of more digits"),
        ("[" * 5000 + "]" * 5000, "nested too deeply"),
        (r'"\ud800"', "half a"),
    ],
    ids=["digits", "nesting", "surrogate"],
)
@pytest.mark.parametrize("line", ['{"id": "a", "summary": %s}', '{"a": %s}', '{"id": "b", "summary": ""}\n{"x": %s}'])
def test_json_that_cannot_be_worked_with_is_a_mistake_of_the_file(tmp_path, line, value, problem):
    assert problem in "\n".join(mistakes_of(write(tmp_path, line % value), SETS[:2]))


def test_a_sentence_with_a_colon_is_text(tmp_path):
    path = write(tmp_path, lines("Verdict: good.", "a: the first letter.", "Nobody | agrees."))
    assert read_summaries(path, SETS).by_order


def test_what_an_object_says_of_its_summary_is_no_id(tmp_path):
    given = [{"meta": {"model": "m", "text": "a", "n_words": 1}, "prediction": {"text": "b"}}] * 3
    assert read_summaries(write(tmp_path, lines(*given)), SETS).by_order


@pytest.mark.parametrize(
    ("name", "separator"), [("out.csv", ","), ("out.CSV", ";"), ("out.tsv", "\t"), ("out.csv.gz", ",")]
)
def test_a_table_with_a_column_of_ids_is_read(tmp_path, name, separator):
    path = tmp_path / name
    content = f'id{separator}summary\nb{separator}"Two,\nor more"\na{separator}One.\nc{separator}\n'.encode()
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    found = read_summaries(path, SETS)
    assert (dict(found), found.by_order) == ({"a": "One.", "b": "Two,\nor more", "c": ""}, False)


def test_a_column_of_another_name_is_one_mistake_with_the_columns_that_are_there(tmp_path):
    (found,) = mistakes_of(write(tmp_path, "id,words\na,x\nb,y\n", "out.csv"))
    assert "out.csv: has no text" in found and "'id', 'words'" in found


def test_wrong_rows_of_a_table_are_listed_with_their_lines(tmp_path):
    path = write(tmp_path, "id,summary\na,One, or two.\nx,Two.\nc,Three.\n", "out.csv")
    places = [
        line.removeprefix(f"{path}").partition(" has" if "more cells" in line else " ")[0] for line in mistakes_of(path)
    ]
    assert places == [":2:", ":3:", ":"]


def test_entries_of_two_kinds_are_refused(tmp_path):
    path = write(tmp_path, '["x", null]')
    assert mistakes_of(path, SETS[:2]) == [f"{path}: entry 2: None is not a text"]


@pytest.mark.parametrize(
    "form",
    [
        "<think>\n{}\n</think>\n\n",
        "{}</think>",
        "[THINK]{}[/THINK]",
        "<|channel|>analysis<|message|>{}<|channel|>final<|message|>",
    ],
)
def test_thoughts_are_no_summary_and_are_counted(tmp_path, form):
    thought = form.format("Of the left and of the right.\n\nI name both.")
    records = [
        {"id": "a", "summary": thought + "One.\n\nTwo."},
        {"id": "b", "summary": "Three."},
        {"id": "c", "summary": ""},
    ]
    found = read_summaries(write(tmp_path, lines(*records)), SETS)
    assert (dict(found), found.n_thoughts) == ({"a": "One.\n\nTwo.", "b": "Three.", "c": ""}, 1)


@pytest.mark.parametrize(
    "text",
    [
        "Analysis: the left wants a ferry.\n\nSummary: both sides want one.",
        "Analysis\nThe left wants a ferry.\n\nSummary\nBoth sides want one.",
        "Thoughts: mixed.\nAnswer: none.",
        "Thinking: the left wants a ferry.",
        "Thought process: unclear, say critics of the mayor.",
    ],
)
def test_headings_of_a_summary_in_a_file_are_its_own(text):
    summaries = Summaries({"a": text}, by_order=False)
    assert (summaries["a"], summaries.n_thoughts) == (text, 0)


@pytest.mark.parametrize("thought", ["<think>Both.</think>{}", "Thinking Process:\n\n1. Both.\n\nFinal answer: {}"])
def test_a_thought_in_a_file_is_taken_off(thought):
    summaries = Summaries({"a": thought.format("The left wants it.")}, by_order=False)
    assert (summaries["a"], summaries.n_thoughts) == ("The left wants it.", 1)
