"""The loop: its plan, what it says of a failed step, and every stage a process that may be killed anywhere."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from filelock import FileLock, Timeout

from evenhand.config import Recipe
from evenhand.config.recipe_file import load_recipe
from evenhand.evaluation.report.checkpoint.report import report
from evenhand.generate.stage import generate
from evenhand.judges.stage import judge
from evenhand.loop import StepFailed, plan, run_loop, work_in
from evenhand.rerank.stage import rerank
from evenhand.runfolder.engine_pool import LOG
from evenhand.runfolder.phases import (
    ADAPTER,
    CANDIDATES,
    CHECKPOINTS,
    PAIRS,
    TRAINING,
    changed_keys,
    open_phase,
    resolved_recipe,
)
from evenhand.runfolder.stages import Counts
from evenhand.train.callbacks import MARK
from evenhand.train.stage import training_stage

pytestmark = pytest.mark.usefixtures("own_cache")

ROUND = ["round-00 generate", "round-00 judge", "round-00 rerank", "round-00 train"]
BASE = ["evaluation/base generate", "evaluation/base judge", "evaluation/base rerank"]
TRAINED = ["evaluation/round-00 generate", "evaluation/round-00 judge", "evaluation/round-00 rerank"]


def small(tmp_path, **changes):
    values = {
        "name": "small",
        "output": tmp_path / "run",
        "model": {"name": "none"},
        "corpus": {"train": {"split": "train", "limit": 2}, "test": {"split": "test", "limit": 2}},
        "generate": {"backend": "scripted", "plans": {"nucleus": {"candidates": 3}}},
        "judges": {"recall": {"kind": "rouge"}, "precision": {"kind": "rouge", "measure": "precision"}},
        "reward": {"judges": ["recall"]},
        "evaluation": {"judges": ["precision"], "resamples": 100},
    }
    return Recipe.model_validate(values | changes)


def make_pairs(recipe, name):
    for stage in (generate, judge, rerank):
        stage(open_phase(recipe, name))


def leave_adapter(recipe):
    """What a finished training leaves, its weights aside: the scripted backend reads none."""
    phase = open_phase(recipe, "round-00")

    def work():
        (phase.folder / ADAPTER).mkdir()
        (phase.folder / ADAPTER / "adapter_config.json").write_text("{}")
        (phase.folder / TRAINING).write_text("{}")
        return Counts()

    training_stage(phase, 1).run(work)


def done(recipe):
    return [row.step.name for row in plan(recipe) if row.is_done]


@pytest.fixture
def finished(tmp_path):
    """A run whose every stage but the report is done."""
    recipe = small(tmp_path)
    make_pairs(recipe, "round-00")
    leave_adapter(recipe)
    make_pairs(recipe, "evaluation/base")
    make_pairs(recipe, "evaluation/round-00")
    return recipe


def test_nothing_is_done_before_the_first_step(tmp_path):
    assert done(small(tmp_path)) == []
    assert not (tmp_path / "run").exists()


def test_work_of_each_step_is_counted(tmp_path):
    # two sets of two sides, three candidates each; both judges score the evaluation
    work = {row.step.name: row.work for row in plan(small(tmp_path))}
    assert work["round-00 generate"] == "4 requests x 3 candidates = 12"
    assert work["round-00 judge"] == "12 candidates x 1 judges = 12"
    assert work["evaluation/base judge"] == "12 candidates x 2 judges = 24"


def test_plan_has_the_candidates_of_evaluations_and_every_round_that_is_evaluated(tmp_path):
    asked = {"judges": ["precision"], "plans": {"nucleus": {"candidates": 6}}, "rounds": "all"}
    work = {row.step.name: row.work for row in plan(small(tmp_path, rounds=2, evaluation=asked))}
    assert work["round-01 generate"] == "4 requests x 3 candidates = 12"
    for name in ("base", "round-00", "round-01"):
        assert work[f"evaluation/{name} generate"] == "4 requests x 6 candidates = 24"
        assert work[f"evaluation/{name} rerank"] == "best of 6 for 4 requests"


def test_engines_that_share_the_work_are_told(tmp_path):
    recipe = small(tmp_path)
    three = recipe.model_copy(update={"generate": recipe.generate.model_copy(update={"replicas": 3})})
    (work,) = (row.work for row in plan(three) if row.step.name == "round-00 generate")
    assert work == "4 requests x 3 candidates = 12, by 3 engines side by side"


def test_finished_steps_are_done(finished):
    assert done(finished) == [*ROUND, *BASE, *TRAINED]


def test_half_finished_round_is_done_as_far_as_it_went(tmp_path):
    recipe = small(tmp_path)
    for stage in (generate, judge):
        stage(open_phase(recipe, "round-00"))
    assert done(recipe) == ROUND[:2]


def test_plan_says_where_the_files_of_steps_go_that_are_made_anew(finished, tmp_path):
    assert not [row for row in plan(finished) if row.aside]
    changed = small(tmp_path, reward={"judges": ["recall"], "combine": "z_mean"})
    aside = {row.step.name: row.aside for row in plan(changed) if row.aside}
    assert list(aside) == [*ROUND[2:], BASE[2], *TRAINED]
    rerank(open_phase(changed, "evaluation/base"))
    assert (aside["evaluation/base rerank"] / "best.jsonl").is_file()


def test_keys_are_named_that_differ_from_the_last_recipe_of_the_folder(tmp_path):
    first = small(tmp_path)
    assert changed_keys(first) == []
    with work_in(first):
        pass
    assert changed_keys(first) == []
    second = small(tmp_path, seed=1, reward={"judges": ["recall"], "combine": "z_mean"}, wandb={"project": "p"})
    assert sorted(changed_keys(second)) == ["reward.combine", "seed", "wandb"]
    (tmp_path / "run" / "recipe.yaml").write_text("damaged")
    assert changed_keys(second) == []


@pytest.mark.parametrize(
    ("changes", "still_done"),
    [
        ({"seed": 43}, []),
        ({"name": "other"}, []),
        # the first training judges are what they were; the evaluation has another judge
        ({"evaluation": {"judges": ["recall"]}}, [*ROUND, BASE[0], TRAINED[0]]),
        # another order of the candidates: what was trained on it is out of date, and so is what that adapter generated
        ({"reward": {"judges": ["recall"], "combine": "z_mean"}}, [*ROUND[:2], *BASE[:2]]),
        ({"pairs": {"mode": "all"}}, [*ROUND[:2], *BASE]),
        # another number of candidates to test with leaves what was trained as it is
        ({"evaluation": {"judges": ["precision"], "plans": {"nucleus": {"candidates": 4}}}}, ROUND),
        ({"evaluation": {"judges": ["precision"], "rounds": "all"}}, [*ROUND, *BASE, *TRAINED]),
        ({"lora": {"r": 4}}, [*ROUND[:3], *BASE]),
        # speeds, limits and reports change no summary
        ({"limits": {"unscored": 1}}, [*ROUND, *BASE, *TRAINED]),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_change_of_the_recipe_makes_all_that_rests_on_it_to_do(finished, tmp_path, changes, still_done):
    assert done(small(tmp_path, **changes)) == still_done


def test_edited_file_makes_its_step_and_the_later_ones_to_do(finished):
    path = open_phase(finished, "round-00").folder / CANDIDATES
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    assert done(finished) == BASE


def test_absent_adapter_makes_its_evaluation_to_do(finished):
    (open_phase(finished, "round-00").folder / ADAPTER / "adapter_config.json").unlink()
    assert done(finished) == [*ROUND[:3], *BASE]


def test_round_without_pairs_is_planned_all_the_same(tmp_path):
    recipe = small(tmp_path, pairs={"least_margin": 1e9})
    make_pairs(recipe, "round-00")
    assert (open_phase(recipe, "round-00").folder / PAIRS).read_text() == ""
    assert done(recipe) == ROUND[:3]


def test_training_on_pairs_of_its_own_needs_no_candidates(finished, tmp_path):
    pairs = tmp_path / "own.jsonl"
    pairs.write_bytes((open_phase(finished, "round-00").folder / PAIRS).read_bytes())
    recipe = small(tmp_path, output=tmp_path / "other", train={"pairs": pairs})
    leave_adapter(recipe)
    make_pairs(recipe, "evaluation/round-00")
    planned = plan(recipe)
    assert [row.step.name for row in planned] == [ROUND[3], *BASE, *TRAINED, "report"]
    assert planned[0].work.startswith(f"{pairs} -> adapter/")
    assert done(recipe) == [ROUND[3], *TRAINED]


def test_report_is_done_until_what_it_shows_changes(tmp_path):
    recipe = small(tmp_path, rounds=0)
    make_pairs(recipe, "evaluation/base")
    assert done(recipe) == BASE
    report(recipe)
    assert done(recipe) == [*BASE, "report"]
    assert done(small(tmp_path, rounds=0, evaluation={"judges": ["precision"], "resamples": 200})) == BASE


def test_plan_of_a_finished_run_loads_no_torch(finished, tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(finished.model_dump(mode="json")))
    code = (
        "import sys; from pathlib import Path; from evenhand.loop import plan\n"
        "from evenhand.config.recipe_file import load_recipe\n"
        "print(sum(row.is_done for row in plan(load_recipe(Path(sys.argv[1])))))\n"
        "heavy = {'torch', 'transformers', 'vllm', 'trl', 'sentence_transformers'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    planned = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout == "10\n"


@pytest.mark.parametrize(
    ("end", "code", "remedy"),
    [
        ("exit 1", 1, "the same command continues with this step"),
        ("exit 130", 130, "the same command continues with this step"),
        ("kill -9 $$", 1, "the same command continues with this step"),
        ("exit 2", 2, "mend the recipe, the data or the installation as the log says; then the same command"),
        ("exit 3", 3, "mend what was left out, or raise the limit that the log names; then the same command"),
    ],
)
def test_failed_step_says_what_to_do_before_the_same_command(tmp_path, end, code, remedy):
    interpreter = tmp_path / "python"
    interpreter.write_text(f"#!/bin/sh\necho what went wrong\n{end}\n")
    interpreter.chmod(0o755)
    generation = {"backend": "scripted", "plans": {"nucleus": {}}, "python": str(interpreter)}
    with pytest.raises(StepFailed) as caught:
        run_loop(
            small(tmp_path, generate=generation),
            running=lambda step: nullcontext(),
            on_done=lambda step, receipt, reused: pytest.fail(f"{step.name} cannot be done"),
        )
    assert caught.value.exit_code == code
    *_, said, last = str(caught.value).splitlines()
    assert said == "what went wrong"
    assert last.startswith(remedy)


def test_a_run_folder_whose_name_begins_with_a_dash_is_no_option_of_its_steps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    interpreter = tmp_path / "python"
    interpreter.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 1\n")
    interpreter.chmod(0o755)
    generation = {"backend": "scripted", "plans": {"nucleus": {}}, "python": str(interpreter)}
    asked = small(tmp_path, output=Path("-rf/run"), generate=generation)
    with pytest.raises(StepFailed, match=rf"\n{tmp_path}/-rf/run/recipe\.yaml\n"):
        run_loop(asked, running=lambda step: nullcontext(), on_done=lambda *_: None)
    assert resolved_recipe(asked, "replicas").is_absolute()


@pytest.mark.usefixtures("quick_commands")
def test_engines_that_outlive_their_stages_leave_the_same_files(tmp_path):
    scripted = {"backend": "scripted", "requests_per_batch": 1, "replicas": 2}
    values = {
        "generate": scripted | {"plans": {"nucleus": {"candidates": 2}}},
        "judges": {
            "grade": {"kind": "rubric", "rubric": "coverage", "model": {"name": "none"}, "backend": scripted},
            "precision": {"kind": "rouge", "measure": "precision"},
        },
        "reward": {"judges": ["grade"]},
        "rounds": 0,
    }
    files = []
    for keep_engines in (False, True):
        folder = tmp_path / str(keep_engines)
        recipe = small(folder, **values, output=folder / "run", keep_engines=keep_engines)
        run_loop(recipe, running=lambda step: nullcontext(), on_done=lambda *_: None)
        assert (recipe.output / LOG).exists() == keep_engines
        files.append(files_of(recipe.output))
        del files[-1][Path("recipe.yaml")]
    assert Path("evaluation/base/judgements.jsonl") in files[0]
    assert files[0] == files[1]


KILLED = {
    "name": "kill",
    "seed": 3,
    "corpus": {"path": "sample", "train": {"split": "train", "limit": 6}, "test": {"split": "test", "limit": 3}},
    "generate": {
        "backend": "scripted",
        "requests_per_batch": 2,
        "engine": {"tokenize": True, "seconds_per_batch": 0.4},
        "plans": {"nucleus": {"candidates": 4, "max_tokens": 32}},
        "max_model_len": 2048,
    },
    "judges": {
        # slow enough to be killed in the middle
        "grade": {
            "kind": "rubric",
            "rubric": "coverage",
            "model": {"name": "none"},
            "backend": {"backend": "scripted", "requests_per_batch": 2, "engine": {"seconds_per_batch": 0.4}},
        },
        "precision": {"kind": "rouge", "measure": "precision"},
    },
    "reward": {"judges": ["grade"]},
    "pairs": {"mode": "top_bottom"},
    "lora": {"r": 4, "target_modules": ["q_proj", "v_proj"]},
    "trainer": {
        "learning_rate": 1e-3, "per_device_train_batch_size": 2, "gradient_accumulation_steps": 1, "save_steps": 1,
    },
    "evaluation": {"judges": ["precision"], "resamples": 200},
    "rounds": 1,
}  # fmt: skip
COMPARED = [
    "requests.jsonl", "candidates.jsonl", "failures.jsonl", "judgements.jsonl", "groups.jsonl", "best.jsonl", "pairs.jsonl",
    "adapter/adapter_model.safetensors",
]  # fmt: skip


@dataclass(frozen=True)
class Kill:
    """Where a loop is killed: the step, and how far the step must have come, no further."""

    step: str
    # folder of the step's receipt, in the run folder
    folder: str
    # what lies in that folder when the step is inside its work; "": nothing, its log is enough
    progress: str
    # lines of that file when the work is done; 0: the file being there is enough
    whole: int

    @property
    def receipt(self) -> str:
        return f"{self.folder}/receipts/{self.step.rpartition('-')[2]}.json"


# 12 requests in training and 6 in the test, in batches of two; the test is also judged by "precision", in one batch.
# rerank is too short to be met half-way: it is killed as soon as it has begun
KILLS = [
    Kill("round-00-generate", "round-00", "receipts/generate.*.partial.jsonl", 6),
    Kill("round-00-judge", "round-00", "receipts/judge.*.partial.jsonl", 6),
    Kill("round-00-rerank", "round-00", "", 0),
    Kill("round-00-train", "round-00", f"checkpoints/*/checkpoint-*/{MARK}", 0),
    Kill("evaluation-round-00-generate", "evaluation/round-00", "receipts/generate.*.partial.jsonl", 3),
    Kill("evaluation-round-00-judge", "evaluation/round-00", "receipts/judge.*.partial.jsonl", 4),
    # the probe of the adapter is done, the page is not
    Kill("report", "report", "receipts/probe.json", 0),
]


def write_recipe(folder: Path, model: Path) -> Path:
    folder.mkdir()
    path = folder / "recipe.yaml"
    values = KILLED | {"output": str(folder / "run"), "model": {"name": str(model), "dtype": "float32"}}
    path.write_text(yaml.safe_dump(values))
    return path


def start(recipe: Path) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "EVENHAND_CACHE": str(recipe.parent / "cache")}
    with (recipe.parent / "output.txt").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "evenhand.cli", "loop", str(recipe)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )


def said(recipe: Path) -> str:
    return (recipe.parent / "output.txt").read_text()


def finish(recipe: Path) -> None:
    status = start(recipe).wait(timeout=400)
    assert status == 0, said(recipe)[-4000:]


def n_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def has_begun(kill: Kill, run: Path) -> bool:
    """Whether the step's process is inside its work."""
    if not kill.progress:
        return (run / "logs" / f"{kill.step}.log").exists()
    return any(kill.whole == 0 or n_lines(path) > 0 for path in (run / kill.folder).glob(kill.progress))


def is_free(folder: Path) -> bool:
    """Whether no process works in that folder."""
    try:
        with FileLock(folder / ".lock", timeout=0):
            return True
    except Timeout:
        return False


def wait_until(holds: Callable[[], bool], loop: "subprocess.Popen[bytes] | None" = None) -> None:
    deadline = time.monotonic() + 300
    while not holds():
        assert loop is None or loop.poll() is None, "the loop ended before it could be killed"
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def interrupt(kill: Kill, recipe: Path) -> None:
    """Start the loop, kill it inside the step, and see that the step was alive and is half done."""
    run = recipe.parent / "run"
    loop = start(recipe)
    wait_until(lambda: has_begun(kill, run), loop)
    loop.send_signal(signal.SIGKILL)
    assert loop.wait() == -signal.SIGKILL
    # the step's process ends with its parent
    wait_until(lambda: is_free(run))
    assert not (run / kill.receipt).exists(), f"{kill.step} was done already"
    if kill.whole:
        (journal,) = (run / kill.folder).glob(kill.progress)
        assert 0 < n_lines(journal) < kill.whole, kill.step
    if kill.step.endswith("train"):
        assert not (run / kill.folder / TRAINING).exists()


def files_of(run: Path) -> dict[Path, bytes]:
    """The files of a run that do not tell the time."""
    timed = {"receipts", "logs", "report"}
    return {
        path.relative_to(run): path.read_bytes()
        for path in run.rglob("*")
        if path.is_file() and not timed & set(path.parts) and path.name not in {"manifest.json", ".lock"}
    }


@pytest.mark.slow
def test_a_second_loop_with_another_recipe_changes_nothing_of_the_first(tmp_path):
    # "grade" is the reward of the first, "precision" would be that of the second
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    generation = KILLED["generate"] | {"engine": {"seconds_per_batch": 0.4}}
    values = KILLED | {"output": str(tmp_path / "run"), "model": {"name": "none"}, "rounds": 0, "generate": generation}
    first.write_text(yaml.safe_dump(values))
    second.write_text(yaml.safe_dump(values | {"reward": {"judges": ["precision"]}}))
    finish(first)
    undisturbed = files_of((tmp_path / "run").rename(tmp_path / "undisturbed"))
    # seven files, the recipe and the date
    assert len(undisturbed) == 9

    loop = start(first)
    for step in ("generate", "judge", "rerank"):
        wait_until((tmp_path / "run" / "logs" / f"evaluation-base-{step}.log").exists, loop)
        # it stands still until the other is refused, however long a busy machine takes to start that one
        loop.send_signal(signal.SIGSTOP)
        try:
            assert start(second).wait(timeout=100) == 1
        finally:
            loop.send_signal(signal.SIGCONT)
    assert said(first).count(f"(process {loop.pid}) or a child of it is at work there") == 3
    assert loop.wait(timeout=100) == 0
    assert files_of(tmp_path / "run") == undisturbed


@pytest.mark.slow
@pytest.mark.usefixtures("quick_python")
def test_killed_inside_every_stage_the_loop_ends_with_the_same_files(tmp_path, tiny_model):
    pytest.importorskip("trl")
    undisturbed, recipe = (write_recipe(tmp_path / name, tiny_model) for name in ("undisturbed", "killed"))
    finish(undisturbed)
    for kill in KILLS:
        interrupt(kill, recipe)
    finish(recipe)
    run, whole = recipe.parent / "run", undisturbed.parent / "run"
    expected = sorted(
        path.relative_to(whole) for name in COMPARED for path in whole.rglob(name) if CHECKPOINTS not in path.parts
    )
    # six files of each of the three phases, the pairs and the adapter
    assert len(expected) == 20
    for path in expected:
        assert (run / path).read_bytes() == (whole / path).read_bytes(), path
    assert (run / "report" / "index.html").is_file()
    assert not list(run.rglob("*.partial.jsonl")), "a finished run keeps no journals"
    assert (run / "logs" / "round-00-train.log").read_text().count("continuing from") == 1

    # a further run finds everything done, as its plan says
    assert all(row.is_done for row in plan(load_recipe(recipe)))
    (recipe.parent / "output.txt").unlink()
    finish(recipe)
    assert said(recipe).count("reused") == 11, said(recipe)


def test_plan_says_that_copies_are_judged_too(tmp_path):
    judges = {"ec": {"kind": "equal-coverage", "entailer": {"kind": "words"}}}
    recipe = small(tmp_path)
    values = recipe.model_dump(mode="json", exclude={"task"})
    values["judges"] |= judges
    values["generate"]["method"] = "thinned"
    values |= {"task": {"scope": "all"}, "pairs": {"mode": "fairpo", "judge": "ec"}}
    work = {row.step.name: row.work for row in plan(Recipe.model_validate(values))}
    assert work["round-00 judge"].endswith(" = 12, and as many of each thinned copy of a set by the pairs' judge")
    assert "copy" not in work["evaluation/base judge"]
