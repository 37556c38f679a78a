"""A run as SLURM's jobs: the scripts, and a real controller with two nodes that runs them."""

import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import slurm_cluster
import yaml
from launched import two_processes

from evenhand.benchmarks import replicas
from evenhand.config.recipe_file import dump_recipe, load_recipe, recipe_of
from evenhand.config.shipped import RECIPES, read_head
from evenhand.errors import RecipeError
from evenhand.generate.stage import generate_shard
from evenhand.loop import steps, work_in
from evenhand.plugins.slurm.queue import own_environment, submit
from evenhand.plugins.slurm.slurm import Nodes, Scripts, idle_gpus, jobs
from evenhand.runfolder.phases import open_phase
from evenhand.runfolder.shards import Shard
from evenhand.train.nodes import keys_of_nodes

SMALL = {
    "name": "small",
    "corpus": {"path": "sample", "train": {"split": "train", "limit": 6}, "test": {"split": "test", "limit": 3}},
    "model": {"name": "none"},
    "generate": {
        "backend": "scripted", "requests_per_batch": 2, "engine": {"tokenize": True},
        "plans": {"nucleus": {"candidates": 4, "max_tokens": 32}},
    },
    "judges": {
        "grade": {
            "kind": "rubric", "rubric": "coverage", "model": {"name": "none"},
            "backend": {"backend": "scripted", "requests_per_batch": 2},
        },
        "precision": {"kind": "rouge", "measure": "precision"},
    },
    "reward": {"judges": ["grade"]},
    "pairs": {"mode": "top_bottom"},
    "lora": {"r": 4, "target_modules": ["q_proj", "v_proj"]},
    "trainer": {
        "learning_rate": 1e-3, "per_device_train_batch_size": 2, "gradient_accumulation_steps": 1, "save_steps": 1,
        "max_steps": 2,
    },
    "evaluation": {"judges": ["precision"], "resamples": 200},
    "rounds": 0,
}  # fmt: skip
COMPARED = [
    "requests.jsonl", "candidates.jsonl", "judgements.jsonl", "groups.jsonl", "best.jsonl", "pairs.jsonl",
    "adapter/adapter_model.safetensors",
]  # fmt: skip


def small(folder, **values):
    return recipe_of(SMALL | {"output": str(folder / "run")} | values)


def scripts(recipe, nodes, shards):
    return Scripts(recipe, nodes, tuple(jobs(recipe, steps(recipe), nodes, shards)))


def test_jobs_cover_the_steps_in_their_order_and_each_array_is_gathered(tmp_path):
    recipe = small(tmp_path, rounds=1)
    found = jobs(recipe, steps(recipe), Nodes(2), 3)
    assert [(job.name, job.shards) for job in found][:6] == [
        ("validate", 1),
        ("round-00-generate-shards", 3),
        ("round-00-generate", 1),
        ("round-00-judge-shards", 3),
        ("round-00-judge-to-train", 1),
        ("evaluation-base-generate-shards", 3),
    ]
    assert [step for job in found if job.shards == 1 for step in job.steps] == steps(recipe)
    assert len({job.name for job in found}) == len(found)


def test_one_shard_on_one_node_is_one_job(tmp_path):
    recipe = small(tmp_path, rounds=2)
    assert [list(job.steps) for job in jobs(recipe, steps(recipe), Nodes(), 1)] == [steps(recipe)]


def test_a_step_that_asks_a_server_is_never_shared_out(tmp_path):
    server = {"backend": "openai", "server": {"base_url": "http://127.0.0.1:9/v1"}}
    generate = {**SMALL["generate"], "engine": {}, **server}
    asking = small(tmp_path, generate=generate)
    assert [(job.name, job.shards) for job in jobs(asking, steps(asking), Nodes(2), 2)] == [
        ("validate", 1),
        ("evaluation-base-generate", 1),
        ("evaluation-base-judge-shards", 2),
        ("evaluation-base-judge-to-report", 1),
    ]
    server["server"] = server["server"] | {"batches": True}
    with pytest.raises(RecipeError, match=r"server\.batches.*run `evenhand loop`"):
        jobs(small(tmp_path, generate=generate | server), [], Nodes(2), 2)


def test_scripts_are_what_a_shell_reads(tmp_path):
    recipe = small(tmp_path / "it's a folder of 100%x")
    made = scripts(recipe, Nodes(2, 8, ("--comment=two words",)), 2)
    made.write()
    check, first, second, *_ = made.paths()
    text = first.read_text()
    assert "\n#SBATCH --array=0-1\n" in text and "\n#SBATCH --gpus-per-node=8\n" in text
    assert "\n#SBATCH '--comment=two words'\n" in text
    assert '--phase evaluation/base --shard "$SLURM_ARRAY_TASK_ID/2"\n' in text
    # the machine that submits need not have what a node has
    assert [name for name in made.paths() if " validate " in name.read_text()] == [check]
    assert "--shard" not in second.read_text() and "--array" not in second.read_text()
    for path in made.paths():
        assert run("bash", "-n", path).returncode == 0
    assert "of 100%%x/run/slurm/logs/%x-%A_%a.log" in text
    assert "srun --nodes=2 " in check.read_text()
    assert load_recipe(made.copy) == recipe
    # what is queued reads it
    scripts(recipe.model_copy(update={"seed": 7}), Nodes(2), 2).write()
    assert load_recipe(made.copy) == recipe


@pytest.mark.parametrize(
    ("train", "nodes", "expected"),
    [
        ({"accelerate_config": "zero2"}, Nodes(4, 8), []),
        ({"accelerate_config": "multi_node"}, Nodes(4, 4), ["srun", 4, 16]),
        ({"accelerate_config": "multi_node"}, Nodes(3), ["srun", 3]),
        ({"accelerate_config": "fsdp2_multi_node", "launcher": "srun", "num_machines": 2}, Nodes(4, 8), ["srun", 2, 16]),
        ({"accelerate_config": "zero3_multi_node", "num_processes": 8}, Nodes(2, 8), ["srun", 2]),
    ],
)  # fmt: skip
def test_training_for_several_machines_takes_the_nodes(tmp_path, train, nodes, expected):
    keys = ("train.launcher", "train.num_machines", "train.num_processes")
    assert keys_of_nodes(small(tmp_path, rounds=1, train=train), nodes.n, nodes.gpus_each) == [
        f"{key}={value}" for key, value in zip(keys, expected, strict=False)
    ]


@pytest.mark.parametrize(
    ("train", "nodes", "said"),
    [
        ({"accelerate_config": "zero2"}, Nodes(2, 4), "'zero2' starts 8 processes .* --gpus-per-node 4"),
        ({"accelerate_config": "multi_node", "num_processes": 6}, Nodes(4, 8), "6 processes cannot be shared out"),
        ({"accelerate_config": "multi_node", "launcher": "srun", "num_machines": 4}, Nodes(2), "on 4 nodes, and --nodes 2"),
        ({"accelerate_config": "zero2", "launcher": "srun", "num_machines": 2}, Nodes(2, 8), "is for one; name another"),
    ],
)  # fmt: skip
def test_training_that_does_not_fit_the_nodes_is_refused(tmp_path, train, nodes, said):
    with pytest.raises(RecipeError, match=said):
        keys_of_nodes(small(tmp_path, rounds=1, train=train), nodes.n, nodes.gpus_each)


@pytest.mark.parametrize(
    ("engine", "replicas", "gpus", "idle"),
    [
        ({}, 1, 8, True),
        ({}, "auto", 8, False),
        ({"tensor_parallel_size": 8}, 1, 8, False),
        ({}, 1, 0, False),
        ({}, 8, 8, False),
    ],
)
def test_gpus_that_no_engine_would_use_are_told(tmp_path, engine, replicas, gpus, idle):
    generate = {"plans": {"nucleus": {}}, "engine": engine, "replicas": replicas}
    said = ["GPUs of each node are idle with generate: write replicas: auto there"]
    assert idle_gpus(small(tmp_path, generate=generate), Nodes(2, gpus), 2, {}) == (said if idle else [])


def test_engines_and_shards_without_a_batch_are_told(tmp_path):
    # as evenhand's own flagship had it: one batch, and so one of 2 x 8 engines
    generate = {"plans": {"nucleus": {}}, "replicas": "auto", "requests_per_batch": 2000}
    asked = small(tmp_path, generate=generate)
    said = (
        "generate: 500 test requests are 1 batch of 2000, and 15 of 16 engines are idle: write requests_per_batch: 31"
    )
    assert idle_gpus(asked, Nodes(2, 8), 2, {"test": 500}) == [said]
    # engines that judge, one on each of the nodes; what is scripted has none
    judges = {
        **SMALL["judges"],
        "grade": {"kind": "rubric", "rubric": "coverage", "backend": {"requests_per_batch": 2}},
    }
    judges["grade"]["model"] = {"name": "judge"}
    asked = small(tmp_path, judges=judges)
    assert idle_gpus(asked, Nodes(3), 3, {"test": 6}) == []
    said = "judges.grade.backend: 6 test requests are 3 batches of 2, and 1 of 4 engines is idle: write requests_per_batch: 1"
    assert idle_gpus(asked, Nodes(4), 4, {"test": 6}) == [said]
    assert idle_gpus(small(tmp_path), Nodes(4), 4, {"test": 6}) == []


def test_training_on_fewer_processes_than_the_nodes_have_gpus_is_told(tmp_path):
    train = {"accelerate_config": "multi_node", "launcher": "srun", "num_machines": 4, "num_processes": 8}
    (said,) = idle_gpus(small(tmp_path, rounds=1, train=train), Nodes(4, 8), 4, {})
    assert said.startswith("training takes 8 of 32 GPUs: --set train.num_processes=32, with a train.global_batch_size")
    assert idle_gpus(small(tmp_path, rounds=1, train=train | {"num_processes": 32}), Nodes(4, 8), 4, {}) == []


@pytest.mark.parametrize(
    ("generate", "said"),
    [
        ({"replicas": 8}, r"'generate\.replicas': 8 replicas of 1 GPU each need 8, and 2 are on a node \(--gpus-per-node\)"),
        ({"engine": {"tensor_parallel_size": 8}}, r"'generate\.engine': an engine of 8 GPUs .* and 2 are on a node"),
    ],
)  # fmt: skip
def test_engines_that_do_not_fit_the_nodes_are_refused(tmp_path, generate, said):
    asked = small(tmp_path, generate={"plans": {"nucleus": {}}} | generate)
    assert jobs(asked, steps(asked), Nodes(2), 2) and jobs(asked, steps(asked), Nodes(2, 8), 2)
    with pytest.raises(RecipeError, match=said):
        jobs(asked, steps(asked), Nodes(2, 2), 2)


def test_a_job_in_a_job_is_not_taken_for_that_one():
    given = {
        "PATH": "/bin",
        "SLURM_CONF": "a",
        "SLURM_CPUS_PER_TASK": "4",
        "SQUEUE_STATES": "R",
        "SBATCH_ACCOUNT": "mine",
    }
    assert own_environment(given) == {"PATH": "/bin", "SLURM_CONF": "a", "SBATCH_ACCOUNT": "mine"}


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--array=0-1%1", "--array is set by evenhand: --shards N says how many"),
        ("--arr=0-1", "--array is set by evenhand"),
        ("-a0-1", "-a is set by evenhand"),
        ("-N4", "-N is set by evenhand: write --nodes N without --sbatch"),
        ("--gpus=8", "--gpus is set by evenhand: write --gpus-per-node N"),
        ("--ntasks-per-node=8", "a node has one task"),
        ("--error=x", "what jobs say lies in OUTPUT/slurm/logs"),
        ("--no-requeue", "jobs are queued again"),
        ("--parsable", "what sbatch answers is read"),
        ("--clusters=x", "jobs are submitted to the cluster of this machine"),
        ("--gres=gpu:h100:8", "asks for GPUs; write --gpus-per-node N"),
        ("--tres-per-task=cpu=4,gres/gpu=1", "asks for GPUs"),
        ("partition=gpu", "is not one option of sbatch; write --name=value"),
        ("--partition gpu", "is not one option of sbatch"),
        ("--partition=gpu --nodes=3", "each behind its own --sbatch"),
        ("--comment=a\n#SBATCH --array=0-9", "contains a line break"),
    ],
)
def test_options_that_the_scripts_rest_on_are_refused_all_together(option, said):
    with pytest.raises(RecipeError) as caught:
        Nodes(2, 0, ("--partition=gpu", option, "--open-mode=truncate"))
    text = str(caught.value)
    assert f"--sbatch {option!r}: " in text and said in text and "--open-mode is set by evenhand" in text
    assert "--partition=gpu'" not in text


def test_options_that_are_a_sites_own_are_taken():
    own = (
        "--partition=gpu",
        "-pgpu",
        "--time=1:00",
        "--exclusive",
        "--gres=lscratch:9",
        "--export=ALL,A=/b c",
        "--nodelist=n1",
    )
    assert Nodes(2, 0, own).options == own


def test_a_batch_that_the_processes_cannot_share_is_refused_before_it_is_queued(tmp_path):
    given = {"rounds": 1, "trainer": {"per_device_train_batch_size": 1}}
    train = {"accelerate_config": "zero3_multi_node", "global_batch_size": 8}
    asked = small(tmp_path, train=train, **given)
    said = "'train.global_batch_size': 8 is not a multiple of 32, which 32 processes"
    path = tmp_path / "recipe.yaml"
    path.write_text(dump_recipe(asked))
    with pytest.raises(RecipeError, match=said):
        made = load_recipe(path, keys_of_nodes(asked, 4, 8))
        jobs(made, steps(made), Nodes(4, 8), 4)


def test_work_of_shards_of_another_recipe_is_told_before_it_meets_them_in_the_queue(tmp_path):
    plain = {"generate": SMALL["generate"] | {"engine": {}}}
    mine = small(tmp_path, **plain)
    phase = open_phase(mine, "evaluation/base")
    with work_in(mine, Shard(0, 2)):
        generate_shard(phase, Shard(0, 2))
    assert jobs(mine, steps(mine), Nodes(2), 2)
    other = small(tmp_path, seed=7, **plain)
    with pytest.raises(RecipeError, match=r"evaluation/base generate: .*shard 0/2 .*its recipe differs in seed"):
        jobs(other, steps(other), Nodes(2), 2)


def command(verb, path, *options):
    return [sys.executable, "-m", "evenhand", verb, str(path), *options]


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=1200)


def written(folder, **values):
    folder.mkdir(exist_ok=True)
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump(SMALL | {"output": str(folder / "run")} | values))
    return path


def test_without_slurm_the_scripts_are_written_and_submitting_says_what_lacks(tmp_path, monkeypatch):
    path = written(tmp_path)
    done = run(*command("run", "slurm", path, "--nodes", "2"))
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "run" / "slurm").glob("*.sbatch"))) == 5
    monkeypatch.setenv("PATH", str(tmp_path))
    done = run(*command("run", "slurm", path, "--nodes", "2", "--submit"))
    # behind a warning of so few test sets
    said = done.stderr.partition("error:")[2]
    assert (done.returncode, said.strip().partition(" (")[0]) == (
        1,
        "sbatch cannot be started",
    )
    # there, and without its controller
    sbatch = tmp_path / "sbatch"
    sbatch.write_text("#!/bin/sh\necho 'Unable to contact slurm controller (connect failure)' >&2\nexit 1\n")
    sbatch.chmod(0o755)
    done = run(*command("run", "slurm", path, "--nodes", "2", "--submit"))
    assert done.returncode == 1
    assert "(connect failure). Does `sinfo` answer here?" in " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def slurm():
    """A real SLURM of two nodes."""
    # not in pytest's folder: a socket's path may have 107 characters
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, slurm_cluster.cluster(Path(folder)):
        yield


def submitted(done):
    """Ids of the jobs that a command has submitted."""
    assert done.returncode == 0, done.stdout + done.stderr
    return re.findall(r"(\d+) *$", done.stdout, re.MULTILINE)


def until(holds):
    deadline = time.monotonic() + 400
    while not holds():
        assert time.monotonic() < deadline, slurm_cluster.ask("squeue")
        time.sleep(0.2)


def n_running(job):
    return list(slurm_cluster.states([job]).values()).count("RUNNING")


@pytest.mark.slow
@pytest.mark.usefixtures("quick_python")
def test_two_rounds_with_a_drained_node_and_a_requeued_job_leave_the_files_of_one_process(
    slurm, tmp_path, tiny_model, monkeypatch
):
    pytest.importorskip("trl")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    # torchrun gives one to each of several processes of a machine, and products depend on how many there are on some processors
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    model, slow = {"name": str(tiny_model), "dtype": "float32"}, {"tokenize": True, "seconds_per_batch": 1.0}
    config = two_processes("ddp", tmp_path)
    here = written(tmp_path / "here", model=model, rounds=2, train={"accelerate_config": str(config)})
    done = run(*command("loop", here))
    assert done.returncode == 0, done.stdout + done.stderr

    machines = tmp_path / "machines.yaml"
    machines.write_text(yaml.safe_dump(yaml.safe_load(config.read_text()) | {"num_machines": 2}))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache of the nodes"))
    there = written(
        tmp_path / "there", model=model, rounds=2, train={"accelerate_config": str(machines)},
        generate=SMALL["generate"] | {"engine": slow},
    )  # fmt: skip
    done = run(*command("run", "slurm", there, "--nodes", "2", "--submit"))
    ids = submitted(done)
    # the same again would meet these in the run folder
    again = run(*command("run", "slurm", there, "--nodes", "2", "--submit"))
    assert again.returncode == 1 and f"still has jobs of this run: {ids[0]}, " in again.stderr, again.stderr

    until(lambda: n_running(ids[1]) == 2)
    slurm_cluster.ask("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
    slurm_cluster.ask("scontrol", "requeue", f"{ids[1]}_1")
    until(lambda: {"RUNNING", "COMPLETED"} & {*slurm_cluster.states([ids[3]]).values()})
    slurm_cluster.ask("scontrol", "update", "nodename=n2", "state=resume")
    ended = slurm_cluster.wait_for(ids)
    logs = "".join(path.read_text() for path in (tmp_path / "there/run/slurm/logs").iterdir())
    assert set(ended.values()) == {"COMPLETED"}, logs[-5000:]
    assert slurm_cluster.ask("scontrol", "show", "jobs").count("Restarts=1 ") == 1

    whole, run_ = tmp_path / "here/run", tmp_path / "there/run"
    expected = sorted(
        path.relative_to(whole) for name in COMPARED for path in whole.rglob(name) if "checkpoints" not in path.parts
    )
    # 5 files of each of the 5 phases, pairs and adapter of the two rounds
    assert len(expected) == 29
    assert [path for path in expected if (run_ / path).read_bytes() != (whole / path).read_bytes()] == []
    assert (run_ / "report/index.html").is_file()
    nothing = run(*command("run", "slurm", there, "--nodes", "2", "--submit"))
    assert "every step is done; nothing to submit" in nothing.stdout, nothing.stdout + nothing.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("slurm", "quick_python")
def test_the_shipped_recipe_generates_and_trains_on_both_nodes(tmp_path, tiny_model, monkeypatch):
    pytest.importorskip("trl")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    # a random model's answers never end, and teach nothing
    small = {
        "output": tmp_path / "run", "model.name": tiny_model, "generate.backend": "scripted", "generate.engine.tokenize": "true",
        "corpus.train.sample": 6, "corpus.test.limit": 3, "generate.requests_per_batch": 3, "evaluation.resamples": 100,
    }  # fmt: skip
    # as the head has it
    verb, recipe, *options = shlex.split(read_head(RECIPES / "cluster/slurm.yaml").command)[1:]
    changed = [word for key, value in small.items() for word in ("--set", f"{key}={value}")]
    ended = slurm_cluster.wait_for(submitted(run(*command(verb, recipe, *options, *changed))))
    logs = "".join(path.read_text() for path in (tmp_path / "run/slurm/logs").iterdir())
    assert set(ended.values()) == {"COMPLETED"}, logs[-5000:]
    # the arrays' tasks and the others
    assert len(ended) == 14 + 6
    training = json.loads((tmp_path / "run/round-00/training.json").read_text())
    assert training["processes"] == 2
    assert (tmp_path / "run/report/index.html").is_file()


@pytest.mark.slow
def test_a_job_that_slurm_refuses_leaves_none_in_the_queue(slurm, tmp_path):
    path = written(tmp_path)
    # the first job is none; an array may have four tasks
    done = run(*command("run", "slurm", path, "--nodes", "2", "--submit", "--shards", "5"))
    assert done.returncode == 1, done.stdout
    assert "sbatch ended with exit code 1" in done.stderr and "job array" in done.stderr, done.stderr
    assert slurm_cluster.ask("squeue", "--noheader") == ""


@pytest.mark.slow
def test_a_job_that_fails_takes_the_others_out_of_the_queue(slurm, tmp_path):
    # which is found where the jobs run
    queued = submit(scripts(small(tmp_path, rounds=1, model={"name": "/no/such/model"}), Nodes(2), 2))
    ended = slurm_cluster.wait_for([each.id for each in queued])
    assert ended.pop(queued[0].id) == "FAILED"
    assert set(ended.values()) == {"CANCELLED"}
    assert "/no/such/model" in (tmp_path / f"run/slurm/logs/validate-{queued[0].id}.log").read_text()


@pytest.mark.slow
def test_the_benchmark_has_an_array_make_the_candidates_of_one_process(slurm, tmp_path):
    replicas.main(["--quick", "--ways", "one", "slurm", "--output", str(tmp_path / "found.json")])
    (table,) = json.loads((tmp_path / "found.json").read_text())["tables"]
    assert [row["name"] for row in table["rows"]] == ["one", "slurm"]
    assert [row["counts"] for row in table["rows"]] == [{"candidates": 4 * 2 * 9}] * 2


def test_engines_that_two_splits_leave_idle_are_told_once_with_the_smaller_batches(tmp_path):
    asked = small(tmp_path, rounds=1, generate={"plans": {"nucleus": {}}, "replicas": "auto", "requests_per_batch": 40})
    said = "generate: 24 test requests are 1 batch of 40, and 15 of 16 engines are idle: write requests_per_batch: 1"
    assert idle_gpus(asked, Nodes(2, 8), 2, {"train": 40, "test": 24}) == [said]


@pytest.mark.slow
def test_slurm_reads_odd_names_as_they_are(slurm, tmp_path):
    comment = "it's \\ 'two' \"words\" #1 $(touch ran) caf\u00e9"
    mine = small(tmp_path / "it's $(touch ran) & 100%j", generate=SMALL["generate"] | {"engine": {}})
    queued = submit(scripts(mine, Nodes(2, 0, (f"--comment={comment}",)), 2))
    shown = slurm_cluster.ask("scontrol", "show", "job", queued[0].id)
    ended = slurm_cluster.wait_for([each.id for each in queued])
    assert f"Comment={comment} \n" in shown
    assert set(ended.values()) == {"COMPLETED"}
    assert "is sound" in (mine.output / f"slurm/logs/validate-{queued[0].id}.log").read_text()
    assert (mine.output / "report/index.html").is_file() and not Path("ran").exists()
