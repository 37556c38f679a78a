"""One odd file of summaries is answered alike by every command that reads summaries."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from conformance import of_plugins
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.api.steps import given_candidates
from evenhand.corpora import read_summaries
from evenhand.errors import DataError
from evenhand.records import Document, DocumentSet
from evenhand.text import spelling_key

IDS = ("north", "south", "west")


def document(name):
    return f"The {name} of the town has a ferry and a park."


def sets_of(ids):
    return [
        DocumentSet(id=name, documents=(Document(id=f"{name}-1", text=document(name), attributes={"side": "for"}),))
        for name in ids
    ]


# what each command calls what is summarised
WORDS = (
    ("document sets", "THINGS"), ("inputs", "THINGS"), ("labelled summaries", "THINGS"), ("documents", "THINGS"),
    ("labels", "THINGS"), ("document set", "THING"), ("input", "THING"), ("labelled summary", "THING"), ("set ", "THING "),
)  # fmt: skip


def audited(path: Path, ids: Sequence[str]) -> dict[str, str]:
    return dict(read_summaries(path, sets_of(ids)))


def scored(path: Path, ids: Sequence[str]) -> dict[str, str]:
    found = given_candidates(path, sets_of(ids), attribute="side")
    return {request.document_set.id: mine[0].text for request, mine in found.groups}


# what needs every summary says besides which are missing
LENIENT = tuple(of_plugins("SUMMARY_READERS").values())
READERS = (audited, scored, *LENIENT)


def answer(read, path, ids=IDS) -> object:
    """The texts, or what is wrong, whatever it calls what is summarised."""
    try:
        return read(path, ids)
    except DataError as error:
        said = str(error)
        for word, common in WORDS:
            said = said.replace(word, common)
        return said


def lines(*records):
    return "".join((r if isinstance(r, str) else json.dumps(r, ensure_ascii=False)) + "\n" for r in records)


def table(*rows):
    return "".join(",".join(row) + "\n" for row in rows)


TEXTS = {name: f"There is a ferry in the {name}." for name in IDS}
# name of the file -> its content, and words of every answer; None where it is read
FILES = {
    "usual.jsonl": (lines(*[{"id": k, "summary": v} for k, v in TEXTS.items()]), None),
    "another order.jsonl": (lines(*[{"id": k, "summary": TEXTS[k]} for k in reversed(IDS)]), None),
    "with more keys.jsonl": (lines(*[{"id": k, "summary": v, "seconds": 3} for k, v in TEXTS.items()]), None),
    "another name of the text.jsonl": (lines(*[{"id": k, "prediction": v} for k, v in TEXTS.items()]), None),
    "with thoughts.jsonl": (lines(*[{"id": k, "summary": f"<think>Hm.</think>{v}"} for k, v in TEXTS.items()]), None),
    "byte order mark.jsonl": ("\ufeff" + lines(*[{"id": k, "summary": v} for k, v in TEXTS.items()]), None),
    "empty.jsonl": (lines(*[{"id": k, "summary": ""} for k in IDS]), dict.fromkeys(IDS, "")),
    "order.jsonl": (lines(*[{"summary": v} for v in TEXTS.values()]), None),
    "capitals.jsonl": (lines(*[{"id": k.upper(), "summary": v} for k, v in TEXTS.items()]), "only by capitals"),
    "invisible.jsonl": (lines(*[{"id": f"{k}\u200b", "summary": v} for k, v in TEXTS.items()]), "that nobody sees"),
    "rounded text.jsonl": (
        lines(*[{"id": f"1.23E+1{k}", "summary": v} for k, v in enumerate(TEXTS.values())]), "last digits are lost"
    ),
    "rounded float.jsonl": (
        lines(*[{"id": 1e17 + 1e6 * k, "summary": v} for k, v in enumerate(TEXTS.values())]), "last digits are lost"
    ),
    "zeros.jsonl": (
        lines(*[{"id": 1234567890123450000 + 1000000 * k, "summary": v} for k, v in enumerate(TEXTS.values())]),
        "end in zeros",
    ),
    "several texts.jsonl": (
        lines(*[{"id": k, "summary": v, "prediction": f"{v} So it is."} for k, v in TEXTS.items()]), "has several texts"
    ),
    "no text.jsonl": (lines(*[{"id": k, "wording": v} for k, v in TEXTS.items()]), "has no text; name it by one of"),
    "twice.jsonl": (
        lines(*[{"id": k, "summary": v} for k, v in TEXTS.items()], {"id": "north", "summary": "Again."}),
        "'north' has a summary already",
    ),
    "unknown.jsonl": (
        lines(*[{"id": k, "summary": v} for k, v in TEXTS.items()], {"id": "east", "summary": "It."}), "has the id 'east'"
    ),
    "some without ids.jsonl": (
        lines(*[{"id": k, "summary": v} for k, v in TEXTS.items()], {"summary": "Whose?"}), "has no id, but other"
    ),
    "no texts.jsonl": (lines(*[{"id": k, "summary": 3} for k in IDS]), "3 is not a text"),
    "too few in order.jsonl": (lines({"summary": "One."}, {"summary": "Two."}), "without ids there must be one"),
    "counted in another order.jsonl": (
        lines(*[{"index": k, "summary": v} for k, v in zip((2, 0, 1), TEXTS.values(), strict=True)]),
        "do not count up in the order",
    ),
    "other ids.jsonl": (
        lines(*[{"custom_id": k, "summary": TEXTS[k]} for k in reversed(IDS)]), "'custom_id'"
    ),
    "broken line.jsonl": (lines(*[{"id": k, "summary": v} for k, v in TEXTS.items()], '{"id": "so'), "is not JSON"),
    "several systems.jsonl": (
        lines(*[{"id": k, "system": s, "summary": v} for k, v in TEXTS.items() for s in "ab"]),
        "holds summaries of several systems",
    ),
    "sides.jsonl": (
        lines(*[{"id": k, "side": "for", "summary": v} for k, v in TEXTS.items()]), "holds summaries of one side each"
    ),
    "texts.txt": ("".join(f"{v}\n" for v in TEXTS.values()), None),
    "array.json": (json.dumps([{"id": k, "summary": v} for k, v in TEXTS.items()]), None),
    "object.json": (json.dumps(TEXTS), None),
    "table.csv": (table(("id", "summary"), *TEXTS.items()), None),
    "unnamed column.csv": (table(("", "summary"), *((f"{k}", v) for k, v in enumerate(TEXTS.values()))), None),
    "unnamed column, shuffled.csv": (
        table(("", "summary"), *((f"{k}", v) for k, v in zip((2, 0, 1), TEXTS.values(), strict=True))),
        "do not count up in the order",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_every_command_answers_an_odd_file_alike(tmp_path, name):
    content, expected = FILES[name]
    (tmp_path / name).write_text(content, encoding="utf-8")
    answers = [answer(read, tmp_path / name) for read in READERS]
    if isinstance(expected, str):
        assert all(isinstance(each, str) and expected in each for each in answers)
        assert answers == [answers[0]] * len(READERS)
    else:
        assert answers == [expected or TEXTS] * len(READERS)


NAMES = st.lists(
    st.from_regex(r"[A-Za-z0-9\u00e4\u0444-]{1,8}", fullmatch=True), min_size=2, max_size=4, unique_by=spelling_key
)
SPELLINGS = (
    str, str.upper, str.swapcase, lambda name: f" {name}", lambda name: f"{name}\u200b", lambda name: f"{name}/all",
    lambda name: name[:-1], lambda name: float(name) if name.isdigit() else name,
)  # fmt: skip
KEYS = st.sampled_from(("id", "set", "request_id", "name", ""))
TEXT_KEYS = st.sampled_from(("summary", "prediction", "output", "wording", "Summary"))


@settings(max_examples=40, deadline=None)
@given(NAMES, st.sampled_from(SPELLINGS), KEYS, TEXT_KEYS, st.data())
def test_whatever_ids_and_keys_a_file_has_every_command_answers_it_alike(tmp_path_factory, ids, spell, key, text, data):
    order = data.draw(st.permutations(ids))
    records = [({key: spell(name)} if key else {}) | {text: f"There is a ferry in {name}."} for name in order]
    path = tmp_path_factory.mktemp("odd") / "odd.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    answers = [answer(read, path, ids) for read in READERS]
    if isinstance(answers[0], dict):
        assert answers == [answers[0]] * len(READERS)
    else:
        assert answers[1] == answers[0]
        assert answers[2:] == [answers[-1]] * len(LENIENT)
        assert all(set(said.splitlines()) <= set(answers[0].splitlines()) for said in answers[2:])
