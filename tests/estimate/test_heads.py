"""What the heads of recipes say of GPUs, memory and time, against `evenhand run estimate` with the options that they name.

Models are known by their published configurations alone: there is no hub.
"""

import json
import re
import shlex
from collections.abc import Iterator
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from published_models import write_settings
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.config.lacking import usable_names
from evenhand.config.shipped import RECIPES, read_head
from evenhand.errors import LeftOutError

pytest.importorskip("trl")
constants = pytest.importorskip("huggingface_hub.constants")

HEADS = {name: read_head(RECIPES / f"{name}.yaml") for name in usable_names()}
FOR_GPUS = [name for name, head in HEADS.items() if "GPU" in head.needs]
ON_CPUS = [name for name, head in HEADS.items() if "by evenhand run estimate" in head.time and name not in FOR_GPUS]
NEEDS = re.compile(r"^(\d+) GPUs? of (\d+) GiB \(evenhand run estimate\)")
TIME = re.compile(r"\b(\d+(?:\.\d)?) (minutes?|hours?) on .+? by evenhand run estimate((?: --\S+ \S*[^\s,])*)")
STARTS = re.compile(r", and (\d+) starts?\b")
# a benchmark of judges is no loop, of which alone the time is estimated; memory is that of the judges, whatever is asked
NO_TIME = {"polisum/llama-3.1-8b/judges", "polisum/llama-3.1-8b/judges-backbones"}
# a pass of training is run without numbers, for seconds: the other two recipes that train stand for these
LONG = {f"polisum/llama-3.1-8b/{name}" for name in ("dpo-as-published", "dpo-rouge-proxy")} | {
    "fairness/perspectivesumm/multi-reward"
}
# of hours, beside a tenth
A_MINUTE = 1 / 60


class Found(NamedTuple):
    """What `evenhand run estimate` says; hours and starts of all runs that the head's command makes."""

    gpus: int
    memory: float
    hours: float
    starts: int


@pytest.fixture(scope="module", autouse=True)
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cache of a hub that has the configurations and nothing else."""
    folder = tmp_path_factory.mktemp("hub")
    write_settings(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "HF_HUB_CACHE", str(folder))
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield folder


def estimated(name: str, options: str) -> Found:
    """The estimate of what a head's command runs: its recipes, of a sweep with each of its values."""
    command = HEADS[name].command
    recipes = re.findall(r"recipes/(\S+)\.yaml", command)
    over = re.search(r"--over (\S+?)=(\S+)", command)
    sets = [["--set", f"{over[1]}={value}"] for value in over[2].split(",")] if over else [[]]
    runs: list[dict[str, Any]] = []
    for recipe, each in product(recipes, sets):
        done = CliRunner().invoke(app, ["run", "estimate", recipe, *shlex.split(options), *each, "--json"])
        # of encoders no configuration is here: they have no say in memory and time
        assert done.exception is None or isinstance(done.exception, LeftOutError), done.exception
        runs.append(json.loads(done.stdout))
    gpus, memory = (max(run[key] for run in runs) for key in ("gpus", "gpu_memory_gib"))
    return Found(gpus, memory, sum(run["hours"] for run in runs), sum(run["starts"] for run in runs))


def said_hours(name: str) -> tuple[float, str]:
    """Hours that a head says, and the options that it names."""
    found = TIME.search(HEADS[name].time)
    assert found, f"{name}: {HEADS[name].time}"
    return float(found[1]) * (A_MINUTE if found[2].startswith("minute") else 1), found[3]


def hold(name: str, found: Found, hours: float) -> None:
    assert hours == pytest.approx(found.hours, rel=0.1, abs=A_MINUTE), name


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.campaign] if name in LONG else []) for name in FOR_GPUS]
)
def test_heads_of_recipes_for_gpus_say_what_is_estimated(name: str) -> None:
    needs = NEEDS.match(HEADS[name].needs)
    assert needs, HEADS[name].needs
    hours, options = (0.0, "--requests test=198 --prompt-tokens 2900") if name in NO_TIME else said_hours(name)
    found = estimated(name, options)
    assert (int(needs[1]), int(needs[2])) == (found.gpus, ceil(found.memory))
    if name not in NO_TIME:
        hold(name, found, hours)
        starts = STARTS.search(HEADS[name].time)
        assert starts and int(starts[1]) == found.starts, (found.starts, HEADS[name].time)


@pytest.mark.campaign
@pytest.mark.parametrize("name", ON_CPUS)
def test_heads_of_recipes_for_processors_say_what_is_estimated(name: str) -> None:
    hours, options = said_hours(name)
    assert "--gpu 20,0.394,0.033" in options, "the processor whose figures benchmarks/RESULTS.md has"
    hold(name, estimated(name, options), hours)
