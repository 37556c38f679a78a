"""Several files of one person's sheet: which of them counts."""

import json
from itertools import permutations, product

import pytest
from sheets import DOCUMENT, make_item, make_sheet, span

from evenhand.errors import DataError
from evenhand.plugins.judge_studies.people.annotations.files import read_annotations
from evenhand.plugins.judge_studies.people.annotations.label_studio import to_tasks
from evenhand.plugins.judge_studies.people.annotations.revisions import is_earlier

# one in each passage, so that all are finished, and three that states differ in
ALWAYS = ((span(DOCUMENT, "Keep"),), (span(DOCUMENT, "Nurses"),))
POINTS = ((span(DOCUMENT, "it"),), (span(DOCUMENT, "\U0001f6a2"),), (span(DOCUMENT, "need it"),))


def state(marks, revision=0, exports=(), *, decision=None, **changes):
    """A state of anna's sheet with some of three key points, in the order of `marks`; summaries have no key point."""
    points = (*ALWAYS, *(POINTS[int(mark)] for mark in marks))
    blank = {"points": (), "none": True, "omitted": (True, True, *(decision for _ in marks)), "hallucinated": ()}
    summaries = tuple(each.model_copy(update=blank) for each in make_item().summaries)
    stamps = [stamp(each) for each in exports]
    own = stamp(revision) if revision else {}
    sheet = make_sheet(make_item(key_points=points, summaries=summaries)).model_dump(mode="json")
    return sheet | own | {"exports": stamps} | changes


def stamp(revision):
    return {"revision": revision, "time": f"2026-03-01T10:00:{revision:02d}.250Z"}


@pytest.fixture
def units(tmp_path, caplog):
    """How many of the three key points count when these sheets are given, of each unit, and what is said."""

    def read(*values):
        caplog.clear()
        paths = []
        for number, value in enumerate(values):
            paths.append(tmp_path / f"sheet-{number}.json")
            paths[-1].write_text(json.dumps(value))
        found = read_annotations(paths, highlights_only=True)
        assert not found.left_out
        return [len(unit.annotation.key_points) - 2 for unit in found.units], [
            each.getMessage() for each in caplog.records
        ]

    return read


def test_two_equal_exports_are_one_and_it_is_said(units):
    counts, said = units(state("01", 3, [3]), state("01", 3, [3]))
    assert counts == [2]
    assert len(said) == 1
    assert "sheet-1.json: the marks of 1 item are those of" in said[0]
    # also when only what stands around the marks differs
    assert units(state("01", 3, [3]), state("01"), state("01", 9))[0] == [2]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_of_several_states_the_newest_counts_in_whatever_order_they_are_given(units, order):
    states = [state("0", 1, [1]), state("01", 3, [1, 3]), state("12", 7, [1, 3, 7])]
    counts, said = units(*(states[place] for place in order))
    assert counts == [2]
    assert len(said) == 2
    assert all("left out, an earlier state (revision" in each and "(revision 7)" in each for each in said)


@pytest.mark.parametrize(
    ("one", "two", "outcome"),
    [
        # what the later one exported before is an earlier state of it, whatever was taken back since
        (state("0", 1, [1]), state("1", 2, [1, 2]), 1),
        (state("0", 1, [1]), state("12", 9, [1, 9]), 2),
        (state("012", 4, [4]), state("0", 6, [4, 6]), 1),
        (state("0", 2, [2], decision=True), state("0", 3, [2, 3], decision=False), 1),
        # all marks of the one are in the other, which has more changes
        (state("0", 1), state("01", 2), 2),
        (state("0", 1), state("10", 2), 2),
        (state("0", 1), state("0", 2, decision=True), 1),
        (state("0", 1, [1]), state("012", 5, [5]), 3),
        # alike
        (state("0", 2, [2]), state("0", 4, [4]), 1),
        (state("0"), state("0"), 1),
        # nothing shows that one came of the other
        (state("0", 5, [5]), state("1", 5, [5]), None),
        (state("0", 5, [5]), state("01", 5, [5]), None),
        (state("0", 5, [5]), state("1", 6, [6]), None),
        (state("01", 1), state("0", 2), None),
        (state("0", 1, decision=True), state("01", 2, decision=False), None),
        (state("0"), state("01"), None),
        (state("0"), state("1", 4), None),
        (state("0"), state("01", 4), None),
        (state("0", 1, [1]), state("1", 2, [1, 2]) | {"exports": [stamp(1) | {"time": "2026-03-02T10:00:01Z"}]}, None),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_two_files_of_one_sheet(units, one, two, outcome, turned):
    files = (two, one) if turned else (one, two)
    if outcome is None:
        with pytest.raises(
            DataError, match=r"sheet-1.json: 'anna' has marked item 'ferry/left' in .*give one of the two"
        ):
            units(*files)
    else:
        counts, said = units(*files)
        assert (counts, len(said)) == ([outcome], 1)


def test_sheets_of_two_people_or_pages_are_no_states_of_one(units):
    assert units(state("0", 1, [1]), state("01", 2, [1, 2], annotator="ben")) == ([1, 2], [])
    sheets = [make_sheet(annotator=name, page=page) for name, page in (("anna", "p1"), ("anna", "p2"), ("ben", "p1"))]
    assert not any(is_earlier(a.model_copy(update={"revision": 1}), b) for a in sheets for b in sheets)


def test_no_state_is_an_earlier_one_of_an_earlier_one_of_it():
    states = [
        make_sheet().model_validate(state(marks, revision, exports))
        for marks, revision, exports in product(["0", "1", "01"], [0, 1, 2], [(), (1,), (1, 2)])
    ]
    for a, b in product(states, states):
        assert not (is_earlier(a, b) and is_earlier(b, a))
        if is_earlier(a, b):
            assert a.revision < b.revision


def test_label_studios_exports_that_grow_count_once(units):
    one, two = make_item(), make_item("ferry/right", side="right")
    counts, said = units(to_tasks(make_sheet(one)), to_tasks(make_sheet(one, two)))
    assert counts == [0, 0]
    assert len(said) == 1


def test_a_time_is_kept_to_the_moment(tmp_path):
    sheet = make_sheet().model_validate(state("0", 1, [1]))
    assert (sheet.time, sheet.revision) == (sheet.exports[0].time, sheet.exports[0].revision)
    again = make_sheet().model_validate(sheet.model_dump(mode="json"))
    assert again == sheet


@pytest.mark.parametrize(
    "wrong", [{"revision": -1}, {"revision": 1.5}, {"time": "2026-03-01T10:00:00"}, {"time": "now"}]
)
def test_a_revision_or_time_that_is_none_is_refused(units, wrong):
    with pytest.raises(DataError, match=f"'{next(iter(wrong))}'"):
        units(state("0", 1) | wrong)
