"""What is exported of a reranked phase, and that the training reads it back."""

import json
import re
from pathlib import Path

import pytest

from evenhand.cli.exporting import export
from evenhand.config import Recipe
from evenhand.errors import DataError
from evenhand.generate.stage import generate
from evenhand.judges.stage import judge
from evenhand.records import PreferencePair
from evenhand.rerank.export import reranked_folders
from evenhand.rerank.stage import rerank
from evenhand.runfolder.phases import PAIRS, open_phase
from evenhand.storage import read_jsonl
from evenhand.train.foreign import read_pairs


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A reranked round of the scripted backend."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    values = {
        "name": "small",
        "output": tmp_path / "run",
        "model": {"name": "none"},
        "corpus": {"train": {"split": "train", "limit": 2}, "test": {"split": "test", "limit": 2}},
        "generate": {"backend": "scripted", "plans": {"nucleus": {"candidates": 4}}},
        "judges": {"recall": {"kind": "rouge"}, "words": {"kind": "length"}},
        "reward": {"judges": ["recall"]},
        "pairs": {"mode": "all"},
        "evaluation": {"judges": ["words"]},
    }
    phase = open_phase(Recipe.model_validate(values), "round-00")
    for stage in (generate, judge, rerank):
        stage(phase)
    return tmp_path / "run"


def rows(run, to):
    export(run, to, run.parent / f"{to}.jsonl")
    return [json.loads(line) for line in (run.parent / f"{to}.jsonl").read_text().splitlines()]


def contents(pairs):
    return {(pair.prompt, pair.chosen_text, pair.rejected_text) for pair in pairs}


def test_pairs_come_back_with_their_texts_and_rewards(run):
    own = read_jsonl(run / "round-00" / PAIRS, PreferencePair)
    assert own
    assert len(rows(run, "trl")) == len(own)
    back, mistakes = read_pairs(run.parent / "trl.jsonl")
    assert not mistakes
    assert contents(pair for _, pair in back) == contents(own)
    assert [pair.margin for _, pair in back] == pytest.approx([pair.margin for pair in own])


def test_ranks_follow_the_rewards(run):
    rewards = {(row["prompt"][-1]["content"], row["completion"]): row["reward"] for row in rows(run, "rewards")}
    for row in rows(run, "ranked"):
        found = [rewards[row["prompt"][-1]["content"], each["completion"]] for each in row["completions"]]
        assert found == sorted(found, reverse=True)
        ranks = [each["rank"] for each in row["completions"]]
        assert ranks[0] == 1
        assert len(set(ranks)) == len(set(found)) == max(ranks)


def test_file_that_is_there_is_kept_and_a_folder_without_a_run_refused(run):
    rows(run, "trl")
    with pytest.raises(DataError, match="--force"):
        rows(run, "trl")
    with pytest.raises(DataError, match="has no phase with groups"):
        reranked_folders(run / "logs")


def test_a_phase_without_pairs_exports_none_and_leaves_no_file(run):
    (run / "round-00" / PAIRS).write_text("")
    (run / "round-00" / "receipts" / "rerank.json").unlink()
    with pytest.raises(DataError, match="nothing to write as 'trl'; only training rounds make pairs"):
        rows(run, "trl")
    assert not (run.parent / "trl.jsonl").exists()


@pytest.mark.parametrize("name", ["pairs.jsonl", "groups.jsonl", "candidates.jsonl", "requests.jsonl"])
def test_a_file_that_was_changed_is_not_exported_before_somebody_says_so(run, name):
    path = run / "round-00" / name
    path.write_text(path.read_text() + " \n")
    with pytest.raises(DataError, match=rf"{name}: changed since '(rerank|generate)' made it") as caught:
        rows(run, "trl")
    receipt = re.search(r"whose receipt is (\S+);", str(caught.value))[1]
    assert "delete the receipt to go on with the file as it is" in str(caught.value)
    Path(receipt).unlink()
    assert rows(run, "trl")
