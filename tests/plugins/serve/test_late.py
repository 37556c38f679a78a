"""The best so far, when the deadline passes: of what is drawn and judged, said so, and never beyond a limit."""

import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from logs import warned
from served_recipes import DOCUMENTS, recipe_of, served
from serving import Server

from evenhand.plugins.serve.work import say_unclosed

PLANS = {"hot": {"temperature": 1.0, "candidates": 4}, "cold": {"temperature": 0.5, "candidates": 3}}
# seconds: the first worker needs far less for what is not held up, and the second one has a fifth of it
DEADLINE = 6


def ask(client, side="ban"):
    return client.post("/v1/chat/completions", json={"model": "trams", "documents": DOCUMENTS, "side": side})


def served_by(place, upstream, *fail_if, plans=PLANS, deadline=DEADLINE, workers=1, **sections):
    server = {"base_url": upstream.base_url, "retries": 0}
    generate = {"backend": "openai", "server": server, "plans": plans}
    return served(recipe_of(place, **{"generate": generate, **sections}), *fail_if, workers=workers, deadline=deadline)


@contextmanager
def held_up(is_slow, **more):
    """An upstream, and the event for which the requests wait of which `is_slow` holds."""
    go_on = threading.Event()
    with Server(lambda number, body: go_on.wait(60) and None if is_slow(number, body) else None, **more) as upstream:
        try:
            yield upstream, go_on
        finally:
            go_on.set()


def is_cold(number, body):
    return body["temperature"] == 0.5


def until_whole(client):
    """The answer when nothing is slow any more."""
    until = time.monotonic() + 60
    while (answer := ask(client)).status_code != 200 or answer.json()["evenhand"]["deadline"]:
        assert time.monotonic() < until, answer.text
    return answer.json()


def test_best_of_the_plans_that_answered_is_served_and_later_the_best_of_all(tmp_path, monkeypatch):
    with held_up(is_cold) as (upstream, go_on), served_by(tmp_path, upstream) as client:
        answer = ask(client)
        counted = client.get("/metrics").text
        go_on.set()
        whole = until_whole(client)
    about, text = answer.json()["evenhand"], answer.json()["choices"][0]["message"]["content"]
    assert about["deadline"] == "passed: 4 of 7 candidates were judged"
    assert (about["n_candidates"], about["source"]) == (4, "drawn")
    assert about["reward"] == about["scores"]["words"] == len(text.split())
    assert answer.headers["X-Evenhand-Deadline"] == "passed"
    assert "evenhand_late_total 1.0" in counted
    # what came in time is not asked twice, and the whole answer is that of a server without haste
    assert [body["n"] for body in upstream.asked].count(4) == 1
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "other"))
    with Server() as other, served_by(tmp_path, other, deadline=60) as client:
        undisturbed = ask(client).json()
    assert undisturbed["evenhand"] == whole["evenhand"] and whole["evenhand"]["n_candidates"] == 7


@pytest.mark.slow
def test_candidates_that_judges_have_not_finished_are_left_out(tmp_path):
    graded = []

    def is_third_grade(number, body):
        if "logprobs" in body:
            graded.append(number)
        return len(graded) > 2 and "logprobs" in body

    with held_up(is_third_grade, logprobs={"4": 0.0}) as (upstream, go_on):
        asked = {"backend": "openai", "server": {"base_url": upstream.base_url, "retries": 0}}
        rubric = {"kind": "rubric", "rubric": "coverage", "model": {"name": "tiny"}, "backend": asked}
        judges = {"rubric": rubric, "words": {"kind": "length"}}
        chosen = {"judges": judges, "reward": {"judges": ["rubric"]}, "evaluation": {"judges": ["words"]}}
        with served_by(tmp_path, upstream, plans={"hot": PLANS["hot"]}, **chosen) as client:
            about = ask(client).json()["evenhand"]
            go_on.set()
            whole = until_whole(client)["evenhand"]
    assert about["deadline"] == "passed: 2 of 4 candidates were judged"
    assert about["scores"]["rubric"] == whole["scores"]["rubric"]
    assert whole["n_candidates"] == 4
    # the two that were graded in time were not graded again
    grades = Counter(str(body["messages"]) for body in upstream.asked if "logprobs" in body)
    assert len(grades) == 4 and list(grades.values()).count(1) == 2


@pytest.mark.slow
def test_a_summary_beyond_a_limit_is_not_served_at_a_deadline_either(tmp_path):
    with held_up(is_cold) as (upstream, go_on), served_by(tmp_path, upstream, "score(words) < 1000") as client:
        refused = ask(client)
        counted = client.get("/metrics").text
        go_on.set()
    assert (refused.status_code, refused.json()["error"]["code"]) == (504, "deadline_exceeded")
    assert "evenhand_late_total 0.0" in counted


@pytest.mark.slow
def test_an_extraction_is_served_where_candidates_broke_the_limits_and_others_are_late(tmp_path):
    # what the upstream says has no word of the documents; the second request draws again
    judges = {"words": {"kind": "length"}, "shares": {"kind": "value-shares", "matcher": {"kind": "words"}}}
    fair = {"task": {"scope": "all"}, "judges": judges, "evaluation": {"judges": ["shares"]}}
    fair |= {"plans": {"hot": PLANS["hot"]}, "deadline": 20}
    with (
        held_up(lambda number, body: number > 0) as (upstream, go_on),
        served_by(tmp_path, upstream, "worst_side(shares) < 0.3", **fair) as client,
    ):
        answer = ask(client, side=None).json()
        go_on.set()
    assert answer["evenhand"]["source"] == "extracted"
    assert answer["evenhand"]["deadline"] == "passed: 5 of 9 candidates were judged"
    assert all(each["text"] in answer["choices"][0]["message"]["content"] for each in DOCUMENTS)


def test_equal_requests_at_the_same_time_are_asked_once(tmp_path):
    with (
        held_up(lambda number, body: True) as (upstream, go_on),
        served_by(tmp_path, upstream, plans={"hot": PLANS["hot"]}, deadline=60, workers=3) as client,
        ThreadPoolExecutor(3) as threads,
    ):
        asked = [threads.submit(ask, client, side) for side in ("ban", "ban", "allow")]
        until = time.monotonic() + 30
        while len(upstream.asked) < 2:
            assert time.monotonic() < until
        # the second has come, too
        time.sleep(1)
        assert client.get("/health").json()["under_way"] == 2
        go_on.set()
        first, second, other = (each.result().json() for each in asked)
    assert len(upstream.asked) == 2
    assert first["choices"] == second["choices"] and first["evenhand"] == second["evenhand"]
    assert other["evenhand"]["side"] == "allow"


@pytest.mark.slow
def test_each_of_equal_requests_has_its_own_deadline(tmp_path):
    # the first is given up at 4 seconds; the second, which came 2 seconds later, asks then for itself
    with (
        held_up(lambda number, body: number == 0) as (upstream, _),
        served_by(tmp_path, upstream, plans={"hot": PLANS["hot"]}, deadline=4) as client,
        ThreadPoolExecutor(1) as threads,
    ):
        first = threads.submit(ask, client)
        time.sleep(2)
        second = ask(client)
        assert (first.result().status_code, second.status_code) == (504, 200), second.text


def test_what_could_not_be_closed_is_told_by_its_kind_alone(caplog):
    fine, broken = Future(), Future()
    fine.set_result(None)
    broken.set_exception(ValueError("a document"))
    say_unclosed("a worker", [fine, broken])
    assert warned(caplog) == ["a worker could not be closed: ValueError"]
