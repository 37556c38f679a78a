"""A copy without this folder: what asks a server is refused by name, and the rest works."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from quick_recipe import RECIPE

ROOT = Path(__file__).parents[3]
NOT_COPIED = shutil.ignore_patterns("tests", "benchmarks", "docs", "runs", "build", ".*", "__pycache__", "*.egg-info")
SERVER = {"backend": "openai", "server": {"base_url": "http://127.0.0.1:1/v1"}}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run a command of the copy; what it printed."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT, folder / "evenhand", ignore=NOT_COPIED)
    shutil.rmtree(folder / "evenhand" / "plugins" / "server")

    def start(command, values, status):
        (folder / "recipe.yaml").write_text(yaml.safe_dump(values))
        environment = os.environ | {"PYTHONPATH": str(folder), "EVENHAND_CACHE": str(folder / "cache")}
        words = [sys.executable, "-m", "evenhand", *command.split()]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    return start


def test_a_recipe_that_asks_a_server_is_refused_by_name(run):
    judges = {"good": {"kind": "rubric", "rubric": "quality", "model": {"name": "m"}, "backend": SERVER}}
    values = RECIPE | {"generate": RECIPE["generate"] | SERVER, "judges": RECIPE["judges"] | judges}
    said = run("validate recipe.yaml", values, 2)
    refusal = "there is no backend 'openai'. Backends are vllm, transformers, scripted."
    assert said.count(refusal) == 2 and "server" not in said and "Traceback" not in said


def test_keys_of_a_server_have_no_effect(run):
    said = run("validate recipe.yaml", RECIPE | {"generate": RECIPE["generate"] | {"server": SERVER["server"]}}, 2)
    assert "server has no effect with backend: scripted; leave it out" in said


def test_other_backends_and_the_list_of_caches_work(run):
    assert "candidates" in run("generate recipe.yaml", RECIPE | {"output": "run"}, 0)
    assert "answers of servers" not in run("cache", RECIPE, 0)
