"""What spreadsheets and platforms leave in cells is one warning with a count for each kind."""

import logging

import pytest

import evenhand
from evenhand.corpora.leftovers import leftover_in_sets, leftover_in_summaries

LEFT = ["nan", "NaN", "None", "null", "N/A", "<NA>", "#N/A", "#NAME?", "#REF!", "#VALUE!", "[deleted]", "[removed]"]
LEFT += ["[ Removed by Reddit ]", "  nan ", "x" * 32_767]
TEXTS = [
    "No, none.",
    "Nan bread is fine.",
    "#NAME is a tag",
    "[removed] by them, I guess",
    "x" * 32_766,
    "x" * 32_768,
    "Null and void.",
]


def documents(texts, values=("left",)):
    return [
        {"set": "s", "text": text, "side": values[k % len(values)]} for k, text in enumerate([*texts, "Fine.", "Good."])
    ]


@pytest.mark.parametrize("text", LEFT)
def test_each_kind_is_counted_in_one_warning(text, caplog):
    with caplog.at_level(logging.WARNING, logger="evenhand"):
        found = evenhand.load_documents(documents([text, text]), "side")
    assert len(caplog.messages) == 1
    assert "2 documents or values may be what a spreadsheet or a platform left" in caplog.messages[0]
    assert leftover_in_summaries({"a": text, "b": "Fine."}).startswith("1 summary may be what")
    assert len(found[0].documents) == 4


def test_kinds_are_counted_by_name():
    sets = evenhand.load_documents(documents(["nan", "[removed]", "nan", "x" * 32_767], ("left", "#N/A")), "side")
    said = leftover_in_sets(sets.records, ["side"])
    assert said.startswith("7 documents or values may be")
    assert "'#N/A' 3, 'nan' 2, '[removed]' 1, 32,767 characters, where a spreadsheet cuts a cell 1. They count" in said


@pytest.mark.parametrize("text", TEXTS)
def test_texts_that_only_begin_so_are_no_reason_to_warn(text, caplog):
    evenhand.load_documents(documents([text]), "side")
    assert not caplog.messages and not leftover_in_summaries({"a": text})


def test_a_value_may_be_called_none(caplog):
    evenhand.load_documents(documents([], ("none", "favor")), "side")
    assert not caplog.messages
