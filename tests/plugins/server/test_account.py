"""What servers can have cost is never more than what is booked, whatever they answer; every try has one clock and one bound."""

import json
import math
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import NamedTuple

import pytest
import serving

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")

import misbehaving
from serving import Server

from evenhand.errors import CostLimitError, EvenhandError, ModelError, UnfitModelError
from evenhand.generate.backend import Ask
from evenhand.plugins.server import reachability
from evenhand.plugins.server.account import Charge, Spending, costs_by_try
from evenhand.plugins.server.bounds import most_tokens
from evenhand.plugins.server.kept import ANSWERS, KeptAnswers
from evenhand.plugins.server.section import ServerSection
from evenhand.records import Message, Sampling
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.processes import this_process
from evenhand.runfolder.spending import COSTS, spending

pytestmark = pytest.mark.usefixtures("quick_tries")

# of a million tokens each, and of one
PRICE = {"input": 1000.0, "output": 2000.0}
TOKEN = (0.001, 0.002)
LATE = 0.6
FAULTS = [*misbehaving.WAYS, 204, 408, 409, 429, 500, 503, 529]


class Address(NamedTuple):
    """Of a server in another process."""

    base_url: str


opened = partial(serving.opened, retries=2, price=PRICE, timeout=LATE / 2)


def asks(n, n_draws=1):
    sampling = Sampling(temperature=1.0, max_tokens=8)
    return [
        Ask((Message(role="user", content=f"text number {each}"),), sampling, seed)
        for each in range(n)
        for seed in range(n_draws)
    ]


def booked(folder):
    return math.fsum(line.cost or 0.0 for line in costs_by_try(Journal(folder / COSTS, Charge)))


def commands(server, folder, limit, wanted, **options):
    """Give a command twice; each time the account is read anew."""
    with opened(server, **options) as backend:
        for _ in range(2):
            with suppress(EvenhandError), spending(folder, limit):
                backend.complete(wanted)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_server_that_bills_each_try_bills_no_more_than_is_booked(fault, tmp_path):
    limit = 0.4
    with Server(lambda number, body: None if number % 3 == 1 else fault, late=LATE, price=TOKEN) as server:
        commands(server, tmp_path, limit, asks(4, 2), concurrency=2)
        time.sleep(0.02)
    assert server.bill
    assert math.fsum(server.bill) <= booked(tmp_path) + 1e-9 <= limit + 2e-9


def test_undisturbed_run_books_what_the_server_bills(tmp_path):
    with Server(price=TOKEN) as server, spending(tmp_path, 100.0), opened(server, timeout=60) as backend:
        backend.complete(asks(20, 2))
    assert booked(tmp_path) == pytest.approx(math.fsum(server.bill), abs=1e-12)
    # the most that each can cost does not stay
    assert Spending(tmp_path).spent == pytest.approx(math.fsum(server.bill), abs=1e-12)


def test_requests_that_have_no_room_beside_others_wait_until_these_are_settled(tmp_path):
    # 20 requests cost .38, and each can cost .064: never two at once within the limit
    with Server(price=TOKEN) as server, spending(tmp_path, 0.45), opened(server, concurrency=8, timeout=60) as backend:
        assert len(backend.complete(asks(20))) == 20
    assert server.most_at_once < 8


def test_a_server_that_is_not_there_costs_nothing(tmp_path):
    with Server() as server:
        pass
    with spending(tmp_path, 0.1), opened(server) as backend, pytest.raises(ModelError, match="the same command"):
        backend.complete(asks(1))
    assert booked(tmp_path) == 0.0


def test_what_broken_tries_can_have_cost_is_said_where_the_limit_ends_the_run(tmp_path):
    said = r"of which 0.\d+ is the most that \d+ requests can have cost whose answers did not come whole"
    with (
        Server(lambda *_: "cut", price=TOKEN) as server,
        spending(tmp_path, 0.2),
        opened(server, retries=10) as backend,
        pytest.raises(CostLimitError, match=said),
    ):
        backend.complete(asks(3))


TOOLS = [
    {"type": "function", "function": {"name": "look_up", "description": "a" * 3000, "parameters": {"é": ["ß"] * 50}}}
]


@pytest.mark.parametrize(
    "engine",
    [
        {"tools": TOOLS},
        {"functions": [TOOLS[0]["function"]]},
        {"response_format": {"schema": "s" * 3000}},
        {"system": "s" * 3000},
    ],
)
def test_every_part_of_a_request_is_in_what_it_can_cost(engine, tmp_path):
    with Server(lambda *_: "cut", price=TOKEN) as server:
        commands(server, tmp_path, 20.0, asks(1), engine=engine)
    # each costs 3 and more
    assert 20.0 >= booked(tmp_path) >= 3.0 * len(server.asked) > 0


def test_thoughts_that_are_counted_in_the_total_alone_are_paid(tmp_path):
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 10}
    answer = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "A ferry."}}], "usage": usage}
    with (
        Server(lambda *_: (200, json.dumps(answer).encode(), {})) as server,
        spending(tmp_path, 1.0),
        opened(server) as backend,
    ):
        assert [each.finish_reason for each in backend.complete(asks(1))] == ["stop"]
    # 4 tokens of an answer, and 3 of a thought
    assert booked(tmp_path) == pytest.approx(3 * 0.001 + 7 * 0.002)


def test_numbers_of_a_request_are_no_part_of_its_prompt():
    body = {
        "messages": [{"role": "user", "content": "äöü"}],
        "temperature": 0.5,
        "seed": 3,
        "max_tokens": 8,
        "logprobs": True,
    }
    # six bytes, and 32 around the turn
    assert most_tokens(body) == (38, 8)
    assert most_tokens({"prompt": [1, 2, 3], "max_completion_tokens": 4, "max_tokens": 5, "n": 3}) == (3, 15)


def test_cached_tokens_that_cost_more_than_others_are_in_what_a_request_can_cost(tmp_path):
    price = {**PRICE, "cached": 1250.0}
    with (
        Server(lambda *_: "close") as server,
        spending(tmp_path, 5.0),
        opened(server, price=price, retries=0) as backend,
        pytest.raises(ModelError),
    ):
        backend.complete(asks(1))
    # 13 bytes and 32 tokens around them, and 8 tokens of an answer
    assert booked(tmp_path) == pytest.approx(45 * 1.25e-3 + 8 * 2e-3)


@pytest.mark.parametrize("fault", ["late", "trickle", "trickling blanks"])
def test_one_time_out_is_around_the_whole_of_a_try(fault):
    with Server(lambda number, _: fault if number == 0 else None, late=20.0) as server, opened(server) as backend:
        start = time.monotonic()
        assert [each.finish_reason for each in backend.complete(asks(1))] == ["stop"]
        assert time.monotonic() - start < 5
    assert len(server.asked) == 2
    ANSWERS.forget()
    with (
        Server(lambda *_: fault, late=20.0) as server,
        opened(server, retries=1) as backend,
        pytest.raises(ModelError, match=r"gives no answer within 0.3 seconds; raise server.timeout"),
    ):
        backend.complete(asks(1))


@pytest.mark.parametrize("fault", ["trickle", "trickling blanks"])
def test_answer_that_trickles_within_its_time_is_one(fault):
    with Server(lambda *_: fault, late=0.2) as server, opened(server, timeout=20.0, retries=0) as backend:
        assert [each.finish_reason for each in backend.complete(asks(1))] == ["stop"]


@pytest.mark.parametrize("fault", ["huge", "huge in few bytes"])
def test_answer_has_a_bound_of_size(fault):
    with (
        Server(lambda *_: fault) as server,
        opened(server, retries=0, timeout=30.0) as backend,
        pytest.raises(ModelError, match=r"longer than \d+ bytes"),
    ):
        backend.complete(asks(1))


def test_long_answers_that_were_asked_for_are_read_whole():
    text = "word " * 200_000
    with Server(lambda *_: [text]) as server, opened(server, timeout=30.0) as backend:
        sampling = Sampling(temperature=0.0, max_tokens=200_000)
        (reply,) = backend.complete([Ask((Message(role="user", content="a ferry"),), sampling, 1)])
    assert reply.text == text


def test_redirect_to_another_host_is_refused_and_one_of_the_same_is_followed():
    with (
        Server(lambda *_: "redirect elsewhere") as server,
        opened(server) as backend,
        pytest.raises(UnfitModelError, match=r"sends requests on to http://localhost.invalid/v1/chat/completions"),
    ):
        backend.complete(asks(1))
        assert len(server.asked) == 1
    with Server(lambda *_: "redirect here") as server, opened(server) as backend:
        assert [each.finish_reason for each in backend.complete(asks(1))] == ["stop"]


def test_each_redirect_is_a_try_and_later_requests_go_where_it_leads(tmp_path):
    with (
        Server(lambda number, _: "redirect here" if number == 0 else None, price=TOKEN) as server,
        spending(tmp_path, 100.0),
        opened(server, retries=0, concurrency=1) as backend,
    ):
        assert len(backend.complete(asks(3))) == 3
    assert len(server.asked) == 4
    assert len([line for line in costs_by_try(Journal(tmp_path / COSTS, Charge)) if not line.is_told]) == 1


@pytest.mark.parametrize("fault", ["redirect to itself", "redirect to no address"])
def test_redirects_that_lead_nowhere_end_soon_and_say_so(fault):
    with (
        Server(lambda *_: fault) as server,
        opened(server, retries=0) as backend,
        pytest.raises(ModelError, match=r"it sends requests on (more than 3 times|to 'http://.*which is no address)"),
    ):
        backend.complete(asks(1))
    assert len(server.asked) <= 4


@pytest.mark.parametrize("concurrency", [1, 64])
def test_a_run_whose_bill_is_far_below_its_limit_is_not_ended_by_what_its_answers_can_cost(concurrency, tmp_path):
    sampling = Sampling(temperature=1.0, max_tokens=150)
    wanted = [Ask((Message(role="user", content=f"text number {each}"),), sampling, 1) for each in range(60)]
    # 3 and 4 tokens each: 60 cost .66, of which one answer can cost .35
    with (
        Server(price=TOKEN) as server,
        spending(tmp_path, 1.1),
        opened(server, concurrency=concurrency, timeout=60) as backend,
    ):
        assert len(backend.complete(wanted)) == 60
    assert booked(tmp_path) == pytest.approx(math.fsum(server.bill)) == pytest.approx(0.66)


def test_what_refusals_can_have_cost_is_said_where_the_limit_ends_the_run(tmp_path):
    said = (
        r"spent, of which (0.\d+) .*, (?P<refused>0.\d+) of it for what the server refused, which most servers do not bill "
        r"\(server.concurrency and requests_per_minute make such refusals fewer; add to limits.cost what is not billed\)"
    )
    with Server(lambda *_: 429, price=TOKEN) as server:
        for _ in range(2):
            with (
                spending(tmp_path, 0.2),
                opened(server, retries=10) as backend,
                pytest.raises(CostLimitError, match=said),
            ):
                backend.complete(asks(3))


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize(
    "location",
    [
        "http://localhost.invalid/v1/chat/completions",
        "//localhost.invalid/v1/chat/completions",
        "http://127.0.0.1:1/v1/chat/completions",
        "http://127.0.0.1.localhost.invalid/v1",
        "http://127.0.0.1@localhost.invalid/v1",
        "https://127.0.0.1:1/v1/chat/completions",
    ],
)
def test_no_spelling_of_a_redirect_leads_elsewhere(location, status):
    fault = (status, {"message": "moved"}, {"Location": location})
    with (
        Server(lambda *_: fault) as server,
        opened(server) as backend,
        pytest.raises(UnfitModelError, match="sends requests on"),
    ):
        backend.complete(asks(1))
    assert len(server.asked) == 1


@pytest.mark.parametrize("fault", ["trickling blanks", "trickle", "huge", "redirect elsewhere"])
def test_list_of_models_has_one_clock_and_one_bound_and_leads_nowhere_else(fault, monkeypatch):
    monkeypatch.setattr(reachability, "PATIENCE", 0.5)
    with Server(late=20.0) as server:
        server.other_faults["models"] = [fault]
        start = time.monotonic()
        with pytest.raises(ModelError, match=r"no answer within 0.5 seconds|longer than|sends requests on to"):
            reachability.refuse_unreachable(ServerSection(base_url=server.base_url), "tiny")
        assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("retry_after", "said"),
    [
        ("1000", "1000 seconds"),
        ("inf", "ever"),
        ("1e9", "1000000000 seconds"),
        ("Fri, 31 Dec 2100 23:59:59 GMT", r"\d+ seconds"),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_long_wait_is_said_as_what_it_is(retry_after, said, status):
    fault = (status, {"message": "busy"}, {"Retry-After": retry_after})
    with (
        Server(lambda *_: fault) as server,
        opened(server, retries=5) as backend,
        pytest.raises(ModelError, match=rf"asks to be left alone for {said} \(Retry-After\)") as refused,
    ):
        backend.complete(asks(1))
    assert "retries" not in str(refused.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("retry_after", ["-5", "nan", "soon", "", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 99 Nonsense"])
def test_a_wait_that_is_none_is_not_waited_for(retry_after):
    fault = (429, {"message": "busy"}, {"Retry-After": retry_after})
    with Server(lambda number, _: fault if number == 0 else None) as server, opened(server) as backend:
        assert len(backend.complete(asks(1))) == 1


@pytest.mark.parametrize(
    ("retries", "said"), [(0, "refuses: busy"), (1, "after 1 retry: busy"), (2, "after 2 retries: busy")]
)
def test_a_refusal_says_how_often_it_was_tried_again(retries, said):
    with (
        Server(lambda *_: (429, {"message": "busy"}, {})) as server,
        opened(server, retries=retries) as backend,
        pytest.raises(ModelError, match=said),
    ):
        backend.complete(asks(1))
    assert len(server.asked) == retries + 1


def test_two_commands_at_once_pay_for_each_request_once():
    wanted = asks(8)
    with Server(lambda *_: time.sleep(0.1)) as server, ThreadPoolExecutor(2) as pool:

        def command(_):
            with opened(server, concurrency=3, timeout=60) as backend:
                return [reply.text for reply in backend.complete(wanted)]

        first, second = pool.map(command, range(2))
    assert first == second
    assert len(server.asked) == 8


def test_what_another_command_gave_up_is_asked_for():
    with Server(lambda number, _: 400 if number == 0 else None) as server, ThreadPoolExecutor(2) as pool:

        def command(_):
            try:
                with opened(server, timeout=60) as backend:
                    return len(backend.complete(asks(1)))
            except ModelError:
                return 0

        assert sorted(pool.map(command, range(2))) == [0, 1]


@pytest.mark.parametrize(
    ("host", "pid", "started", "is_lost", "waits"),
    [
        (None, None, None, False, True),
        # it is there, and has said nothing for long
        (None, None, None, True, False),
        # its number was given to another process since
        (None, None, "1", False, False),
        (None, 2**22 + 1, None, False, False),
        ("elsewhere", 2**22 + 1, "1", False, True),
        ("elsewhere", None, None, True, False),
        # a damaged row
        ("elsewhere", "many", None, False, False),
    ],
)
def test_ask_of_a_process_that_is_gone_is_taken_over(host, pid, started, is_lost, waits, monkeypatch):
    here = this_process()
    with closing(KeptAnswers()) as kept, closing(KeptAnswers()) as other:
        assert other.begin(["a"]) == {}
        with ANSWERS.opened() as database, database:
            row = (host or here.host, pid or here.pid, started or here.started)
            database.execute("UPDATE claims SET host = ?, pid = ?, started = ?", row)
        if is_lost:
            assert kept.begin(["a", "b"]) is None
            monkeypatch.setattr("evenhand.plugins.server.kept.LOST_SECONDS", 0.0)
        assert kept.begin(["a", "b"]) == (None if waits else {})
        other.end(["a"])
        assert kept.begin(["a", "b"]) == {}


def test_process_that_says_that_it_is_at_work_is_waited_for_however_long(monkeypatch):
    monkeypatch.setattr("evenhand.plugins.server.kept.LOST_SECONDS", 0.2)
    with closing(KeptAnswers()) as kept, closing(KeptAnswers()) as other:
        assert other.begin(["a"]) == {}
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            assert kept.begin(["a"]) is None
            other.beat()
        time.sleep(0.2)
        assert kept.begin(["a"]) is None
        time.sleep(0.25)
        assert kept.begin(["a"]) == {}
        # whoever has lost it ends nobody else's
        other.end(["a"])
        with closing(KeptAnswers()) as third:
            assert third.begin(["a"]) is None


@pytest.mark.parametrize("hours", [-10_000, -3, 3, 10_000])
def test_a_clock_that_is_set_neither_blocks_nor_pays_twice(hours, monkeypatch):
    now = time.time
    with closing(KeptAnswers()) as kept, closing(KeptAnswers()) as other:
        assert other.begin(["a"]) == {}
        monkeypatch.setattr(time, "time", lambda: now() + hours * 3600)
        assert kept.begin(["a"]) is None
        monkeypatch.setattr("evenhand.plugins.server.kept.LOST_SECONDS", 0.0)
        assert kept.begin(["a"]) == {}


def test_command_that_waits_long_for_an_answer_says_that_it_is_at_work(monkeypatch):
    monkeypatch.setattr("evenhand.plugins.server.backend.BEAT_SECONDS", 0.05)
    monkeypatch.setattr("evenhand.plugins.server.kept.LOST_SECONDS", 0.5)
    with Server(lambda *_: time.sleep(1.5)) as server, ThreadPoolExecutor(2) as pool:

        def command(_):
            with opened(server, timeout=60) as backend:
                return [reply.text for reply in backend.complete(asks(1))]

        first, second = pool.map(command, range(2))
        assert first == second and len(server.asked) == 1


def test_commands_that_begin_together_open_a_new_file_of_answers(tmp_path, monkeypatch):
    begins = Barrier(4)

    def command(number):
        begins.wait()
        with closing(KeptAnswers()) as kept:
            return kept.begin([str(number)])

    with ThreadPoolExecutor(4) as pool:
        for n in range(25):
            monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / str(n)))
            assert [*pool.map(command, range(4))] == [{}] * 4


def test_killed_commands_are_billed_no_more_than_is_booked_and_leave_nothing_that_others_wait_for(tmp_path):
    limit, path = 0.5, os.pathsep.join(filter(None, sys.path))
    with Server(lambda *_: time.sleep(0.05), price=TOKEN) as server:
        for n_seen in (1, 3, 5):
            before = len(server.asked)
            arguments = [sys.executable, __file__, server.base_url, str(tmp_path), str(limit)]
            process = subprocess.Popen(arguments, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path})
            assert process.stdout.readline() == b"asks\n"
            while len(server.asked) < before + n_seen and process.poll() is None:
                time.sleep(0.01)
            process.kill()
            process.communicate()
        # what the server works on is billed
        time.sleep(0.2)
        assert 0 < math.fsum(server.bill) <= booked(tmp_path) <= limit
        n_killed, n_kept = len(server.asked), ANSWERS.count()
        with spending(tmp_path, 10.0), opened(server, timeout=60) as backend:
            assert len(backend.complete(asks(30))) == 30
        assert len(server.asked) == n_killed + 30 - n_kept
        assert math.fsum(server.bill) <= booked(tmp_path)


if __name__ == "__main__":
    with spending(Path(sys.argv[2]), float(sys.argv[3])), opened(Address(sys.argv[1]), timeout=60) as opened_backend:
        print("asks", flush=True)
        opened_backend.complete(asks(30))
