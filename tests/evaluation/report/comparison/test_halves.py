"""In which half of the level a comparison asks what."""

from typing import Any

import numpy as np

from evenhand.evaluation.report.comparison.baselines import BY_LENGTH
from evenhand.evaluation.report.comparison.paired_tests import ONE_DRAW, in_halves
from evenhand.evaluation.report.systems.contents import Difference, JudgeNote
from evenhand.evaluation.report.systems.contrasts import Contrast
from evenhand.evaluation.report.systems.questions import Question

NOTHING = np.zeros((1, 1))


def note(name: str, role: Any = "report") -> JudgeNote:
    return JudgeNote(name=name, signature="", role=role, better="higher")


def paired(system: str, k: int, reference: str, reference_k: int, **more: Any) -> Contrast:
    given = {"measure": "recall", "side": None} | more
    test = Difference(
        system=system, value=1.0, n=24, n_sets=12, p_value=0.5, adjusted=None, verdict="no clear difference", k=k,
        reference=reference, reference_k=reference_k,
        **given,
    )  # fmt: skip
    return Contrast(test, Question("others", NOTHING, NOTHING))


def halves(tests: Any, baselines: Any = (), lows: Any = (), judges: Any = None) -> list[list[str]]:
    found = in_halves(judges or [note("recall")], tests, baselines, lows)
    return [[each.question.half for each in its] for its in found]


USED = paired("dpo", 3, "base", 3)


def test_entries_as_they_are_used_are_the_headlines_and_what_reranking_adds_is_by_design():
    tests = [USED, paired("dpo", 3, "base", 3, side="left"), paired("dpo", 1, "base", 1), paired("dpo", 3, "dpo", 1)]
    tests += [paired("dpo", 3, "base", 1)]
    assert halves(tests)[0] == ["headline", "others", "others", "by design", "by design"]


def test_the_rewards_own_judge_makes_nothing_clear_unless_there_is_no_other():
    own = paired("dpo", 3, "base", 3, measure="fit")
    judges = [note("recall"), note("fit", "both")]
    assert halves([USED, own], judges=judges)[0] == ["headline", "by design"]
    assert halves([own, paired("dpo", 1, "base", 1, measure="fit")], judges=judges[1:])[0] == ["headline", "by design"]


def test_of_one_entry_the_best_against_one_draw_is_the_headline_wherever_it_stands():
    reranked, draw = paired("dpo", 3, "dpo", 1), paired("dpo", 3, ONE_DRAW, 1)
    length = paired("dpo", 3, BY_LENGTH, 3)
    assert halves([reranked], [draw, length]) == [["headline"], ["headline", "others"], []]
    assert halves([USED, reranked], [draw, length])[1] == ["by design", "others"]


def test_an_entry_may_be_called_like_a_choice():
    tests = [paired(ONE_DRAW, 1, "base", 1), paired(BY_LENGTH, 3, "base", 3)]
    assert halves(tests, [paired("base", 3, ONE_DRAW, 1), paired("base", 3, BY_LENGTH, 3)])[1] == [
        "by design",
        "others",
    ]


def test_bad_grades_are_never_the_headline():
    low = paired("dpo", 3, "base", 3, measure="recall: grades of 2 and less", of_judge="recall")
    own = paired("dpo", 3, "base", 3, measure="fit: grades of 2 and less", of_judge="fit")
    assert halves([USED], (), [low, own], [note("recall"), note("fit", "both")])[2] == ["others", "by design"]
