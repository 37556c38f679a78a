"""Engines that outlive stages: the same replies and counts, one process for all who open it, and none when the loop is gone."""

import os
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from evenhand.config import BackendSection, ModelSection
from evenhand.errors import ModelError, UnfitModelError
from evenhand.generate.backend import Ask, Backend
from evenhand.generate.backends import open_backend
from evenhand.records import Message, Sampling
from evenhand.runfolder.engine_pool import LOG, MODULE, POOL, engine_pool, pool_connection
from evenhand.runfolder.workers import Command, Death, LocalWorker

# a process starts or ends by then, on a busy machine too
MOST_SECONDS = 120
ASKS = [
    Ask((Message(role="user", content=f"Text\nThe ferry “Ålesund” sails at {hour} in the evening.\nEnd"),), Sampling(), seed=hour)
    for hour in range(3)
] + [Ask((Message(role="user", content="Grade"),), Sampling(), seed=1, choices=("1", "2"))]  # fmt: skip


def opened(**engine: Any) -> Backend:
    section = BackendSection(backend="scripted", max_model_len=64, engine=engine)
    return open_backend(section, ModelSection(name="none"))


def engines(parent: int | None = None) -> list[psutil.Process]:
    found = []
    for child in psutil.Process(parent).children(recursive=True):
        try:
            if MODULE in child.cmdline():
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + MOST_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_replies_and_counts_are_those_of_an_engine_of_ones_own(tmp_path: Path) -> None:
    with closing(opened()) as own:
        expected = [own.complete(ASKS), own.complete(ASKS[:1])]
    with engine_pool(tmp_path), closing(opened()) as pooled:
        assert type(pooled) is not type(own)
        assert [pooled.complete(ASKS), pooled.complete(ASKS[:1])] == expected
        assert (pooled.usage, pooled.signature) == (own.usage, own.signature)
        assert pooled.complete([]) == []


def test_one_process_serves_all_stages_and_ends_with_the_pool(tmp_path: Path) -> None:
    with engine_pool(tmp_path):
        with closing(opened()) as first:
            first.complete(ASKS)
        (engine,) = engines()
        with closing(opened()) as second:
            second.complete(ASKS[:1])
            # what an engine has been asked before is not this stage's
            assert second.usage.prompt_tokens < first.usage.prompt_tokens
        assert engines() == [engine]
        # another setting, another engine
        with closing(opened(seconds_per_batch=0.01)):
            assert len(engines()) == 2
        everyone = engines()
    assert not psutil.wait_procs(everyone, MOST_SECONDS)[1]
    assert POOL not in os.environ


def test_a_question_that_comes_when_the_loop_has_ended_starts_no_engine(tmp_path: Path) -> None:
    with engine_pool(tmp_path):
        late = pool_connection()
        # it is taken by now
        time.sleep(0.5)
    with late, late.makefile("rwb") as lines:
        lines.write(b'{"engine": {"gpus": null}, "adapter": null, "day": "2026-01-01"}\n')
        lines.flush()
        assert lines.readline() == b'{"died": "ended with the loop"}\n'
    assert engines() == []


def test_replicas_have_an_engine_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_pool(tmp_path):
        for number in "01":
            monkeypatch.setenv("EVENHAND_REPLICA", number)
            opened().close()
        assert len(engines()) == 2


def test_a_second_stage_waits_until_the_engine_is_given_back(tmp_path: Path) -> None:
    with engine_pool(tmp_path):
        first, second = opened(), list[Backend]()
        waiting = threading.Thread(target=lambda: second.append(opened()))
        waiting.start()
        waiting.join(0.5)
        assert not second
        first.close()
        waiting.join(MOST_SECONDS)
        second[0].close()
        assert len(engines()) == 1


def test_engine_that_is_killed_while_nobody_has_it_is_started_again(tmp_path: Path) -> None:
    with engine_pool(tmp_path):
        opened().close()
        (engine,) = engines()
        engine.kill()
        with closing(opened()) as pooled:
            assert len(pooled.complete(ASKS)) == len(ASKS)


def test_engine_that_is_killed_at_a_batch_gets_it_again_and_the_second_time_ends_the_stage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with engine_pool(tmp_path):
        pooled, outcomes = opened(seconds_per_batch=2.0), list[Any]()

        def ask(n_kills: int) -> None:
            asking = threading.Thread(target=complete)
            asking.start()
            for _ in range(n_kills):
                wait_for(engines)
                before = engines()
                # it is asked by now
                time.sleep(0.5)
                before[0].kill()
                wait_for(lambda before=before: engines() != before)
            asking.join(MOST_SECONDS)

        def complete() -> None:
            try:
                outcomes.append(pooled.complete(ASKS))
            except SystemExit as end:
                outcomes.append(end.code)

        ask(0)
        ask(1)
        assert outcomes[1] == outcomes[0]
        ask(2)
        assert outcomes[2] == 1
        assert "was killed by signal 9, twice over one batch" in caplog.text
        assert LOG in caplog.text
        assert "leave keep_engines out" in caplog.text


def test_refusal_and_death_over_a_batch_are_what_the_stage_ends_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(worker: LocalWorker) -> Death:
        worker.close()
        raise UnfitModelError("no numbers")

    with engine_pool(tmp_path):
        for error, death in ((SystemExit, LocalWorker.death), (UnfitModelError, refuse)):
            with pytest.raises(error), closing(opened()) as pooled, monkeypatch.context() as patched:
                patched.setattr(LocalWorker, "work", lambda worker, line: worker.kill())
                patched.setattr(LocalWorker, "death", death)
                pooled.complete(ASKS)


def test_engine_that_begins_while_the_loop_ends_is_ended_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[psutil.Process] = []
    begin = LocalWorker.begin

    def begin_late(worker: LocalWorker, command: Command) -> None:
        is_asked.set()
        has_ended.wait(MOST_SECONDS)
        begin(worker, command)
        begun.extend(engines())

    def ask() -> None:
        with pytest.raises(SystemExit):
            opened()

    is_asked, has_ended = threading.Event(), threading.Event()
    monkeypatch.setattr(LocalWorker, "begin", begin_late)
    with engine_pool(tmp_path):
        asking = threading.Thread(target=ask)
        asking.start()
        is_asked.wait(MOST_SECONDS)
    has_ended.set()
    asking.join(MOST_SECONDS)
    assert begun
    assert not psutil.wait_procs(begun, MOST_SECONDS)[1]


def test_refusal_of_the_engine_is_the_stages(tmp_path: Path) -> None:
    section = BackendSection(backend="scripted", engine={"tokenize": True})
    model = ModelSection(name=str(tmp_path / "nothing"))
    with pytest.raises(ModelError) as own:
        open_backend(section, model)
    with engine_pool(tmp_path), pytest.raises(ModelError) as pooled:
        open_backend(section, model)
    assert (type(pooled.value), str(pooled.value)) == (type(own.value), str(own.value))
    assert type(own.value) is UnfitModelError


ASK = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect("\\0" + sys.argv[1])
connection.settimeout(60)
try:
    connection.sendall(b'{"engine": {"gpus": null}}\\n')
    print(connection.recv(1))
except ConnectionError:
    # hung up on before it had read, or asked
    print(b"")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_turned_away(tmp_path: Path) -> None:
    with engine_pool(tmp_path):
        command = ["/usr/bin/env", "python3", "-c", ASK, os.environ[POOL]]
        done = subprocess.run(command, user=65534, cwd="/", capture_output=True, text=True, check=False)
        assert done.stdout == "b''\n", done
        assert not engines()


def test_nothing_of_a_pool_stays_but_what_its_engines_print(tmp_path: Path) -> None:
    with engine_pool(tmp_path), closing(opened()) as pooled:
        pooled.complete(ASKS)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / LOG]


LOOP = """
import sys, time
from contextlib import closing
from pathlib import Path
from evenhand.config import BackendSection, ModelSection
from evenhand.generate.backends import open_backend
from evenhand.runfolder.engine_pool import engine_pool

with engine_pool(Path(sys.argv[1])):
    open_backend(BackendSection(backend="scripted"), ModelSection(name="none")).close()
    print("ready", flush=True)
    time.sleep(600)
"""


def test_engines_end_with_a_loop_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOOP, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as loop:
        assert loop.stdout is not None
        assert loop.stdout.readline() == "ready\n"
        (engine,) = engines(loop.pid)
        loop.kill()
        assert not psutil.wait_procs([engine], MOST_SECONDS)[1]
