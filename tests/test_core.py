"""The core alone: a copy without plugins/ runs the main job, an audit and a gate."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
NOT_COPIED = ("plugins", "benchmarks", "docs", "runs", "build", ".*", "__pycache__", "*.egg-info")
REVIEWS = (
    "--documents reviews --attribute sentiment --summaries even-handed --summaries praising --resamples 200".split()
)


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """A folder with a copy of the package whose plug-ins are deleted, and of its tests."""
    folder = tmp_path_factory.mktemp("core")
    shutil.copytree(ROOT, folder / "evenhand", ignore=shutil.ignore_patterns(*NOT_COPIED))
    return folder


@pytest.fixture
def run(core, tmp_path):
    """Run Python in an empty folder with the core alone; what it printed."""

    def start(*words, status=0, folder=tmp_path):
        environment = os.environ | {"PYTHONPATH": str(core), "EVENHAND_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    return start


def test_the_core_has_its_own_commands(run):
    shown = run("-m", "evenhand", "--help")
    assert all(f" {verb} " in shown for verb in ("audit", "loop", "generate", "judge", "rerank", "train", "report"))
    assert not any(f" {verb} " in shown for verb in ("serve", "slurm", "bias-study", "audit-judge", "card", "human"))


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
    run("-m", "evenhand", "audit", *REVIEWS, "--out", "audit", "--fail-if", "uer > 0.9")
    assert json.loads((tmp_path / "audit" / "audit.json").read_text())["systems"]
    run("-m", "evenhand", "audit", *REVIEWS, "--out", "refused", "--fail-if", "uer > 0.01", status=4)


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
