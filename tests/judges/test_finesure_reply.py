"""Reading FineSurE's replies."""

import json

import pytest

from evenhand.judges.finesure import read_categories, read_key_facts


def category(number, name):
    return {"sentence": number, "reason": "because [2] of this", "category": name}


GOOD = [category(1, "no error"), category(2, "entity error")]


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(GOOD),
        "Here is my answer:\n```json\n" + json.dumps(GOOD, indent=2) + "\n```\nI looked at [1] and [2].",
        '<think>[{"sentence": 1, "category": "other"}]</think>' + json.dumps(GOOD),
        # in another order, numbers as text, kinds in other spellings
        json.dumps([category("[2]", " Entity_Error."), category("1", "No error")]),
        json.dumps([category("2", "entity"), category("[1] The ferry", "no")]),
        # no numbers: in order, one for each
        json.dumps([category("The ferry is cheap.", "no error"), category("A bridge.", "entity error")]),
    ],
)
def test_categories_are_read_in_the_order_of_the_sentences(reply):
    assert read_categories(reply, 2) == ["no error", "entity error"]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no error",
        json.dumps(GOOD)[:-1],
        json.dumps(GOOD[:1]),
        json.dumps([*GOOD, category(3, "no error")]),
        json.dumps([category(1, "no error"), category(1, "no error")]),
        json.dumps([category(1, "no error"), category(3, "no error")]),
        json.dumps([category(1, "no error"), category("second", "no error")]),
        json.dumps([category(1, "no error"), category(2, "minor error")]),
        json.dumps([category(1, "no error"), {"sentence": 2}]),
        json.dumps([category(1, "no error"), category(2, None)]),
        json.dumps(GOOD) + json.dumps(GOOD),
        json.dumps(["no error", "no error"]),
        "<think>" + json.dumps(GOOD),
    ],
)
def test_reply_that_leaves_anything_open_is_not_read(reply):
    assert read_categories(reply, 2) is None


@pytest.mark.parametrize(
    "reply",
    [
        "[" * 100_000,
        '[{"sentence": ' + "[" * 5000,
        # int() refuses more than 4300 digits
        '[{"sentence": ' + "9" * 5000 + ', "category": "no error"}]',
        '[{"sentence": "' + "9" * 5000 + '", "category": "no error"}, {"sentence": 2, "category": "no error"}]',
    ],
)
def test_reply_that_jsons_reader_gives_up_on_is_not_read(reply):
    assert read_categories(reply, 2) is None
    assert read_key_facts(reply, 2, 2) is None


@pytest.mark.parametrize("kind", ["out-of-context error", "out of context", "Out_of_context Error"])
def test_spellings_of_one_kind_are_one(kind):
    assert read_categories(json.dumps([category(1, kind)]), 1) == ["out-of-context error"]


def fact(number, response, lines):
    return {"key fact": number, "response": response, "line number": lines}


def test_key_facts_are_read_with_their_sentences():
    reply = json.dumps([fact(2, "no", []), fact(1, "Yes", [1, "[3]"]), fact(3, "yes", 2)])
    assert read_key_facts(reply, 3, 3) == [{1, 3}, set(), {2}]


def test_lines_beside_a_no_do_not_count():
    assert read_key_facts(json.dumps([fact(1, "No", [1])]), 1, 2) == [set()]


@pytest.mark.parametrize(
    "row",
    [fact(1, "Yes", []), fact(1, "Yes", [3]), fact(1, "Yes", [0]), fact(1, "Yes", None), fact(1, "maybe", [1]), {"key fact": 1},
     fact(1, "Yes", [1, "end"]), fact(1, "Yes", [True])],
)  # fmt: skip
def test_key_fact_without_a_clear_answer_is_not_read(row):
    assert read_key_facts(json.dumps([row]), 1, 2) is None
