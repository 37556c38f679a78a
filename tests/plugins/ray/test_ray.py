"""Stages on a real Ray cluster of two nodes: the same files as one process makes, also when a node is switched off."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import psutil
import pytest
import ray_cluster
from logs import warned
from method_runs import make_recipe

from evenhand.benchmarks import replicas
from evenhand.config.recipe_file import dump_recipe, load_recipe, recipe_of
from evenhand.errors import DataError, RecipeError, StorageError
from evenhand.generate.stage import generate
from evenhand.judges.stage import judge
from evenhand.loop import steps, work_in
from evenhand.plugins.ray import workers as ray_workers
from evenhand.plugins.ray.workers import RAY
from evenhand.runfolder.engines import Engines, engines_of, refuse_small_cluster, waves
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, open_phase
from evenhand.runfolder.replicas import Queue, ReplicaTask, Start, work_off
from evenhand.runfolder.workers import Command

MOST_SECONDS = 600
NOTHING = ray_workers.Needs(0, 0)


def recipe(folder, executor, seconds=0.0):
    """Twelve batches of candidates and as many of judgements, for two engines."""
    backend = {"backend": "scripted", "requests_per_batch": 2, "replicas": 2, "engine": {"seconds_per_batch": seconds}}
    values = make_recipe("zero-shot", folder, **backend).model_dump(mode="json", exclude_defaults=True)
    judges = {"grade": {"kind": "rubric", "rubric": "coverage", "model": {"name": "none"}, "backend": backend}}
    return recipe_of(
        values
        | {"executor": executor, "judges": judges, "reward": {"judges": ["grade"]}}
        | {"evaluation": {"judges": ["grade"], "resamples": 100}}
    )


def start(verb, recipe):
    path = recipe.output.with_suffix(".yaml")
    path.write_text(dump_recipe(recipe))
    with recipe.output.with_suffix(".txt").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "evenhand", verb, str(path)], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )


def said(recipe):
    return recipe.output.with_suffix(".txt").read_text()


def wait_until(holds, recipe):
    deadline = time.monotonic() + MOST_SECONDS
    while not holds():
        assert time.monotonic() < deadline, said(recipe)
        time.sleep(0.02)


def journals(recipe, stage):
    found = (recipe.output / "evaluation" / "base" / "receipts").glob(f"{stage}.*.partial.jsonl")
    return {path.name: path.read_bytes() for path in found}


def lines(recipe, stage):
    return sum(content.count(b"\n") for content in journals(recipe, stage).values())


def said_by_steps(recipe):
    return "".join(path.read_text() for path in (recipe.output / "logs").iterdir())


def made(recipe):
    return {
        name: (recipe.output / "evaluation" / "base" / name).read_bytes() for name in (REQUESTS, CANDIDATES, JUDGEMENTS)
    }


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("ray")
    with ray_cluster.cluster("--num-cpus=1") as found:
        yield found


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What this machine makes of it without Ray."""
    mine = recipe(tmp_path_factory.mktemp("alone") / "run", "local")
    phase = open_phase(mine, "evaluation/base")
    with work_in(mine):
        generate(phase)
        judge(phase)
    return made(mine)


@pytest.mark.slow
def test_files_are_those_of_one_machine_though_a_node_is_switched_off_and_the_command_is_killed(
    tmp_path, cluster, alone
):
    mine = recipe(tmp_path / "run", "ray", seconds=1.0)
    process = start("loop", mine)
    # both nodes are at work
    wait_until(lambda: all(node.workers() for node in cluster.nodes) and lines(mine, "generate") >= 2, mine)
    cluster.nodes.pop().kill()
    wait_until(lambda: lines(mine, "generate") >= 5, mine)
    process.kill()
    process.wait()
    kept = journals(mine, "generate")
    assert sum(content.count(b"\n") for content in kept.values()) >= 5
    cluster.add("--num-cpus=1")
    process = start("loop", mine)
    # what was done stays, and with both machines it goes on
    wait_until(lambda: lines(mine, "generate") > 5 or lines(mine, "judge"), mine)
    for name, content in journals(mine, "generate").items():
        assert content.startswith(kept.get(name, b"")), name
    wait_until(lambda: all(node.workers() for node in cluster.nodes) and lines(mine, "judge") >= 2, mine)
    cluster.nodes.pop().kill()
    assert process.wait(MOST_SECONDS) == 0, said(mine)
    assert made(mine) == alone
    # the node's batch was handed out again, and no batch that was in a journal was asked for twice
    assert "was lost" in said_by_steps(mine)
    cluster.add("--num-cpus=1")


@pytest.mark.slow
def test_workers_that_are_killed_at_any_moment_end_in_the_same_bytes_within_two_commands(tmp_path, cluster, alone):
    mine, drawn = recipe(tmp_path / "run", "ray", seconds=0.3), np.random.default_rng(5)
    for _ in range(2):
        process = start("loop", mine)
        for _ in range(10):
            time.sleep(drawn.uniform(0.5, 4))
            there = [each for node in cluster.nodes for each in (*node.workers(), *node.actors())]
            if there and process.poll() is None:
                with suppress(psutil.NoSuchProcess):
                    there[drawn.integers(len(there))].kill()
        if process.wait(MOST_SECONDS) == 0:
            break
    assert process.returncode == 0, said(mine)
    assert made(mine) == alone


@pytest.mark.slow
def test_engines_wait_for_places_and_those_that_find_none_hold_nobody_up(tmp_path, cluster, alone):
    mine = recipe(tmp_path / "run", "ray")
    mine = mine.model_copy(update={"generate": mine.generate.model_copy(update={"replicas": 5})})
    process = start("loop", mine)
    assert process.wait(MOST_SECONDS) == 0, said(mine)
    assert made(mine) == alone


CODE = """
import os, sys
from pathlib import Path
from evenhand.errors import DataError
from evenhand.runfolder.replicas import be_replica

def work(batches):
    Path(sys.argv[1]).with_suffix(".threads").write_text(os.environ.get("OMP_NUM_THREADS", "as ever"))
    for batch in batches:
        if batch.places.start == 1: os.kill(os.getpid(), 9)
        if batch.beside: raise DataError("docs.jsonl:3: no text; add one")

sys.exit(be_replica(work, Path(sys.argv[1])))
"""


@pytest.fixture
def joined(cluster):
    with ray_workers.joined():
        yield


def work(folder, *tasks):
    """Outcomes of two processes on the cluster."""
    (folder / "receipts").mkdir(exist_ok=True)

    def command(name):
        failure = folder / "receipts" / f"{name}.json"
        return Command(("-c", CODE, str(failure)), failure)

    starts = [
        Start(command, name, partial(ray_workers.RayWorker, NOTHING, ray_workers.Notice(NOTHING)))
        for name in ("one", "two")
    ]
    with closing(work_off(Queue(tasks, starts))) as found:
        return {each.task.places.start: each.given_up for each in found}


@pytest.mark.slow
def test_what_a_process_elsewhere_dies_of_or_refuses_is_told_as_of_one_here(tmp_path, joined):
    first, second, third = (ReplicaTask(range(n, n + 1)) for n in range(3))
    found = work(tmp_path, first, second, third)
    assert found == {0: "", 1: f"twice over the same batch; it was killed by signal 9 on {os.uname().nodename}", 2: ""}
    with pytest.raises(DataError, match=r"^docs\.jsonl:3: no text; add one$"):
        work(tmp_path, first, third._replace(beside={"refuse": True}))


@pytest.mark.slow
def test_engines_have_the_threads_that_they_would_have_here(tmp_path, joined, monkeypatch):
    # which Ray sets to the processors that an actor asked for
    for threads, folder in ((None, tmp_path / "first"), ("3", tmp_path / "second")):
        if threads:
            monkeypatch.setenv("OMP_NUM_THREADS", threads)
        else:
            monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        folder.mkdir()
        work(folder, ReplicaTask(range(1)), ReplicaTask(range(2, 3)))
        assert {path.read_text() for path in folder.glob("receipts/*.threads")} == {threads or "as ever"}


@pytest.mark.slow
def test_a_machine_that_does_not_see_the_folder_is_named(tmp_path, joined):
    worker = ray_workers.RayWorker(NOTHING, ray_workers.Notice(NOTHING))
    worker.begin(Command(("-c", "pass"), tmp_path / "elsewhere" / "receipts" / "failure.json"))
    with pytest.raises(
        StorageError, match=r"elsewhere: is not there on the machine .*All machines of the cluster must see"
    ):
        worker.is_ready(lambda: True)
    worker.close()


@pytest.mark.slow
def test_the_shipped_recipe_has_real_engines_on_both_nodes_write_what_one_engine_here_writes(
    tmp_path, tiny_model, cluster, engine_server, monkeypatch
):
    # GiB; is handed over
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    # the nodes' own is as empty: embeddings that another run has kept were made in other batches, which turns a sixth digit
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    small = {
        "model": {"name": str(tiny_model), "dtype": "float32"}, "judges.llm_coverage.model.name": tiny_model,
        "judges.llm_coverage.model.dtype": "float32", "corpus.test.limit": 6, "limits.unscored": 1.0,
        "evaluation.resamples": 100, **{f"generate.plans.{name}.max_tokens": 16 for name in ("nucleus", "top_k", "hybrid")},
    }  # fmt: skip
    one_here = {"executor": "local", "generate.replicas": 1, "judges.llm_coverage.backend.replicas": 1}
    there, here = (
        load_recipe(Path("cluster/ray"), [f"{key}={value}" for key, value in (small | changed).items()])
        for changed in ({"output": tmp_path / "there"}, {"output": tmp_path / "here"} | one_here)
    )
    process = start("loop", there)
    wait_until(lambda: all(node.workers() for node in cluster.nodes), there)
    assert process.wait(MOST_SECONDS) == 0, said(there)
    here.output.with_suffix(".yaml").write_text(dump_recipe(here))
    alone = engine_server.start(["loop", str(here.output.with_suffix(".yaml"))], tmp_path)
    assert alone.wait(MOST_SECONDS) == 0, (tmp_path / "output.txt").read_text()
    assert made(there) == made(here)
    assert (there.output / "report" / "index.html").is_file()


@pytest.mark.slow
def test_the_benchmark_has_both_make_the_same_candidates(tmp_path, joined):
    output = tmp_path / "replicas.json"
    replicas.main(["--quick", "--ways", "replicas", "ray", "--output", str(output)])
    (table,) = json.loads(output.read_text())["tables"]
    here, there = table["rows"]
    assert (here["name"], there["name"]) == ("replicas", "ray")
    assert here["counts"] == there["counts"] == {"candidates": 4 * 2 * 9}


def section(folder, **engine):
    return recipe(folder, "ray").generate.model_copy(update={"backend": "vllm", "replicas": "auto", "engine": engine})


@pytest.mark.parametrize(
    ("machines", "size", "expected"),
    [([4, 4], 1, 8), ([4, 4], 2, 4), ([3, 8], 4, 2), ([0, 0], 1, 1), ([0, 2], 1, 2)],
)
def test_as_many_engines_as_the_machines_hold_each_whole_on_one(tmp_path, machines, size, expected):
    found = engines_of(section(tmp_path, tensor_parallel_size=size), "ray", lambda _: machines)
    assert found == Engines(expected, size)


def test_an_engine_that_fits_no_machine_is_refused_and_machines_that_have_no_gpu_yet(tmp_path):
    two = section(tmp_path, tensor_parallel_size=2)
    with pytest.raises(
        RecipeError, match=r"an engine of 4 GPUs needs a machine .* more than 2; lower tensor_parallel_size"
    ):
        refuse_small_cluster([section(tmp_path, tensor_parallel_size=4)], [2, 2], RAY.where)
    # those that find no place wait
    refuse_small_cluster([two.model_copy(update={"replicas": 64})], [2, 2], RAY.where)
    with pytest.raises(
        RecipeError, match=r"no machine of the Ray cluster has a GPU, so that replicas: auto .* or write a number"
    ):
        refuse_small_cluster([two], [0, 0], RAY.where)
    refuse_small_cluster([two.model_copy(update={"replicas": 2})], [0, 0], RAY.where)
    refuse_small_cluster([two.model_copy(update={"backend": "scripted"})], [0, 0], RAY.where)


def test_models_follow_each_other_and_that_processors_are_used_is_said(caplog):
    def needs(machines):
        found = waves([Engines(2, 2), Engines(1, 1)], "ray", lambda _: machines)
        return [[(place, [each.args[0] for each in launches]) for place, launches in wave] for wave in found]

    assert needs([2, 2]) == [[(0, [(2, 2), (2, 2)])], [(1, [(1, 1)])]]
    assert not warned(caplog)
    assert needs([0, 0]) == [[(0, [(0, 2), (0, 2)])], [(1, [(0, 1)])]]
    assert "no machine of the Ray cluster has a GPU: engines run on its processors" in caplog.text


def test_keys_that_would_have_no_effect_there_are_refused(tmp_path):
    mine = recipe(tmp_path / "run", "ray")
    values = mine.model_dump(mode="json", exclude_defaults=True)
    with pytest.raises(RecipeError, match=r"generate.python has no effect with executor: ray.*leave it out"):
        recipe_of(values | {"generate": values["generate"] | {"python": "python3"}})
    slurm = pytest.importorskip("evenhand.plugins.slurm.slurm")
    with pytest.raises(RecipeError, match=r"key 'executor': SLURM spreads the work itself; leave executor: ray out"):
        slurm.jobs(mine, steps(mine), slurm.Nodes(2), 2)


def test_a_machine_whose_gpus_ray_does_not_count_is_refused(tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA H100 (UUID: GPU-0)'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    found = ray_workers.Place(str(tmp_path), {}, True).begin((), str(tmp_path / "receipts" / "failure.json"))
    assert "has GPUs that Ray had not counted" in str(found)


def test_that_there_is_no_place_is_said_once_for_all_engines_and_again_much_later(caplog, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    notice = ray_workers.Notice(ray_workers.Needs(2, 2))
    said_at = []
    for second in range(1300):
        now[0] = float(second)
        for _ in range(3):
            notice.say()
        if warned(caplog):
            said_at.append(second)
            caplog.clear()
    assert said_at == [30, 630, 1230]


@pytest.mark.slow
def test_without_a_cluster_the_first_second_says_what_to_start(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    mine = recipe(tmp_path / "run", "ray")
    process = start("validate", mine)
    assert process.wait(MOST_SECONDS) == 2
    assert "key 'executor': no Ray cluster can be joined" in said(mine)
    assert "ray start --head" in said(mine)
    assert "Traceback" not in said(mine)


def test_a_port_at_which_another_program_answers_is_refused_and_not_waited_for(monkeypatch):
    pytest.importorskip("ray")
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{server.server_port}")
        with pytest.raises(RecipeError, match=r"another program answers there, as Ray's dashboard.*6379"):
            ray_workers.connect()
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", r"be joined: RAY_ADDRESS=127\.0\.0\.1:1: .*refused\nStart one by `ray start --head`"),
        ("no-such-machine.invalid:6379", r"RAY_ADDRESS=no-such-machine\.invalid:6379: \[Errno -\d\]"),
        ("local", "RAY_ADDRESS=local would start a cluster of this command alone"),
    ],
)
def test_an_address_without_a_cluster_is_named(monkeypatch, address, said):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(RecipeError, match=said):
        ray_workers.connect()


def test_a_port_that_says_nothing_is_named(monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setattr(ray_workers, "PATIENCE_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        with pytest.raises(RecipeError, match=f"RAY_ADDRESS={address}: nobody has answered for 1 seconds"):
            ray_workers.connect()


def test_a_port_of_another_part_of_ray_is_told_from_the_heads(monkeypatch):
    ray = pytest.importorskip("ray")

    def fail(**options):
        raise ConnectionError("Failed to connect to Ray cluster at 127.0.0.1:1")

    monkeypatch.setattr(ray, "init", fail)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(
        RecipeError, match=r"127\.0\.0\.1:1; the port must be that of `ray start --head`.* needs ray://"
    ):
        ray_workers.connect()


@pytest.mark.slow
def test_a_token_that_a_cluster_asks_for_is_named_at_once(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("a" * 64)
    mine = recipe(tmp_path / "run", "ray")
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with ray_cluster.cluster("--num-cpus=1", RAY_AUTH_MODE="token", HOME=str(tmp_path)):
        assert start("validate", mine).wait(MOST_SECONDS) == 2
        assert (
            f"RAY_ADDRESS={os.environ['RAY_ADDRESS']}: this cluster asks for a token: {ray_workers.AUTHORISED}"
            in said(mine)
        )
        assert "gcs_client" not in said(mine)
        monkeypatch.setenv("RAY_AUTH_MODE", "token")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert start("validate", mine).wait(MOST_SECONDS) == 0, said(mine)


@pytest.mark.slow
def test_a_cluster_without_its_token_is_one_message(tmp_path, monkeypatch, cluster):
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("HOME", str(tmp_path))
    mine = recipe(tmp_path / "run", "ray")
    process = start("validate", mine)
    assert process.wait(MOST_SECONDS) == 2, said(mine)
    assert "key 'executor': no Ray cluster can be joined" in said(mine)
    assert f"this cluster asks for a token: {ray_workers.AUTHORISED}" in said(mine)
    assert "Traceback" not in said(mine)


@pytest.mark.slow
def test_a_machine_that_cannot_start_evenhand_is_told_with_its_reason(tmp_path):
    pytest.importorskip("ray")
    broken = tmp_path / "broken" / "evenhand"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("import no_such_library\n")
    mine = recipe(tmp_path / "run", "ray")
    with ray_cluster.cluster("--num-cpus=1", PYTHONPATH=str(broken.parent)):
        process = start("generate", mine)
        assert process.wait(MOST_SECONDS) == 2, said(mine)
    assert "cannot start evenhand: ModuleNotFoundError: No module named 'no_such_library'" in said(mine)
    assert "Traceback" not in said(mine)
