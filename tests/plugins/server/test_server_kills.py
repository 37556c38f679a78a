"""Commands that ask a server are killed at random moments: nothing that was kept is asked again, and the files are the same."""

import math
import os
import random
import shutil
import signal
import time

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")

import serving
from forked import Server
from test_kills import Place, Scenario, recipe

from evenhand.plugins.server.account import Charge, costs_by_try
from evenhand.runfolder.journal import Journal
from evenhand.runfolder.spending import COSTS

KILLS = 50
CONCURRENCY = 3
PROBABLE = {str(grade): math.log(0.2) for grade in range(1, 6)}
COMMANDS = ("generate a.yaml", "judge a.yaml", "rerank a.yaml")


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    found = Server(
        tmp_path_factory.mktemp("f"), ("openai:AsyncOpenAI", "aiolimiter", "evenhand.plugins.server.backend")
    )
    yield found
    found.close()


def asking(address):
    """The recipe of the other kills, with two judges, at a server."""
    values = recipe(model={"name": "tiny"})
    price = {"input": 1.0, "output": 2.0}
    server = {"base_url": address, "concurrency": CONCURRENCY, "price": price, "retries": 2}
    plan = {"candidates": 3, "max_tokens": 32}
    values["generate"] = {"backend": "openai", "server": server, "plans": {"nucleus": plan}, "requests_per_batch": 64}
    judge = {"kind": "rubric", "model": {"name": "tiny"}, "backend": {"backend": "openai", "server": server}}
    values["judges"] |= {name: {**judge, "rubric": name} for name in ("coverage", "faithfulness")}
    del values["judges"]["grade"]
    values["corpus"] = {"path": "sample", "test": {"split": "test"}}
    values["reward"] = {"judges": ["coverage", "faithfulness"]}
    return values | {"limits": {"cost": 1.0}}


@pytest.mark.slow
def test_killed_at_fifty_moments_nothing_that_was_kept_is_asked_again(forks, tmp_path):
    fault, price = (lambda number, body: time.sleep(0.01)), (1e-6, 2e-6)
    with serving.Server(fault, logprobs=PROBABLE, price=price) as server:
        scenario = Scenario({"a.yaml": asking(server.base_url)}, COMMANDS, KILLS)
        undisturbed, longest = Place(forks, tmp_path / "undisturbed", scenario), {}
        for command in COMMANDS:
            start = time.monotonic()
            assert not undisturbed.run(command)
            longest[command] = time.monotonic() - start
        n_needed = len(server.asked)
        # 24 requests of three candidates in one call each, and at most as many grades of each judge
        assert n_needed > 100
        moments = random.Random(4)  # noqa: S311
        n_kills = n_places = 0
        while n_kills < KILLS:
            server.asked.clear()
            server.bill.clear()
            here, place = 0, Place(forks, tmp_path / f"killed-{n_places}", scenario)
            n_places += 1
            for command in COMMANDS:
                # a rerank asks nobody
                while n_kills < KILLS and command != COMMANDS[2]:
                    if not place.run(command, moment=moments.uniform(0, longest[command] / 2)):
                        break
                    n_kills, here = n_kills + 1, here + 1
                else:
                    assert not place.run(command)
            assert _without_costs(place) == _without_costs(undisturbed)
            # of each kill what was under way may be asked again, and nothing else
            assert n_needed <= len(server.asked) <= n_needed + here * CONCURRENCY
            costs = costs_by_try(Journal(place.folder / "run" / COSTS, Charge))
            # whatever was sent is booked before, at the most that it can cost where its answer did not come
            assert n_needed <= sum(line.is_told for line in costs) <= len(server.asked)
            assert len(server.asked) <= len(costs) <= n_needed + here * CONCURRENCY
            assert math.fsum(server.bill) <= math.fsum(line.cost for line in costs) + 1e-12


def test_a_fresh_machine_asks_the_batch_under_way_again_unless_the_cache_came_along(forks, tmp_path):
    n_requests = 24
    with serving.Server(lambda number, body: time.sleep(0.05), logprobs=PROBABLE) as server:
        scenario = Scenario({"a.yaml": asking(server.base_url)}, COMMANDS, 1)
        killed = Place(forks, tmp_path / "killed", scenario)
        running = forks.start(COMMANDS[0].split(), killed.folder, EVENHAND_CACHE=str(killed.folder / "cache"))
        while len(server.asked) < n_requests / 2:
            assert running.wait(0.01) is None, killed.said()
        os.kill(running.pid, signal.SIGKILL)
        running.wait(10)
        n_asked = {}
        for copied in (("run",), ("run", "cache")):
            place = Place(forks, tmp_path / "-".join(copied), scenario)
            for name in copied:
                shutil.copytree(killed.folder / name, place.folder / name)
            server.asked.clear()
            assert not place.run(COMMANDS[0])
            n_asked[copied] = len(server.asked)
    assert n_asked["run",] == n_requests
    assert n_asked["run", "cache"] <= n_requests / 2 + CONCURRENCY


def _without_costs(place):
    return {name: content for name, content in place.files().items() if not name.endswith(COSTS)}
