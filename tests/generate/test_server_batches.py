"""Requests as files: submitted once, collected by the same command, whatever happens in between."""

from contextlib import closing

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")

from serving import Server

from evenhand.config import BackendSection, ModelSection
from evenhand.errors import CostLimitError, ModelError, WaitingError
from evenhand.generate.backend import Ask
from evenhand.generate.backends import open_backend
from evenhand.generate.server.kept import ANSWERS, KeptAnswers
from evenhand.records import Message, Sampling
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.spending import COSTS, Cost, spending


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))


def opened(server, **options):
    section = {"base_url": server.base_url, "retries": 0, **options}
    return closing(open_backend(BackendSection(backend="openai", server=section), ModelSection(name="tiny")))


def asks(n=4):
    drawn = Sampling(temperature=1.0, max_tokens=8)
    return [Ask((Message(role="user", content=f"text {i}"),), drawn, seed) for i in range(n) for seed in (1, 2)]


def complete(server, wanted, **options):
    with opened(server, **options) as backend:
        return [reply.text for reply in backend.complete(wanted)]


def test_batch_is_submitted_once_and_gives_what_single_requests_give():
    with Server() as server:
        alone = complete(server, asks())
        ANSWERS.forget()
        for said in ("batch batch-0 of 4 requests was submitted", "batch batch-0 is in_progress"):
            with pytest.raises(WaitingError, match=said) as waiting:
                complete(server, asks(), batches=True)
        assert waiting.value.exit_code == 5
        server.work_off()
        assert complete(server, asks(), batches=True) == alone
        assert len(server.batches) == 1
        # and it is forgotten once it was collected
        assert closing(KeptAnswers()).thing.submitted(server.base_url) == {}


def test_batch_that_was_submitted_and_not_noted_is_found_again(monkeypatch):
    with Server() as server:
        with monkeypatch.context() as patched:
            patched.setattr(KeptAnswers, "submit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                complete(server, asks(), batches=True)
        with pytest.raises(WaitingError):
            complete(server, asks(), batches=True)
        assert len(server.batches) == 1


def test_requests_that_expired_or_failed_are_submitted_again_and_refused_ones_are_not():
    with Server() as server:
        with pytest.raises(WaitingError):
            complete(server, asks(), batches=True)
        server.work_off(fault=lambda number, body: (200, 0, 500, 400)[number])
        with pytest.raises(WaitingError, match="of 2 requests"):
            complete(server, asks(), batches=True)
        assert ANSWERS.count() == 2
        server.work_off()
        with opened(server, batches=True) as backend, pytest.raises(WaitingError, match="of 1 requests"):
            # a refusal is no answer that is kept: asked again, it is submitted again
            backend.complete(asks())


def test_refused_request_is_a_failed_reply():
    with Server() as server:
        with pytest.raises(WaitingError):
            complete(server, asks(2), batches=True)
        server.work_off(fault=lambda number, body: (200, 400)[number])
        with opened(server, batches=True) as backend:
            replies = backend.complete(asks(2))
    assert [reply.finish_reason for reply in replies] == ["stop", "stop", "failed", "failed"]
    assert {reply.reason for reply in replies[2:]} == {"refused by the server"}


def test_answers_that_nobody_asks_for_now_are_kept_for_later():
    with Server() as server:
        with pytest.raises(WaitingError):
            complete(server, asks(3), batches=True)
        server.work_off()
        complete(server, asks(1), batches=True)
        assert ANSWERS.count() == 2
        complete(server, asks(3), batches=True)
        assert len(server.batches) == 1


def test_batch_that_failed_as_a_whole_is_told_and_submitted_anew():
    with Server() as server:
        with pytest.raises(WaitingError):
            complete(server, asks(1), batches=True)
        server.work_off(status="failed")
        with pytest.raises(ModelError, match=r"batch batch-0: it ended as failed.*the same command submits anew"):
            complete(server, asks(1), batches=True)
        with pytest.raises(WaitingError, match="batch-1"):
            complete(server, asks(1), batches=True)


def test_batch_is_booked_when_it_is_collected_and_refused_when_it_might_cost_too_much(tmp_path):
    price = {"input": 1000, "output": 2000}
    with Server() as server:
        with spending(tmp_path, 0.1), pytest.raises(CostLimitError):
            complete(server, asks(), batches=True, price=price)
        assert server.batches == {}
        with spending(tmp_path, 100), pytest.raises(WaitingError):
            complete(server, asks(), batches=True, price=price)
        server.work_off()
        with spending(tmp_path, 100):
            complete(server, asks(), batches=True, price=price)
    # two words in, two answers of four tokens
    assert [line.cost for line in Journal(tmp_path / COSTS, Cost)] == pytest.approx([0.002 + 0.016] * 4)


def test_request_that_the_server_does_not_take_stops_the_work_and_loses_no_other():
    with Server() as server:
        server.refusal = "Unsupported value: temperature"
        with pytest.raises(WaitingError):
            complete(server, asks(3), batches=True)
        server.work_off(fault=lambda number, body: (200, 400, 200)[number])
        with pytest.raises(ModelError, match=r"batch-0: requests were refused.*temperature.*submits anew"):
            complete(server, asks(3), batches=True)
        assert ANSWERS.count() == 4
        with pytest.raises(WaitingError, match="of 1 requests"):
            complete(server, asks(3), batches=True)
