"""Sentences that keep their form, and those that do not."""

import pytest
from answering import AnsweringBackend
from hypothesis import given
from hypothesis import strategies as st

from evenhand.generate.backend import Reply
from evenhand.plugins.controlled.recipe import ControlledRecipe
from evenhand.plugins.controlled.writing import Task, read_sentence, task_seed, write_texts
from evenhand.records import Message


def task(place=0, prompt="Write {}.", may_copy=False):
    return Task(
        id=f"ferry#{place}", article_id="ferry", side="left", prompt=(Message(role="user", content=prompt.format(place)),),
        opening="The article", may_copy=may_copy,
    )  # fmt: skip


def recipe(**changes):
    values = {"name": "n", "output": "runs/none", "model": {"name": "none"}, "backend": {"backend": "scripted"}}
    return ControlledRecipe.model_validate(values | changes)


def said(text, finish_reason="stop"):
    return Reply(text=text, finish_reason=finish_reason)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (said("The article praises the ferry."), ("The article praises the ferry.", None)),
        (said('"The article\n praises it."'), ("The article praises it.", None)),
        (said("Here it is:\nThe article praises it."), ("The article praises it.", None)),
        # what follows a blank line is no part of the sentence, nor is its being cut off
        (said("The article praises it.\n\nI hope th", "length"), ("The article praises it.", None)),
        (said("  "), (None, "empty")),
        (said("Articles praise it."), (None, "missing_opener")),
        (said("The articles praise it."), (None, "missing_opener")),
        (said("The article praises it. It is cheap."), (None, "multi_sentence")),
        (said("The article praises the", "length"), (None, "cut_off")),
        (said("The article."), (None, "no_content")),
    ],
)
def test_only_one_whole_sentence_with_the_right_beginning_is_taken(reply, found):
    assert read_sentence(task(), reply) == found


def test_what_stands_in_the_prompt_already_is_a_copy():
    prompt = "Merge:\n- The article praises\nthe Ferry.\n- It is cheap."
    assert read_sentence(task(prompt=prompt), said("The article praises the ferry.")) == (None, "copied")
    assert read_sentence(task(prompt=prompt, may_copy=True), said("The article praises the ferry."))[1] is None
    assert read_sentence(task(prompt=prompt), said("The article praises the cheap ferry."))[1] is None


def test_another_comma_makes_no_other_sentence():
    prompt = "Turn:\nThe article praises the ferry, always."
    assert read_sentence(task(prompt=prompt), said("The article, praises the ferry always!")) == (None, "copied")


def test_several_points_in_a_row_are_no_copy_of_one():
    prompt = "Merge:\n- The article praises the ferry.\n- The article fears the bridge."
    merged = "The article praises the ferry, the article fears the bridge."
    assert read_sentence(task(prompt=prompt), said(merged)) == (merged, None)


@given(st.text(max_size=60))
def test_what_is_taken_always_has_the_form(text):
    found, issue = read_sentence(task(), said(text))
    assert (found is None) == (issue is not None)
    assert found is None or (found.startswith("The article") and "\n" not in found)


def test_broken_forms_are_asked_for_again_with_new_seeds_and_the_others_are_not():
    replies = {1: ["No.", "Also no.", "The article is third."], 0: ["The article is first."]}
    seeds = []

    def answer(ask):
        place = int(ask.prompt[0].content[-2])
        seeds.append((place, ask.seed))
        return said(replies[place].pop(0))

    backend = AnsweringBackend(answer)
    first, second = write_texts(backend, [task(0), task(1)], recipe(attempts=3))
    assert (first.text, first.attempts, first.issues) == ("The article is first.", 1, ())
    assert (second.text, second.attempts) == ("The article is third.", 3)
    assert second.issues == ("missing_opener", "missing_opener")
    assert [len(batch) for batch in backend.batches] == [2, 1, 1]
    assert len({seed for _, seed in seeds}) == 4
    assert second.seed == seeds[-1][1] == task_seed(recipe(), task(1), 3)


def test_what_never_keeps_its_form_is_left_out_with_its_reasons():
    backend = AnsweringBackend(lambda ask: said("No."))
    (found,) = write_texts(backend, [task()], recipe(attempts=2))
    assert (found.text, found.raw, found.issues) == (None, "No.", ("missing_opener",) * 2)


def test_what_the_backend_refuses_is_not_asked_again():
    refused = Reply(text="", finish_reason="failed", reason="prompt too long", error="of 9 tokens")
    backend = AnsweringBackend(lambda ask: refused)
    (found,) = write_texts(backend, [task()], recipe(attempts=5))
    assert (found.text, found.issues, found.attempts, len(backend.batches)) == (None, ("prompt too long",), 1, 1)


def test_seed_depends_on_run_prompt_and_attempt():
    seeds = {
        task_seed(recipe(), task(), 1),
        task_seed(recipe(), task(), 2),
        task_seed(recipe(), task(1), 1),
        task_seed(recipe(seed=7), task(), 1),
        task_seed(recipe(name="m"), task(), 1),
    }
    assert len(seeds) == 5
    assert task_seed(recipe(attempts=9), task(), 1) in seeds


def test_greedy_attempts_would_all_fail_alike():
    with pytest.raises(ValueError, match="all of 4 attempts would fail alike"):
        recipe(sampling={"temperature": 0})
    assert recipe(sampling={"temperature": 0}, attempts=1).attempts == 1
