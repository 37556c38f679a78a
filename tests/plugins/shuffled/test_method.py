"""Shuffled documents: each document first once, then everything merged."""

import re

from method_runs import Noting, job, make_recipe, order, seeds_of

from evenhand.config import CorpusSection, TaskSection
from evenhand.generate.requests import build_requests
from evenhand.plugins.shuffled.method import rotated, rotations, summarise


def answer(ask):
    text = ask.prompt[-1].content
    merged = re.findall(r"<summary>\nThe Left (\S+)\n</summary>", text)
    return f"The Left merged {' '.join(merged)}" if merged else f"The Left {ask.seed}"


def test_rotations_are_all_or_evenly_spaced():
    assert rotations(4, None) == [0, 1, 2, 3]
    assert rotations(7, 3) == [0, 2, 4]  # 0, 7/3 and 14/3, rounded down
    assert rotations(2, 5) == [0, 1]
    assert rotations(0, None) == [0]


def test_rotation_moves_the_sides_documents_and_no_others(requests):
    recipe = make_recipe("shuffled")
    left, _ = requests
    assert rotated(left, 0, recipe) == left.prompt
    turned = rotated(left, 1, recipe)[0].content
    assert turned.index("Nurses") < turned.index("The ferry is cheap") < turned.index("Right:")
    assert turned.index("The ferry is dear") < turned.index("Taxes")
    assert sorted(turned.splitlines()) == sorted(left.prompt[0].content.splitlines())


def test_summaries_of_all_rotations_are_merged(requests):
    backend = Noting(answer)
    replies = summarise(job(backend, requests, order(), seeds_of(requests, 2), make_recipe("shuffled")))
    # two requests, two draws, two documents a side; then a merge for each draw
    assert [len(asks) for asks in backend.calls] == [8, 4]
    first, second, merge = replies[0][0].turns
    assert [turn.role for turn in (first, second, merge)] == ["rotation-0", "rotation-1", "merge"]
    assert first.seed == 100
    assert merge.text == replies[0][0].text == f"The Left merged {first.text.split()[-1]} {second.text.split()[-1]}"
    seeds = [ask.seed for asks in backend.calls for ask in asks]
    assert len(set(seeds)) == len(seeds)


def test_failure_of_one_rotation_fails_the_candidate(requests):
    n_words = [len(request.prompt[-1].content.split()) for request in requests]
    backend = Noting(answer, max_model_len=max(n_words) + 19)
    replies = summarise(job(backend, requests, order(), seeds_of(requests, 2), make_recipe("shuffled")))
    assert replies[n_words.index(max(n_words))][0].finish_reason == "failed"
    assert {reply.reason for row in replies for reply in row} == {"prompt too long"}


def test_each_document_of_all_sides_is_first_once(ferry):
    (request,) = build_requests([ferry], CorpusSection(), TaskSection(scope="all"))
    recipe = make_recipe("shuffled").model_copy(update={"task": TaskSection(scope="all")})
    prompts = [rotated(request, first, recipe)[0].content for first in rotations(4, None)]
    assert prompts[0] == request.prompt[0].content
    firsts = [text.split("\n\n")[1].splitlines()[0].removeprefix("1. ") for text in prompts]
    assert sorted(firsts) == sorted(document.text for document in ferry.documents)
