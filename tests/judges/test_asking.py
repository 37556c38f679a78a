"""Judges asked together: one call a round, and prompts that begin alike side by side."""

import itertools

import pytest
from answering import AnsweringBackend, GivenModels, grades

from evenhand.config.judges import RougeJudge, RubricJudge
from evenhand.generate.backend import TOO_LONG, Reply
from evenhand.judges import open_judge
from evenhand.judges.asking import ask_together, companies, refused, score_together, until_read
from evenhand.judges.judge import JudgeInput
from evenhand.records import Message, Sampling

SOURCES = ("The ferry is cheap. Nurses need it.", "A bridge pays for itself.")
TEXTS = ("The ferry.", "Nurses.", "A bridge.")
INPUTS = [
    JudgeInput(candidate_id=f"{i}#{n}", request_id=str(i), text=text, contract_ok=True, reference=source)
    for n, text in enumerate(TEXTS)
    for i, source in enumerate(SOURCES)
]


def rubrics(backend, **changes_by_name):
    """Rubric judges on one backend: name -> changes to a coverage judge."""
    models = GivenModels(backend)
    plain = {"kind": "rubric", "rubric": "coverage", "model": {"name": "org/model"}, "backend": {"backend": "vllm"}}
    return [
        open_judge(name, RubricJudge.model_validate(plain | changes), models)
        for name, changes in changes_by_name.items()
    ]


def both(backend):
    return rubrics(backend, coverage={}, faithfulness={"rubric": "faithfulness"})


def places(ask):
    """Which source, rubric and summary a prompt holds."""
    text = ask.prompt[0].content
    source = next(i for i, source in enumerate(SOURCES) if source in text)
    return source, "faithfulness" in text.split("</source>")[1], text.split("<summary>\n")[1].split("\n</summary>")[0]


def by_length(ask):
    """Grades that differ with the prompt."""
    share = len(ask.prompt[0].content) % 7 / 10
    return grades(share, 0, 0, 0, 1 - share)


def test_all_rubrics_candidates_and_sources_go_to_the_model_in_one_call():
    backend = AnsweringBackend(by_length)
    score_together([(judge, INPUTS) for judge in both(backend)])
    (asks,) = backend.batches
    assert {places(ask) for ask in asks} == set(itertools.product((0, 1), (False, True), TEXTS))
    assert len(asks) == 12


@pytest.mark.parametrize("level", [1, 2])
def test_each_source_and_within_it_each_rubric_stands_together(level):
    backend = AnsweringBackend(by_length)
    score_together([(judge, INPUTS) for judge in both(backend)])
    runs = [beginning for beginning, _ in itertools.groupby(places(ask)[:level] for ask in backend.batches[0])]
    # every source (and source with rubric) is met once and never again
    assert len(runs) == len(set(runs)) == 2**level


def test_order_of_judges_and_candidates_does_not_change_what_is_sent():
    first, second = AnsweringBackend(by_length), AnsweringBackend(by_length)
    score_together([(judge, INPUTS) for judge in both(first)])
    score_together([(judge, INPUTS[::-1]) for judge in both(second)[::-1]])
    assert first.batches == second.batches


def test_verdicts_are_those_of_judges_asked_alone_and_in_the_order_of_their_inputs():
    judges = both(AnsweringBackend(by_length))
    together, _ = score_together([(judge, INPUTS) for judge in judges])
    assert together == [judge.score(INPUTS) for judge in judges]
    assert len({verdict.score for row in together for verdict in row}) > 2


def test_further_attempts_of_all_judges_share_their_calls():
    # the first judge is understood at once, the second at its third attempt, the third never
    replies = {
        "coverage": itertools.repeat("4"),
        "faithfulness": iter(["hm", "hm", "2"]),
        "opposing": itertools.repeat("?"),
    }

    def answer(ask):
        text = ask.prompt[0].content
        name = "opposing" if "bridge" in text else "faithfulness" if "grade faithfulness" in text else "coverage"
        return Reply(text=next(replies[name]), finish_reason="stop")

    backend = AnsweringBackend(answer)
    judges = rubrics(
        backend,
        coverage={"scoring": "greedy"},
        faithfulness={"rubric": "faithfulness", "scoring": "greedy"},
        opposing={"scoring": "greedy", "against": "opposing"},
    )
    ferry, bridge = INPUTS[:2]
    verdicts, _ = score_together([(judges[0], [ferry]), (judges[1], [ferry]), (judges[2], [bridge])])
    assert [len(batch) for batch in backend.batches] == [3, 2, 2]
    assert [(v.score, v.attempts) for (v,) in verdicts] == [(4, 1), (2, 3), (None, 3)]


def test_grades_read_from_text_and_from_the_distribution_share_a_call():
    def answer(ask):
        return grades(0, 1, 0, 0, 0) if ask.choices else Reply(text="5", finish_reason="stop")

    backend = AnsweringBackend(answer)
    judges = rubrics(backend, expected={}, greedy={"scoring": "greedy"})
    verdicts, _ = score_together([(judge, INPUTS[:2]) for judge in judges])
    assert [[v.score for v in row] for row in verdicts] == [[2, 2], [5, 5]]
    assert len(backend.batches) == 1


def test_equal_asks_are_asked_once_and_answer_all():
    backend = AnsweringBackend(by_length)
    judges = rubrics(backend, once={}, again={})
    verdicts, _ = score_together([(judge, INPUTS) for judge in judges])
    assert len(backend.batches[0]) == len(INPUTS)
    assert verdicts[0] == verdicts[1]


def test_usage_is_that_of_these_calls_only():
    backend = AnsweringBackend(by_length)
    judges = both(backend)
    score_together([(judges[0], INPUTS)])
    before = backend.usage.prompt_tokens
    _, used = score_together([(judges[1], INPUTS)])
    assert used.prompt_tokens == backend.usage.prompt_tokens - before > 0
    # the answering backend claims that every second token was served
    assert used.prefilled_tokens == used.prompt_tokens // 2


def test_model_that_nobody_asks_is_not_loaded():
    class NotToBeLoaded(GivenModels):
        def lazy(self, key, load):
            def refuse():
                raise AssertionError("was loaded")

            return super(GivenModels, self).lazy(key, refuse)

    options = RubricJudge.model_validate({"kind": "rubric", "rubric": "coverage", "model": {"name": "org/model"}})
    for scoring in ("expected", "greedy"):
        judge = open_judge("coverage", options.model_copy(update={"scoring": scoring}), NotToBeLoaded(None))
        verdicts, used = score_together([(judge, [])])
        assert (verdicts, used.prompt_tokens) == ([[]], 0)


def test_only_judges_that_ask_a_language_model_keep_company():
    coverage, faithfulness = both(AnsweringBackend(by_length))
    overlap = open_judge("overlap", RougeJudge(kind="rouge"))
    assert companies([coverage, overlap, faithfulness]) == [[coverage, faithfulness], [overlap]]
    assert companies([overlap]) == [[overlap]]


def test_judge_without_a_language_model_scores_alone_and_takes_no_prompt():
    overlap = open_judge("overlap", RougeJudge(kind="rouge"))
    verdicts, used = score_together([(overlap, INPUTS[:1])])
    # source of 7 words, of which the summary has 2
    assert verdicts[0][0].score == pytest.approx(2 / 7)
    assert used.prompt_tokens == 0


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
