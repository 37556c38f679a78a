"""The comparison's headline says who is better than the first entry, at the largest budget, by how many judges."""

import re

import pytest

from evenhand.evaluation.report.comparison.findings import (
    at_other_budgets,
    by_length,
    findings,
    length_warnings,
    low_grade_findings,
    title,
)
from evenhand.evaluation.report.comparison.overview import _named
from evenhand.evaluation.report.systems.contents import Difference, JudgeNote, SystemPair
from evenhand.evaluation.report.systems.words import how_sure
from evenhand.number import Number

JUDGES = [
    JudgeNote(name="recall", signature="r", role="report", better="higher"),
    JudgeNote(name="unfairness", signature="u", role="report", better="lower"),
]

PARTS = {
    "at_equal_length": Number(value=0.03, low=-0.01, high=0.07),
    "by_length": Number(value=0.07, low=0.03, high=0.11),
}


def outcome(system, measure, verdict, k=8, *, reference_k=None, side=None):
    return Difference(
        measure=measure, system=system, side=side, value=0.1, low=0.0, high=0.2, n=9, n_sets=9, verdict=verdict,
        k=k, reference="base", reference_k=reference_k or k,
        p_value=0.1, adjusted=0.1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("higher", "is worse than base, best of 8: 10.0 points more."),
        ("lower", "is better than base, best of 8: 10.0 points fewer."),
        ("no clear difference", ""),
    ],
)
def test_more_bad_grades_are_worse(verdict, said):
    test = outcome("dpo", "bad grades", verdict).model_copy(update={"of_judge": "recall"})
    of_none = test.model_copy(update={"of_judge": "another"})
    whole = [f"By bad grades, dpo, best of 8, {said}"] if said else []
    assert list(low_grade_findings([test, of_none], JUDGES)) == whole


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ([], "Nothing to test: .*"),
        # what reranking adds to an entry is no comparison with another
        ([outcome("base", "recall", "higher", reference_k=1)], "Nothing to test: .*"),
        ([outcome("dpo", "recall", "no clear difference")], "Against base, the best of 8 of each: no clear difference"),
        (
            [outcome("dpo", "recall", "higher", k=1), outcome("dpo", "recall", "no clear difference")],
            ".* best of 8 of each: no clear difference; one summary drawn from each: dpo better by 1 of 2 judges",
        ),
        (
            [outcome("dpo", "recall", "higher", side="left"), outcome("dpo", "recall", "no clear difference")],
            ".*: no clear difference",
        ),
        # lower is better for the second judge
        (
            [outcome("dpo", "recall", "higher"), outcome("dpo", "unfairness", "lower"), outcome("debate", "recall", "lower")],
            ".*: dpo better by 2 of 2 judges, debate worse by 1 of 2",
        ),
        (
            [outcome("dpo", "recall", "higher", k=1), outcome("dpo", "unfairness", "higher", k=1)],
            ".* one summary of each: dpo better by 1 of 2 judges and worse by 1",
        ),
        (
            [outcome(name, "recall", "no clear difference") for name in "ab"],
            ".*: no clear difference for any of 2 entries",
        ),
        # who is not told apart is not left unsaid
        (
            [outcome("a", "recall", "higher"), *(outcome(name, "recall", "no clear difference") for name in "bc")],
            ".*: a better by 1 of 2 judges, no clear difference for 2 other entries",
        ),
        # a first entry of one answer stands against what the others are used for: the best of theirs
        (
            [
                *(outcome(name, "recall", "lower", k=1) for name in ("rerank", "debate")),
                outcome("rerank", "recall", "higher", reference_k=1),
            ],
            "Against one summary drawn from base: the best of 8 of rerank better by 1 of 2 judges, one summary drawn from debate "
            "worse by 1 of 2; one summary drawn from each: rerank worse by 1 of 2 judges",
        ),
        # where the first has a best of its own, that is what the best of the others stands against
        (
            [
                outcome("dpo", "recall", "no clear difference", k=1),
                outcome("dpo", "recall", "no clear difference", k=3),
                outcome("dpo", "recall", "higher", k=8, reference_k=1),
                outcome("dpo", "recall", "higher", k=8, reference_k=3),
                outcome("debate", "recall", "higher", k=1),
                outcome("debate", "recall", "lower", k=1, reference_k=3),
            ],
            "Against the best of 3 of base: the best of 8 of dpo better by 1 of 2 judges, one summary drawn from debate worse "
            "by 1 of 2; one summary drawn from each: debate better by 1 of 2 judges, no clear difference for the other entry",
        ),
        (
            [
                *(outcome(name, "recall", "higher") for name in "abc"),
                *(outcome(name, "recall", verdict) for name, verdict in (("d", "lower"), ("e", "no clear difference"))),
            ],
            ".*: of 5 entries 3 better and 1 worse .*",
        ),
    ],
)  # fmt: skip
def test_headline(tests, said):
    assert re.fullmatch(said, title(JUDGES, tests, 2, 0.95))


def test_headline_of_one_entry_is_what_reranking_adds():
    own = [outcome("base", "recall", "higher", reference_k=1)]
    said = title(JUDGES, own, 1, 0.95)
    assert said.startswith("Only one entry, ") and "best of 8" in said and said.endswith(" 1 of 2 judges")
    assert title(JUDGES, [], 1, 0.95) == "Only one entry"


@pytest.mark.parametrize(("n_sets", "sure"), [(3, "Too few sets"), (40, "No clear difference")])
def test_how_sure_a_page_is_goes_by_its_sets(n_sets, sure):
    unsure = outcome("too few shots", "recall", "no clear difference").model_copy(update={"n_sets": n_sets})
    assert how_sure([unsure], 0.95) == sure
    # nor does the headline give a verdict
    assert title(JUDGES, [unsure], 2, 0.95).count(", too few") == (n_sets == 3)
    assert how_sure([], 0.95) == "No clear difference"


def test_a_difference_that_goes_with_length_is_warned_of_once():
    tests = [outcome("dpo", "recall", "higher", k, side=side) for k in (1, 8) for side in ("left", None)]
    told = [test.model_copy(update=PARTS) for test in tests]
    words = {SystemPair("dpo", "base", k, k): of for k, of in ((8, (33.0, 25.0)), (1, (None, None)))}
    (said,) = length_warnings(by_length(JUDGES, told, words), told)
    assert "dpo against base" in said and " 70 % of" in said and "by recall" in said and "shorter" in said
    assert by_length(JUDGES, tests, words) == []


def test_many_differences_that_go_with_length_are_one_warning_and_each_counts_once():
    tests = [outcome(name, "recall", "higher").model_copy(update=PARTS) for name in "abcd"]
    tests += [*tests, outcome("e", "recall", "lower"), outcome("f", "recall", "no clear difference")]
    words = {SystemPair(name, "base", 8, 8): (33.0, 25.0) for name in "abcdef"}
    found = by_length(JUDGES, tests, words)
    assert [each.pair.split(" at ")[0] for each in found] == [f"{name} against base" for name in "abcd"]
    (said,) = length_warnings(found, tests)
    assert said.startswith("Of 5 clear") and " 4 go with" in said


def test_the_best_of_k_stands_against_a_first_entry_of_one_answer():
    unsure = "no clear difference"
    draws = [outcome(name, "recall", unsure, k=1) for name in ("rerank", "dpo")]
    best = [outcome("rerank", "recall", "higher", reference_k=1), outcome("dpo", "recall", unsure, reference_k=1)]
    own = [outcome("rerank", "recall", "higher", reference_k=1, side="left")]
    said = "By recall, against one summary drawn from base: the best of 8 of rerank (+0.100) better; no clear difference for "
    assert list(findings(JUDGES, [*draws, *best, *own])) == [f"{said}the best of 8 of dpo."]
    # that none is clear is said, too
    (alone,) = findings(JUDGES, [*draws, best[1]])
    assert " drawn from base: " in alone and alone.endswith(" any of 2 entries.")
    # a first entry of several candidates has a best of its own, and what others are is compared with that
    (paired,) = findings(JUDGES, [*draws, *best, outcome("dpo", "recall", unsure)])
    assert ", against base, " in paired and paired.endswith(f": {unsure}.")


def test_where_less_is_better_findings_say_so():
    tests = [outcome("dpo", "unfairness", "lower"), outcome("dpo", "recall", "higher")]
    by_recall, by_unfairness = findings(JUDGES, tests)
    assert by_recall.startswith("By recall, ") and by_unfairness.startswith("By unfairness (lower is")
    assert all(said.endswith(": dpo (+0.100) better.") for said in (by_recall, by_unfairness))


def test_the_headline_goes_by_judges_that_say_what_is_better_and_were_no_reward():
    length = JudgeNote(name="length", signature="l", role="report", better=None)
    reward = JudgeNote(name="fit", signature="f", role="both", better="higher")
    tests = [outcome("dpo", each, "higher") for each in ("recall", "length", "fit")]
    assert title([*JUDGES, length, reward], tests, 2, 0.95).endswith(" 1 of 2 judges")
    assert title([reward, length], tests, 2, 0.95).endswith(" its own reward")
    assert title([length], tests, 2, 0.95).startswith("No judge ")


def test_other_budgets_are_told_apart_from_those_that_entries_are_used_at():
    tests = [outcome("dpo", "recall", "higher", k) for k in (8, 3, 1)]
    assert [*at_other_budgets(JUDGES, tests)] == [1, 3]
    (said,) = at_other_budgets(JUDGES, tests)[1]
    assert " one summary each, " in said and said.endswith(" dpo (+0.100) better.")


BETTER, WORSE, UNSURE = {"better": 1, "worse": 0}, {"better": 0, "worse": 2}, {"better": 0, "worse": 0}


@pytest.mark.parametrize(
    ("by_entry", "said"),
    [
        ({"dpo": BETTER, "mbr": UNSURE}, "\u201cdpo\u201d is better than \u201cbase\u201d by at least one of 2 judges"),
        (
            {"dpo": WORSE, "mbr": WORSE, "debate": UNSURE},
            "\u201cdpo\u201d and \u201cmbr\u201d are worse than \u201cbase\u201d by at least one of 2 judges",
        ),
        ({"dpo": BETTER, "mbr": WORSE}, "against \u201cbase\u201d: \u201cdpo\u201d is better and \u201cmbr\u201d is worse"),
        # who is both is not named, nor the first entry against its own draw
        ({"dpo": {"better": 1, "worse": 1}, "mbr": BETTER}, None),
        ({"base": BETTER, "dpo": BETTER}, None),
    ],
)  # fmt: skip
def test_the_first_page_names_who_is_better(by_entry, said):
    assert next(_named(by_entry, "\u201cbase\u201d", "2 judges"), None) == said
