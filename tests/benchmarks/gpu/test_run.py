"""The run on a GPU: parts in processes of their own, and all of them in miniature on the CPU."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evenhand.benchmarks.gpu.part import CODES, FAILED, NOT_HERE, PASSED, NotHere, Rows
from evenhand.benchmarks.gpu.run import PAST_LIMIT, Job, main, run_jobs
from evenhand.benchmarks.gpu.start import PARTS
from evenhand.errors import RecipeError

SCRIPT = Path(__file__).parents[3] / "benchmarks/gpu/run.sh"


def job(program: str, limit: float = 60, *, alone: bool = True) -> Job:
    return Job([sys.executable, "-c", program], limit, alone)


def written(folder: Path, name: str, *states: str) -> str:
    """The beginning of a program that writes a part's figures."""
    rows = [{"name": str(place), "state": state} for place, state in enumerate(states)]
    return (
        f"import pathlib, sys, time; pathlib.Path({str(folder / name)!r}).write_text({json.dumps({'rows': rows})!r}); "
    )


def figures(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
def test_a_part_that_fails_or_hangs_is_reported_and_the_others_go_on(tmp_path, capsys):
    start = time.monotonic()
    child = f"import subprocess; subprocess.run([{sys.executable!r}, '-c', 'import time; time.sleep(600)'])"
    jobs = {
        "dies": job("raise SystemExit('no such kernel')"),
        "hangs": job(written(tmp_path, "hangs.json", PASSED) + child, 5),
        "crashes": job("import os; os.abort()"),
        "lacks": job(written(tmp_path, "lacks.json", NOT_HERE) + "sys.exit(77)"),
        "is empty": job(""),
        "works": job(written(tmp_path, "works.json", PASSED, NOT_HERE)),
    }
    assert run_jobs(jobs, tmp_path) == 1
    assert time.monotonic() - start < 300, "what a part started is stopped with it"
    found = {name: figures(tmp_path, name) for name in jobs}
    assert {name: (each["exit_code"], each["state"]) for name, each in found.items()} == {
        "dies": (1, FAILED), "hangs": (PAST_LIMIT, FAILED), "crashes": (-6, FAILED), "lacks": (77, NOT_HERE),
        "is empty": (0, FAILED), "works": (0, PASSED),
    }  # fmt: skip
    assert found["hangs"]["reason"] == "ran past its limit of 5 s"
    assert found["hangs"]["rows"] == [{"name": "0", "state": PASSED}], "what it had found until then"
    assert "no such kernel" in (tmp_path / "dies.log").read_text(encoding="utf-8")
    summary = figures(tmp_path, "summary")["parts"]
    assert [(each[""], each["state"]) for each in summary] == [(name, each["state"]) for name, each in found.items()]
    said, told = capsys.readouterr()
    for name, each in found.items():
        assert (
            f"{name}: started, for at most {jobs[name].limit:g} s; what it says goes to {tmp_path / name}.log\n" in told
        )
        assert f"{name}: {each['state']} after {each['seconds']:g} s\n" in told
    assert said == (tmp_path / "summary.txt").read_text(encoding="utf-8")
    assert "ran past its limit" in said.replace("\u00a0", " ")


def test_a_run_in_which_nothing_fails_ends_well(tmp_path):
    jobs = {"works": job(written(tmp_path, "works.json", PASSED)), "lacks": job("import sys; sys.exit(77)")}
    assert run_jobs(jobs, tmp_path) == 0


def test_what_is_not_timed_runs_side_by_side_and_before_what_is(tmp_path):
    wait = "import os, pathlib, time\nwhile not pathlib.Path({0!r}).exists(): time.sleep(0.01)\n"
    here, other = tmp_path / "here", tmp_path / "other"
    one = f"import pathlib; pathlib.Path({str(here)!r}).touch()\n" + wait.format(str(other))
    two = f"import pathlib; pathlib.Path({str(other)!r}).touch()\n" + wait.format(str(here))
    last = f"import pathlib; assert not list(pathlib.Path({str(tmp_path)!r}).glob('running'))\n"
    busy = f"import pathlib, time; at = pathlib.Path({str(tmp_path / 'running')!r}); at.touch(); time.sleep(1); at.unlink()\n"
    jobs = {
        "timed": job(last + written(tmp_path, "timed.json", PASSED)),
        "one": job(one + written(tmp_path, "one.json", PASSED), alone=False),
        "two": job(two + written(tmp_path, "two.json", PASSED), alone=False),
        "busy": job(busy + written(tmp_path, "busy.json", PASSED), alone=False),
    }
    assert run_jobs(jobs, tmp_path) == 0
    assert [each[""] for each in figures(tmp_path, "summary")["parts"]] == list(jobs)


@pytest.mark.slow
def test_a_worker_in_a_session_of_its_own_ends_with_its_part(tmp_path):
    worker = f"import pathlib, time; time.sleep(6); pathlib.Path({str(tmp_path / 'late')!r}).touch()"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {worker!r}], start_new_session=True)"
    run_jobs({"hangs": job(program, 2)}, tmp_path)
    time.sleep(6)
    assert not (tmp_path / "late").exists()


def test_figures_of_an_earlier_run_are_not_taken_for_new_ones(tmp_path):
    (tmp_path / "dies.json").write_text(json.dumps({"rows": [{"name": "old", "state": PASSED}]}))
    run_jobs({"dies": job("import sys; sys.exit(1)")}, tmp_path)
    assert figures(tmp_path, "dies")["rows"] == []


def test_all_parts_together_have_ten_minutes():
    beside = max(part.limit for part in PARTS.values() if not part.alone)
    assert beside + sum(part.limit for part in PARTS.values() if part.alone) < 600


def test_a_part_has_failed_if_a_row_has_or_if_there_is_none(tmp_path):
    def raising(error: Exception) -> Any:
        raise error

    rows = Rows(tmp_path / "part.json", "part", is_tiny=True)
    assert rows.state == FAILED
    rows.check("a", lambda: raising(NotHere("no card")))
    assert rows.state == NOT_HERE
    rows.check("b", lambda: {"error": 0.5})
    assert rows.state == PASSED
    rows.check("c", lambda: raising(AssertionError("off by 3")))
    assert rows.state == FAILED
    found = figures(tmp_path, "part")["rows"]
    assert [row.get("reason") for row in found] == ["no card", None, "AssertionError: off by 3"]
    with pytest.raises(KeyboardInterrupt):
        rows.check("d", lambda: raising(KeyboardInterrupt()))


def test_without_a_gpu_the_whole_run_is_refused_and_the_tiny_one_named(tmp_path):
    if pytest.importorskip("torch").cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(RecipeError, match="--tiny runs the same parts on the CPU"):
        main(["--output", str(tmp_path)])


def run_tiny(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHON": sys.executable, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [str(SCRIPT), "--tiny", "--output", str(folder), *arguments],
        env=environment, capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip


# in miniature the first is speed-1b, and the second has kernels for GPUs alone
NOT_IN_MINIATURE = {"speed-8b", "liger"}
# they train several times
SHARDED = ("zero2", "zero3", "fsdp2", "nf4")
# rows that must have run on a CPU
RUN = {
    "kernels": {
        f"{family}, {kernel}, {dtype}"
        for family in ("llama", "mistral", "gemma2") for kernel in ("sdpa", "masks") for dtype in ("float32", "bfloat16")
    },
    "graphs": {"flex_attention, ten lengths"},
    "speed-1b": {
        "sdpa, 1 request", "sdpa, 4 requests", "sdpa, both sides of a set", "sdpa, 1 request, checkpointing",
        "kernels of evenhand, 4 requests", "kernels of limit, 4 requests",
    },
    "memory": {"requests: 1", "requests: 2"},
    **{kind: {f"{kind}, killed and continued"} for kind in SHARDED},
}  # fmt: skip
NEEDED = {"zero2": "deepspeed", "zero3": "deepspeed", "nf4": "bitsandbytes"}


def test_every_part_has_rows_that_must_have_run_in_miniature():
    assert RUN.keys() == PARTS.keys() - NOT_IN_MINIATURE
    assert all(RUN.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=pytest.mark.campaign) if part == "zero2" else part for part in RUN]
)
def test_every_part_runs_in_miniature(part, tmp_path, request):
    pytest.importorskip("trl")
    # one part starts as a user's does; the others show nothing more by importing everything anew
    if part != "graphs":
        request.getfixturevalue("quick_python")
    pytest.importorskip(NEEDED.get(part, "trl"))
    if NEEDED.get(part) == "deepspeed" and shutil.which("c++") is None:
        pytest.skip("DeepSpeed compiles its CPU communication, and there is no C++ compiler")
    done = run_tiny(tmp_path, "--only", part)
    found = figures(tmp_path, part)
    log = (tmp_path / f"{part}.log").read_text(encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr + log[-5000:]
    assert found["exit_code"] == CODES[found["state"]]
    assert {row["state"] for row in found["rows"]} <= {PASSED, NOT_HERE}
    assert all(row["reason"] for row in found["rows"] if row["state"] == NOT_HERE)
    passed = {row["name"] for row in found["rows"] if row["state"] == PASSED}
    assert RUN[part] <= passed
    assert not [name for name in passed if "flash" in name], "no kernel of a GPU passes on a CPU"
    if part == "fsdp2":
        # two processes of the CPU add up in one order
        assert [row["shown"]["same bits"] for row in found["rows"]] == ["True"]
    assert part in done.stdout


@pytest.mark.slow
def test_a_part_past_its_limit_fails_the_script(tmp_path):
    done = run_tiny(tmp_path, "--only", "graphs", "--limit", "graphs=0.1")
    assert done.returncode == 1, done.stderr
    assert figures(tmp_path, "graphs")["exit_code"] == PAST_LIMIT


def test_a_run_that_is_stopped_stops_its_part(tmp_path):
    environment = os.environ | {"PYTHON": sys.executable}
    with subprocess.Popen(
        [sys.executable, "-m", "evenhand.benchmarks.gpu.run", "--tiny", "--output", str(tmp_path), "--only", "kernels"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        while not (tmp_path / "kernels.log").exists():
            assert process.poll() is None
            time.sleep(0.1)
        # the part's process is the run's only child
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not (found := children.read_text(encoding="utf-8").split()):
            time.sleep(0.1)
        process.terminate()
        assert process.wait(60) == 128 + signal.SIGTERM
    assert not Path(f"/proc/{found[0]}").exists()


def test_a_run_that_is_interrupted_leaves_its_summary(tmp_path, capsys):
    interrupt = "import os, signal; os.kill(os.getppid(), signal.SIGINT); time.sleep(600)"
    (tmp_path / "waits.json").write_text(json.dumps({"rows": [{"name": "old", "state": PASSED}]}))
    jobs = {
        "works": job(written(tmp_path, "works.json", PASSED)),
        "hangs": job(written(tmp_path, "hangs.json", PASSED) + interrupt),
        "waits": job(""),
    }
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_jobs(jobs, tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    summary = {each[""]: each for each in figures(tmp_path, "summary")["parts"]}
    assert {name: each["state"] for name, each in summary.items()} == {
        "works": PASSED,
        "hangs": FAILED,
        "waits": "not run",
    }
    assert summary["hangs"]["reason"] == "the run was stopped"
    assert summary["hangs"]["rows passed"] == 1
    assert not (tmp_path / "waits.json").exists(), "figures of an earlier run"
    said = capsys.readouterr().out
    assert said == (tmp_path / "summary.txt").read_text(encoding="utf-8")
    assert "not run" in said.replace("\u00a0", " ")


def test_a_script_that_is_stopped_leaves_its_summary(tmp_path):
    environment = os.environ | {"PYTHON": sys.executable}
    with subprocess.Popen(
        [str(SCRIPT), "--tiny", "--output", str(tmp_path), "--only", "kernels", "memory"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline().startswith("kernels: started, for at most 600 s; ")
        process.terminate()
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert [each["state"] for each in figures(tmp_path, "summary")["parts"]] == [FAILED, "not run"]
    assert "the run was stopped" in said.replace("\u00a0", " ")


def test_a_run_that_is_stopped_while_it_starts_its_part_stops_it(tmp_path, monkeypatch):
    started = []

    class Interrupted(subprocess.Popen):
        """A process during whose start a signal comes."""

        def __init__(self, *words, **options):
            super().__init__(*words, **options)
            started.append(self.pid)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    # a shell that starts the tests in the background has the signal ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_jobs({"sleeps": job("import time; time.sleep(600)", 30)}, tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not Path(f"/proc/{started[0]}").exists()
