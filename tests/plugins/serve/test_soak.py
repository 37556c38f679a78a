"""Serving in front of a server that breaks a fifth of its answers: none is lost, none is wrong, and memory does not grow.

EVENHAND_SOAK_SECONDS=1800 makes it half an hour.
"""

import itertools
import os
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

pytest.importorskip("starlette")
pytest.importorskip("openai")
pytest.importorskip("psutil")

import openai
import psutil
from served_recipes import DOCUMENTS, recipe_of
from serving import Server

from evenhand.benchmarks.serving import free_port, serving
from evenhand.config.recipe_file import dump_recipe

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("EVENHAND_SOAK_SECONDS", "20"))
CLIENTS = 6
FAULTS = ("close", "cut", "text", "empty", "error", "null", "nothing", 429, 500, 503, "late")
BROKEN = 0.2
# seconds that an answer of the upstream may take
TIMEOUT = 1.0
# MiB that the process may grow by after its first quarter: pages that allocators keep
MOST_GROWTH = 24


def upstream(part_broken: float, broken: Counter) -> Server:
    """A server that breaks this part of its answers and counts that; it keeps nothing, since memory is looked at."""
    numbers = itertools.count()

    def fault(_, body):
        for kept in (server.asked, server.answered, server.headers):
            kept.clear()
        drawn = random.Random(next(numbers))  # noqa: S311
        if drawn.random() >= part_broken:
            return None
        found = drawn.choice(FAULTS)
        broken[found] += 1
        if found != "late":
            return found
        time.sleep(1.5 * TIMEOUT)
        return "close"

    server = Server(fault)
    return server


@contextmanager
def serve(folder, base_url):
    """A client of an `evenhand serve`, and its process."""
    folder.mkdir()
    recipe = recipe_of(folder, base_url)
    asked = recipe.generate.server.model_copy(update={"retries": 10, "timeout": TIMEOUT})
    recipe = recipe.model_copy(update={"generate": recipe.generate.model_copy(update={"server": asked})})
    (folder / "recipe.yaml").write_text(dump_recipe(recipe), encoding="utf-8")
    address = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "evenhand.cli", "serve", str(folder / "recipe.yaml"), "--port", str(port)]
    cache = {"EVENHAND_CACHE": str(folder / "cache")}
    with serving(command, cache, folder / "log", f"{address}/health") as process:
        yield openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=130), process


def ask(client, number):
    """Text and scores of an answer."""
    documents = [{**each, "text": f"Letter {number}. {each['text']}"} for each in DOCUMENTS]
    side = ("ban", "allow")[number % 2]
    extra = {"documents": documents, "side": side}
    found = client.chat.completions.create(model="trams", messages=[], extra_body=extra)
    about = found.evenhand
    return found.choices[0].message.content, about["scores"], about["n_candidates"], about["deadline"]


class Asking:
    """Clients that ask a tested server and one whose upstream breaks nothing the same."""

    def __init__(self, tested, sure):
        self.tested, self.sure, self.numbers = tested, sure, itertools.count()
        self.wrong = []

    def until(self, moment):
        """How many were answered; an error of any of them is raised: an answer is lost."""
        with ThreadPoolExecutor(CLIENTS) as pool:
            return sum(pool.map(self._ask_on, [moment] * CLIENTS))

    def _ask_on(self, moment):
        n = 0
        while time.monotonic() < moment:
            number = next(self.numbers)
            if (found := ask(self.tested, number)) != (right := ask(self.sure, number)):
                self.wrong.append((number, found, right))
            n += 1
        return n


def test_no_answer_is_lost_or_wrong_and_memory_stays(tmp_path):
    broken = Counter()
    with (
        upstream(BROKEN, broken) as bad,
        upstream(0, Counter()) as good,
        serve(tmp_path / "bad", bad.base_url) as (tested, process),
        serve(tmp_path / "good", good.base_url) as (sure, _),
    ):
        asking, begun, answered, memory = Asking(tested, sure), time.monotonic(), 0, []
        for quarter in range(1, 5):
            answered += asking.until(begun + SECONDS * quarter / 4)
            memory.append(psutil.Process(process.pid).memory_info().rss / 2**20)
            print(f"{time.monotonic() - begun:.0f} s: {answered} answered, {memory[-1]:.0f} MiB", flush=True)
    assert asking.wrong == []
    print(dict(broken))
    # a machine that is busy answers few in the suite's seconds
    assert answered >= CLIENTS
    assert len(broken) >= 2, "faults of several kinds came"
    assert memory[-1] - memory[0] < MOST_GROWTH, memory
