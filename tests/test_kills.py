"""A kill campaign: wherever a command is killed, the same command continues, and it ends with the files of an undisturbed one.

A command is killed at a random moment, or one of its processes before or after an operation on files. A hundred kills are a
part of the tests; `pytest -m campaign` makes a thousand. Training is killed in test_loop.
"""

import json
import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from forked import KILL, Server

# keys of times, and files that hold some
TIMED = {
    "seconds",
    "spent",
    "manifest.json",
    "index.html",
    "details.html",
    "report",
    "report.json",
    "report.md",
    "tables",
    "report/index.html",
    "report/details.html",
    "report/report.json",
}


def recipe(**changes):
    values = {
        "name": "kills",
        "seed": 3,
        "output": "run",
        "model": {"name": "none"},
        "corpus": {"path": "sample", "test": {"split": "test", "limit": 3}},
        "generate": {
            "backend": "scripted",
            "requests_per_batch": 2,
            "engine": {"seconds_per_batch": 0.01},
            "plans": {"nucleus": {"candidates": 3, "max_tokens": 32}},
        },
        "judges": {
            "grade": {
                "kind": "rubric",
                "rubric": "coverage",
                "model": {"name": "none"},
                "backend": {"backend": "scripted", "requests_per_batch": 2, "engine": {"seconds_per_batch": 0.01}},
            },
            "precision": {"kind": "rouge", "measure": "precision"},
        },
        "reward": {"judges": ["grade"]},
        "evaluation": {"judges": ["precision"], "resamples": 100},
        "rounds": 0,
    }
    return values | changes


def in_rounds():
    values = recipe()
    return values | {"generate": values["generate"] | {"method": "self-refine", "self_refine": {"rounds": 2}}}


def by_replicas():
    """Two engines of each model; a batch takes long enough that both have one."""
    values = in_rounds()
    grade = values["judges"]["grade"]
    return values | {
        "generate": values["generate"] | {"replicas": 2},
        "judges": values["judges"] | {"grade": grade | {"backend": grade["backend"] | {"replicas": 2}}},
    }


BIAS = {
    "name": "kills", "output": "run", "model": {"name": "none"}, "inputs": {"assignments": 1},
    "backend": {"backend": "scripted", "requests_per_batch": 8},
    "measures": {"persons": "known", "encoder": None, "resamples": 100},
    "most_left_out": 1.0,
}  # fmt: skip
CONTROLLED = {
    "name": "kills", "output": "run", "model": {"name": "none"}, "attempts": 2, "most_left_out": 1.0,
    "backend": {"backend": "scripted", "requests_per_batch": 8},
}  # fmt: skip


REPLICAS = ("generate.replicas", "judges.grade.backend.replicas")


@dataclass(frozen=True)
class Scenario:
    """Commands that follow each other in a folder."""

    recipes: dict[str, dict]
    commands: tuple[str, ...]
    # of 100 kills
    kills: int
    # keys of a number from 1 to 5 that each run draws anew, since nothing that is made depends on it
    drawn: tuple[str, ...] = ()


SCENARIOS = {
    "verbs": Scenario(
        {"a.yaml": in_rounds()}, ("generate a.yaml", "judge a.yaml", "rerank a.yaml", "report a.yaml"), 40
    ),
    "replicas": Scenario({"a.yaml": by_replicas()}, ("generate a.yaml", "judge a.yaml"), 12, REPLICAS),
    "loop": Scenario({"a.yaml": recipe()}, ("loop a.yaml",), 20),
    "compare": Scenario(
        {"a.yaml": recipe(), "b.yaml": in_rounds()}, ("compare a.yaml b.yaml --out out --budgets 1,3",), 8
    ),
    "study": Scenario({"a.yaml": BIAS}, ("bias-study a.yaml",), 10),
    "controlled": Scenario({"a.yaml": CONTROLLED}, ("judges controlled a.yaml",), 10),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """What runs commands without their start."""
    found = Server(tmp_path_factory.mktemp("f"))
    yield found
    found.close()


class Place:
    """A folder in which a scenario's commands run."""

    def __init__(self, server: Server, folder: Path, scenario: Scenario) -> None:
        self.server, self.folder, self.scenario = server, folder, scenario
        folder.mkdir()
        for name, values in scenario.recipes.items():
            (folder / name).write_text(yaml.safe_dump(values))

    def run(self, command: str, kill: str = "", moment: float | None = None) -> bool:
        """Run a command; whether it was killed: at a moment, in seconds, or a process of it as forked.KILL says."""
        environment = {"EVENHAND_CACHE": str(self.folder / "cache"), "COLUMNS": "100"}
        running = self.server.start(command.split(), self.folder, **environment, **({KILL: kill} if kill else {}))
        code = running.wait(120 if moment is None else moment)
        if code is None:
            assert moment is not None, self.said()
            os.kill(running.pid, signal.SIGKILL)
            code = running.wait(10)
        # a loop whose step was killed ends with 1 and says so, and so does a stage whose replicas were killed again and again
        said = ("ended with exit code -9", "killed by signal 9")
        was_killed = code == -signal.SIGKILL or (code == 1 and any(each in self.said()[-2000:] for each in said))
        assert was_killed or code == 0, f"{command} ended with {code}: {self.said()[-4000:]}"
        return was_killed

    def said(self) -> str:
        return (self.folder / "output.txt").read_text()

    def files(self) -> dict[str, object]:
        """What was made, as far as it does not tell the time."""
        return {
            str(path.relative_to(self.folder)): content(path)
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
            and path.name not in {".lock", "output.txt", *(["recipe.yaml"] if self.scenario.drawn else [])}
            and not {"cache", "logs"} & set(path.relative_to(self.folder).parts)
        }


def content(path: Path) -> object:
    if path.suffix == ".json":
        return timeless(json.loads(path.read_text()))
    # a page shows seconds, which stand in its JSON file too
    return "" if path.suffix in {".html", ".md"} or path.name == "stages.csv" else path.read_bytes()


def timeless(value: object) -> object:
    if isinstance(value, dict):
        # a report is made of receipts, which tell the time
        made_of_times = {"inputs"} if TIMED & set(value.get("outputs", ())) else set()
        return {key: timeless(inner) for key, inner in value.items() if key not in TIMED | made_of_times}
    return [timeless(each) for each in value] if isinstance(value, list) else value


def campaign(server: Server, folder: Path, scenario: Scenario, n_kills: int, seed: int) -> None:
    """Kill a scenario's commands until they were killed so often, each time as far as they go until they have ended."""
    undisturbed = Place(server, folder / "undisturbed", scenario)
    longest = {}
    for command in scenario.commands:
        start = time.monotonic()
        assert not undisturbed.run(command)
        longest[command] = time.monotonic() - start
    expected = undisturbed.files()
    moments = random.Random(seed)  # noqa: S311
    n_done, n_places = 0, 0
    while n_done < n_kills:
        place = Place(server, folder / f"killed-{n_places}", scenario)
        n_places += 1
        for command in scenario.commands:
            while n_done < n_kills:
                drawn = "".join(f" --set {key}={moments.randint(1, 5)}" for key in scenario.drawn)
                if moments.random() < 0.5:
                    # what was finished before is not done again
                    was_killed = place.run(command + drawn, moment=moments.uniform(0, longest[command] / 3))
                else:
                    was_killed = place.run(command + drawn, kill=str(moments.randint(1, 40)))
                if not was_killed:
                    break
                n_done += 1
            else:
                assert not place.run(command)
        assert place.files() == expected, f"seed {seed}, {place.folder}"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_anywhere_the_same_command_continues_and_ends_with_the_same_files(server, tmp_path, name):
    campaign(server, tmp_path, SCENARIOS[name], SCENARIOS[name].kills, seed=0)


@pytest.mark.campaign
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_thousand_kills(server, tmp_path, name):
    campaign(server, tmp_path, SCENARIOS[name], 10 * SCENARIOS[name].kills, seed=1)
