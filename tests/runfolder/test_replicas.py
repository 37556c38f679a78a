"""Replicas: children at one queue; those that die, refuse, print, lose their place or their parent."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import psutil
import pytest

from evenhand.errors import DataError, ModelError
from evenhand.runfolder.replicas import Queue, ReplicaTask, Start, work_off
from evenhand.runfolder.timing import account
from evenhand.runfolder.workers import Command, LocalWorker, PlaceLostError

# appends the places that it finished to the first file; {before} comes before the engine is open, {within} within a batch
REPLICA = """
import os, signal, sys, time
from pathlib import Path
from evenhand.errors import DataError
from evenhand.runfolder.replicas import be_replica
from evenhand.runfolder.timing import book

path, failure = map(Path, sys.argv[1:])

def die_once():
    once = path.with_name("died")
    if not once.exists():
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)

def work(batches):
    {before}
    for batch in batches:
        first = batch.places.start
        {within}
        with path.open("a") as file:
            file.write(f"{{list(batch.places)}} {{batch.beside}}\\n")

sys.exit(be_replica(work, failure))
"""


@pytest.fixture
def others():
    """Children that other tests have left to this process."""
    return set(psutil.Process().children())


def new_children(others):
    return set(psutil.Process().children()) - others


def starts(folder, n=1, before="pass", within="pass", launch=LocalWorker):
    code = REPLICA.format(before=before, within=within)
    return [
        Start(
            lambda name: Command(
                ("-c", code, str(folder / f"done-{name}"), str(folder / f"failure-{name}")), folder / f"failure-{name}"
            ),
            str(number),
            launch,
        )
        for number in range(n)
    ]


def finished(folder):
    return sorted(line for path in folder.glob("done-*") for line in path.read_text().splitlines())


def tasks(n):
    return [ReplicaTask(range(2 * number, 2 * number + 2), {"name": str(number)}) for number in range(n)]


def outcomes(n, replicas):
    with closing(work_off(Queue(tasks(n), replicas))) as found:
        return sorted((each.task.places.start, each.given_up) for each in found)


EVERYTHING = [f"[{2 * n}, {2 * n + 1}] {{'name': '{n}'}}" for n in range(5)]


@pytest.mark.parametrize("n", [1, 2])
def test_every_batch_is_done_once_by_one_of_them(tmp_path, n, others):
    # what libraries print is no answer
    replicas = starts(tmp_path, n, before="print('loading')", within="print('at', first, flush=True)")
    assert outcomes(5, replicas) == [(0, ""), (2, ""), (4, ""), (6, ""), (8, "")]
    assert finished(tmp_path) == EVERYTHING
    assert new_children(others) == set()


# each waits until the other has a batch, too
BOTH = (
    "(path.with_suffix('.has')).touch(); end = time.monotonic() + 60\n"
    "        while len(list(path.parent.glob('*.has'))) < 2: assert time.monotonic() < end; time.sleep(0.01)"
)


def test_both_of_two_work_at_the_same_time(tmp_path):
    assert outcomes(4, starts(tmp_path, 2, within=BOTH)) == [(0, ""), (2, ""), (4, ""), (6, "")]


def test_one_whose_engine_takes_long_to_load_holds_nothing_up(tmp_path, others):
    began = time.monotonic()
    found = outcomes(3, starts(tmp_path, 2, before="if path.name == 'done-1': time.sleep(600)"))
    assert found == [(0, ""), (2, ""), (4, "")]
    assert time.monotonic() - began < 300
    assert new_children(others) == set()


@pytest.mark.parametrize("where", ["before", "within"])
def test_one_that_dies_is_started_anew_and_gets_its_batch_again(tmp_path, where):
    assert outcomes(5, starts(tmp_path, 1, **{where: "die_once()"})) == [(0, ""), (2, ""), (4, ""), (6, ""), (8, "")]
    assert finished(tmp_path) == EVERYTHING


def test_a_batch_over_which_it_dies_twice_is_given_up_with_the_reason_and_the_others_are_done(tmp_path):
    replicas = starts(tmp_path, 1, within="if first in (2, 6): os._exit(first)")
    assert outcomes(5, replicas) == [
        (0, ""), (2, "twice over the same batch; it ended with exit code 2"), (4, ""),
        (6, "twice over the same batch; it ended with exit code 6"), (8, ""),
    ]  # fmt: skip
    assert finished(tmp_path) == [EVERYTHING[0], EVERYTHING[2], EVERYTHING[4]]


def test_one_that_dies_over_every_batch_ends_the_stage(tmp_path, others):
    replicas = starts(tmp_path, 1, within="os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(ModelError, match=r"3 batches were given up one after the other.* it was killed by signal 9"):
        outcomes(5, replicas)
    assert new_children(others) == set()


def test_one_that_dies_twice_while_it_loads_ends_the_stage(tmp_path):
    with pytest.raises(ModelError, match=r"ended with exit code 7, twice before it was ready.*fewer replicas"):
        outcomes(5, starts(tmp_path, 1, before="os._exit(7)"))


def test_what_one_refuses_is_the_stages_own_message_and_ends_the_others(tmp_path, others):
    before = "if path.name == 'done-0': raise DataError('docs.jsonl:3: no text; add one')"
    within = "time.sleep(60)"
    with pytest.raises(DataError, match=r"docs\.jsonl:3: no text; add one"):
        outcomes(5, starts(tmp_path, 2, before=before, within=within))
    assert new_children(others) == set()


@pytest.mark.slow
def test_one_that_does_not_end_is_ended_after_its_last_batch(tmp_path, others):
    # as an engine that hangs when it is shut down
    before = "import atexit; atexit.register(lambda: time.sleep(600))"
    assert outcomes(2, starts(tmp_path, 1, before=before)) == [(0, ""), (2, "")]
    assert new_children(others) == set()


def test_a_task_waits_for_those_that_it_comes_after_and_queues_work_side_by_side(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    within = (
        "(path.parent.parent / f'{path.parent.name}.has').touch(); end = time.monotonic() + 60\n"
        "        while len(list(path.parent.parent.glob('*.has'))) < 2: assert time.monotonic() < end; time.sleep(0.01)"
    )
    # two replicas of the first queue, of which one has nothing to do until the other is ready
    chain: list[ReplicaTask] = []
    for n in range(3):
        chain.append(ReplicaTask(range(n, n + 1), after=chain[-1:]))
    queues = [
        Queue(chain, starts(tmp_path / "one", 2, within=within)),
        Queue(tasks(1), starts(tmp_path / "two", within=within)),
    ]
    with closing(work_off(*queues)) as found:
        done = [each.task for each in found]
    assert [each for each in done if each in chain] == chain
    assert len(done) == 4


def test_seconds_of_two_are_booked_as_shares_of_the_stages_own(tmp_path):
    with account() as spent:
        outcomes(4, starts(tmp_path, 2, before="book('loading', 3.0)", within=f"book('models', 1.0); {BOTH}"))
    # 3 s of each, side by side; four batches of 1 s on two
    assert spent == {"loading": 3.0, "models": 2.0}


def test_seconds_are_no_share_of_one_that_found_no_place(tmp_path):
    unfound = replace(starts(tmp_path, 2)[1], launch=Unfound)
    with account() as spent:
        outcomes(4, [*starts(tmp_path, 1, within="book('models', 1.0)"), unfound])
    assert spent["models"] == 4.0


class Shaky(LocalWorker):
    """One whose place is lost when its process dies."""

    def work(self, message):
        if (found := super().work(message)) is None:
            raise PlaceLostError("the machine was switched off")
        return found


def test_a_batch_whose_place_is_lost_goes_back_into_the_queue_and_its_replica_works_elsewhere_under_another_name(
    tmp_path,
):
    # each place is lost with its second batch
    within = "if path.exists(): os._exit(9)"
    assert outcomes(5, starts(tmp_path, 2, within=within, launch=Shaky)) == [
        (0, ""),
        (2, ""),
        (4, ""),
        (6, ""),
        (8, ""),
    ]
    assert finished(tmp_path) == EVERYTHING
    # no two places have written into the same file, and of each batch one alone knows
    assert all(len(path.read_text().splitlines()) == 1 for path in tmp_path.glob("done-*"))
    assert len(list(tmp_path.glob("done-*"))) == 5


def test_a_batch_that_takes_every_place_along_is_given_up_with_the_reason(tmp_path):
    within = "if first == 2: os._exit(9)"
    found = outcomes(5, starts(tmp_path, 2, within=within, launch=Shaky))
    assert [start for start, given_up in found if given_up] == [2]
    assert (
        dict(found)[2] == "4 times over the same batch, with its machine or place there: the machine was switched off"
    )


class Unfound(LocalWorker):
    """One for which there is no place as long as it is wanted."""

    def is_ready(self, is_wanted=lambda: True):
        while is_wanted():
            time.sleep(0.01)
        raise PlaceLostError("it is not wanted any more")


def test_one_that_finds_no_place_holds_nobody_up(tmp_path, others):
    unfound = [replace(start, launch=Unfound) for start in starts(tmp_path, 2)]
    assert outcomes(3, [unfound[0], replace(unfound[1], launch=LocalWorker)]) == [(0, ""), (2, ""), (4, "")]
    assert new_children(others) == set()


class Lost(LocalWorker):
    """One whose place is lost before it is ready."""

    def is_ready(self, is_wanted=lambda: True):
        raise PlaceLostError("the machine was switched off")


def test_one_that_loses_place_after_place_before_it_is_ready_ends_the_stage(tmp_path):
    with pytest.raises(
        ModelError, match=r"lost with its place, 12 times before it was ready.*switched off\. The same command"
    ):
        outcomes(3, starts(tmp_path, 1, launch=Lost))


PARENT = """
import sys
from pathlib import Path
from evenhand.runfolder.replicas import Queue, ReplicaTask, Start, work_off
from evenhand.runfolder.workers import Command
code, path = sys.argv[1:]
def command(name): return Command(("-c", code, path + name, path + ".failed"), Path(path + ".failed"))
list(work_off(Queue([ReplicaTask(range(1)), ReplicaTask(range(1, 2))], [Start(command, n) for n in "01"])))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_replicas_end_with_their_parent(tmp_path, how):
    code = REPLICA.format(before="pass", within="path.write_text(str(os.getpid())); time.sleep(120)")
    parent = subprocess.Popen([sys.executable, "-c", PARENT, code, str(tmp_path / "pid")])
    deadline = time.monotonic() + 60
    paths = [tmp_path / "pid0", tmp_path / "pid1"]
    while not all(path.exists() and path.read_text() for path in paths):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(parent.pid, how)
    assert parent.wait() == -how
    while any(psutil.pid_exists(int(path.read_text())) for path in paths):
        assert time.monotonic() < deadline
        time.sleep(0.02)


# the first three starts of each replica, whatever name it has by then
KILLED = (
    "starts = path.with_name(f'starts-{path.name.split(chr(45))[1]}'); "
    "starts.write_text(starts.read_text() + '.' if starts.exists() else '.')\n"
    "    if len(starts.read_text()) <= 3: os.kill(os.getpid(), signal.SIGKILL)"
)


def test_processes_that_are_killed_before_they_are_ready_are_started_until_all_is_done(tmp_path, others):
    assert outcomes(5, starts(tmp_path, 2, before=KILLED, within="if first == 4: die_once()")) == [
        (2 * n, "") for n in range(5)
    ]
    assert finished(tmp_path) == EVERYTHING
    assert new_children(others) == set()


def test_processes_that_are_killed_whenever_they_begin_end_the_stage_with_what_to_look_for(tmp_path, others):
    with pytest.raises(ModelError, match=r"8 times before it was ready.*killed by signal 9.*same command.*memory"):
        outcomes(3, starts(tmp_path, 2, before="os.kill(os.getpid(), signal.SIGKILL)"))
    assert new_children(others) == set()


@pytest.mark.slow
def test_a_batch_is_not_blamed_for_starts_that_were_killed(tmp_path):
    # each process does one batch, and is killed four times before it is ready again
    before = (
        "count = path.with_name('count'); n = int(count.read_text()) if count.exists() else 0\n"
        "    count.write_text(str(n + 1))\n"
        "    if n % 4: os.kill(os.getpid(), signal.SIGKILL)"
    )
    within = "if path.exists(): os.kill(os.getpid(), signal.SIGKILL)"
    assert outcomes(5, starts(tmp_path, 1, before=before, within=within)) == [(2 * n, "") for n in range(5)]
    assert finished(tmp_path) == EVERYTHING
