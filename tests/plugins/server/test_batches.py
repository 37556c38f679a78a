"""Requests as files: submitted once, collected by the same command, whatever happens in between."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from functools import partial

import pytest
import serving

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")

from serving import Server

from evenhand.errors import CostLimitError, ModelError, StorageError, UnfitModelError, WaitingError
from evenhand.generate.backend import Ask
from evenhand.plugins.server.account import Charge, Spending, costs_by_try
from evenhand.plugins.server.batches import UNANSWERED
from evenhand.plugins.server.kept import ANSWERS, KeptAnswers
from evenhand.plugins.server.reachability import refuse_unreachable
from evenhand.plugins.server.section import ServerSection
from evenhand.records import Message, Sampling
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.spending import COSTS, PROMISED, spending

pytestmark = pytest.mark.usefixtures("own_cache")


opened = partial(serving.opened, retries=0)


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
        with opened(server, batches=True) as backend:
            # what was refused is not asked again while the others are waited for
            assert [reply.finish_reason for reply in backend.complete(asks())] == ["stop"] * 6 + ["failed"] * 2
            with pytest.raises(WaitingError, match="of 1 requests"):
                # a refusal is no answer that is kept: asked again afterwards, it is submitted again
                backend.complete(asks())


def commands(server, wanted, fault, **options):
    """What each command said until one had all replies, of a server whose batches end between them; and the replies."""
    said = []
    with opened(server, batches=True, **options) as backend:
        while len(said) < 9:
            try:
                return said, backend.complete(wanted)
            except WaitingError as error:
                said.append(str(error))
                server.work_off(fault=fault)
    raise AssertionError(f"it waits for ever: {said}")


@pytest.mark.parametrize("code", [429, 500])
def test_batch_of_which_all_requests_failed_is_submitted_anew_and_given_up_after_three(code):
    with Server() as server:
        server.refusal = "overloaded"
        said, replies = commands(server, asks(3), lambda number, body: code)
        assert [re.search(r"batch-\d", each)[0] for each in said] == ["batch-0", "batch-1", "batch-2"]
        assert {(reply.finish_reason, reply.reason) for reply in replies} == {("failed", "not answered by the server")}
        assert replies[0].error == f'status {code}: {{"error": {{"message": "overloaded {code}"}}}}'
        # and a later command may try again
        with pytest.raises(WaitingError, match="batch-3 of 3 requests"):
            complete(server, asks(3), batches=True)


def test_failures_that_are_not_in_a_row_are_no_reason_to_give_up():
    with Server() as server:
        server.refusal = "overloaded"
        tries = iter([500, 500, 200, 500, 500, 200])
        for _ in range(2):
            said, replies = commands(server, asks(1), lambda number, body: next(tries))
            assert (len(said), replies[0].finish_reason) == (3, "stop")
            ANSWERS.forget()


def test_batch_that_was_taken_in_is_not_found_again_when_its_answers_are_forgotten():
    with Server() as server:
        commands(server, asks(2), lambda number, body: 200)
        ANSWERS.forget()
        with pytest.raises(WaitingError, match="batch batch-1 of 2 requests was submitted"):
            complete(server, asks(2), batches=True)


def test_request_that_keeps_failing_does_not_have_the_refused_ones_asked_again():
    with Server() as server:
        said, replies = commands(server, asks(2), lambda number, body: 500 if "text 1" in str(body) else 400)
    assert [int(re.search(r"of (\d) requests", each)[1]) for each in said] == [2, 1, 1]
    assert {reply.finish_reason for reply in replies} == {"failed"}


def test_batches_have_room_in_the_limit_together(tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.plugins.server.batches.MOST_REQUESTS", 2)
    price = {"input": 1000, "output": 2000}
    # 6 bytes and 32 around them in, two answers of 8 tokens out
    most = 4 * (38 * 0.001 + 16 * 0.002)
    with Server() as server:
        with spending(tmp_path, 0.7 * most):
            for said in ("batch-0 of 2 requests was submitted; 2 further requests wait", "in_progress.*2 further"):
                with pytest.raises(WaitingError, match=said):
                    complete(server, asks(), batches=True, price=price)
            assert len(server.batches) == 1
            server.work_off()
            # it took .018 for each request, which leaves room
            with pytest.raises(WaitingError, match="batch-1 of 2 requests was submitted; the same"):
                complete(server, asks(), batches=True, price=price)
        server.work_off()
        with spending(tmp_path, 0.7 * most):
            assert len(complete(server, asks(), batches=True, price=price)) == 8
    assert sum(line.cost for line in costs_by_try(Journal(tmp_path / COSTS, Charge))) == pytest.approx(4 * 0.018)


def test_file_of_a_batch_has_no_more_bytes_than_servers_take(monkeypatch):
    monkeypatch.setattr("evenhand.plugins.server.batches.MOST_BYTES", 500)
    with Server() as server:
        with pytest.raises(WaitingError):
            complete(server, [*asks(5), *asks(1)], batches=True)
        sizes = [len(file.encode()) for file in server.files.values()]
        assert len(sizes) > 1
        assert max(sizes) <= 500
        server.work_off()
        assert len(complete(server, asks(5), batches=True)) == 10


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
        with pytest.raises(ModelError, match=r"batch batch-0: it ended as failed.*the same command submits again"):
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
    assert [line.cost for line in costs_by_try(Journal(tmp_path / COSTS, Charge))] == pytest.approx([0.002 + 0.016] * 4)


def test_request_that_the_server_does_not_take_stops_the_work_and_loses_no_other():
    with Server() as server:
        server.refusal = "Unsupported value: temperature"
        with pytest.raises(WaitingError):
            complete(server, asks(3), batches=True)
        server.work_off(fault=lambda number, body: (200, 400, 200)[number])
        with pytest.raises(ModelError, match=r"batch-0: requests were refused.*temperature.*submits again"):
            complete(server, asks(3), batches=True)
        assert ANSWERS.count() == 4
        with pytest.raises(WaitingError, match="of 1 requests"):
            complete(server, asks(3), batches=True)


def test_a_batch_that_the_server_no_longer_has_is_submitted_anew():
    with Server() as server:
        with pytest.raises(WaitingError):
            complete(server, asks(), batches=True)
        server.batches.clear()
        with pytest.raises(ModelError, match=r"batch batch-0: it ended as gone without answers.*submits again"):
            complete(server, asks(), batches=True)
        with pytest.raises(WaitingError, match="requests was submitted"):
            complete(server, asks(), batches=True)


def test_key_that_a_server_repeats_of_a_batch_is_not_shown(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-very-secret")

    def fail(server):
        server.work_off(status="failed")
        server.batches["batch-0"]["errors"] = {"data": [{"message": "bad key sk-very-secret"}]}

    def forget(server):
        server.batches.clear()
        server.lacks = "bad key sk-very-secret"

    for end in (fail, forget):
        with Server() as server:
            with pytest.raises(WaitingError):
                complete(server, asks(1), batches=True, api_key_env="MY_KEY")
            end(server)
            with pytest.raises(ModelError, match=r"without answers: bad key \*\*\*;"):
                complete(server, asks(1), batches=True, api_key_env="MY_KEY")


def test_server_without_batches_is_told_before_any_work():
    with Server(has_batches=False) as server:
        for batches in (False, True):
            section = ServerSection(base_url=server.base_url, batches=batches)
            said = pytest.raises(
                UnfitModelError, match=r"has no /batches below it: not found; leave server\.batches out"
            )
            with said if batches else nullcontext():
                refuse_unreachable(section, "tiny")
    with Server() as server:
        refuse_unreachable(ServerSection(base_url=server.base_url, batches=True), "tiny")


def test_server_with_batches_of_another_form_is_told_before_any_work_and_where_they_are_submitted():
    said = r"has /batches below it, but they are of another form than OpenAI's; leave server\.batches out"
    for batches in ({}, {"an id": {"id": "an id", "status": "COMPLETED"}}):
        with Server() as server:
            server.is_plain, server.batches = True, batches
            with pytest.raises(UnfitModelError, match=said):
                refuse_unreachable(ServerSection(base_url=server.base_url, batches=True), "tiny")
            with pytest.raises(UnfitModelError, match=said):
                complete(server, asks(1), batches=True)
            assert server.files == {}


def test_batches_of_two_servers_may_have_one_id():
    with closing(KeptAnswers()) as kept:
        for address, calls in (("http://h/v1", {"a": ["b"]}), ("http://another/v1", {"c": ["d"]})):
            kept.submit("batch-0", address, calls)
        assert kept.submitted("http://h/v1") == {"batch-0": {"a": ["b"]}}
        assert kept.submitted("http://another/v1") == {"batch-0": {"c": ["d"]}}


PRICE = {"input": 1000, "output": 2000}
# of one request of `asks`: 6 bytes and 32 around them in, two answers of 8 tokens out
MOST = 38 * 0.001 + 16 * 0.002


def test_batch_of_another_step_or_recipe_has_its_room_in_the_limit(tmp_path):
    others = [
        Ask((Message(role="user", content=f"text {i}"),), Sampling(temperature=0.5, max_tokens=8), 1) for i in "ab"
    ]
    with Server() as first, Server() as second:
        # both servers call their batch by the same id
        for server in (first, second):
            with spending(tmp_path, 4.5 * MOST), pytest.raises(WaitingError):
                complete(server, asks(2), batches=True, price=PRICE)
        with spending(tmp_path, 4.5 * MOST):
            # neither what another recipe asks this server nor what is asked without a file has room
            for options in ({"batches": True}, {}):
                with pytest.raises(
                    CostLimitError, match=r"batches that are not answered may cost 0\.28 \(.*batches\.json\)"
                ):
                    complete(first, others, price=PRICE, **options)
        first.work_off()
        with spending(tmp_path, 4.5 * MOST):
            # it took a fourth of that
            complete(first, asks(2), batches=True, price=PRICE)
            assert len(complete(second, others, price=PRICE)) == 2
        assert len(first.asked) == 2


def test_what_a_batch_can_cost_is_taken_back_as_its_answers_come(tmp_path):
    with Server() as server:
        for run in ("one", "two"):
            with spending(tmp_path / run), pytest.raises(WaitingError):
                complete(server, asks(3), batches=True, price=PRICE)
            assert promised(tmp_path / run) == pytest.approx([3 * MOST])
        server.work_off()
        with spending(tmp_path / "one"):
            complete(server, asks(1), batches=True, price=PRICE)
            assert promised(tmp_path / "one") == pytest.approx([2 * MOST])
            complete(server, asks(3), batches=True, price=PRICE)
        assert promised(tmp_path / "one") == []
        with spending(tmp_path / "two"), pytest.raises(WaitingError):
            complete(server, asks(4), batches=True, price=PRICE)
        # the answers that it waited for were taken in by the other run
        assert promised(tmp_path / "two") == pytest.approx([MOST])


def promised(folder):
    return [*Spending(folder).promised.values()]


def interrupted(*_):
    raise KeyboardInterrupt


def submitted(server, *folders):
    """Runs that wait for one batch of four requests, which then ends."""
    for folder in folders:
        with spending(folder), pytest.raises(WaitingError):
            complete(server, asks(4), batches=True, price=PRICE)
    server.work_off()


def test_promise_is_taken_back_after_a_kill_between_answers_of_a_batch(tmp_path, monkeypatch):
    keep, calls = KeptAnswers.keep, []

    def keep_two(kept, answers):
        keep(kept, answers)
        calls.append(answers)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with Server() as server:
        submitted(server, tmp_path)
        with monkeypatch.context() as patched, spending(tmp_path), pytest.raises(KeyboardInterrupt):
            patched.setattr(KeptAnswers, "keep", keep_two)
            complete(server, asks(4), batches=True, price=PRICE)
        assert promised(tmp_path) == pytest.approx([4 * MOST])
        with spending(tmp_path):
            complete(server, asks(4), batches=True, price=PRICE)
    assert promised(tmp_path) == []
    assert len(costs_by_try(Journal(tmp_path / COSTS, Charge))) == 4


def test_promise_is_taken_back_after_a_kill_behind_the_last_answer_of_a_batch(tmp_path, monkeypatch):
    with Server() as server:
        submitted(server, tmp_path)
        with monkeypatch.context() as patched, spending(tmp_path), pytest.raises(KeyboardInterrupt):
            patched.setattr(KeptAnswers, "finish", interrupted)
            complete(server, asks(4), batches=True, price=PRICE)
        assert promised(tmp_path) == pytest.approx([4 * MOST])
        with spending(tmp_path):
            complete(server, asks(4), batches=True, price=PRICE)
        assert promised(tmp_path) == []
        # nothing of it is left to look at
        assert closing(KeptAnswers()).thing.submitted(server.base_url) == {}


def test_promise_of_such_a_batch_is_taken_back_where_others_are_asked_next(tmp_path, monkeypatch):
    with Server() as server:
        submitted(server, tmp_path)
        with monkeypatch.context() as patched, spending(tmp_path), pytest.raises(KeyboardInterrupt):
            patched.setattr(KeptAnswers, "finish", interrupted)
            complete(server, asks(4), batches=True, price=PRICE)
        with spending(tmp_path), pytest.raises(WaitingError):
            complete(server, asks(5), batches=True, price=PRICE)
        assert promised(tmp_path) == pytest.approx([MOST])


def test_promise_is_taken_back_when_another_run_has_taken_the_answers_in(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    with Server() as server:
        submitted(server, one, two)
        with spending(one):
            complete(server, asks(4), batches=True, price=PRICE)
        assert promised(two) == pytest.approx([4 * MOST])
        with spending(two):
            complete(server, asks(4), batches=True, price=PRICE)
        assert promised(two) == []
        # so that there is room for what is asked without a file
        with spending(two, 1.5 * MOST):
            assert len(complete(server, asks(5)[-2:], price=PRICE)) == 2


def test_answers_that_another_run_takes_in_at_that_moment_are_not_asked_again(monkeypatch):
    look_up = KeptAnswers.submitted

    def late(kept, address):
        with monkeypatch.context() as patched:
            patched.setattr(KeptAnswers, "submitted", look_up)
            complete(server, asks(2), batches=True)
        return look_up(kept, address)

    with Server() as server:
        with pytest.raises(WaitingError):
            complete(server, asks(2), batches=True)
        server.work_off()
        monkeypatch.setattr(KeptAnswers, "submitted", late)
        assert len(complete(server, asks(2), batches=True)) == 4
        assert len(server.batches) == 1


def test_promise_stays_while_a_batch_is_under_way_and_others_are_answered_from_the_file(tmp_path):
    with Server() as server:
        with spending(tmp_path):
            complete(server, asks(1), price=PRICE)
            with pytest.raises(WaitingError):
                complete(server, asks(3), batches=True, price=PRICE)
            complete(server, asks(1), batches=True, price=PRICE)
        assert promised(tmp_path) == pytest.approx([2 * MOST])


def test_damaged_note_of_what_batches_can_cost_is_told(tmp_path):
    (tmp_path / PROMISED).write_text('{"batches": {"a": "much"}}')
    with pytest.raises(StorageError, match=r"batches\.json: does not say what batches can cost.*delete it"):
        Spending(tmp_path)


def test_most_of_a_batch_is_noted_before_it_is_submitted(tmp_path):
    with Server() as server:
        # it was taken, and nobody was told
        server.other_faults["batch"] = ["close"]
        with spending(tmp_path), pytest.raises(ModelError):
            complete(server, asks(4), batches=True, price=PRICE)
        assert len(server.batches) == 1
        assert promised(tmp_path) == pytest.approx([4 * MOST])
        # room for this one alone
        with spending(tmp_path, 4.5 * MOST), pytest.raises(WaitingError, match="batch-0 of 4 requests was submitted"):
            complete(server, asks(4), batches=True, price=PRICE)
        assert promised(tmp_path) == pytest.approx([4 * MOST])
        assert len(server.batches) == 1


def test_submission_whose_answer_is_lost_is_tried_again_and_not_doubled():
    with Server() as server:
        server.other_faults |= {"batch": ["cut"], "files": [503], "batches": [500]}
        with pytest.raises(WaitingError, match="batch-0 of 4 requests was submitted"):
            complete(server, asks(), batches=True, retries=5)
        assert len(server.batches) == 1


def test_batch_whose_file_is_not_there_is_not_paid_for_again(tmp_path):
    with Server() as server:
        submitted(server, tmp_path)
        answers = server.files.pop("out-batch-0")
        for _ in range(2):
            with spending(tmp_path), pytest.raises(ModelError, match=r"out-batch-0 is not there.*not submitted again"):
                complete(server, asks(4), batches=True, price=PRICE)
        assert promised(tmp_path) == pytest.approx([4 * MOST])
        # it may come late
        server.files["out-batch-0"] = answers
        with spending(tmp_path):
            assert all(complete(server, asks(4), batches=True, price=PRICE))
    assert len(server.batches) == 1 and promised(tmp_path) == []


def test_requests_of_a_batch_whose_file_does_not_come_are_left_out_and_stay_booked(tmp_path):
    with Server() as server:
        submitted(server, tmp_path)
        server.files.clear()
        for _ in range(2):
            with spending(tmp_path), pytest.raises(ModelError, match="not submitted again"):
                complete(server, asks(4), batches=True, price=PRICE)
        with spending(tmp_path), opened(server, batches=True, price=PRICE) as backend:
            assert {(each.reason, each.finish_reason) for each in backend.complete(asks(4))} == {(UNANSWERED, "failed")}
    assert len(server.batches) == 1 and promised(tmp_path) == []
    assert Spending(tmp_path).spent == pytest.approx(4 * MOST)


def test_request_of_a_batch_that_failed_may_be_paid_for_and_stays_booked(tmp_path):
    with Server() as server, spending(tmp_path):
        with pytest.raises(WaitingError):
            complete(server, asks(2), batches=True, price=PRICE)
        server.work_off(fault=lambda number, body: (200, 500)[number])
        with pytest.raises(WaitingError):
            complete(server, asks(2), batches=True, price=PRICE)
    costs = [line.is_told for line in costs_by_try(Journal(tmp_path / COSTS, Charge))]
    assert sorted(costs) == [False, True]
    # two words and two answers of four tokens, and the most of the other
    assert Spending(tmp_path).spent == pytest.approx(2 * 0.001 + 8 * 0.002 + MOST)


def test_two_commands_at_once_submit_each_request_once(tmp_path):
    def command(_):
        with pytest.raises(WaitingError) as waiting:
            complete(server, asks(4), batches=True)
        return str(waiting.value)

    with Server() as server, ThreadPoolExecutor(2) as pool:
        assert any("batch-0 of 4 requests was submitted" in said for said in pool.map(command, range(2)))
        assert len(server.batches) == 1
        server.work_off()
        assert all(complete(server, asks(4), batches=True))


def test_file_of_answers_may_lie_elsewhere_and_the_key_does_not_go_there(monkeypatch, tmp_path):
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    with Server(key="sk-very-secret") as server, Server() as store:
        with pytest.raises(WaitingError):
            complete(server, asks(1), batches=True, api_key_env="MY_KEY")
        server.work_off()
        store.files["signed"] = server.files["out-batch-0"]
        server.handler.elsewhere = f"{store.base_url}/files/signed/content"
        server.other_faults["content"] = ["redirect elsewhere"]
        assert all(complete(server, asks(1), batches=True, api_key_env="MY_KEY"))
        assert store.got and all("Authorization" not in headers for headers in store.got)
