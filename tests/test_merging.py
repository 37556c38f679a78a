"""Shards of generating and judging, and what `merge` makes of them."""

import os
import subprocess
import sys
import time

import pytest
from method_runs import make_recipe

from evenhand.config.recipe_file import dump_recipe
from evenhand.errors import DataError, StorageError
from evenhand.generate.stage import generate, generate_shard
from evenhand.judges.stage import judge, judge_shard
from evenhand.loop import work_in
from evenhand.phase_stages import merge
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, open_phase
from evenhand.runfolder.shards import Shard

GRADE = {
    "kind": "rubric", "rubric": "coverage", "model": {"name": "none"},
    "backend": {"backend": "scripted", "requests_per_batch": 2},
}  # fmt: skip


@pytest.fixture
def phase(tmp_path, monkeypatch):
    """Makes a phase of that name: two judges, one of which asks a scripted model."""

    def make(name, replicas=1, size=2, **keys):
        monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / name / "cache"))
        recipe = make_recipe("self-refine", tmp_path / name, requests_per_batch=size, replicas=replicas)
        values = recipe.model_dump(mode="json") | keys
        values["judges"]["grade"] = GRADE | {
            "backend": GRADE["backend"] | {"replicas": replicas, "requests_per_batch": size}
        }
        values["reward"]["judges"] = ["grade"]
        return open_phase(type(recipe).model_validate(values), "evaluation/base")

    return make


@pytest.fixture
def whole(phase):
    """Bytes and counts that one process leaves."""
    mine = phase("whole")
    receipts = [generate(mine)[0], judge(mine)[0]]
    return files(mine), [receipt.counts for receipt in receipts]


def files(phase):
    return {path.name: path.read_bytes() for path in phase.folder.iterdir() if path.is_file()}


def done(phase, work, numbers, of=3):
    for number in numbers:
        shard = Shard(number, of)
        with work_in(phase.recipe, shard):
            assert work(phase, shard)


def merged(phase):
    with work_in(phase.recipe):
        return merge(phase)


@pytest.mark.parametrize("replicas", [1, 2])
def test_shards_in_any_order_are_merged_to_the_files_and_counts_of_one_process(phase, whole, replicas):
    mine = phase("shards", replicas)
    done(mine, generate_shard, [2, 0, 1])
    assert not (mine.folder / CANDIDATES).exists()
    verb, generated = merged(mine)
    assert verb == "generate"
    done(mine, judge_shard, [1, 2, 0])
    verb, judged = merged(mine)
    assert verb == "judge"
    assert (files(mine), [generated.counts, judged.counts]) == whole
    assert not list(mine.folder.glob("receipts/*.partial.jsonl"))


def test_what_is_missing_is_refused_and_may_be_done_without_shards(phase, whole):
    mine = phase("shards")
    done(mine, generate_shard, [0, 2])
    with pytest.raises(
        DataError, match=r"generate: 8 of 24 requests are in no journal of .*receipts. Finish the shards"
    ):
        merged(mine)
    with work_in(mine.recipe):
        generate(mine)
    done(mine, judge_shard, [1])
    with pytest.raises(
        DataError, match=r"judge: 16 requests of judge 'grade', .* are in no journal .*`evenhand judge` without"
    ):
        merged(mine)
    with work_in(mine.recipe):
        judge(mine)
    assert files(mine) == whole[0]
    with pytest.raises(DataError, match=r"nothing to merge"):
        merged(mine)
    with work_in(mine.recipe, Shard(1, 3)):
        assert not generate_shard(mine, Shard(1, 3))
    assert (mine.folder / JUDGEMENTS).exists()


def test_judging_goes_on_with_batches_that_hold_requests_before_and_after_those_of_a_shard(phase, whole):
    mine = phase("shards")
    with work_in(mine.recipe):
        generate(mine)
    # of the first six requests the third and the fourth
    done(mine, judge_shard, [1], of=2)
    larger = phase("shards", size=6)
    with work_in(larger.recipe):
        judge(larger)
    assert files(larger) == whole[0]


def test_shards_work_side_by_side_and_nothing_else_beside_them(phase, tmp_path):
    recipe = phase("shards").recipe
    slow = recipe.generate.model_copy(update={"engine": {"seconds_per_batch": 60.0}})
    path = tmp_path / "slow.yaml"
    path.write_text(dump_recipe(recipe.model_copy(update={"generate": slow})))
    command = [sys.executable, "-m", "evenhand.cli", "generate", str(path), "--phase", "evaluation/base", "--shard"]
    with subprocess.Popen([*command, "0/2"], stdout=subprocess.DEVNULL) as process:
        started = recipe.output / "shards" / "0-of-2" / "recipe.yaml"
        deadline = time.monotonic() + 60
        while not started.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        with work_in(recipe, Shard(1, 2)):
            pass
        with pytest.raises(StorageError, match=r"shards/0-of-2: .* is at work there"), work_in(recipe):
            pass
        process.kill()
    with work_in(recipe):
        second = subprocess.run(
            [*command, "1/2"], env=os.environ | {"EVENHAND_COMMAND": ""}, capture_output=True, text=True, check=False
        )
    assert second.returncode == 1
    assert "is at work there" in second.stderr
