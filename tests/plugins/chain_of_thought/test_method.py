"""Chain of thought: four steps, each of which sees those before it."""

from method_runs import Noting, job, make_recipe, order, seeds_of

from evenhand.plugins.chain_of_thought.method import summarise

WRITTEN = {
    "First list the key points": "It is cheap.",
    "Write the summary that the task asks for, from": "The Left keeps it.",
    "Criticise the summary": "Nurses are missing.",
    "Revise the summary": "The Left keeps it for nurses.",
}


def answer(ask):
    return next(said for begin, said in WRITTEN.items() if begin in ask.prompt[-1].content)


def test_each_step_sees_the_ones_before_it(requests):
    backend = Noting(answer)
    recipe = make_recipe("chain-of-thought", chain_of_thought={"thought_tokens": 44})
    replies = summarise(job(backend, requests, order(), seeds_of(requests, 2), recipe))
    said = list(WRITTEN.values())
    assert {reply.text for row in replies for reply in row} == {said[-1]}
    assert [(t.round, t.role, t.text) for t in replies[1][1].turns] == [
        (number, role, text)
        for number, (role, text) in enumerate(zip(("points", "summary", "critique", "revise"), said, strict=True))
    ]
    for number, asks in enumerate(backend.calls):
        assert len(asks) == 4
        for ask in asks:
            text = ask.prompt[-1].content
            assert [earlier in text for earlier in said] == [place < number for place in range(4)]
    # thoughts have their own length, summaries the plan's
    assert [asks[0].sampling.max_tokens for asks in backend.calls] == [44, 20, 44, 20]
    seeds = [ask.seed for asks in backend.calls for ask in asks]
    assert len(set(seeds)) == len(seeds)


def test_step_that_does_not_fit_ends_the_thread(requests):
    n_words = max(len(request.prompt[-1].content.split()) for request in requests)
    backend = Noting(answer, max_model_len=n_words + 40)
    recipe = make_recipe("chain-of-thought", chain_of_thought={"thought_tokens": 20})
    replies = summarise(job(backend, requests, order(), seeds_of(requests, 2), recipe))
    assert {reply.reason for row in replies for reply in row} == {"prompt too long"}
