"""Units by a language model, on a backend that answers from a function."""

import pytest
from answering import AnsweringBackend, GivenModels

from evenhand.config.fairness import EntailerSection
from evenhand.fairness.groups.masses import Unscored
from evenhand.generate.backend import TOO_LONG, Reply
from evenhand.judges.measures.rephrase import open_rephraser

LIST = "1. The ferry is cheap.\n2. It runs at night.\n3. The tweets are angry."


def section(domain="reviews", **changes):
    splitter = {"model": {"name": "org/model"}, "backend": {"backend": "scripted"}, **changes}
    return EntailerSection(units="llm", domain=domain, splitter=splitter)


def split(answer, summaries, **changes):
    backend = AnsweringBackend(answer)
    return open_rephraser(section(**changes), GivenModels(backend)).split(summaries), backend


def said(text, finish_reason="stop"):
    return lambda ask: Reply(text=text, finish_reason=finish_reason)


def test_numbered_list_becomes_units_and_forbidden_subjects_are_rewritten():
    units = ("The ferry is cheap.", "It runs at night.", "The tweets are angry.")
    assert split(said(LIST), ["s"])[0] == [units]
    assert split(said(LIST), ["s"], domain="tweets")[0] == [(*units[:2], "It are angry.")]


def test_a_list_in_a_train_of_thought_has_no_units():
    units = ("The ferry is cheap.", "It runs at night.", "The tweets are angry.")
    for thought in ("<think>\n1. Read it.\n2. Split it.\n</think>\n\n", "[THINK]1. Read it.[/THINK]\n"):
        assert split(said(thought + LIST), ["s"])[0] == [units]


def test_equal_summaries_are_asked_about_once_and_fenced():
    found, backend = split(said(LIST), ["a", "b </summary>", "a"])
    assert [len(units) for units in found] == [3, 3, 3]
    (batch,) = backend.batches
    assert len(batch) == 2
    prompt = batch[1].prompt[0].content
    assert "b <\u00b7/summary>" in prompt
    assert prompt.count("</summary>") == 4
    assert (batch[0].sampling.temperature, batch[0].sampling.max_tokens) == (0.0, 384)


@pytest.mark.parametrize("domain", ["reviews", "tweets", "articles", "claims"])
def test_each_domain_has_its_own_three_examples(domain):
    _, backend = split(said(LIST), ["The summary."], domain=domain)
    prompt = backend.batches[0][0].prompt[0].content
    assert prompt.count("<summary>") == 4
    assert prompt.rstrip().endswith("Write the numbered list of its facts.")


def test_unreadable_and_cut_replies_are_asked_for_again_with_other_seeds_and_then_unscored():
    for reply, reason in ((said("No list."), "unreadable reply"), (said(LIST, "length"), "reply cut off")):
        found, backend = split(reply, ["s"], max_attempts=2)
        assert found == [Unscored(reason)]
        first, second = (batch[0] for batch in backend.batches)
        assert (first.seed != second.seed, second.sampling.temperature) == (True, 0.7)


def test_second_attempt_counts_when_it_can_be_read():
    replies = iter(["No list.", LIST])
    assert len(split(lambda ask: Reply(text=next(replies), finish_reason="stop"), ["s"])[0][0]) == 3


def test_short_list_is_an_answer_for_others_to_refuse():
    found, backend = split(said("1. The ferry is cheap.\n2. It runs."), ["s"])
    assert found == [("The ferry is cheap.", "It runs.")]
    assert len(backend.batches) == 1


@pytest.mark.parametrize(
    ("reply", "units"),
    [
        ("1.A is b.\n2)C is d.", ("A is b.", "C is d.")),
        ("**1.** A is b.\n(2) C is d.", ("A is b.", "C is d.")),
        ("1 A is b.\n2 C is d.", ("A is b.", "C is d.")),
        ("1. 2020 was bad.\n2. 5G is fast.", ("2020 was bad.", "5G is fast.")),
    ],
)
def test_number_is_taken_off_and_nothing_else(reply, units):
    assert split(said(reply), ["s"])[0] == [units]


@pytest.mark.parametrize("reply", ["2020 was bad.\n2021 was worse.", "1. A is b.\n1.5 km is far.", "5G is fast."])
def test_line_whose_number_may_be_its_own_is_not_read(reply):
    found, backend = split(said(reply), ["s"], max_attempts=2)
    assert found == [Unscored("unreadable reply")]
    assert len(backend.batches) == 2


def test_refused_prompt_is_not_asked_again():
    found, backend = split(lambda ask: Reply(text="", finish_reason="failed", reason=TOO_LONG), ["s", "t"])
    assert found == [Unscored(TOO_LONG)] * 2
    assert len(backend.batches) == 1


def test_what_changes_units_changes_the_signature():
    def signature(**changes):
        return open_rephraser(section(**changes), GivenModels(None)).signature

    named = {"model": {"name": "org/other"}, "backend": {"backend": "transformers"}}
    changed = [
        signature(domain="tweets"),
        signature(most_reply_tokens=64),
        signature(max_attempts=1),
        signature(**named),
    ]
    assert len({signature(), *changed}) == 5
