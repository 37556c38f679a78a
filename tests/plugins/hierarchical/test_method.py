"""Hierarchical: each part of the documents is summarised, then the summaries stand where the documents stood."""

import re

import pytest
from method_runs import Noting, job, make_recipe, order, seeds_of

from evenhand.config import CorpusSection, Recipe, TaskSection
from evenhand.generate.requests import build_requests
from evenhand.plugins.hierarchical.method import parts, steps, summaries_prompt, summarise

ALL = TaskSection(scope="all")


def recipe(task=None, **options):
    made = make_recipe("hierarchical").model_dump(exclude={"task"})
    made["generate"]["hierarchical"] = {"part_tokens": 33} | options
    return Recipe.model_validate(made | {"task": task or TaskSection()})


def answer(ask):
    passage = re.search(r"<passage>\n(.*)\n</passage>", ask.prompt[-1].content, re.DOTALL)
    return f"Part {passage[1].split()[-1]}" if passage else "The Left says so."


def test_summaries_of_parts_stand_where_the_documents_stood(requests, ferry):
    backend = Noting(answer)
    replies = summarise(job(backend, requests, order(), seeds_of(requests, 2), recipe()))
    # two requests, two draws, two documents a side; then a call for each draw
    assert [len(asks) for asks in backend.calls] == [8, 4]
    assert [[turn.role for turn in replies[0][0].turns], replies[0][0].text] == [
        ["part-1", "part-2", "summary"],
        "The Left says so.",
    ]
    last = backend.calls[1][0].prompt[-1].content
    lefts = [f"Part {document.text.split()[-1]}" for document in ferry.select("stance", "left")]
    assert "\n".join(["Left:", *lefts]) in last
    assert not any(document.text in last for document in ferry.documents)
    # what is asked is what zero-shot is asked
    assert last.splitlines()[-1] == requests[0].prompt[-1].content.splitlines()[-1]
    assert {ask.sampling.max_tokens for ask in backend.calls[0]} == {33}
    assert {ask.sampling.max_tokens for ask in backend.calls[1]} == {20}
    seeds = [ask.seed for asks in backend.calls for ask in asks]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize(("per_part", "n_parts"), [(1, 4), (2, 2), (None, 2)])
def test_parts_have_documents_of_one_side(ferry, per_part, n_parts):
    (request,) = build_requests([ferry], CorpusSection(), ALL)
    found = parts(request, recipe(ALL, per_part=per_part))
    assert len(found) == n_parts
    assert all(len({document.attributes["stance"] for document in part}) == 1 for part in found)
    assert sorted(document.id for part in found for document in part) == [d.id for d in ferry.documents]


@pytest.mark.parametrize("fairness", ["frequencies", "shares", "generic", "count"])
def test_fairness_speaks_of_the_texts_and_each_summary_says_of_how_many(ferry, fairness):
    lopsided = ferry.model_copy(update={"documents": ferry.documents[:3]})
    task = TaskSection(scope="all", fairness=fairness)
    (request,) = build_requests([lopsided], CorpusSection(), task)
    asked = recipe(task, per_part=None)
    texts = ["The left." if len(part) == 2 else "The right." for part in parts(request, asked)]
    (message,) = summaries_prompt(request, texts, asked)
    assert "(summary of 2 texts) The left.\n" in message.content
    # a summary of one text stands as a text would
    assert re.search(r"\n\d\. The right\.\n", message.content)
    if fairness == "frequencies":
        assert "2 of the 3 texts are left and 1 of the 3 is right" in message.content


def test_part_of_which_nothing_was_said_has_no_line(ferry):
    task = TaskSection(scope="all", fairness="frequencies")
    (request,) = build_requests([ferry], CorpusSection(), task)
    (message,) = summaries_prompt(request, ["One.", "", "Three.", "Four."], recipe(task))
    assert "\n1. One.\n2. Three.\n3. Four.\n" in message.content


def test_without_a_word_on_fairness_no_summary_says_of_how_many(ferry):
    (request,) = build_requests([ferry], CorpusSection(), ALL)
    (message,) = summaries_prompt(request, ["One.", "Two."], recipe(ALL, per_part=None))
    assert "\n1. One.\n2. Two.\n" in message.content


def test_failure_of_one_part_fails_the_candidate(requests):
    backend = Noting(answer, max_model_len=40)
    replies = summarise(job(backend, requests, order(), seeds_of(requests, 2), recipe()))
    assert {reply.reason for row in replies for reply in row} == {"prompt too long"}
    assert [len(asks) for asks in backend.calls] == [8]


def test_steps_have_the_longest_part_and_room_for_all_summaries(requests):
    first, last = steps(requests, recipe(), 20)
    assert [(each.answer, each.n_calls) for each in (first, last)] == [(33, 4), (20, 2)]
    assert "Nurses" in first.texts[requests[0].id] or "cheap" in first.texts[requests[0].id]
    assert last.said[requests[0].id] == 66
    assert len(last.texts[requests[0].id]) < len(requests[0].prompt[-1].content)


def test_side_without_a_document_is_asked_as_it_is(ferry):
    corpus = CorpusSection(sides=("left", "centre", "right"))
    request = build_requests([ferry], corpus, TaskSection())[1]
    backend = Noting(answer)
    made = recipe().model_copy(update={"corpus": corpus})
    (row,) = summarise(job(backend, [request], order(1), seeds_of([request], 1), made))
    assert [len(asks) for asks in backend.calls] == [1]
    assert row[0].finish_reason != "failed"
