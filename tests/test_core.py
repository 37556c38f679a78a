"""The core alone: a copy without plugins/ runs the main job, an audit, a gate and the core's tests; and without one plug-in."""

import ast
import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
NOT_COPIED = ("runs", "build", ".*", "__pycache__", "*.egg-info")
PLUGINS = sorted(path.parent.name for path in ROOT.glob("plugins/*/__init__.py"))
# folders of the core's tests that plug-ins have most to do with, and of the others, which are left to campaigns: they take many
# minutes; benchmarks are above all plug-ins
ROOMS = ("config", "preflight")
OTHERS = (
    "api",
    "cli",
    "corpora",
    "estimate",
    "evaluation",
    "fairness",
    "generate",
    "judges",
    "models",
    "rerank",
    "runfolder",
    "spec",
    "text",
    "train",
)
# the most entangled ones; to delete each of the others is a campaign
ENTANGLED = {"bias", "fairpo", "judge_studies", "server", "tone"}


def campaigns(names):
    return (pytest.param(name, marks=pytest.mark.campaign) for name in names)


# what a command finds of plug-ins, printed: its verbs, recipes, and the names behind each door
LISTS = """
from typer.testing import CliRunner

from evenhand.cli.app import VERBS, app
from evenhand.cli.door import RefusedVerb
from evenhand.config.needs import Against
from evenhand.corpora.importers import IMPORTERS
from evenhand.evaluation.audit.families import measure_names
from evenhand.generate.methods import METHODS
from evenhand.judges import JUDGES

for words in (["--help"], ["recipes"], ["validate", "quickstart", "--elsewhere"], ["human", "--help"]):
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code in (0, 2 if words[0] == "human" else 0), (words, done.output)
    assert "Cannot be run" not in done.output, done.output
assert not [name for name, verb in VERBS.items() if isinstance(verb, RefusedVerb)], VERBS
for door in (JUDGES, METHODS, IMPORTERS):
    list(door.values())
measure_names()
"""
REVIEWS = (
    "--documents reviews --attribute sentiment --summaries even-handed --summaries praising --resamples 200".split()
)


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """A folder with a copy of the package whose plug-ins are deleted, and of its tests."""
    return copy_without(tmp_path_factory.mktemp("core"), "*")


def copy_without(folder, plugin):
    """A folder with a copy of the package and its tests without a plug-in, or without all of them for "*"."""
    shutil.copytree(ROOT, folder / "evenhand", ignore=shutil.ignore_patterns(*NOT_COPIED))
    for parent in ("plugins", "tests/plugins"):
        for path in (
            [folder / "evenhand" / parent] if plugin == "*" else (folder / "evenhand").glob(f"{parent}/{plugin}")
        ):
            shutil.rmtree(path)
    return folder


@pytest.fixture
def run(core, tmp_path):
    """Run Python in an empty folder with the core alone; what it printed."""

    return partial(start, core, tmp_path)


def start(package, folder, *words, status=0):
    environment = os.environ | {"PYTHONPATH": str(package), "EVENHAND_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def run_tests(package, *words):
    """The last line of what pytest says of tests in a copy, none of which fails."""
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *words)
    return start(package, package / "evenhand", *words).splitlines()[-1]


def test_the_core_has_its_own_commands(run):
    shown = run("-m", "evenhand", "--help")
    assert all(f" {verb} " in shown for verb in ("audit", "loop", "generate", "judge", "rerank", "train", "report"))
    assert not any(f" {verb} " in shown for verb in ("serve", "bias-study", "judges", "human"))
    below = run("-m", "evenhand", "run", "--help")
    assert all(f" {verb} " in below for verb in ("estimate", "merge")) and " slurm " not in below


def test_what_is_not_there_is_refused_by_name(run, tmp_path):
    values = {
        "name": "lacking",
        "output": "run",
        "model": {"name": "none"},
        "generate": {"backend": "scripted", "method": "debate", "plans": {"hot": {"candidates": 2}}},
        "judges": {"sure": {"kind": "minicheck"}},
        "reward": {"judges": ["sure"]},
        "pairs": {"mode": "fairpo", "judge": "sure"},
        "evaluation": {"judges": ["sure"]},
    }
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(values))
    said = run("-m", "evenhand", "validate", "recipe.yaml", status=2)
    assert "unknown kind 'minicheck'" in said and "no method 'debate'" in said and "Traceback" not in said
    assert "'pairs.mode' should be 'all', 'best_k' or 'top_bottom', got 'fairpo'" in " ".join(said.split())


def test_the_core_audits_and_gates(run, tmp_path):
    quick = "audit", *REVIEWS, "--measures", "value-shares", "--matcher", "words"
    run("-m", "evenhand", *quick, "--out", "audit", "--fail-if", "uer > 0.9")
    assert json.loads((tmp_path / "audit" / "audit.json").read_text())["systems"]
    run("-m", "evenhand", *quick, "--out", "refused", "--fail-if", "uer > 0.01", status=4)


@pytest.mark.slow
def test_the_core_audits_by_all_its_measures(run, tmp_path):
    run("-m", "evenhand", "audit", *REVIEWS, "--matcher", "words", "--out", "audit")
    assert json.loads((tmp_path / "audit" / "audit.json").read_text())["systems"]


@pytest.mark.slow
def test_the_core_runs_a_whole_loop(run, tiny_model, tmp_path):
    values = {
        "name": "small",
        "output": "run",
        "model": {"name": str(tiny_model), "dtype": "float32"},
        "corpus": {"train": {"split": "train", "limit": 2}, "test": {"split": "test", "limit": 2}},
        # a random model's own words never end, and make no pairs
        "generate": {"backend": "scripted", "engine": {"tokenize": True}, "plans": {"nucleus": {"candidates": 3}}},
        "judges": {"words": {"kind": "length"}, "precision": {"kind": "rouge", "measure": "precision"}},
        "reward": {"judges": ["words"]},
        "evaluation": {"judges": ["precision"], "resamples": 100},
    }
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(values))
    run("-m", "evenhand", "loop", "recipe.yaml")
    assert (tmp_path / "run" / "report" / "index.html").is_file()
    assert (tmp_path / "run" / "round-00" / "adapter" / "adapter_model.safetensors").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("room", [*ROOMS, *campaigns(OTHERS)])
def test_the_cores_tests_pass_without_plug_ins(core, room):
    assert " passed" in run_tests(core, f"tests/{room}")


def test_no_test_of_the_core_imports_a_plug_in():
    tests = (path for path in (ROOT / "tests").rglob("*.py") if "plugins" not in path.relative_to(ROOT / "tests").parts)
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in tests
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if any(name.startswith("evenhand.plugins") for name in _imported(node))
    ]
    assert not named


def _imported(node):
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{each.name}" for each in node.names]
    return []


@pytest.mark.slow
@pytest.mark.parametrize("plugin", [*sorted(ENTANGLED), *campaigns(sorted({*PLUGINS} - ENTANGLED))])
def test_where_one_plug_in_is_deleted_all_lists_are_whole(tmp_path, plugin):
    start(copy_without(tmp_path, plugin), tmp_path, "-c", LISTS)


# what others' tests have to do with: judges of studies before controlled sets and trained encoders
@pytest.mark.campaign
def test_where_one_plug_in_is_deleted_the_tests_of_others_pass(tmp_path):
    package = copy_without(tmp_path, "judge_studies")
    others = ("controlled", "trained_encoders", "opinions", "released")
    assert " passed" in run_tests(package, *(f"tests/plugins/{name}" for name in others))
