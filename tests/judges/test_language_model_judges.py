"""What every judge that asks a language model must hold to: its signature, its attempts, prompts that are too long."""

import json

import pytest
from answering import AnsweringBackend, GivenModels
from conformance import of_plugins

from evenhand.config.judges import RubricJudge
from evenhand.errors import JudgeError
from evenhand.generate.backend import TOO_LONG, Reply
from evenhand.judges import open_judge
from evenhand.judges.judge import JudgeInput
from evenhand.judges.overflow import was_cut
from evenhand.judges.rubric import PROMPTS
from evenhand.judges.shared import SharedModels
from evenhand.prompts import load_template

# judges of plug-ins that ask
ASKING = of_plugins("ASKING")
# kind -> its section, and values of it
SECTIONS = {
    "rubric": (RubricJudge, {"rubric": "coverage", "scoring": "greedy"}),
    **{kind: asked.section for kind, asked in ASKING.items()},
}
# kind -> its prompts, and tokens of its reply
TEMPLATES = {
    "rubric": (("coverage", PROMPTS),),
    **{kind: asked.templates for kind, asked in ASKING.items()},
}
REPLY = {"rubric": 64, **{kind: asked.n_reply for kind, asked in ASKING.items()}}
GOOD = {"rubric": "4", **{kind: asked.reply for kind, asked in ASKING.items()}}
# words of a long source
LONG = 300

kinds = pytest.mark.parametrize("kind", SECTIONS)


def options(kind, **changes):
    section, values = SECTIONS[kind]
    given = {"kind": kind, "model": {"name": "org/model"}, "backend": {"backend": "scripted"}, **values}
    return section.model_validate(given | changes)


def signature(kind, **changes):
    return open_judge("judge", options(kind, **changes)).signature


def judged(kind, answer, *sources, **changes):
    backend = AnsweringBackend(answer)
    judge = open_judge("judge", options(kind, **changes), GivenModels(backend))
    found = judge.score([JudgeInput(f"c{i}", "r", "A ferry.", True, source) for i, source in enumerate(sources)])
    return found, backend


def reading(kind, most_words):
    """Replies well to what fits; counts a word as a token."""

    def answer(ask):
        n = sum(len(message.content.split()) for message in ask.prompt)
        if n + ask.sampling.max_tokens > most_words:
            return Reply("", "failed", n_prompt_tokens=n, reason=TOO_LONG, error=f"{n} words")
        return Reply(GOOD[kind], "stop", n_prompt_tokens=n)

    return answer


def room(kind, n_words):
    """The length that leaves room for a source of so many words in the longest of the prompts."""
    _, backend = judged(kind, lambda ask: Reply(GOOD[kind], "stop"), "x")
    frame = max(len(ask.prompt[0].content.split()) for ask in backend.batches[0]) - 1
    return frame + n_words + REPLY[kind]


@kinds
def test_signature_names_the_texts_of_its_prompts(kind):
    for name, folder in TEMPLATES[kind]:
        assert load_template(name, folder).signature in signature(kind)


@kinds
@pytest.mark.parametrize(
    "change",
    [
        {"backend": {"backend": "transformers"}},
        {"backend": {"backend": "vllm", "engine": {"quantization": "fp8"}}},
        {"model": {"name": "org/other"}},
        {"model": {"name": "org/model", "revision": "v2"}},
        {"against": "opposing"},
        {"max_attempts": 5},
        {"overflow": "truncate"},
    ],
)
def test_what_changes_scores_changes_the_signature(kind, change):
    plain = {"backend": {"backend": "vllm"}}
    assert signature(kind, **plain | change) != signature(kind, **plain)


@kinds
def test_room_of_shortened_prompts_is_part_of_the_signature_and_no_other_room(kind):
    def with_room(n, overflow):
        return signature(kind, overflow=overflow, backend={"backend": "scripted", "max_model_len": n})

    assert with_room(4000, "truncate") != with_room(5000, "truncate")
    assert with_room(4000, "skip") == with_room(5000, "skip") == with_room(5000, "error")


@pytest.mark.parametrize("kind", [kind for kind in SECTIONS if kind != "rubric"])
def test_another_sentence_splitter_is_another_signature(kind, monkeypatch):
    before = signature(kind)
    monkeypatch.setattr("evenhand.judges.splitters.version", lambda distribution: f"{distribution} of tomorrow")
    assert signature(kind) != before


@kinds
def test_all_attempts_have_the_same_room_and_later_ones_some_temperature(kind):
    (found,), backend = judged(kind, lambda ask: Reply("hm", "stop"), "The ferry.", max_attempts=3)
    assert (found.score, found.unscored, found.attempts) == (None, "unreadable reply", 3)
    samplings = [{(ask.sampling.temperature, ask.sampling.max_tokens) for ask in batch} for batch in backend.batches]
    assert samplings == [{(0.0, REPLY[kind])}, {(0.7, REPLY[kind])}, {(0.7, REPLY[kind])}]


@kinds
def test_reply_that_was_cut_off_is_never_read(kind):
    (found,), backend = judged(kind, lambda ask: Reply(GOOD[kind], "length"), "The ferry.", max_attempts=2)
    assert (found.score, found.unscored, found.attempts) == (None, "reply cut off", 2)
    assert len(backend.batches) == 2


@kinds
def test_overflow_is_skipped_or_refused_as_told(kind):
    limit = room(kind, 10)
    changes = {"backend": {"backend": "scripted", "max_model_len": limit}}
    found, _ = judged(kind, reading(kind, limit), "word " * LONG, "word " * 10, overflow="skip", **changes)
    assert [verdict.unscored for verdict in found] == [TOO_LONG, None]
    with pytest.raises(JudgeError, match=r"1 of 2 prompts are too long.*c0"):
        judged(kind, reading(kind, limit), "word " * LONG, "word " * 10, overflow="error", **changes)


@kinds
def test_overflow_is_cut_to_the_room_that_the_reply_leaves_in_one_step_and_flagged(kind):
    limit = room(kind, 10)
    changes = {"backend": {"backend": "scripted", "max_model_len": limit}, "overflow": "truncate"}
    (cut, whole), backend = judged(kind, reading(kind, limit), "word " * LONG, "word " * 10, **changes)
    assert cut.score == whole.score is not None
    assert json.loads(cut.raw)["cut_words"] == LONG - 10
    assert (was_cut(cut.raw), was_cut(whole.raw)) == (True, False)
    # words are tokens here, so the excess is known exactly
    assert len(backend.batches) == 2
    longest = max(len(ask.prompt[0].content.split()) for ask in backend.batches[1])
    assert longest + REPLY[kind] == limit


def test_shared_models_are_not_needed_to_name_a_judge():
    for kind in SECTIONS:
        assert open_judge("judge", options(kind), SharedModels()).signature == signature(kind)
