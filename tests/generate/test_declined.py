"""Thoughts, refusals and cut steps on their way through a stage: counted by side, warned of, never chosen."""

import pytest
from conformance import of_plugins
from method_runs import counted, drawn_candidates

THOUGHT = "<think>\nBoth sides speak of pay.\n\nSo I name it.\n</think>\n\n"
ANNOUNCED = 'Here is the refined summary:\n\n"{}"'
REFUSAL = "I'm sorry, but I can't assist with that request."
OPTIONS = of_plugins("METHODS")


@pytest.mark.parametrize("method", OPTIONS)
def test_no_later_prompt_quotes_a_thought_or_an_announcement(requests, method):
    module, options = OPTIONS[method]
    backend, found, _ = drawn_candidates(
        requests, lambda ask: THOUGHT + ANNOUNCED.format(f"The Left pays {ask.seed}."), module, method, **options
    )
    prompts = [message.content for asks in backend.calls[1:] for ask in asks for message in ask.prompt]
    assert prompts
    assert not any("speak of pay" in prompt for prompt in prompts)
    # critiques and feedback are quoted as they are, without their thought; summaries without what announces them
    if method in of_plugins("QUOTING"):
        assert not any("refined summary:" in prompt for prompt in prompts)
    assert all(each.text.startswith("The Left pays") for each in found if each.request_id.endswith("left"))
    assert all(each.issues[0] == "thought" for each in found)


def test_thoughts_cuts_and_refusals_are_counted_by_side_and_said(requests):
    def answer(ask):
        is_left = ask.seed < 200
        return REFUSAL if is_left else f"{THOUGHT}The Right wants it.\n\nI hope this helps."

    _, found, _ = drawn_candidates(requests, answer)
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
    _, found, _ = drawn_candidates(
        requests, lambda ask: "The Left wants it." if ask.seed < 200 else "The Right wants it."
    )
    counts = counted(requests, found)
    assert (counts.cautions, counts.contract_issues) == ((), {})
    assert not {"issues_by_side", "steps_stopped_by_max_tokens"} & counts.model_dump().keys()
