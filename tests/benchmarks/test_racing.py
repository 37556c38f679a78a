"""The racing benchmark: its two rules, its slack, and a small run."""

import json
import math

import numpy as np
import pytest
from conftest import make_candidate, make_request
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.racing import (
    ONE_CALL,
    RULES,
    STEPS,
    Field,
    Race,
    fit_line,
    judged_fields,
    leave_sets_out,
    main,
    run_tokens,
    slack_for,
    slack_within,
)
from evenhand.config import Recipe
from evenhand.config.recipe_file import dump_recipe
from evenhand.records import Judgement
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, open_phase
from evenhand.storage import write_jsonl


def test_race_in_steps_worked_by_hand():
    # in order of promise: rewards 5, 3, 7. After the first the next is predicted at 2 + (5 - 3) = 4, and 5 leads by 1;
    # after both the last at 1 + ((5 - 3) + (3 - 2)) / 2 = 2.5, and 5 leads by 2.5
    race = Race(np.array([1.0, 3.0, 2.0]), np.array([7.0, 5.0, 3.0]), STEPS)
    assert race.order.tolist() == [1, 2, 0]
    assert race.need == 2.5
    assert [race.n_judged(slack) for slack in (0.9, 1.0, 2.4, 2.5, math.inf)] == [1, 2, 2, 3, 3]
    assert [race.keeps(slack) for slack in (2.4, 2.5)] == [False, True]


def test_race_in_one_call_worked_by_hand():
    # promises 3, 2, 1: those within the slack of 3
    race = Race(np.array([1.0, 3.0, 2.0]), np.array([2.0, 5.0, 7.0]), ONE_CALL)
    assert [race.n_judged(slack) for slack in (0.5, 1.0, 2.0)] == [1, 2, 3]
    # the best is the second
    assert race.need == 1.0


def test_first_of_equal_promise_runs_first_and_first_of_equal_rewards_is_the_best():
    race = Race(np.zeros(3), np.array([1.0, 4.0, 4.0]), STEPS)
    assert race.order.tolist() == [0, 1, 2]
    # the second is predicted at what the first has
    assert race.need == 0.0


@pytest.mark.parametrize(("keep", "slack"), [(0.5, 3.0), (0.75, 4.0), (0.8, 5.0), (0.9, math.inf)])
def test_slack_is_a_conformal_quantile(keep, slack):
    # of 4 needs the ceil(5 * keep)-th: 3, 4, 4 and 5; the last is more than there are
    needs = [5.0, 1.0, 4.0, 3.0]
    expected = {0.5: 4.0, 0.75: 5.0, 0.8: 5.0, 0.9: math.inf}
    assert slack_for(needs, keep) == expected[keep]


def keeping(keep):
    """The slack of a level, from races."""
    return lambda races: slack_for([race.need for race in races], keep)


def test_slack_of_a_share_of_the_judgements():
    # promise alone: candidates at 0, 1, 3 and at 0, 2, 4 behind the first
    races = [Race(-np.array(behind), np.zeros(3), ONE_CALL) for behind in ([0.0, 1.0, 3.0], [0.0, 2.0, 4.0])]
    # judged of 6 with slack 1, 2, 3, 4: 3, 4, 5, 6
    assert [slack_within(races, share) for share in (0.4, 0.5, 0.6, 0.7, 1.0)] == [-math.inf, 1.0, 1.0, 2.0, 4.0]


numbers = st.floats(-5, 5, allow_nan=False)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), numbers, st.sampled_from(RULES))
def test_more_slack_never_judges_less_and_the_need_is_enough(pairs, slack, rule):
    race = Race(*np.array(pairs).T, rule)
    assert race.n_judged(slack) <= race.n_judged(slack + 1)
    assert race.keeps(max(race.need, slack))
    assert race.n_judged(math.inf) == len(pairs)


def test_line_sees_what_differs_within_requests_alone():
    generator = np.random.default_rng(0)
    fields = []
    for level in range(5):
        cheap = generator.normal(size=(6, 2)) + 3 * level
        fields.append(Field(str(level), cheap, cheap @ [2.0, -1.0] + 10 * (-1) ** level))
    assert fit_line(fields) == pytest.approx([2.0, -1.0])


@pytest.mark.parametrize("rule", RULES)
def test_best_is_kept_as_often_as_asked_for(rule):
    generator = np.random.default_rng(1)
    fields = []
    for number in range(120):
        cheap = generator.normal(size=(8, 1))
        fields.append(Field(str(number), cheap, cheap[:, 0] + 0.5 * generator.standard_t(3, size=8)))
    raced = leave_sets_out(fields, rule, keeping(0.9))
    # 0.9 of 120 and two standard errors
    assert raced.kept >= 0.845
    assert raced.judged < 0.6


def test_too_few_requests_spare_nothing():
    fields = [Field(str(n), np.arange(4.0)[:, None], np.arange(4.0)) for n in range(10)]
    assert leave_sets_out(fields, STEPS, keeping(0.98)).judged == 1.0
    assert leave_sets_out(fields, STEPS, keeping(0.5)).judged == 0.25


def test_quick_run_of_simulated_and_of_judged_candidates(tmp_path, ferry, tiny_model, capsys):
    rubric = {
        "kind": "rubric",
        "rubric": "coverage",
        "model": {"name": str(tiny_model)},
        "backend": {"backend": "vllm"},
    }
    values = {
        "name": "small", "output": tmp_path / "run", "model": {"name": "none"}, "rounds": 0,
        "generate": {"backend": "scripted", "plans": {"nucleus": {}}},
        "judges": {"cheap": {"kind": "rouge"}, "costly": rubric}, "reward": {"judges": ["cheap", "costly"]},
        "evaluation": {"judges": ["cheap"]},
    }  # fmt: skip
    recipe = Recipe.model_validate(values)
    phase = open_phase(recipe, "evaluation/base")
    requests = [make_request(each) for each in (ferry, ferry.model_copy(update={"id": "tram"}))]
    candidates = [make_candidate(request, f"The ferry {n}.", n) for request in requests for n in range(3)]
    write_jsonl(phase.folder / REQUESTS, requests)
    write_jsonl(phase.folder / CANDIDATES, candidates)
    said = [
        Judgement(candidate_id=each.id, request_id=each.request_id, judge=name, signature=name, score=score)
        for each in candidates
        for name, score in (("cheap", each.index / 4), ("costly", 1.0 + each.index))
    ]
    write_jsonl(phase.folder / JUDGEMENTS, said)
    (tmp_path / "run" / "recipe.yaml").write_text(dump_recipe(recipe))
    output = tmp_path / "racing.json"
    main(["--quick", "--output", str(output)])
    assert "98% are to be kept" in capsys.readouterr().out
    arguments = ["--judged", str(phase.folder), "--reward", "cheap", "costly", "--costly", "costly"]
    main([*arguments, "--output", str(output)])
    (table,) = json.loads(output.read_text(encoding="utf-8"))["breakdowns"]
    assert table["title"].startswith("cheap + costly: 2 requests of 3 to 3 candidates")
    assert [row["rule"] for row in table["rows"]] == [STEPS] * 4 + [ONE_CALL] * 4
    # one other set to calibrate on is too few
    calibrated = [row for row in table["rows"] if row["asked"].startswith("keep")]
    assert all(row["kept"] == row["judged"] == row["tokens"] == 1.0 for row in calibrated)
    # two of three would be more than 60 %
    assert [row["judged"] for row in table["rows"] if row["asked"] == "judge 60%"] == pytest.approx([1 / 3, 1 / 3])
    # both judges see the candidates 0, 1 and 2 in steps of equal size, and move the reward alike
    (field, _) = judged_fields([phase.folder], ["cheap", "costly"], [], ["costly"])
    assert field.rewards == pytest.approx(np.array([0.0, 1.0, 2.0]) * math.sqrt(1.5) + field.rewards[0])
    # score of the cheap judge, and 3 words each
    assert field.cheap == pytest.approx(np.array([[0.0, math.log(4)], [0.25, math.log(4)], [0.5, math.log(4)]]))
    # one step for each candidate, which shares nothing with the steps before
    total, together, anew = run_tokens(field.prompts, [0, 1, 2])
    assert total == together < anew == sum(len(asked) for (asked,) in field.prompts)
