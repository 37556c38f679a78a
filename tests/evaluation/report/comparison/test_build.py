import re
from dataclasses import replace
from math import log
from typing import Any

import pytest
from conftest import make_candidate, make_request

from evenhand.errors import DataError
from evenhand.evaluation.gate.limits import parse_limit
from evenhand.evaluation.gate.names import meant
from evenhand.evaluation.pages import html, markdown
from evenhand.evaluation.pages.blocks import Details, Heading, PlaneChart
from evenhand.evaluation.pages.cells import Table
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.comparison.build import build_comparison
from evenhand.evaluation.report.comparison.entries import NEARNESS, NamedRecipe, compared, read_entries
from evenhand.evaluation.report.comparison.page import page
from evenhand.evaluation.report.comparison.ranking import chance_to_win, leading, rank
from evenhand.evaluation.report.named import COMPARISON_PAGE
from evenhand.evaluation.report.systems.compare import Comparer
from evenhand.evaluation.report.systems.contents import JudgeNote
from evenhand.evaluation.report.systems.questions import answers
from evenhand.evaluation.report.systems.systems import RequestOutline
from evenhand.records import CandidateGroup, ScoredCandidate
from evenhand.resampling import Bootstrap


@pytest.fixture
def comparison(small_run: Any) -> Any:
    return build_comparison(read_entries([NamedRecipe("dpo", small_run.recipe)]))


def mean_of(estimates: Any, measure: str, subject: str, k: int, side: str | None = None) -> float:
    (found,) = [e for e in estimates if (e.measure, e.system, e.k, e.side) == (measure, subject, k, side)]
    return found.value


def test_run_that_trains_is_two_entries(comparison: Any):
    assert [entry.label for entry in comparison.entries] == ["dpo untrained", "dpo"]


def test_of_several_evaluated_rounds_the_last_is_an_entry(make_run: Any):
    evaluation = {"judges": ["overlap"], "rounds": "all", "plans": {"more": {"candidates": 4}}}
    run = make_run(rounds=2, evaluation=evaluation)
    for phase in ("evaluation/base", "evaluation/round-00", "evaluation/round-01"):
        run.write(phase, run.TRAINED)
    entries = read_entries([NamedRecipe("dpo", run.recipe)])
    assert [entry.output.phase.name for entry in entries] == ["evaluation/base", "evaluation/round-01"]
    assert [entry.n_candidates for entry in entries] == [4, 4]


def test_budgets_are_those_that_there_are_candidates_for(comparison: Any):
    assert comparison.budgets == (1, 3)


@pytest.mark.parametrize(
    ("subject", "k", "side", "mean"),
    [
        # the hand-made means of the fixture: one draw, best of three, and those of training, 0.1 higher
        ("dpo untrained", 1, None, 0.3),
        ("dpo untrained", 1, "left", 0.4),
        ("dpo untrained", 3, None, 0.4125),
        ("dpo", 1, None, 0.4),
        ("dpo", 3, "left", 0.65),
    ],
)
def test_means_by_hand(comparison: Any, subject: str, k: int, side: str | None, mean: float):
    assert mean_of(comparison.scores, "overlap", subject, k, side) == pytest.approx(mean)


def test_a_gate_means_the_last_entry_at_its_largest_budget(comparison: Any):
    limits = ("mean(overlap) < 0", "mean(overlap, k=1, dpo untrained) < 0", "difference(overlap, k=1, left) < 0")
    assert [
        [each.words for each in meant(parse_limit(limit), COMPARISON_PAGE.read(comparison).numbers)] for limit in limits
    ] == [
        ["mean(overlap, dpo k=3)"],
        ["mean(overlap, dpo untrained k=1)"],
        ["difference(overlap, left, dpo k=1 - dpo untrained k=1)"],
    ]


def test_reward_judges_are_not_compared(comparison: Any):
    assert [judge.name for judge in comparison.judges] == ["overlap"]


def test_pairs_that_are_tested(comparison: Any):
    pairs = [(t.system, t.k, t.reference, t.reference_k) for t in comparison.tests if t.side is None]
    assert pairs == [
        # at equal budgets against the first entry
        ("dpo", 1, "dpo untrained", 1),
        ("dpo", 3, "dpo untrained", 3),
        # what reranking adds
        ("dpo untrained", 3, "dpo untrained", 1),
        ("dpo", 3, "dpo", 1),
        # all of it together
        ("dpo", 3, "dpo untrained", 1),
    ]


def test_grades_that_all_are_1_in_few_sets_are_no_exact_rate(comparison: Any):
    ones = [score.model_copy(update={"by_set": (1.0,) * len(comparison.sets)}) for score in comparison.scores]
    for is_rate in (False, True):
        judges = tuple(judge.model_copy(update={"is_rate": is_rate}) for judge in comparison.judges)
        graded = comparison.model_copy(update={"judges": judges, "scores": tuple(ones)})
        means = [
            each
            for each in COMPARISON_PAGE.read(graded).numbers
            if each.functions == ("mean",) and each.measures == ("overlap",)
        ]
        assert means and all(each.is_binary == is_rate for each in means)


def test_four_sets_cannot_be_told_however_alike_they_differ(comparison: Any):
    (test,) = [t for t in comparison.tests if (t.system, t.k, t.reference_k, t.side) == ("dpo", 1, 1, None)]
    # all four sets gain 0.1: 2 of 16 sign patterns are as extreme
    assert test.value == pytest.approx(0.1)
    assert test.low is None
    assert test.p_value == pytest.approx(0.125)
    assert test.adjusted >= test.p_value
    assert test.verdict == "no clear difference"


def test_strengths_by_hand(comparison: Any):
    (ranking,) = [r for r in comparison.rankings if (r.k, r.side) == (3, None)]
    assert [row.system for row in ranking.rows] == ["dpo", "dpo untrained"]
    assert (ranking.n, ranking.n_sets) == (8, 4)
    # the best of three gains 0.1 in all 8 requests; with 0.1 virtual wins each way the odds are 8.1 to 0.1; strengths are centred
    assert ranking.rows[0].value == pytest.approx(log(81) / 2)
    assert ranking.rows[1].value == pytest.approx(-log(81) / 2)
    assert ranking.rows[0].won == 1.0


def test_a_draw_wins_by_its_chance(comparison: Any):
    (ranking,) = [r for r in comparison.rankings if (r.k, r.side) == (1, "left")]
    # a: .2 .5 .2 against .3 .6 .3: 7 of 9; b: all .4 against .5: 9; c: .7 .1 .1 against .8 .2 .2: 7; d: all .6 against .7: 9
    assert ranking.rows[0].won == pytest.approx((7 + 9 + 7 + 9) / 36)


def test_more_candidates_of_one_distribution_are_no_stronger():
    few, many = [(0.0, 0.5), (1.0, 0.5)], [(0.0, 0.25), (1.0, 0.25), (0.0, 0.25), (1.0, 0.25)]
    assert chance_to_win(few, many) == chance_to_win(many, few) == 0.5
    assert chance_to_win([(1.0, 1.0)], few) == 0.75
    assert chance_to_win([], few) is None


def test_one_document_set_has_no_intervals_and_leads_nobody(make_run: Any):
    run = make_run(rounds=0, judges={"fit": {"kind": "alignment"}, "overlap": {"kind": "rouge"}})
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)] * 3, "a/right": [(0.1, 0.4)] * 3})
    (entry,) = read_entries([NamedRecipe("plain", run.recipe)])
    found = build_comparison([entry, _relabelled(entry, "overlap", lambda score: score + 0.1)])
    assert all(row.low is None for ranking in found.rankings for row in ranking.rows)
    assert not any("above all others" in said for said in found.findings)


def test_sets_without_scores_lead_nobody():
    judge = JudgeNote(name="overlap", signature="s", role="report", better="higher")
    sets = [str(k) for k in range(12)]
    compare = Comparer([RequestOutline(name, name, "", (None, None), "") for name in sets], Bootstrap())
    high, low = ([((score, 1.0),)] * 3 + [()] * 9 for score in (5.0, 1.0))
    ranking, question = rank(judge, 1, None, {"a": high, "b": low}, sets, compare)
    assert (ranking.n, ranking.n_sets) == (3, 3)
    assert all(row.low is None for row in ranking.rows)
    assert not leading(ranking, answers([question], Bootstrap())[0], 0.95).leads


def test_lower_wins_where_lower_is_better(make_run: Any):
    run = make_run(
        rounds=0,
        judges={"fit": {"kind": "alignment"}, "other": {"kind": "rouge", "against": "opposing"}},
        evaluation={"judges": ["other"], "resamples": 500},
    )
    run.write("evaluation/base", {i: [(0.1, 0.2), (0.9, 0.6)] for i in ("a/left", "b/left")})
    entries = read_entries([NamedRecipe("plain", run.recipe)])
    found = build_comparison([entries[0], _relabelled(entries[0], "other", lambda score: score - 0.1)])
    (ranking,) = [r for r in found.rankings if r.k == 1]
    assert ranking.rows[0].system == "other entry"


def test_traits_have_length_wrong_side_and_novelty(comparison: Any):
    measures = {e.measure for e in comparison.traits}
    assert {"words", "contract kept", "novel 4-grams", "fragment density", "characters"} <= measures
    # "The Left says 0." against "The left of a.": says and 0 are new, 2 of 4 words
    assert mean_of(comparison.traits, "novel words", "dpo", 1, "left") == pytest.approx(0.5)


def test_what_a_summary_is_like_worked_by_hand(ferry: Any):
    request = make_request(ferry)
    texts = ("The Left keeps the boat. It pays.", " ")
    scored = tuple(
        ScoredCandidate(candidate=make_candidate(request, text, i), scores={}, reward=None)
        for i, text in enumerate(texts)
    )
    group = CandidateGroup(
        request_id=request.id, set_id="ferry", side="left", prompt=request.prompt, candidates=scored, best_id=None
    )
    full, empty = compared(request, group).values()
    # the left keeps the boat it pays: new are left, keeps, boat and pays of 7 words; the, the and it are fragments of one
    assert full["novel words"] == pytest.approx(4 / 7)
    assert full["novel 4-grams"] == 1.0
    assert (full["fragment coverage"], full["fragment density"]) == pytest.approx((3 / 7, 3 / 7))
    # the source has 9 words and 6
    assert full["compression"] == pytest.approx(15 / 7)
    assert (full["characters"], full["several sentences"]) == (33.0, 1.0)
    # an empty summary tells only its length
    assert {name: value for name, value in empty.items() if value is not None and name != NEARNESS} == {
        "characters": 1.0
    }


def test_other_requests_and_other_judges_are_refused_together(make_run: Any, small_run: Any, tmp_path: Any):
    other = make_run(name="other", rounds=0)
    other.recipe = other.recipe.model_copy(update={"output": tmp_path / "other"})
    other.write("evaluation/base", {"z/left": [(0.1, 0.2)] * 3})
    third = make_run(name="third", rounds=0, judges={"fit": {"kind": "alignment"}, "overlap": {"kind": "length"}})
    third.recipe = third.recipe.model_copy(update={"output": tmp_path / "third"})
    third.write("evaluation/base", small_run.UNTRAINED)
    runs = [
        NamedRecipe("dpo", small_run.recipe),
        NamedRecipe("other", other.recipe),
        NamedRecipe("third", third.recipe),
    ]
    with pytest.raises(DataError) as caught:
        build_comparison(read_entries(runs))
    assert "9 requests are in" in str(caught.value)
    assert "report judge 'overlap' is overlap|judge:length" in str(caught.value)


def test_untrained_model_is_shown_once(small_run: Any, make_run: Any, tmp_path: Any):
    # the same seeds and plans give the same candidates; the run that does not train is their entry
    plain = make_run(rounds=0)
    plain.recipe = plain.recipe.model_copy(update={"output": tmp_path / "plain"})
    plain.write("evaluation/base", plain.UNTRAINED)
    entries = read_entries([NamedRecipe("dpo", small_run.recipe), NamedRecipe("rerank", plain.recipe)])
    assert [entry.label for entry in entries] == ["dpo", "rerank"]


def test_requests_in_another_order_are_paired_by_id(small_run: Any):
    untrained, trained = read_entries([NamedRecipe("dpo", small_run.recipe)])
    turned = replace(trained, output=trained.output.in_order(range(len(trained.output.requests))[::-1]))
    assert build_comparison([untrained, turned]) == build_comparison([untrained, trained])


def test_untrained_candidates_under_another_reward_stay(small_run: Any, make_run: Any, tmp_path: Any):
    plain = make_run(rounds=0, reward={"judges": ["overlap"]})
    plain.recipe = plain.recipe.model_copy(update={"output": tmp_path / "plain"})
    plain.write(
        "evaluation/base", {i: [{"fit": f, "overlap": o} for f, o in rows] for i, rows in plain.UNTRAINED.items()}
    )
    entries = read_entries([NamedRecipe("dpo", small_run.recipe), NamedRecipe("rerank", plain.recipe)])
    assert [entry.label for entry in entries] == ["dpo untrained", "dpo", "rerank"]


def test_unscored_candidates_and_budgets_that_are_lacking_are_told(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, None), (0.1, 0.2), (0.2, 0.3)], "b/left": [(0.1, 0.3)] * 3})
    found = build_comparison(read_entries([NamedRecipe("plain", run.recipe)]), [1, 3])
    assert any("Of 6 candidates" in said and ": 1 by 'overlap'." in said for said in found.warnings)


def test_missing_summaries_are_told(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)] * 3, "b/left": [(0.1, 0.3)] * 3}, without=["c/left"])
    found = build_comparison(read_entries([NamedRecipe("plain", run.recipe)]))
    assert any(" of 1 request." in warning for warning in found.warnings)
    # a single run is still compared with itself: what reranking adds
    assert [(t.system, t.k, t.reference_k) for t in found.tests if t.side is None] == [("plain", 3, 1)]


def _relabelled(entry: Any, judge: str, change: Any) -> Any:
    ranked = entry.output.ranked
    changed = replace(ranked, columns={**ranked.columns, judge: change(ranked.columns[judge])})
    return replace(entry, label="other entry", output=replace(entry.output, ranked=changed))


def test_equal_entries_lead_nobody(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {f"{i}/left": [(0.1, 0.2), (0.1, 0.3), (0.2, 0.1 * (i % 3))] for i in range(12)})
    (entry,) = read_entries([NamedRecipe("plain", run.recipe)])
    found = build_comparison([entry, _relabelled(entry, "overlap", lambda score: score)])
    # their strengths differ in rounding alone
    assert all(abs(row.value) < 1e-9 for ranking in found.rankings for row in ranking.rows)
    assert not any("above all others" in said for said in found.findings)


FAIR_REWARD = {
    "task": {"scope": "all"},
    "judges": {"fit": {"kind": "alignment"}, "uer": {"kind": "value-shares"}, "overlap": {"kind": "rouge"}},
    "reward": {"judges": ["fit", "uer"], "combine": "weighted", "weights": {"fit": 1, "uer": -1}},
    "rounds": 0,
}
# fit, uer, overlap; nothing is said of the third candidate that is asked for
CHOICES = {f"{i}/left": [(0.1, 0.4, 0.3), (0.3, 0.2, 0.5)] for i in range(12)}


def test_fairness_that_only_the_reward_measures_is_an_axis_as_in_the_report_of_a_run(make_run: Any):
    run = make_run(**FAIR_REWARD)
    run.write("evaluation/base", CHOICES)
    found = build_comparison(read_entries([NamedRecipe("fair", run.recipe)]))
    (plane,), (own,) = found.planes, build_report(run.recipe, None).planes
    assert (plane.quality, plane.fairness) == (own.quality, own.fairness) == ("overlap", "uer")
    # one draw has the means (0.4, 0.3)
    assert [plane.points[0].quality.value, plane.points[0].fairness.value] == pytest.approx([0.4, 0.3])
    assert [(judge.name, judge.role) for judge in found.axis_judges] == [("uer", "reward")]
    assert [judge.name for judge in found.judges] == ["overlap"], "it is an axis, and nothing is tested by it"
    assert [isinstance(block, PlaneChart) for block in page(found).body].count(True) == 1
    for text in (html.render(page(found)), markdown.render(page(found))):
        assert "reward alone: uer." in text


def test_judge_of_the_reward_that_did_not_score_all_runs_is_no_axis(make_run: Any, tmp_path: Any):
    run = make_run(**FAIR_REWARD)
    run.write("evaluation/base", CHOICES)
    plain = make_run(**FAIR_REWARD | {"name": "plain", "reward": {"judges": ["fit"]}})
    plain.recipe = plain.recipe.model_copy(update={"output": tmp_path / "plain"})
    plain.write("evaluation/base", {i: [(fit, overlap) for fit, _, overlap in rows] for i, rows in CHOICES.items()})
    found = build_comparison(read_entries([NamedRecipe("fair", run.recipe), NamedRecipe("plain", plain.recipe)]))
    assert (found.planes, found.axis_judges) == ((), ())


@pytest.mark.needs("plugins/fairpo")
def test_method_is_the_one_that_made_the_answers(make_run: Any):
    thinned = {"backend": "scripted", "method": "thinned", "plans": {"nucleus": {"candidates": 3}}}
    fair = {"judges": {"fit": {"kind": "alignment"}, "ec": {"kind": "equal-coverage"}, "overlap": {"kind": "rouge"}}}
    run = make_run(task={"scope": "all"}, generate=thinned, pairs={"mode": "fairpo", "judge": "ec"}, **fair)
    run.write("evaluation/base", run.UNTRAINED)
    run.write("evaluation/round-00", run.TRAINED)
    found = build_comparison(read_entries([NamedRecipe("dpo", run.recipe)]))
    # thinned sets are for training alone
    assert {entry.method for entry in found.entries} == {"zero-shot"}


@pytest.fixture
def two_entries(make_run: Any, tmp_path: Any) -> Any:
    named = []
    # overlap by side: the first is good for the left alone, the second for both
    for label, left, right in (("lopsided", 0.9, 0.1), ("even", 0.4, 0.5)):
        run = make_run(rounds=0)
        run.recipe = run.recipe.model_copy(update={"output": tmp_path / label})
        scores = {
            f"{i}/{side}": [(0.5, value)] * 3 for i in range(12) for side, value in (("left", left), ("right", right))
        }
        run.write("evaluation/base", scores)
        named.append(NamedRecipe(label, run.recipe))
    return build_comparison(read_entries(named), [1])


def test_the_mean_prefers_one_entry_and_the_worst_side_the_other(two_entries: Any):
    means = {e.system: e.value for e in two_entries.scores if e.side is None}
    assert means["lopsided"] > means["even"]
    (worst,) = two_entries.worst_sides
    assert {row.system: (row.side, row.value) for row in worst.systems} == {
        "lopsided": ("right", pytest.approx(0.1)),
        "even": ("left", pytest.approx(0.4)),
    }
    assert worst.choice == "even"


def worst_sides(found: Any) -> Details:
    """What the page says of them by the one judge."""
    body = page(found).body
    place = next(k for k, block in enumerate(body) if isinstance(block, Heading) and block.slug == "worst-side")
    folded = body[place + 1]
    assert isinstance(folded, Details)
    return folded


def test_finding_and_page_name_the_choice(two_entries: Any):
    (finding,) = [each for each in two_entries.findings if "worst side" in each]
    assert re.search(r"overlap with .*, even .* left 0\.400\.", finding)
    folded = worst_sides(two_entries)
    assert (folded.summary, folded.note) == ("overlap", "one draw: even")


def test_a_side_without_part_is_named_and_nothing_chosen(make_run: Any, tmp_path: Any):
    named = []
    # the left has 12 sets and the right 4
    for label, left, right in (("one", 0.57, 0.5), ("other", 0.87, 0.1)):
        run = make_run(rounds=0)
        run.recipe = run.recipe.model_copy(update={"output": tmp_path / label})
        scores = {f"{i}/left": [(0.5, left)] * 3 for i in range(12)} | {
            f"{i}/right": [(0.5, right)] * 3 for i in range(4)
        }
        run.write("evaluation/base", scores)
        named.append(NamedRecipe(label, run.recipe))
    found = build_comparison(read_entries(named), [1])
    folded = worst_sides(found)
    assert folded.note.endswith(": no clear choice")
    (table,) = folded.blocks
    assert isinstance(table, Table)
    note = table.groups[0].note
    assert note.startswith("right: 4 sets") and any(each.endswith(f"({note}).") for each in found.findings)


def test_sides_of_few_sets_make_no_choice(small_run: Any):
    # four sets, where ten are needed
    found = build_comparison(read_entries([NamedRecipe("dpo", small_run.recipe)]))
    assert found.worst_sides == ()
    assert 'id="worst"' not in html.render(page(found))


def test_summaries_of_all_sides_are_sent_to_the_audit(two_entries: Any):
    assert "evenhand audit " not in html.render(page(two_entries))
    recipes = {
        label: {**recipe, "task": {**recipe["task"], "scope": "all"}} for label, recipe in two_entries.recipes.items()
    }
    of_all = two_entries.model_copy(update={"recipes": recipes, "worst_sides": ()})
    for text in (html.render(page(of_all)), markdown.render(page(of_all))):
        # options are held together by tags
        assert "evenhand audit --documents" in re.sub("<[^>]+>", "", text)
