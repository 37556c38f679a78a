"""The evidence of a card: pieces that are carried, the run that stops and goes on, and what comes back."""

import os
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evenhand.benchmarks.bundle import write_bundle

FOLDER = Path(__file__).parents[3] / "benchmarks/gpu"


def run(script: str, *arguments: object, seconds: float = 60) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PYTHON": sys.executable}
    return subprocess.run(
        [FOLDER / script, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=seconds, check=False
    )  # fmt: skip


@pytest.fixture
def pieces(tmp_path):
    """Three pieces of a folder of 2.5 MB."""
    folder = tmp_path / "wheels" / "below"
    folder.mkdir(parents=True)
    (folder / "one.whl").write_bytes(os.urandom(2_500_000))
    (folder.parent / "two.whl").write_bytes(b"two")
    assert run("pieces.sh", "split", folder.parent, tmp_path / "pieces", 1).returncode == 0
    return tmp_path / "pieces"


def test_pieces_have_the_size_that_they_may_have_and_make_the_same_files(pieces, tmp_path):
    assert sorted(path.name for path in pieces.iterdir()) == ["SHA256SUMS", "piece-000", "piece-001", "piece-002"]
    assert max(path.stat().st_size for path in pieces.iterdir()) == 1_000_000
    assert run("pieces.sh", "join", pieces, tmp_path / "joined").returncode == 0
    for name in ("below/one.whl", "two.whl"):
        assert (tmp_path / "joined" / name).read_bytes() == (tmp_path / "wheels" / name).read_bytes()


def test_pieces_that_are_missing_or_damaged_are_all_named_and_nothing_is_joined(pieces, tmp_path):
    (pieces / "piece-000").unlink()
    (pieces / "piece-002").write_bytes(b"cut off")
    done = run("pieces.sh", "join", pieces, tmp_path / "joined")
    assert done.returncode == 2
    assert "piece-000 piece-002; carry these again" in done.stderr and "piece-001" not in done.stderr
    assert not list((tmp_path / "joined").iterdir())


def with_needs(names):
    """Packages, each with all that it needs."""
    known, left = set(), [canonicalize_name(name) for name in names]
    while left:
        if (name := left.pop()) not in known:
            known.add(name)
            needs = map(Requirement, requires(name) or ())
            left += [canonicalize_name(n.name) for n in needs if n.marker is None or n.marker.evaluate({"extra": ""})]
    return known


def test_wheels_are_all_that_the_judges_the_training_and_the_commands_need():
    lines = (FOLDER / "wheels.txt").read_text().splitlines()
    carried = {line.partition("==")[0] for line in lines if line and not line.startswith("#")}
    there = with_needs(("torch", "transformers", "accelerate", "rich", "psutil"))
    core = [need.name for need in map(Requirement, requires("evenhand") or ()) if need.marker is None]
    assert {"scipy", "jinja2"} <= set(core)
    needed = with_needs((*core, "trl", "peft", "datasets", "gguf", "choix", "sentence-transformers", "rouge-score"))
    # it comes as source, as the file says
    assert needed - there - carried == {"rouge-score"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("split", "absent", "pieces"), "absent is not there"),
        (("split", ".", "pieces", "0"), "whole number of at least 1, got '0'"),
        (("join", ".", "joined"), "SHA256SUMS is not there"),
        (("mend", ".", "joined"), "pieces.sh split FROM TO"),
    ],
)
def test_what_pieces_cannot_be_made_of_is_one_message(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = run("pieces.sh", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_evidence_that_lacks_a_piece_names_it_before_anything_else(pieces, tmp_path):
    (pieces / "piece-001").unlink()
    done = run("evidence.sh", "--tiny", "--pieces", pieces, "--output", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert "piece-001; carry these again" in done.stderr


@pytest.mark.parametrize("arguments", [("--limit",), ("--what", "1"), ("--limit", "9m")])
def test_evidence_with_wrong_options_says_what_there_is(tmp_path, arguments):
    done = run("evidence.sh", *arguments)
    assert done.returncode == 2
    assert "--limit" in done.stderr


def test_a_bundle_has_equal_files_once_and_the_same_bytes_each_time(tmp_path):
    folder = tmp_path / "model"
    for name, text in {
        "a/adapter": "same",
        "b/adapter": "same",
        "b/pairs": "other",
        "b/checkpoints/old": "left",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    target, sha256 = write_bundle(folder)
    (folder / "a/adapter").touch()
    assert write_bundle(folder) == (tmp_path / "model.tar.gz", sha256)
    with tarfile.open(target) as archive:
        assert [entry.name for entry in archive if entry.isreg()] == ["model/a/adapter", "model/b/pairs"]
    shutil.unpack_archive(target, tmp_path / "out")
    assert (tmp_path / "out/model/b/adapter").read_text() == "same"
    assert not (tmp_path / "out/model/b/checkpoints").exists()


@pytest.fixture
def writing_model(tiny_model, tmp_path):
    """The model of two layers with a head of its own: without one the likeliest answer is blank."""
    transformers, torch = pytest.importorskip("transformers"), pytest.importorskip("torch")
    folder = shutil.copytree(tiny_model, tmp_path / "writing-llama")
    config = transformers.AutoConfig.from_pretrained(folder, tie_word_embeddings=False)
    torch.manual_seed(1)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_the_evidence_of_a_card_stops_goes_on_and_comes_back(tmp_path, writing_model):
    out, back = tmp_path / "out", tmp_path / "back"
    command = ("evidence.sh", "--tiny", "--model", writing_model, "--output", out)
    # on a busy machine the first limits pass before there is anything
    for limit in (25, 50, 100, 200):
        stopped = run(*command, "--limit", limit, seconds=400)
        assert stopped.returncode == 124
        assert "the same command continues" in stopped.stderr
        if (out / "evidence" / "model").is_dir():
            break
    assert (out / "back" / "SHA256SUMS").is_file(), "what there is comes back"
    done = run(*command, seconds=1800)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "everything is as" in done.stdout, "its card was held to the run"
    assert run("pieces.sh", "join", out / "back", back).returncode == 0
    shutil.unpack_archive(back / "model.tar.gz", back)
    seed = back / "model" / "seed-1"
    assert (seed / "comparison.json").is_file()
    trained = seed / "runs" / "model-rounds-2"
    for name in ("round-00", "round-01"):
        assert (trained / name / "pairs.jsonl").stat().st_size
        assert (trained / name / "adapter" / "adapter_model.safetensors").is_file()
    # as whoever gets it would
    checked = subprocess.run(
        [sys.executable, "-m", "evenhand", "run", "verify", str(trained / "cards" / "model.md")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "everything is as" in checked.stdout
    # what was changed on the way is found
    (trained / "round-01" / "pairs.jsonl").write_text("")
    changed = subprocess.run(
        [sys.executable, "-m", "evenhand", "run", "verify", str(trained / "cards" / "model.md")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert changed.returncode == 2
    assert "pairs.jsonl" in changed.stderr
