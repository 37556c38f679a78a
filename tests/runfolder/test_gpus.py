"""GPUs that a process may use, and replicas that share them."""

import pytest

from evenhand.config import GenerateSection, ModelSection
from evenhand.errors import RecipeError
from evenhand.generate.backends import open_backend
from evenhand.runfolder.engines import (
    Engines,
    engines_of,
    refuse_large,
    refuse_small_nodes,
    refuse_too_many,
    shared_out,
)
from evenhand.runfolder.gpus import visible_gpus


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Makes the driver's program say that there are so many GPUs; of None it fails."""

    def with_gpus(n, visible=None):
        program = tmp_path / "nvidia-smi"
        lines = "\n".join(f"echo 'GPU {number}: NVIDIA H100 (UUID: GPU-{number})'" for number in range(n or 0))
        program.write_text(f"#!/bin/sh\n{lines}\n" if n is not None else "#!/bin/sh\nexit 9\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        if visible is None:
            monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        else:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    return with_gpus


def section(replicas="auto", backend="vllm", **engine):
    return GenerateSection(backend=backend, engine=engine, replicas=replicas, plans={"greedy": {}})


@pytest.mark.parametrize(
    ("n", "visible", "expected"),
    [
        (None, None, []),
        (0, "0,1", []),
        (2, None, ["0", "1"]),
        (8, "4, 5,7", ["4", "5", "7"]),
        (2, "", []),
        # as CUDA reads it
        (2, "-1", []),
        (2, "1,5,0", ["1"]),
        (2, "GPU-1", ["GPU-1"]),
    ],
)
def test_visible_gpus_are_those_that_cuda_would_show(machine, n, visible, expected):
    machine(n, visible)
    assert visible_gpus() == expected


@pytest.mark.parametrize(
    ("n", "made", "expected"),
    [
        (None, section(), 1),
        (8, section(), 8),
        (8, section(tensor_parallel_size=2), 4),
        (8, section(tensor_parallel_size=2, pipeline_parallel_size=2), 2),
        (3, section(tensor_parallel_size=2), 1),
        (1, section(tensor_parallel_size=2), 1),
        (8, section(backend="scripted"), 1),
        (8, section(replicas=3), 3),
        (None, section(replicas=3), 3),
    ],
)
def test_auto_is_as_many_engines_as_the_gpus_hold(machine, n, made, expected):
    machine(n)
    assert engines_of(made, "local").n == expected


def on(*gpus):
    return [{"CUDA_VISIBLE_DEVICES": each} for each in gpus]


def test_each_engine_has_gpus_of_its_own(machine):
    machine(8, "2,3,4,5")
    assert shared_out([Engines(2, 2)]) == [[(0, on("2,3", "4,5"))]]


def test_models_whose_gpus_are_free_together_work_side_by_side(machine):
    machine(4)
    models = [Engines(1, 2), Engines(2, 1), Engines(1, 1), Engines(1, 4), Engines(1, 0)]
    assert shared_out(models) == [
        [(0, on("0,1")), (1, on("2", "3"))],
        [(2, on("0"))],
        # one without a model needs no room
        [(3, on("0,1,2,3")), (4, [{}])],
    ]


def test_without_gpus_a_model_has_the_memory_to_itself(machine):
    machine(None)
    assert shared_out([Engines(1, 1), Engines(2, 1), Engines(2, 0), Engines(1, 0)]) == [
        [(0, [{}])],
        [(1, [{}, {}]), (2, [{}, {}]), (3, [{}])],
    ]


@pytest.mark.parametrize(
    ("n", "made", "message"),
    [
        (1, section(replicas=2), r"2 replicas of 1 GPU each need 2, and 1 is visible here; write replicas: 1, or rep"),
        (
            4,
            section(replicas=3, tensor_parallel_size=2),
            r"3 replicas of 2 GPUs each need 6, and 4 are .*replicas: 2, or",
        ),
    ],
)
def test_more_replicas_than_gpus_are_refused(machine, n, made, message):
    machine(n)
    with pytest.raises(RecipeError, match=message):
        refuse_too_many(made)


def test_as_many_replicas_as_gpus_are_not_refused_nor_any_where_there_is_no_gpu_or_no_model(machine):
    machine(2)
    refuse_too_many(section(replicas=2))
    refuse_too_many(section(replicas=3, backend="scripted"))
    # is said of the engine
    refuse_too_many(section(replicas=2, tensor_parallel_size=4))
    machine(0)
    refuse_too_many(section(replicas=3))


@pytest.mark.parametrize("replicas", [1, 2, "auto"])
def test_an_engine_of_more_gpus_than_there_are_is_refused(machine, replicas):
    machine(2)
    two = section(replicas, tensor_parallel_size=2)
    refuse_large(two)
    refuse_large(section(replicas, tensor_parallel_size=4, distributed_executor_backend="ray"))
    with pytest.raises(
        RecipeError, match=r"an engine of 4 GPUs needs them .*, and 2 are visible here; lower tensor_par"
    ):
        refuse_large(section(replicas, tensor_parallel_size=2, pipeline_parallel_size=2))
    machine(1)
    with pytest.raises(RecipeError, match=r"of 2 GPUs .* and 1 is visible here"):
        open_backend(two, ModelSection(name="none"))
    machine(0)
    refuse_large(two)


def test_engines_that_a_node_does_not_hold_are_listed():
    two, three = section(2, tensor_parallel_size=2), section(3)
    refuse_small_nodes({"generate": two, "judges.a.backend": three}, 4)
    refuse_small_nodes({"generate": two, "judges.a.backend": three}, 0)
    with pytest.raises(
        RecipeError,
        match=r"key 'generate\.replicas': 2 replicas .* and 2 are on a node \(--gpus-per-node\); write replicas: 1,"
        r"(.|\n)*key 'judges\.a\.backend\.replicas': 3 replicas of 1 GPU each",
    ):
        refuse_small_nodes({"generate": two, "judges.a.backend": three}, 2)
    with pytest.raises(RecipeError, match=r"key 'generate\.engine': an engine of 2 GPUs .* and 1 is on a node"):
        refuse_small_nodes({"generate": two}, 1)
