"""Candidates by replicas: the same files as one process makes, whoever is killed, and however many there are when it goes on."""

import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest
from method_runs import make_recipe
from poisoned import poisoned

from evenhand.config.recipe_file import dump_recipe
from evenhand.errors import ModelError, StorageError
from evenhand.generate.stage import generate, generate_stage, phase_requests
from evenhand.loop import work_in
from evenhand.records import Failure
from evenhand.runfolder.phases import CANDIDATES, FAILURES, open_phase
from evenhand.storage import read_jsonl


def phase(folder, replicas=1, method="zero-shot", size=3, seconds=0.0, **changes):
    generation = {
        "backend": "scripted", "requests_per_batch": size, "engine": {"seconds_per_batch": seconds}, "replicas": replicas,
    }  # fmt: skip
    recipe = make_recipe(method, folder, **generation)
    return open_phase(recipe.model_copy(update=changes), "evaluation/base")


def made(phase):
    """What the stage leaves."""
    with work_in(phase.recipe):
        receipt, _ = generate(phase)
    files = {name: (phase.folder / name).read_bytes() for name in receipt.outputs}
    assert [path.name for path in (phase.folder / "receipts").iterdir()] == ["generate.json"]
    return files, receipt.counts


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one process leaves."""
    found = {}

    def by(method):
        if method not in found:
            found[method] = made(phase(tmp_path_factory.mktemp("alone"), method=method))
        return found[method]

    return by


@pytest.mark.parametrize(
    ("replicas", "method"),
    [
        (2, "zero-shot"),
        (5, "zero-shot"),
        pytest.param(2, "self-refine", marks=pytest.mark.needs("plugins/self_refine")),
    ],
)
def test_files_and_counts_are_those_of_one_process(tmp_path, alone, replicas, method):
    assert made(phase(tmp_path, replicas, method)) == alone(method)


def test_number_of_replicas_is_no_part_of_the_stages_key(tmp_path):
    one, five, auto = (phase(tmp_path, n) for n in (1, 5, "auto"))
    keys = {generate_stage(each, phase_requests(each)).key for each in (one, five, auto)}
    assert len(keys) == 1


def replicas_of(pid):
    """Processes of replicas below one."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for each in psutil.Process(pid).children():
            with suppress(psutil.Error):
                found += [each] if "evenhand.generate.child" in each.cmdline() else []
    return found


def lines(phase):
    return sum(path.read_bytes().count(b"\n") for path in phase.folder.glob("receipts/generate.*.partial.jsonl"))


def start(phase):
    recipe = phase.recipe.output.with_suffix(".yaml")
    recipe.write_text(dump_recipe(phase.recipe))
    command = [sys.executable, "-m", "evenhand.cli", "generate", str(recipe), "--phase", phase.name]
    with phase.recipe.output.with_suffix(".txt").open("ab") as output:
        return subprocess.Popen(command, stdout=output, stderr=output)


def wait_until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_killed_replica_is_started_anew_and_the_files_are_the_same(tmp_path, alone):
    mine = phase(tmp_path / "run", 2, seconds=0.3)
    process = start(mine)
    wait_until(lambda: lines(mine) >= 2)
    killed = replicas_of(process.pid)[0]
    killed.kill()
    assert process.wait() == 0, (tmp_path / "run.txt").read_text()
    for name, content in alone("zero-shot")[0].items():
        assert (mine.folder / name).read_bytes() == content, name


@pytest.mark.needs("plugins/self_refine")
def test_killed_with_its_replicas_the_stage_goes_on_with_another_number_of_them(tmp_path, alone):
    folder, method = tmp_path / "run", "self-refine"
    for replicas, n_lines in ((3, 1), (1, 6)):
        mine = phase(folder, replicas, method, seconds=0.1)
        process = start(mine)
        wanted = lines(mine) + n_lines
        wait_until(lambda mine=mine, wanted=wanted: lines(mine) >= wanted)
        process.kill()
        process.wait()
    # its replicas end by themselves, and the next command waits for the last one
    assert made(phase(folder, 2, method)) == alone(method)


def topic_of(phase, place):
    return phase_requests(phase)[place].document_set.topic


def test_a_batch_that_was_given_up_stops_the_stage_and_is_all_that_the_same_command_tries_again(
    tmp_path, alone, monkeypatch
):
    mine = phase(tmp_path, 2)
    first = phase_requests(mine)[0]
    with monkeypatch.context() as patch:
        poisoned(tmp_path, topic_of(mine, 0), patch)
        with pytest.raises(
            ModelError,
            match=rf"3 of \d+ requests were given up, because the engine's process died twice over the same batch; it was "
            rf"killed by signal 9: {first.id}.* same command tries these again.*limits\.failed",
        ):
            made(mine)
    assert not (mine.folder / CANDIDATES).exists()
    # all batches but one are there
    assert lines(mine) == -(-len(phase_requests(mine)) // 3) - 1
    assert made(mine) == alone("zero-shot")


def test_where_the_recipe_allows_it_requests_that_were_given_up_are_failures_with_the_reason(tmp_path, monkeypatch):
    mine = phase(tmp_path, 2)
    mine = open_phase(
        mine.recipe.model_copy(update={"limits": mine.recipe.limits.model_copy(update={"failed": 0.9})}), mine.name
    )
    poisoned(tmp_path, topic_of(mine, 0), monkeypatch)
    _, counts = made(mine)
    failures = read_jsonl(mine.folder / FAILURES, Failure)
    assert [each.request_id for each in failures] == [each.id for each in phase_requests(mine)[:3]]
    assert {(each.reason, each.detail) for each in failures} == {
        ("the engine's process died", "twice over the same batch; it was killed by signal 9")
    }
    assert sum(row["count"] for row in counts["left_out"]) == 3


def test_without_the_resolved_recipe_replicas_cannot_begin(tmp_path):
    with pytest.raises(StorageError, match=r"recipe\.yaml: the resolved recipe is not there, and replicas read it"):
        generate(phase(tmp_path, 2))
