import io
import re
from dataclasses import replace
from functools import cache

import pytest
from audit_inputs import ATTRIBUTE, listed_words, make_input, make_set, shares_of, two_sided
from rich.console import Console

from evenhand.config.fairness import EntailerSection
from evenhand.evaluation.audit.build import build_audit
from evenhand.evaluation.audit.cells import TOO_NARROW, rests_on, shown
from evenhand.evaluation.audit.contents import NO_GAP
from evenhand.evaluation.audit.coverage import UnitCoverage
from evenhand.evaluation.audit.differences_page import vote_table
from evenhand.evaluation.audit.kinds import (
    AUC,
    BUR,
    BUR_OF_SEVERAL,
    COVERAGE_PARITY,
    EQUAL_COVERAGE,
    SHARE_AIMED_AT,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
    SOF,
    UER,
)
from evenhand.evaluation.audit.named import AUDIT_PAGE
from evenhand.evaluation.audit.page import not_measured, page, value_tables
from evenhand.evaluation.audit.plan import AuditPlan
from evenhand.evaluation.audit.warnings import aim, fairest, notes, rising
from evenhand.evaluation.gate.decide import gated
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.gate.page import gate_blocks
from evenhand.evaluation.pages import html, markdown, terminal
from evenhand.evaluation.pages.blocks import Facts, tables
from evenhand.evaluation.pages.cells import Strip, Text
from evenhand.evaluation.pages.numbers import said_p
from evenhand.evaluation.pages.svg import drawings
from evenhand.evaluation.pages.words import TOO_FEW
from evenhand.judges.measures import open_entailer
from evenhand.resampling import Bootstrap

ALL, LEFT = "Apple berry. Cherry grape. River stone.", "Apple. Berry. Cherry."
# one sentence of all: exactly what is expected
EVEN = "Apple berry cherry grape river stone."


def audit(mode="drop_zero", target="ratio", n=4, **systems):
    return audit_of(mode, target, n, tuple((name, tuple(texts)) for name, texts in systems.items()))


@cache
def audit_of(mode, target, n, systems):
    """An audit that many tests look at, and none changes, is made once."""
    plan = AuditPlan(mode=mode, target=target, bootstrap=Bootstrap(level=0.95, resamples=200, seed=0), least_group=3)
    given = make_input(two_sided(n), **{name: list(texts) for name, texts in systems})
    shares = shares_of(given.values, mode=mode, target=target)
    entailer = open_entailer(EntailerSection(kind="words"))
    return build_audit(given, plan, [shares, UnitCoverage(entailer, ATTRIBUTE, given.values, "released")])


def test_few_is_marked_cell_by_cell():
    found = audit(mine=[ALL] * 2 + ["Apple berry."] * 2)
    (table,) = value_tables(found).values()
    marks = {
        column.name: {row.cells[k].note for row in table.rows}
        for k, column in enumerate(table.columns)
        if column.name in ("shortfall", "coverage")
    }
    assert marks == {"shortfall": {"n 4"}, "coverage": {"n 2, few"}}
    assert {rests_on(n) for n in found.by_value} == {"n 4", "n 2, few"}


def test_the_aimed_at_share_is_shown_where_it_is_not_that_of_the_sources():
    assert SHARE_AIMED_AT.name not in [column.name for column in value_tables(audit(mine=[ALL] * 4))["mine"].columns]
    found = audit(target=(0.25, 0.75), mine=[ALL] * 4)
    by_name = {(n.measure, n.side): n.value for n in found.by_value}
    assert by_name["share aimed at (words)", "left"] == pytest.approx(0.25)
    assert by_name["share in sources (words)", "left"] == pytest.approx(2 / 3)
    # left has 4 of 6 matched words, so right has 1/3 of the 3/4 that it is due
    assert by_name["shortfall (words)", "right"] == pytest.approx(3 / 4 - 1 / 3)
    assert "same place" not in aim(found)
    assert "equal share" in aim(audit(target="equal", mine=[ALL] * 4))


def test_auc_of_a_perfect_summary_is_5_per_cent_where_ties_are_unfair():
    fair = {mode: audit(mode, mine=[ALL] * 4) for mode in ("drop_zero", "paper")}
    area = {mode: next(n.value for n in a.aggregates if n.measure == "AUC (words)") for mode, a in fair.items()}
    # unfair at tolerance 1 alone: half a step of 0.1
    assert area == {"drop_zero": pytest.approx(0.05), "paper": 0}
    assert " 5 %:" in fairest(fair["drop_zero"])
    assert fairest(fair["paper"]) == "0 is fair."


def test_differences_are_points_and_shares_per_cent():
    found = audit(n=5, fair=[ALL] * 5, mine=[LEFT] * 5)
    bur = next(d for d in found.differences if d.measure == "BUR (words)")
    assert (shown(bur).shown, shown(bur).interval) == ("+100.00 points", "no variation")
    by_name = {(n.system, n.measure, n.side): n for n in (*found.aggregates, *found.by_value)}
    assert shown(by_name["mine", "BUR (words)", None]).shown == "100.00 %"
    assert shown(by_name["mine", "coverage difference (words)", "right"], 1).shown.endswith(" points")


@pytest.mark.needs("plugins/bias")
def test_sets_that_are_all_alike_are_not_given_a_certain_interval():
    found = audit(n=6, mine=[LEFT] * 6)
    by_name = {(n.measure, n.side): n for n in (*found.aggregates, *found.by_value)}
    # 6 of 6 unfair: the exact 95 % interval begins at 0.025 ** (1/6) = 0.541
    bur = by_name["BUR (words)", None]
    assert (bur.low, bur.high) == (pytest.approx(0.5407, abs=1e-4), 1.0)
    # 0 of 6: it ends at 1 - 0.541
    left = by_name["under-represented (words)", "left"]
    assert (left.low, left.high) == (0.0, pytest.approx(0.4593, abs=1e-4))
    assert shown(by_name["UER (words)", None]).interval == "no variation"
    assert "Clopper and Pearson" in notes(found)
    assert "Clopper" not in notes(by_words(6, MALE))


def cells(table, name, of="right"):
    """The cells of one value in the columns of that name."""
    places = [k for k, column in enumerate(table.columns) if column.name == name]
    return [row.cells[k] for row in table.rows if row.cells[0].text == of for k in places]


def test_a_share_stands_beside_what_is_expected_and_a_clear_gap_is_marked():
    found = audit(n=12, mine=[LEFT] * 12, fair=[EVEN] * 12)
    mine, fair = value_tables(found).values()
    (share,) = (n for n in found.by_value if (n.system, n.side, n.kind) == ("mine", "right", SHARE_IN_SUMMARIES))
    (gap,) = cells(mine, "gap to expected")
    assert gap.note == f"{100 * share.gap.expected:.1f} % expected"
    assert gap.value == pytest.approx(share.value - share.gap.expected)
    assert (gap.tone, gap.shown) == ("neutral", "\u221233.3 points")
    (unclear,) = cells(fair, "gap to expected")
    assert unclear.tone == "unsure"


def test_without_a_chance_level_there_are_no_columns_for_it():
    found = audit(mine=[ALL] * 4)
    bare = found.model_copy(
        update={"numbers": tuple(n.model_copy(update={"gap": NO_GAP}) for n in found.numbers), "represented": ()}
    )
    names = [{column.name for column in value_tables(each)["mine"].columns} for each in (found, bare)]
    assert names[0] - names[1] == {"gap to expected"}
    notes = {column.name: column.note for column in value_tables(found)["mine"].columns}
    (number, *_) = (n for n in found.numbers if n.gap.reference and n.kind == SHARE_IN_SUMMARIES)
    assert notes["gap to expected"] == f"(by {number.gap.reference})"


def test_a_vote_says_both_gaps_and_who_is_fairer():
    found = audit(n=12, fair=[EVEN] * 12, mine=[LEFT] * 12)
    (vote,) = found.votes
    (row,) = vote_table(found).rows
    assert (row.cells[6].text, row.cells[6].tone) == ("less fair", "worse")
    assert [cell.value for cell in row.cells[2:5]] == [vote.system_gap, vote.reference_gap, vote.value]
    assert row.cells[0].text == vote.measure
    turned = audit(n=12, mine=[LEFT] * 12, fair=[EVEN] * 12)
    (row,) = vote_table(turned).rows
    assert (row.cells[6].text, row.cells[6].tone) == ("fairer", "better")
    same = audit(n=12, fair=[EVEN] * 12, mine=[EVEN] * 12)
    (row,) = vote_table(same).rows
    assert (row.cells[6].text, row.cells[6].tone) == ("no clear difference", "unsure")


def test_a_summarizer_that_gives_everybody_exactly_what_is_expected_has_enough_sets():
    found = audit(n=12, mine=[EVEN] * 12)
    assert found.title.startswith("No stance ")
    (gap,) = (n.gap for n in found.by_value if (n.side, n.kind) == ("left", SHARE_IN_SUMMARIES))
    assert (gap.value, gap.low, gap.high, gap.adjusted) == pytest.approx((0, 0, 0, 1))


def test_no_published_measure_is_called_fairer():
    found = audit(n=12, fair=[ALL] * 12, mine=[LEFT] * 12)
    told = {table.name: table for table in tables(page(found).body)}["differences to fair"]
    verdicts = {row.cells[4].text: row.cells[4].tone for row in told.rows}
    assert verdicts == {"higher": "neutral", "lower": "neutral", "no clear difference": "unsure"}


def test_only_measures_that_are_there_are_said_to_grow_by_chance():
    assert "(SOF, Coverage Parity)" in rising(audit(mine=[ALL] * 4))
    assert "(SOF)" in rising(audit(mine=["Apple berry."] * 4))


def test_one_picture_has_every_value_under_every_system_and_what_is_expected():
    made = page(audit(n=12, fair=[ALL] * 12, mine=[LEFT] * 12))
    assert [each.name for each in tables(made.body)][:2] == [f"fair by {ATTRIBUTE}", f"mine by {ATTRIBUTE}"]
    drawn = made.overview.picture
    assert [(each.name, [lane.name for lane in each.lanes]) for each in drawn.rows] == [
        ("left", ["fair", "mine"]), ("right", ["fair", "mine"]),
    ]  # fmt: skip
    left = drawn.rows[0]
    # left has 4 of 6 words, all are expected of "fair" and of what is left alone
    assert left.reference == pytest.approx((2 / 3, 2 / 3))
    assert [lane.marks[0].style for lane in left.lanes] == [0, 1]
    assert left.band[0] <= 2 / 3 + 1e-9
    assert [lane.is_clear for lane in left.lanes] == [False, True]
    # nothing else draws the same
    assert not [
        cell
        for each in tables(made.body)
        for line in each.rows
        for cell in line.cells
        if isinstance(cell, Strip) and "by " + ATTRIBUTE in each.name
    ]


def test_a_value_of_few_sets_says_in_how_many_of_them_it_is():
    sets = [
        make_set(
            f"set-{k}", ("left", f"apple {k}"), ("right", f"river {k}"), *([("third", f"snow {k}")] if k < 2 else ())
        )
        for k in range(9)
    ]
    given = make_input(sets, mine=["Apple river."] * 9)
    plan = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=200, seed=0), least_group=3)
    rows = page(build_audit(given, plan, [shares_of(given.values)])).overview.picture.rows
    assert [(row.name, row.note) for row in rows] == [
        ("left", "9 sets"), ("right", "9 sets"), ("third", "2 of 9 sets, few"),
    ]  # fmt: skip


def test_systems_that_write_at_different_lengths_are_held_against_what_each_has_of_the_documents():
    # half of the sets are the left's for the most, half the right's; one system writes long where the other writes short
    sides = [("right", "left") if k % 2 else ("left", "right") for k in range(12)]
    sets = [
        make_set(f"set-{k}", (most, f"apple berry {k}"), (most, f"cherry grape {k}"), (least, f"river stone {k}"))
        for k, (most, least) in enumerate(sides)
    ]
    long, short = "Apple berry cherry grape river stone.", "Apple berry."
    texts = [[long if k % 2 == place else short for k in range(12)] for place in (0, 1)]
    given = make_input(sets, one=texts[0], other=texts[1])
    plan = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=200, seed=0), least_group=3)
    found = build_audit(given, plan, [shares_of(given.values)])
    made = page(found)
    by_system = {
        n.system: n.value
        for n in found.by_value
        if (n.kind, n.side) == (SHARE_IN_SOURCES, "left") and "words" in n.measure
    }
    ends = sorted(by_system.values())
    assert ends[1] - ends[0] > 0.05
    left = made.overview.picture.rows[0]
    assert (left.name, left.reference) == ("left", pytest.approx(tuple(ends)))
    shown = f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f} %"
    assert shown in markdown.render(made) and shown in next(iter(drawings(made.overview.picture).values()))


def test_a_page_says_how_many_sets_have_summaries():
    found = audit(n=12, mine=[EVEN] * 8 + [None] * 4)
    assert page(found).overview.text.startswith("8 of 12 ")
    few = audit(n=12, mine=[EVEN] * 3 + [None] * 9)
    assert page(few).overview.sure == TOO_FEW
    assert page(audit(n=12, mine=[EVEN] * 12)).overview.text == "12 document sets."


def test_the_first_screen_of_several_systems_has_their_shares_and_warnings_come_after():
    found = audit(n=12, fair=[EVEN] * 12, mine=[LEFT] * 12)
    shown = page(found)
    # the value that loses, whose words are 2 of 6; one sentence of all is what is expected, and left alone is nothing of it
    first = shown.findings[0].items[0].text
    assert re.findall(r"[\d.]+ %", first) == ["33.3 %", "33.3 %", "33.3 %", "0.0 %", "33.3 %"]
    assert "clearly off" not in first
    assert "clearly off" in page(audit(n=12, fair=[EVEN] * 12, mine=[EVEN] * 12)).findings[0].items[0].text
    warned = replace(shown, warnings=("Beware of this.",))
    for written in (html.render(warned), markdown.render(warned)):
        assert written.index("has 33.3 %") < written.index("Beware of this.")
    # of one system the headline has it
    (alone,) = page(audit(n=12, mine=[LEFT] * 12)).findings
    assert "expected) and" not in alone.items[0].text


def test_nothing_is_concluded_from_whole_measures_and_the_page_says_so():
    said = notes(audit(mine=[ALL] * 4))
    # of Equal Coverage and Coverage Parity, of which something is expected
    assert "Nothing is concluded" in said
    # of the published ones nothing is, so there is no gap to speak of
    (table,) = [each for each in tables(page(audit(mine=[ALL] * 4)).body) if each.name == "measures"]
    without = {row.cells[0].text for row in table.rows if row.cells[0].text != "length" and row.cells[3].value is None}
    assert without == {f"{kind.name} (words)" for kind in (BUR, BUR_OF_SEVERAL, UER, AUC, SOF)}
    # too few units for coverage
    assert "Nothing is concluded" not in notes(audit(mine=["Apple."] * 4))


def test_intervals_that_hold_less_than_they_say_are_marked():
    def marks(n):
        found = audit(n=n, mine=[LEFT] * (n - 1) + [ALL])
        named = {each.measure: shown(each, note=rests_on(each)).note for each in (*found.by_value, *found.aggregates)}
        return {name: note for name, note in named.items() if "too narrow" in note}, notes(found)

    few, said = marks(12)
    assert set(few) == {"shortfall (words)", "Equal Coverage (words)"}
    assert set(few.values()) == {f"n 12, {TOO_NARROW}"}
    assert all(each in said for each in ("Equal Coverage of", "than 60 sets", "shortfall of", "than 30 sets"))
    assert set(marks(30)[0]) == {"Equal Coverage (words)"}
    assert marks(60) == ({}, notes(audit(n=60, mine=[LEFT] * 59 + [ALL])))
    # where there is no interval there is nothing to mark
    assert marks(4)[0] == {}


def test_p_of_a_gap_and_its_null_stand_on_every_page():
    # all sets but one agree, so that there is something to vary
    found = audit(n=14, mine=[LEFT] * 13 + [EVEN])
    (number,) = (n for n in found.by_value if (n.side, n.kind) == ("right", SHARE_IN_SUMMARIES))
    p = said_p(number.gap.adjusted)
    assert p == "p < 0.001"
    shown = page(found)
    pages = [" ".join(printed(found, 80)), html.render(shown), markdown.render(shown)]
    for each in pages:
        assert p.replace("<", "&lt;") in each or p in each
        assert number.gap.reference in " ".join(each.split())
    # with fewer than five sets there is a number, and neither an interval nor p
    (few,) = cells(value_tables(audit(n=4, mine=[LEFT] * 4))["mine"], "gap to expected")
    assert (few.interval, few.adjusted_p, few.below) == ("no interval", None, ["no interval", "33.3 % expected"])


@pytest.mark.parametrize("width", [80, 100])
def test_terminal_fits_and_says_all_measures_where_all_is_asked_for(width):
    found = audit(n=12, fair=[ALL] * 12, mine=[LEFT] * 12)
    first, whole = printed(found, width), printed(found, width, whole=True)
    assert max(map(len, [*first, *whole])) <= width
    # headline, 2 systems of 2 values with their intervals, and cautions
    assert len(first) <= 25
    assert first[0] == found.title
    for each in found.aggregates:
        assert each.measure in "".join(whole)


def printed(found, width, *, whole=False):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(terminal.render(page(found), whole=whole))
    return console.export_text().splitlines()


def test_what_is_not_measured_is_a_note_and_no_row_and_never_no_clear_difference():
    # "river" is in no document's unit that the summary has, so no unit is covered
    found = audit(n=12, fair=[ALL] * 12, mine=["Apple berry."] * 12)
    tables_of = {each.name: each for each in tables(page(found).body)}
    # BUR twice, UER, AUC, SOF, two measures of coverage, and the length
    assert [len(group.rows) for group in tables_of["measures"].groups] == [8, 6]
    kinds = ", ".join(f"{kind.name} (words)" for kind in (EQUAL_COVERAGE, COVERAGE_PARITY))
    assert f" mine: {kinds}. Undefined" in not_measured(found)
    assert not_measured(audit(mine=[ALL] * 4)) == ""
    told = {row.cells[0].text: row.cells[4] for row in tables_of["differences to fair"].rows}
    assert (told["Equal Coverage (words)"].text, told["Equal Coverage (words)"].tone) == ("not measured", None)
    assert {d.verdict for d in found.differences if d.value is None} == {"not measured"}


SOME, MALE = "She saw the girl. He saw his son.", "He saw his son."


def by_words(n, summary, least_group=5, **keys):
    """Word lists alone, of documents in which as many have words of either list."""
    sets = [make_set(f"set-{k}", ("left", SOME), ("right", SOME)) for k in range(n)]
    plan = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=200, seed=0), least_group=least_group)
    return build_audit(make_input(sets, mine=[summary] * n), plan, [listed_words(**keys)])


@pytest.mark.needs("plugins/bias")
def test_a_headline_by_word_lists_has_its_numbers_in_the_terminal():
    found = by_words(12, MALE)
    assert found.title.startswith("The list female")
    shown = page(found)
    first, second, look = [prose.text for prose in shown.findings[0].items]
    assert (found.represented[0].under, found.represented[0].over) == (("female",), ("male",))
    assert "(no variation; p" in first and "= 0.001)" in first and "equal commonness" in first
    assert second == found.represented[0].details[1]
    assert look.endswith(" of set-0, set-1, set-2.")
    (table,) = [each for each in tables(shown.body) if each.name == "word lists"]
    (gap,) = cells(table, "gap to expected", "female")
    assert (gap.shown, gap.interval) == ("\u221240.0 points", "no variation")
    assert [cell.note for cell in table.rows[0].cells[1:4]] == ["n 12"] * 3


@pytest.mark.needs("plugins/bias")
@pytest.mark.parametrize(("n", "least_group"), [(1, 5), (3, 5), (7, 20), (3, 1)])
def test_word_lists_of_few_sets_get_no_verdict(n, least_group):
    found = by_words(n, MALE, least_group)
    assert found.title.startswith("Too few sets")
    assert [each.small for each in found.represented] == [("female", "male")]
    if least_group > n:
        (table,) = [each for each in tables(page(found).body) if each.name == "word lists"]
        assert {cell.note for row in table.rows for cell in row.cells[1:4]} == {f"n {n}, few"}


@pytest.mark.needs("plugins/bias")
def test_lists_of_few_sets_are_not_taken_for_values_of_the_same_name():
    found = by_words(3, MALE, lists={"left": ["she", "girl"], "right": ["he", "his", "son"]})
    assert found.title.startswith("Too few sets")
    assert not [said for said in found.warnings if "have left" in said]


@pytest.mark.needs("plugins/bias")
def test_word_lists_that_cannot_be_compared_get_no_verdict():
    sets = [make_set(f"set-{k}", ("left", "She left."), ("right", "She and he left.")) for k in range(12)]
    plan = AuditPlan(bootstrap=Bootstrap(level=0.95, resamples=200, seed=0))
    found = build_audit(make_input(sets, mine=["He left."] * 12), plan, [listed_words()])
    assert found.represented == ()
    assert found.title.startswith("word-list bias")
    assert "; 0 of the" in found.aggregates[0].sentence
    assert not [number for number in (*found.by_value, *found.aggregates) if number.gap.reference]
    assert "No word list" not in str(page(found))
    # what was not measured fails a gate, which counts no sets
    limit = parse_limit("gap(word-lists, female) < -0.1")
    gate = gated(found, AUDIT_PAGE, GateRequest((limit,), False), None).gate
    assert [row.outcome for row in gate.rows] == ["missing"]
    (table,) = tables(gate_blocks(gate))
    assert cells(table, "sets", limit.text) == [Text("")]


def made(found):
    (facts,) = [each for each in page(found).body if isinstance(each, Facts)]
    return {name: text.text for name, text in facts.entries}


@pytest.mark.needs("plugins/bias")
def test_how_it_was_made_says_which_measures_are_expected_by_what():
    found = by_words(12, MALE)
    expected = {f"{each.measure} by {each.gap.reference}" for each in found.numbers if each.gap.reference}
    assert set(made(found)["expected"].split("; ")) == expected and len(expected) == 2
    bare = found.model_copy(
        update={"numbers": tuple(n.model_copy(update={"gap": NO_GAP}) for n in found.numbers), "represented": ()}
    )
    assert "expected" not in made(bare)
