"""Asking again what could not be read."""

import pytest
from answering import AnsweringBackend, GivenModels

from evenhand.generate.backend import TOO_LONG, Reply
from evenhand.judges.asking import ask_together, refused, until_read
from evenhand.judges.judge import JudgeInput
from evenhand.records import Message, Sampling

SAMPLINGS = [Sampling(temperature=0.0), Sampling(temperature=0.7), Sampling(temperature=0.7)]


class Echo:
    """Asks with the summary's text; a reply that is a number is read as it."""

    def prompt(self, each):
        return (Message(role="user", content=each.text),)

    def seed(self, each, attempt):
        return attempt

    def read(self, each, replies):
        return float(replies[-1]) if replies[-1].isdigit() else None


def asked(answer, *texts):
    backend = AnsweringBackend(answer)
    inputs = [JudgeInput(f"c{i}", "r", text, True, "") for i, text in enumerate(texts)]
    echo = Echo()
    lazy = GivenModels(backend).lazy("k", None)
    (verdicts,), _ = ask_together(lazy, [until_read(echo, inputs, SAMPLINGS, echo.read)])
    return verdicts, backend


def reply(text):
    return Reply(text=text, finish_reason="stop")


def test_each_input_is_asked_until_it_is_read():
    needed = {"quick": 1, "slow": 3, "never": 9}
    found, backend = asked(
        lambda ask: reply("7" if ask.seed >= needed[ask.prompt[0].content] else "hm"), "quick", "slow", "never"
    )
    assert [(v.score, v.attempts) for v in found] == [(7, 1), (7, 3), (None, 3)]
    assert [v.raw for v in found] == ["7", '["hm","hm","7"]', '["hm","hm","hm"]']
    assert [sorted(ask.prompt[0].content for ask in batch) for batch in backend.batches] == [
        ["never", "quick", "slow"],
        ["never", "slow"],
        ["never", "slow"],
    ]
    assert [batch[0].sampling.temperature for batch in backend.batches] == [0.0, 0.7, 0.7]
    assert [v.unscored for v in found] == [None, None, "unreadable reply"]


def test_reply_that_was_cut_off_is_never_read_and_asked_for_again():
    # a "7" that ran into its length may have become "75 of 100"
    cut = Reply(text="7", finish_reason="length")
    found, backend = asked(lambda ask: cut if ask.seed == 1 else reply("3"), "A.")
    assert [(v.score, v.attempts, v.raw) for v in found] == [(3, 2, '["7","3"]')]
    assert len(backend.batches) == 2
    found, _ = asked(lambda ask: cut, "A.")
    assert (found[0].score, found[0].unscored, found[0].attempts) == (None, "reply cut off", 3)


def test_refused_input_is_not_asked_again():
    failed = Reply(text="", finish_reason="failed", reason=TOO_LONG, error="9000 tokens")
    found, backend = asked(lambda ask: failed if ask.prompt[0].content == "long" else reply("hm"), "long", "short")
    assert (found[0].unscored, found[0].raw, found[0].attempts) == (TOO_LONG, "9000 tokens", 1)
    assert [len(batch) for batch in backend.batches] == [2, 1, 1]


@pytest.mark.parametrize(
    ("reason", "unscored"), [(TOO_LONG, TOO_LONG), ("refused by the engine", "no reply from the model")]
)
def test_reason_of_a_refusal(reason, unscored):
    verdict = refused(Reply(text="", finish_reason="failed", reason=reason, error="why"), 2)
    assert (verdict.score, verdict.unscored, verdict.raw, verdict.attempts) == (None, unscored, "why", 2)
