"""Thoughts, refusals and cut steps on their way through a stage: counted by side, warned of, never chosen."""

import pytest
from method_runs import Noting, job, make_recipe, order, seeds_of

from evenhand.config import CorpusSection, TaskSection
from evenhand.generate import chain_of_thought, zero_shot
from evenhand.generate.batches import FinishedBatch
from evenhand.generate.method import DrawnReply
from evenhand.generate.requests import build_requests
from evenhand.generate.stage import _GenerationCounts
from evenhand.plugins.debate import method as debate
from evenhand.plugins.hierarchical import method as hierarchical
from evenhand.plugins.self_refine import method as self_refine

THOUGHT = "<think>\nBoth sides speak of pay.\n\nSo I name it.\n</think>\n\n"
ANNOUNCED = 'Here is the refined summary:\n\n"{}"'
REFUSAL = "I'm sorry, but I can't assist with that request."
OPTIONS = {
    "self-refine": (self_refine, {"self_refine": {"rounds": 2}}),
    "debate": (debate, {"debate": {"agents": 2, "rounds": 2, "final": "final_agent"}}),
    "chain-of-thought": (chain_of_thought, {"chain_of_thought": {}}),
    "hierarchical": (hierarchical, {"hierarchical": {}}),
}


@pytest.fixture
def requests(ferry):
    return build_requests([ferry], CorpusSection(), TaskSection())


def candidates(requests, answer, module=zero_shot, method="zero-shot", **options):
    backend = Noting(answer)
    work = job(backend, requests, order(), seeds_of(requests, 2), make_recipe(method, **options))
    rows = module.summarise(work)
    found = [
        work.candidate(request, DrawnReply(*drawn, reply))
        for (request, pairs), row in zip(work.drawn(), rows, strict=True)
        for drawn, reply in zip(pairs, row, strict=True)
    ]
    turns = [turn for row in rows for reply in row for turn in getattr(reply, "turns", ())]
    return backend, found, turns


@pytest.mark.parametrize("method", OPTIONS)
def test_no_later_prompt_quotes_a_thought_or_an_announcement(requests, method):
    module, options = OPTIONS[method]
    backend, found, _ = candidates(
        requests, lambda ask: THOUGHT + ANNOUNCED.format(f"The Left pays {ask.seed}."), module, method, **options
    )
    prompts = [message.content for asks in backend.calls[1:] for ask in asks for message in ask.prompt]
    assert prompts
    assert not any("speak of pay" in prompt for prompt in prompts)
    # critiques and feedback are quoted as they are, without their thought; summaries without what announces them
    if method in ("debate", "hierarchical"):
        assert not any("refined summary:" in prompt for prompt in prompts)
    assert all(each.text.startswith("The Left pays") for each in found if each.request_id.endswith("left"))
    assert all(each.issues[0] == "thought" for each in found)


def counted(requests, found, turns=()):
    counts = _GenerationCounts({request.id: request.side for request in requests}, is_repeatable=True)
    ids = tuple(request.id for request in requests)
    counts.add(
        FinishedBatch(
            request_ids=ids,
            candidates=tuple(found),
            failures=(),
            turns=tuple(turns),
            prompt_tokens=0,
            prefilled_tokens=0,
        )
    )
    return counts.total()


def test_thoughts_cuts_and_refusals_are_counted_by_side_and_said(requests):
    def answer(ask):
        is_left = ask.seed < 200
        return REFUSAL if is_left else f"{THOUGHT}The Right wants it.\n\nI hope this helps."

    _, found, _ = candidates(requests, answer)
    counts = counted(requests, found)
    left, right = (request.side for request in requests)
    assert counts.issues_by_side[left]["refusal"] == 2
    assert counts.issues_by_side[right] == {"thought": 2, "trailing": 2}
    said = "\n".join(counts.cautions)
    assert f"a train of thought was taken off in 2 of 4 candidates ({right} 2)" in said
    assert f"2 of 4 candidates ({left} 2); a refusal is never the best where there is a summary" in said
    assert f"1 of 2 requests have refusals and no summary at all ({left} 1)" in said
    assert not any(each.contract_ok for each in found if each.is_refusal)


def test_plain_summaries_are_counted_as_before(requests):
    _, found, _ = candidates(requests, lambda ask: "The Left wants it." if ask.seed < 200 else "The Right wants it.")
    counts = counted(requests, found)
    assert (counts.cautions, counts.contract_issues) == ((), {})
    assert not {"issues_by_side", "steps_stopped_by_max_tokens"} & counts.model_dump().keys()


def test_feedback_that_was_cut_is_counted_in_the_line_and_the_receipt(requests):
    _, found, turns = candidates(
        requests, lambda ask: "The Left wants it.", self_refine, "self-refine", self_refine={"rounds": 3}
    )
    cut = [t.model_copy(update={"finish_reason": "length"}) if t.role == "feedback" else t for t in turns]
    counts = counted(requests, found, cut)
    assert counts.steps_stopped_by_max_tokens == 12
    assert any("12 answers of the step 'feedback' stopped at max_tokens" in said for said in counts.cautions)


def test_steps_of_several_answers_are_counted_under_one_name(requests):
    _, found, turns = candidates(
        requests, lambda ask: "The Left wants it.", debate, "debate", debate={"agents": 3, "rounds": 1}
    )
    cut = [turn.model_copy(update={"finish_reason": "length"}) for turn in turns]
    said = [each for each in counted(requests, found, cut).cautions if "of the step" in each]
    assert len(said) == 1
    assert "'agent'" in said[0]
