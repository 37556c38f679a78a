"""Shards of generating and judging, and what `merge` makes of them."""

import contextlib
import os
import re
import subprocess
import sys
import time

import pytest
from commands import started
from conformance import of_plugins
from logs import warned
from method_runs import make_recipe

from evenhand.config.recipe_file import dump_recipe
from evenhand.errors import DataError, RecipeError, StorageError
from evenhand.generate.stage import generate, generate_shard
from evenhand.judges.stage import judge, judge_shard
from evenhand.loop import work_in
from evenhand.phase_stages import merge
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, open_phase
from evenhand.runfolder.shards import Shard

# of several steps, where a plug-in brings one
METHOD = next(iter(of_plugins("METHODS")), "zero-shot")
GRADE = {
    "kind": "rubric", "rubric": "coverage", "model": {"name": "none"},
    "backend": {"backend": "scripted", "requests_per_batch": 2},
}  # fmt: skip


@pytest.fixture
def phase(tmp_path, monkeypatch):
    """Makes a phase of that name: two judges, one of which asks a scripted model."""

    def make(name, replicas=1, size=2, **keys):
        monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / name / "cache"))
        recipe = make_recipe(METHOD, tmp_path / name, requests_per_batch=size, replicas=replicas)
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
        return merge(phase)[:2]


@pytest.mark.parametrize(
    ("replicas", "shards"), [(1, [2, 0, 1]), pytest.param(2, [2, 0, 1], marks=pytest.mark.slow), (1, [0])]
)
def test_shards_in_any_order_are_merged_to_the_files_and_counts_of_one_process(phase, whole, replicas, shards):
    mine = phase("shards", replicas)
    done(mine, generate_shard, shards, of=len(shards))
    assert not (mine.folder / CANDIDATES).exists()
    verb, generated = merged(mine)
    assert verb == "generate"
    done(mine, judge_shard, shards[::-1], of=len(shards))
    verb, judged = merged(mine)
    assert verb == "judge"
    assert (files(mine), [generated.counts, judged.counts]) == whole
    assert not list(mine.folder.glob("receipts/*.partial.jsonl"))


def test_what_is_missing_is_refused_and_may_be_done_without_shards(phase, whole):
    mine = phase("shards")
    done(mine, generate_shard, [0, 2])
    with pytest.raises(
        DataError, match=r"generate: 8 of 24 requests are in no journal of .*receipts.* are 0/3, 2/3. Finish the shards"
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
    assert merged(mine)[0] == "judge"
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


def test_shards_of_another_recipe_are_refused_with_what_differs(phase, caplog):
    mine, other = phase("shards"), phase("shards", seed=7)
    done(mine, generate_shard, [0], of=2)
    left = r"which is not used: shard 0/2 \(generate\.\w+\.shard-0-of-2\.partial\.jsonl; its recipe differs in seed\)"
    for number in (0, 1):
        with pytest.raises(RecipeError, match=f"generate shard {number}/2: .*{left}.* on purpose, delete these files"):
            done(other, generate_shard, [number], of=2)
    assert not list(mine.folder.glob("receipts/*shard-1-of-2*"))
    assert not warned(caplog)
    # one machine could not see the other's
    hidden = [path.rename(tmp) for path in mine.folder.glob("receipts/*") for tmp in [mine.folder / path.name]]
    done(other, generate_shard, [1], of=2)
    for path in hidden:
        path.rename(mine.folder / "receipts" / path.name)
    with pytest.raises(DataError, match=r"12 of 24 requests .*have journals are 0/2\. .*: shard 1/2 .*differs in seed"):
        merged(mine)
    with work_in(other.recipe):
        generate(other)
    assert re.search(left, caplog.text)
    assert [path.name for path in mine.folder.glob("receipts/*.shard-1-of-2.*")] == []


def test_keys_that_differ_are_those_of_the_journals_and_not_of_later_work(phase):
    mine = phase("shards")
    done(mine, generate_shard, [0], of=2)
    # documents that changed are no key; the same shard works at another phase by another recipe meanwhile
    (mine.recipe.output / "shards/0-of-2/recipe.yaml").write_text(dump_recipe(phase("shards", seed=7).recipe))
    changed = phase("shards", corpus={"path": "sample", "test": {"split": "test", "limit": 11}})
    with pytest.raises(RecipeError, match=r"its recipe differs in corpus\.test\.limit\)"):
        done(changed, generate_shard, [1], of=2)


@contextlib.contextmanager
def at_its_first_batch(phase, path):
    """Shard 0/2 of a phase, in a process of its own, as soon as its work has begun."""
    slow = phase.recipe.generate.model_copy(update={"engine": {"seconds_per_batch": 60.0}})
    path.write_text(dump_recipe(phase.recipe.model_copy(update={"generate": slow})))
    command = [sys.executable, "-m", "evenhand.cli", "generate", path, "--phase", "evaluation/base", "--shard", "0/2"]
    before = set(phase.folder.glob("receipts/*.recipe.yaml"))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while set(phase.folder.glob("receipts/*.recipe.yaml")) <= before:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield
        process.kill()


def test_a_shard_of_another_recipe_that_has_finished_no_batch_yet_is_seen_while_it_is_at_work(phase, tmp_path):
    mine, other = phase("shards"), phase("shards", seed=7)
    refused = pytest.raises(RecipeError, match=r"shard 0/2 \(generate\.\w+\.shard-0-of-2\.recipe\.yaml; .* in seed")
    with at_its_first_batch(mine, tmp_path / "slow.yaml"), refused:
        done(other, generate_shard, [1], of=2)
    # nothing is lost with what was killed before it had done anything, also where its number works by this recipe by now
    with at_its_first_batch(other, tmp_path / "other.yaml"):
        done(other, generate_shard, [1], of=2)


def test_a_journal_of_another_seed_under_this_ones_name_is_not_merged(phase):
    mine, other = phase("shards"), phase("shards", seed=7)
    done(other, generate_shard, [1], of=2)
    (strange,) = mine.folder.glob("receipts/*.jsonl")
    done(other, generate_shard, [0], of=2)
    for path in mine.folder.glob("receipts/*shard-0*"):
        path.unlink()
    hidden = strange.rename(mine.folder / "hidden")
    done(mine, generate_shard, [0], of=2)
    (path,) = mine.folder.glob("receipts/*.jsonl")
    name = path.with_name(path.name.replace("shard-0", "shard-1"))
    hidden.rename(name)
    with pytest.raises(
        StorageError, match=rf"{re.escape(name.name)}:1: .* another recipe than recipe\.yaml of the run"
    ):
        merged(mine)
    # a copy of what this recipe has made may have any number
    name.write_bytes(path.read_bytes())
    with pytest.raises(DataError, match=r"12 of 24 requests"):
        merged(mine)


def test_judging_names_shards_of_another_recipe(phase, caplog):
    mine = phase("shards")
    with work_in(mine.recipe):
        generate(mine)
    done(mine, judge_shard, [0])
    other = phase("shards", evaluation={"judges": ["grade"]})
    said = r"shard 0/3 \(judge\..*differs in evaluation\.judges"
    with pytest.raises(RecipeError, match=f"judge shard 1/3: .*{said}"):
        done(other, judge_shard, [1])
    with pytest.raises(DataError, match=said):
        merged(other)
    with work_in(other.recipe):
        judge(other)
    assert re.search(said, caplog.text)


def test_judging_before_candidates_are_merged_names_the_command(phase):
    mine = phase("shards")
    with pytest.raises(DataError, match=r"requests\.jsonl: is not there; run `evenhand generate RECIPE"):
        done(mine, judge_shard, [0])
    done(mine, generate_shard, [0, 1, 2])
    with pytest.raises(
        DataError, match=r"put its shards together \(`evenhand run merge RECIPE --phase evaluation/base`\), or"
    ):
        done(mine, judge_shard, [0])


def test_merging_again_says_that_all_is_merged(phase, tmp_path):
    mine = phase("shards")
    path = tmp_path / "recipe.yaml"
    path.write_text(dump_recipe(mine.recipe))
    for work, said in (
        (generate_shard, "already; no shard of judging has begun"),
        (judge_shard, "is merged already\n"),
    ):
        done(mine, work, [0, 1], of=2)
        merged(mine)
        again = started("run", "merge", path, "--phase", "evaluation/base")
        assert (again.returncode, said in again.stdout) == (0, True), again.stdout + again.stderr


def test_shards_that_are_cut_into_other_batches_are_refused(phase):
    mine, larger = phase("shards"), phase("shards", size=3)
    done(mine, generate_shard, [0], of=2)
    said = (
        r"generate shard {}: what {} has done is cut .*which is generate\.requests_per_batch of .*0-of-2\.recipe\.yaml"
    )
    for number, whose in ((0, "it"), (1, "shard 0/2")):
        with pytest.raises(RecipeError, match=said.format(f"{number}/2", whose)):
            done(larger, generate_shard, [number], of=2)
    done(mine, generate_shard, [1], of=2)
    merged(mine)
    done(mine, judge_shard, [0], of=2)
    with pytest.raises(RecipeError, match=r"judge shard 1/2: .*which is judges\.grade\.backend\.requests_per_batch of"):
        done(larger, judge_shard, [1], of=2)
    done(mine, judge_shard, [1], of=2)
    for path in mine.folder.glob("receipts/judge.*.recipe.yaml"):
        path.unlink()
    with pytest.raises(RecipeError, match=r"judge shard 0/2: what it has done .* Write the same number; or"):
        done(larger, judge_shard, [0], of=2)


def test_batches_that_overlap_are_told_and_done_without_shards(phase, whole):
    # the shards could not see each other's recipes: of 24 requests 0-2, 6-8, ... and 2-3, 6-7, ...
    mine, larger = phase("shards"), phase("shards", size=3)
    done(larger, generate_shard, [0], of=2)
    next(mine.folder.glob("receipts/*.recipe.yaml")).unlink()
    done(mine, generate_shard, [1], of=2)
    # 4, 5, 9, 16, 17, 21 are nobody's; 3, 15 stand beside 2, 14
    with pytest.raises(DataError, match=r"8 of 24 requests are in no journal .* or in batches alone .*shard-1-of-2"):
        merged(mine)
    with work_in(mine.recipe):
        generate(mine)
    left = files(mine)
    assert left == {name: whole[0][name] for name in left}


def test_another_number_of_shards_begins_anew_and_says_so(phase, caplog):
    mine = phase("shards")
    done(mine, generate_shard, [0, 1])
    assert not warned(caplog)
    done(mine, generate_shard, [0], of=2)
    assert "shard 0/2: there are journals of another number of shards, 0/3, 1/3, and what they have" in caplog.text
