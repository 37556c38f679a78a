import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sheets import DOCUMENT, SUMMARY_A, SUMMARY_B, make_item, make_sheet, read_sheet, span

from evenhand.errors import DataError
from evenhand.plugins.judge_studies.people.annotations.annotation import Span
from evenhand.plugins.judge_studies.people.annotations.scores import human_scores
from evenhand.plugins.judge_studies.people.annotations.sheet import (
    AnnotationSheet,
    PageKey,
    SystemSource,
    as_shown,
    parse_key,
    trimmed,
    unblind,
)


def write(tmp_path, value):
    path = tmp_path / "sheet.json"
    path.write_text(json.dumps(value))
    return path


def test_a_sheet_survives_its_file(tmp_path):
    sheet = make_sheet()
    assert read_sheet(write(tmp_path, sheet.model_dump(mode="json"))) == sheet


def test_offsets_count_code_points():
    # the ship is one code point at 8, where UTF-16 would have two units
    assert span(DOCUMENT, "\U0001f6a2") == Span(start=8, end=9, label="\U0001f6a2")
    assert span(DOCUMENT, "Nurses").start == 12
    make_item()


def test_all_mistakes_of_all_items_are_listed(tmp_path):
    value = make_sheet(make_item("a/left"), make_item("b/left")).model_dump(mode="json")
    first, second = value["items"]
    # as if counted in UTF-16 units
    first["key_points"][1][0]["start"] += 1
    first["key_points"][1][0]["end"] += 1
    first["summaries"][0]["omitted"] = [True]
    second["summaries"][1]["points"] = [[{"start": 0, "end": 3, "label": "The"}]]
    with pytest.raises(DataError) as caught:
        read_sheet(write(tmp_path, value))
    text = str(caught.value)
    assert "item 'a/left': 'Nurses need it' is not at 13 to 27 of the document" in text
    assert "'omitted' of summary A has 1 decisions for 2 key points" in text
    assert "item 'b/left': summary B is said to have no key point, but has 1" in text
    assert "'hallucinated' of summary B has 0 decisions for 1 key points" in text


@pytest.mark.parametrize(
    ("key", "value", "mistake"),
    [
        ("format", "something", "'format'"),
        ("version", 2, "'version'"),
        ("items", [], "'items'"),
        ("spelt", 1, "'spelt': is not a key of this record"),
    ],
)
def test_another_format_is_refused(tmp_path, key, value, mistake):
    with pytest.raises(DataError, match=mistake):
        read_sheet(write(tmp_path, {**make_sheet().model_dump(mode="json"), key: value}))


def test_a_decision_is_true_false_or_null(tmp_path):
    value = make_sheet().model_dump(mode="json")
    value["items"][0]["summaries"][0]["omitted"] = ["yes", None]
    with pytest.raises(DataError, match="valid boolean"):
        read_sheet(write(tmp_path, value))


def test_an_item_twice_is_refused(tmp_path):
    with pytest.raises(DataError, match="ferry/left occur more than once"):
        read_sheet(
            write(tmp_path, make_sheet().model_dump(mode="json") | {"items": [make_item().model_dump(mode="json")] * 2})
        )


def undecided():
    summaries = make_item().summaries
    return {"summaries": (summaries[0].model_copy(update={"omitted": (None, True)}), summaries[1])}


def silent():
    summaries = make_item().summaries
    return {"summaries": (summaries[0], summaries[1].model_copy(update={"none": False}))}


def unmarked():
    """Only the first passage has a key point."""
    item = make_item()
    one = tuple(s.model_copy(update={"omitted": (True,)}) for s in item.summaries)
    return {"key_points": item.key_points[:1], "summaries": one}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        (undecided(), "match not decided"),
        (silent(), "summary neither marked nor said to have no key point"),
        (unmarked(), "passage neither marked nor said to have no key point"),
        (unmarked() | {"without": (span(DOCUMENT, "Nurses need it."),)}, None),
    ],
)
def test_an_item_says_why_it_is_not_finished(changes, reason):
    assert make_item(**changes).unfinished == reason


def test_documents_are_shown_as_passages_apart_by_a_blank_line():
    assert as_shown(["One.\nTwo. ", "\n\n", "Three.\r\n  Four."]) == "One.\n\nTwo.\n\nThree.\n\nFour."


@given(st.text(max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_a_trimmed_span_stands_where_it_says(text, start, end):
    found = trimmed(text, start, end)
    if found is None:
        assert not text[start:end].strip()
    else:
        assert text[found.start : found.end] == found.label == text[start:end].strip()


def test_passages_cover_the_document():
    assert [passage.label for passage in make_item().passages] == DOCUMENT.split("\n\n")
    assert all(DOCUMENT[p.start : p.end] == p.label for p in make_item().passages)


def test_the_format_says_its_name_and_version():
    value = make_sheet().model_dump(mode="json")
    assert (value["format"], value["version"]) == ("evenhand-human-annotations", 1)
    assert AnnotationSheet.model_validate(value) == make_sheet()


SOURCE = SystemSource(folder="runs/a", digest="0" * 16)


def key(**letters):
    return PageKey(
        page="p1", seed=0, systems={"dpo": SOURCE, "base": SOURCE}, letters={"ferry/left": letters},
        shown={"ferry/left": make_item().shown},
    )  # fmt: skip


def test_summaries_get_the_names_and_the_order_of_their_systems():
    ((item, unit),) = unblind(make_sheet(), key(A="base", B="dpo"))
    assert item == make_item()
    assert list(unit.summaries.items()) == [("dpo", SUMMARY_B), ("base", SUMMARY_A)]
    assert (unit.annotator, unit.number, unit.side, unit.cluster) == ("anna", 1, "left", "ferry")
    assert unit.annotation.summaries["base"].points == ("keeps \U0001f6a2", "for nurses")


def test_scores_of_a_sheet_worked_by_hand():
    # summary A has 1 of 2 key points, 1 of its 2 is supported; summary B has none of 2 and no key point
    ((_, unit),) = unblind(make_sheet(), key(A="base", B="dpo"))
    base, dpo = (human_scores(unit.annotation, system) for system in ("base", "dpo"))
    assert (base.coverage, base.faithfulness, base.included, base.omitted, base.hallucinated) == (0.5, 0.5, 1, 1, 1)
    assert (dpo.coverage, dpo.faithfulness, dpo.included, dpo.omitted, dpo.hallucinated) == (0.0, None, 0, 2, 0)


def test_without_a_key_letters_are_the_names():
    ((_, unit),) = unblind(make_sheet(), None)
    assert list(unit.summaries) == ["A", "B"]


def test_unknown_letters_and_items_are_all_listed():
    with pytest.raises(DataError) as caught:
        unblind(make_sheet(make_item(), make_item("other/left")), key(A="base"))
    assert str(caught.value).splitlines() == [
        "item 'ferry/left': the key of page p1 does not know B",
        "item 'other/left': the key of page p1 does not know A, B",
    ]


def test_a_key_of_another_version_is_refused(tmp_path):
    value = key(A="base", B="dpo").model_dump(mode="json") | {"version": 3}
    with pytest.raises(DataError, match=r"k.json: is not the key of a page: 'version'"):
        parse_key(tmp_path / "k.json", value)


def exchanged(item):
    """The item with the texts and marks of its summaries under each other's letter."""
    first, second = item.summaries
    return item.model_copy(
        update={
            "summaries": (
                second.model_copy(update={"letter": first.letter}),
                first.model_copy(update={"letter": second.letter}),
            )
        }
    )


@pytest.mark.parametrize(
    "change", [exchanged, lambda item: item.model_copy(update={"side": "right"})], ids=["letters", "side"]
)
def test_an_item_that_is_not_what_the_page_shows_is_refused_and_named(change):
    with pytest.raises(DataError, match=r"^item 'ferry/left': its texts or letters are not those of page p1"):
        unblind(make_sheet(change(make_item())), key(A="base", B="dpo"))


def test_the_order_of_summaries_in_the_file_does_not_matter():
    item = make_item()
    turned = item.model_copy(update={"summaries": item.summaries[::-1]})
    ((_, unit),) = unblind(make_sheet(turned), key(A="base", B="dpo"))
    assert unit.summaries == {"dpo": SUMMARY_B, "base": SUMMARY_A}
