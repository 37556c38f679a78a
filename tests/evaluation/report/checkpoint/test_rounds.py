"""Rounds on the test sets: learning curves, where reward and report judges part, and which round to take."""

from typing import Any

import numpy as np
import pytest

from evenhand.evaluation.pages import html, markdown
from evenhand.evaluation.pages.blocks import Charts
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.page import page
from evenhand.evaluation.report.checkpoint.rounds import (
    best_round,
    choice_sentence,
    part,
    parting,
    parting_sentence,
    round_warnings,
)
from evenhand.evaluation.report.checkpoint.rounds_page import rounds_section
from evenhand.evaluation.report.systems.worst_group import worst_groups
from evenhand.resampling import Bootstrap

SETS = [f"s{number:02d}" for number in range(12)]


def write(run: Any, phase: str, reward: float, left: float, right: float, sets: Any = SETS) -> None:
    """A phase whose scores are these means, a little different in every set."""
    scores = {}
    for place, name in enumerate(sets):
        moved = 0.01 * (place % 4)
        for side, mean in (("left", left), ("right", right)):
            scores[f"{name}/{side}"] = [(reward + moved + d, mean + moved + d) for d in (-0.02, 0.0, 0.02)]
    run.write(phase, scores)


def three_rounds(make_run: Any, sets: Any = SETS, **changes: Any) -> Any:
    """The reward rises in all rounds; the report's judge rises, falls a little for all, and much for the right."""
    evaluation = {"judges": ["overlap"], "resamples": 300, "examples": 0, "rounds": "all"}
    run = make_run(rounds=3, evaluation=evaluation, **changes)
    write(run, "evaluation/base", 0.2, 0.3, 0.3, sets)
    write(run, "evaluation/round-00", 0.4, 0.5, 0.4, sets)
    write(run, "evaluation/round-01", 0.6, 0.55, 0.5, sets)
    write(run, "evaluation/round-02", 0.8, 0.6, 0.3, sets)
    return run


def test_rounds_are_scored_by_judge_and_side(make_run: Any):
    found = build_report(three_rounds(make_run).recipe, None)
    assert found.rounds.rounds == (None, 0, 1, 2)
    assert found.systems == ("zero-shot", "rerank", "DPO", "DPO+RR")
    means = {(e.measure, e.pair, e.side): e.value for e in found.rounds.scores}
    # sets are moved by 0.015 on average
    assert means["overlap", "round 1", "right"] == pytest.approx(0.515)
    assert means["overlap", "untrained", None] == pytest.approx(0.315)
    assert means["fit", "round 2", None] == pytest.approx(0.815)
    (dpo,) = [e for e in found.scores if (e.measure, e.pair, e.side) == ("overlap", "DPO", None)]
    assert dpo.value == means["overlap", "round 2", None]


def test_gains_are_over_the_untrained_model_in_standard_deviations(make_run: Any):
    found = build_report(three_rounds(make_run).recipe, None).rounds
    gains = {(e.measure, e.pair): e.value for e in found.gains}
    # of the 288 rewards: 0.2, 0.4, 0.6, 0.8, moved by 0 to 0.03 and by -0.02 to 0.02
    spread = np.sqrt(np.var([0.2, 0.4, 0.6, 0.8]) + np.var([0, 0.01, 0.02, 0.03]) + np.var([-0.02, 0, 0.02]))
    assert gains["reward", "round 2"] == pytest.approx(0.6 / spread)
    assert (gains["reward", "untrained"], gains["report judges", "untrained"]) == (0, 0)


def test_they_part_where_the_reward_rises_and_the_report_judges_fall(make_run: Any):
    found = build_report(three_rounds(make_run).recipe, None)
    assert found.rounds.parting.since == 1
    assert found.rounds.parting.has_fallen
    assert [each.heading for each in found.findings][-2:] == ["Rounds", "Which round"]


def test_the_round_is_chosen_by_its_worst_side(make_run: Any):
    found = build_report(three_rounds(make_run).recipe, None)
    assert found.rounds.choice.choice == "round 1"
    made = page(found)
    shown = markdown.render(made)
    assert "run/round-01/adapter" in shown
    assert "--set rounds=2 " in shown and "evaluation.rounds=last" in shown
    assert 'id="rounds"' in html.render(made)
    assert "95 % of them" not in shown
    assert "all the same" not in shown


def test_a_round_that_is_not_clearly_best_is_said_to_be_the_likeliest_alone(make_run: Any):
    """It is best in 95 % of the draws, which is no choice: that rests on tests."""
    found = build_report(three_rounds(make_run).recipe, None)
    unsure = found.rounds.choice.model_copy(update={"choice": None})
    shown = markdown.render(
        page(found.model_copy(update={"rounds": found.rounds.model_copy(update={"choice": unsure})}))
    )
    assert "No round is" in shown and "all the same" in shown


def test_the_sentence_names_the_round_that_is_chosen():
    generator = np.random.default_rng(0)
    found = worst_groups(
        generator.normal(0, 1, (3, 8, 2)), ["untrained", "round 0", "round 1"], ["l", "r"], Bootstrap(0.95, 200, 1)
    )
    least = min(found.systems, key=lambda each: each.chance_of_best)
    chosen = found.model_copy(update={"choice": least.system})
    assert best_round(chosen) == least
    assert best_round(found) != least
    named = least.system.replace("untrained", "the untrained model").lower()
    assert choice_sentence(chosen).lower().startswith(f"{named} is clearly")


def test_a_run_with_one_evaluated_round_has_no_rounds(small_run: Any):
    found = build_report(small_run.recipe, None)
    assert found.rounds is None
    assert "rounds" not in found.model_dump(mode="json")


def test_few_sets_and_judges_of_the_reward_tell_of_no_parting(make_run: Any):
    few = build_report(three_rounds(make_run, SETS[:4]).recipe, None).rounds
    assert (few.steps, few.parting, few.choice.choice) == ((), None, None)
    assert "fewer than 5" in parting_sentence(few)


def test_a_reward_of_z_scores_is_made_of_its_judges(make_run: Any):
    reward = {"judges": ["fit"], "combine": "z_mean"}
    plain, relative = (
        build_report(three_rounds(make_run, reward=each).recipe, None) for each in ({"judges": ["fit"]}, reward)
    )
    assert relative.rounds.gains == plain.rounds.gains


def test_requests_without_a_score_in_a_middle_round_are_warned_of(make_run: Any):
    run = three_rounds(make_run)
    whole = build_report(run.recipe, None)
    assert whole.rounds.left_out == 0
    left = whole.rounds.model_copy(update={"left_out": 2})
    assert list(round_warnings(whole.rounds)) == []
    assert "2 requests" in next(iter(round_warnings(left)))
    scores = {f"{name}/{side}": [(0.6, 0.5)] * 3 for name in SETS for side in ("left", "right")}
    scores["s00/left"] = [(0.6, None)] * 3
    run.write("evaluation/round-01", scores)
    found = build_report(run.recipe, None)
    assert found.rounds.left_out == 1
    assert any(each.startswith("1 request without") for each in found.warnings)


def rows(generator: np.random.Generator, means: list[float], n_sets: int = 40) -> Any:
    return np.array(means)[:, None] + 0.1 * generator.standard_normal((len(means), n_sets))


NUMBERS = [None, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("reward", "report", "since", "how"),
    [
        ([0, 1, 2, 3, 4], [0, 1, 2, 1.5, 1], 1, "fell"),
        ([0, 1, 2, 3, 4], [0, 1, 2, 2, 2], 1, "stopped"),
        ([0, 1, 2, 3, 4], [0, 0.5, 1, 1.5, 2], None, ""),
        # half as fast as before is no stop
        ([0, 1, 2, 3, 4], [0, 1, 2, 2.7, 3.4], None, ""),
        # never rose, and so did not stop
        ([0, 1, 2, 3, 4], [0, 0, 0, 0, 0], None, ""),
        # the reward does not rise either
        ([0, 1, 2, 2, 2], [0, 1, 2, 2, 2], None, ""),
        ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], None, ""),
    ],
)
def test_what_counts_as_parting(reward: Any, report: Any, since: int | None, how: str):
    generator = np.random.default_rng(5)
    sets = [str(number) for number in range(40)]
    found = parting(part(NUMBERS, rows(generator, reward), rows(generator, report), sets, Bootstrap()))
    assert (found.since if found else None) == since
    if found:
        assert (found.has_fallen, found.has_stopped or how == "fell") == (how == "fell", True)


def test_judges_that_never_clearly_rose_are_not_denied_where_nothing_parts(make_run: Any):
    """The reward clearly rises and the judges do not: no parting, and the page does not say that this was not so."""
    generator = np.random.default_rng(3)
    sets = [str(number) for number in range(12)]
    steps = part([None, 0, 1], rows(generator, [0, 1, 2], 12), rows(generator, [0, 0, 0], 12), sets, Bootstrap())
    found = build_report(three_rounds(make_run).recipe, None).rounds
    said = parting_sentence(found.model_copy(update={"steps": steps, "parting": parting(steps)}))
    assert "No clear sign" in said and "not clearly diverge" in said
    assert "is no round" not in said


def test_where_they_part_the_page_says_what_that_is(make_run: Any):
    generator = np.random.default_rng(5)
    sets = [str(number) for number in range(40)]
    steps = part([None, 0, 1], rows(generator, [0, 1, 2]), rows(generator, [0, 1, 0]), sets, Bootstrap())
    found = build_report(three_rounds(make_run).recipe, None).rounds
    said = parting_sentence(found.model_copy(update={"steps": steps, "parting": parting(steps)}))
    assert "clearly fell" in said and "reward hacking looks" in said


def test_requests_that_lack_a_score_in_any_round_take_no_part():
    generator = np.random.default_rng(5)
    reward, report = rows(generator, [0, 1, 2]), rows(generator, [0, 1, 0])
    sets = [str(number) for number in range(40)]
    whole = part([None, 0, 1], reward[:, :20], report[:, :20], sets[:20], Bootstrap())
    reward[1, 20:] = np.nan
    assert part([None, 0, 1], reward, report, sets, Bootstrap()) == whole


def test_a_judge_without_any_score_has_no_line_and_no_chart_is_empty(make_run: Any):
    report = build_report(three_rounds(make_run).recipe, None)

    def without(names: set[str]) -> list[Any]:
        gains = tuple(
            each.model_copy(update={"value": None, "low": None, "high": None}) if each.measure in names else each
            for each in report.rounds.gains
        )
        found = report.model_copy(update={"rounds": report.rounds.model_copy(update={"gains": gains})})
        return list(rounds_section(found))

    names = {each.measure for each in report.rounds.gains}
    charts = [sum(isinstance(block, Charts) for block in without(left)) for left in (set(), {min(names)}, names)]
    assert charts == [2, 2, 1]
    html.fragment(without({min(names)}))
