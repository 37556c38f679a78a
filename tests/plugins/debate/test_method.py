"""Debate: who sees what, and whose answer is the candidate."""

import re

from method_runs import Filtering, Noting, counted, drawn_candidates, job, make_recipe, order, seeds_of

from evenhand.generate import zero_shot
from evenhand.generate.method import seed_from
from evenhand.plugins.debate import method
from evenhand.plugins.debate.method import summarise


def answer(ask):
    """The first time the seed; later the agent's number and what each answer began with."""
    text = ask.prompt[-1].content
    answers = re.findall(r'<answer number="\d">\nThe Left (\S+).*?\n</answer>', text, flags=re.DOTALL)
    mine = re.search(r"You wrote answer (\d)", text)
    if mine:
        return f"The Left r{mine[1]} saw {' '.join(answers)}"
    return f"The Left final of {' '.join(answers)}" if answers else f"The Left {ask.seed}"


def run(requests, n=2, **options):
    backend = Noting(answer)
    options = {"agents": 2, "rounds": 2} | options
    plans = {"nucleus": {"candidates": n, "max_tokens": 20}}
    recipe = make_recipe("debate", debate=options, plans=plans)
    return backend, summarise(job(backend, requests, order(n), seeds_of(requests, n), recipe))


def test_first_agents_last_answer_is_the_candidate(requests):
    _, replies = run(requests)
    assert replies[0][0].text == "The Left r1 saw r1 r2"
    assert [(t.round, t.role) for t in replies[0][0].turns] == [
        (number, f"agent-{agent}") for number in (0, 1, 2) for agent in (1, 2)
    ]


def test_agents_see_every_last_answer_and_know_their_own(requests):
    backend, replies = run(requests, rounds=1)
    said = [turn.text for turn in replies[0][0].turns[:2]]
    first, second = (ask.prompt[-1].content for ask in backend.calls[1][:2])
    assert all(text in first and text in second for text in said)
    assert "You wrote answer 1;" in first
    assert "You wrote answer 2;" in second
    # what varies between the agents of a debate is the last line alone
    assert first.splitlines()[:-1] == second.splitlines()[:-1]


def test_agents_of_all_debates_are_asked_together(requests):
    backend, _ = run(requests)
    # two requests, two draws, two agents; first answers and two rounds
    assert [len(asks) for asks in backend.calls] == [8] * 3
    seeds = [ask.seed for asks in backend.calls for ask in asks]
    assert len(set(seeds)) == len(seeds)


def test_first_agent_begins_with_zero_shots_answer(requests):
    _, replies = run(requests)
    expected = zero_shot.summarise(job(Noting(answer), requests, order(), seeds_of(requests, 2)))
    assert [[reply.turns[0].text for reply in row] for row in replies] == [[r.text for r in row] for row in expected]


def test_final_agent_sees_all_last_answers(requests):
    backend, replies = run(requests, final="final_agent")
    assert replies[0][0].text == "The Left final of r1 r2"
    assert replies[0][0].turns[-1].role == "final_agent"
    assert [len(asks) for asks in backend.calls] == [8, 8, 8, 4]


def test_with_judge_each_agent_gives_a_candidate(requests):
    backend, replies = run(requests, n=4, final="judge", rounds=1)
    # draws 0 and 1 debate with each other, and so do 2 and 3; each begins with its own seed
    assert [reply.text for reply in replies[0]] == [
        "The Left r1 saw 100 101", "The Left r2 saw 100 101", "The Left r1 saw 102 103", "The Left r2 saw 102 103",
    ]  # fmt: skip
    assert [len(asks) for asks in backend.calls] == [8, 8]
    assert [[(t.round, t.role) for t in reply.turns] for reply in replies[0][:2]] == [
        [(0, "agent-1"), (1, "agent-1")],
        [(0, "agent-2"), (1, "agent-2")],
    ]


def test_debate_ends_with_its_first_failure(requests):
    n_words = max(len(request.prompt[-1].content.split()) for request in requests)
    backend = Noting(answer, max_model_len=n_words + 20)
    recipe = make_recipe("debate", debate={"agents": 2, "rounds": 2})
    replies = summarise(job(backend, requests, order(), seeds_of(requests, 2), recipe))
    assert {reply.finish_reason for row in replies for reply in row} == {"failed"}
    assert replies[0][0].error.startswith("round 1, agent-1: prompt of ")
    assert len(backend.calls) == 2


def test_agents_of_a_debate_that_fails_are_no_candidates(requests):
    # the second agent of the first debate fails in round 1; draws 2 and 3 debate with each other
    failed = seed_from(101, 1, "agent-2")
    recipe = make_recipe("debate", debate={"agents": 2, "rounds": 1, "final": "judge"})
    backend = Filtering(answer, lambda ask: ask.seed == failed)
    row, _ = summarise(job(backend, requests, order(4), seeds_of(requests, 4), recipe))
    assert [reply.finish_reason for reply in row] == ["failed", "failed", "stop", "stop"]


def test_steps_of_several_answers_are_counted_under_one_name(requests):
    _, found, turns = drawn_candidates(
        requests, lambda ask: "The Left wants it.", method, "debate", debate={"agents": 3, "rounds": 1}
    )
    cut = [turn.model_copy(update={"finish_reason": "length"}) for turn in turns]
    said = [each for each in counted(requests, found, cut).cautions if "of the step" in each]
    assert len(said) == 1
    assert "'agent'" in said[0]
