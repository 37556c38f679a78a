"""Judges on several models: each model in a process of its own, and the same judgements as in one."""

import contextlib
import subprocess
import sys
import threading
import time

import psutil
import pytest
from conftest import make_candidate, make_request
from poisoned import poisoned

from evenhand.config import Recipe
from evenhand.config.model import ReplicatedSection
from evenhand.config.recipe_file import dump_recipe
from evenhand.errors import JudgeError, RecipeError
from evenhand.judges import open_judges
from evenhand.judges.stage import judge, judge_by
from evenhand.loop import work_in
from evenhand.records import SummaryRequest
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, open_phase
from evenhand.storage import read_jsonl, write_jsonl

RUBRICS = ("coverage", "faithfulness")


@pytest.fixture
def two_models(tmp_path, ferry, monkeypatch):
    """Makes a phase of five requests with judges on two models; its folder and its cache have that name."""

    def make(name, models=("org/one", "org/two"), **backend):
        monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / name / "cache"))
        section = {"backend": "scripted", "requests_per_batch": 1, **backend}
        judges = {
            f"{rubric}-{number}": {
                "kind": "rubric",
                "rubric": rubric,
                "model": {"name": str(model), "dtype": "float32"},
                "backend": section,
                "overflow": "error",
            }
            for number, model in enumerate(models)
            for rubric in RUBRICS
        }
        names = [*judges, "overlap"]
        recipe = Recipe.model_validate(
            {
                "name": "small", "output": tmp_path / name, "model": {"name": "none"},
                "judges": {**judges, "overlap": {"kind": "rouge"}}, "reward": {"judges": names},
                "generate": {"backend": "scripted", "plans": {"nucleus": {}}}, "evaluation": {"judges": names},
            }
        )  # fmt: skip
        phase = open_phase(recipe, "round-00")
        requests = [make_request(ferry.model_copy(update={"id": f"ferry-{i}"})) for i in range(5)]
        write_jsonl(phase.folder / REQUESTS, requests)
        write_jsonl(
            phase.folder / CANDIDATES,
            [make_candidate(r, f"{text} {r.id}", i) for r in requests for i, text in enumerate(("The ferry.", "No."))],
        )
        return phase

    return make


def judged(phase):
    """What the stage leaves when each model has a process of its own."""
    with work_in(phase.recipe):
        receipt, _ = judge(phase)
    return (phase.folder / JUDGEMENTS).read_bytes(), receipt


def in_this_process(phase):
    """What the stage leaves when all models are loaded by this process."""
    receipt, _ = judge_by(phase, open_judges(phase.recipe.judges))
    return (phase.folder / JUDGEMENTS).read_bytes(), receipt


def children():
    """Processes of judges that this one has started and that have not ended."""
    found = []
    for each in psutil.Process().children():
        # one that has just ended has no command line any more
        with contextlib.suppress(psutil.Error):
            found += [each] if "evenhand.judges.child" in each.cmdline() else []
    return found


def test_judgements_and_counts_are_those_of_one_process(two_models):
    together, expected = in_this_process(two_models("together"))
    apart, receipt = judged(two_models("apart"))
    assert apart == together
    assert receipt.counts == expected.counts
    # both children said what they spent, and left nothing else
    assert receipt.spent.keys() == expected.spent.keys() == {"loading"}
    assert [path.name for path in (two_models("apart").folder / "receipts").iterdir()] == ["judge.json"]


def test_stage_with_one_model_has_it_in_its_own_process(two_models):
    seen = []
    phase = two_models("alone", models=["org/one"], engine={"seconds_per_batch": 0.05})
    watching = watch(lambda: seen.extend(children()))
    judged(phase)
    watching.set()
    assert seen == []


def watch(look):
    """Look again and again until the event that is given back is set."""
    done = threading.Event()

    def run():
        while not done.wait(0.02):
            look()

    threading.Thread(target=run, daemon=True).start()
    return done


def test_killed_child_is_started_anew_and_the_judgements_are_the_same(two_models):
    expected, receipt = in_this_process(two_models("whole"))
    phase = two_models("broken", engine={"seconds_per_batch": 0.2})

    def kill():
        """Kill a model's process once the judges have written something."""
        lines = sum(path.read_bytes().count(b"\n") for path in phase.folder.glob("receipts/*.partial.jsonl"))
        # a line for each batch of the judge without a model, and some of the models
        if lines > 7:
            children()[-1].kill()
            done.set()

    done = watch(kill)
    found, again = judged(phase)
    assert done.is_set()
    assert (found, again.counts) == (expected, receipt.counts)
    assert children() == []


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [2, 5])
def test_replicas_leave_the_judgements_and_counts_of_one_process(two_models, replicas):
    expected, receipt = in_this_process(two_models("whole"))
    found, again = judged(two_models("replicas", replicas=replicas))
    assert (found, again.counts) == (expected, receipt.counts)
    # one model is judged by several as well
    expected, receipt = in_this_process(two_models("one", models=["org/one"]))
    found, again = judged(two_models("one-replicas", models=["org/one"], replicas=replicas))
    assert (found, again.counts) == (expected, receipt.counts)


@pytest.mark.slow
def test_a_batch_that_was_given_up_stops_the_stage_and_is_all_that_the_same_command_tries_again(
    two_models, tmp_path, monkeypatch
):
    expected, _ = in_this_process(two_models("whole"))
    phase = two_models("broken", replicas=2)
    with monkeypatch.context() as patch:
        # the candidates of the third request say its name
        poisoned(tmp_path, "ferry-2", patch)
        with pytest.raises(
            JudgeError,
            match=r"2 batches were given up.* of judges coverage-0, faithfulness-0, coverage-1, faithfulness-1 died: twice over "
            r"the same batch; it was killed by signal 9\. All others are judged",
        ):
            judged(phase)
    assert not (phase.folder / JUDGEMENTS).exists()
    # four batches of each model, and one of the judge without a model
    assert sum(path.read_bytes().count(b"\n") for path in phase.folder.glob("receipts/*.partial.jsonl")) == 9
    assert judged(phase)[0] == expected


@pytest.mark.slow
def test_equal_inputs_in_several_batches_are_asked_once_whoever_gets_them(two_models):
    def twins(name, **backend):
        phase = two_models(name, **backend)
        requests = read_jsonl(phase.folder / REQUESTS, SummaryRequest)
        write_jsonl(phase.folder / CANDIDATES, [make_candidate(r, "The ferry.", 0) for r in requests])
        return phase

    expected, receipt = in_this_process(twins("whole"))
    # all five requests have the same source, and the scripted models one signature: the second finds what the first has said
    assert [receipt.counts["cached"][name] for name in ("coverage-0", "coverage-1")] == [4, 5]
    found, again = judged(twins("replicas", replicas=3, engine={"seconds_per_batch": 0.1}))
    assert (found, again.counts) == (expected, receipt.counts)


@pytest.mark.slow
def test_killed_with_its_children_the_stage_goes_on_with_another_number_of_them(two_models, monkeypatch):
    expected, receipt = in_this_process(two_models("whole"))
    phase = two_models("killed", replicas=3, engine={"seconds_per_batch": 0.2})
    recipe = phase.recipe.output / "mine.yaml"
    recipe.write_text(dump_recipe(phase.recipe))
    command = [sys.executable, "-m", "evenhand.cli", "judge", str(recipe), "--phase", phase.name]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while sum(path.read_bytes().count(b"\n") for path in phase.folder.glob("receipts/*.partial.jsonl")) < 8:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    assert not (phase.folder / JUDGEMENTS).exists()
    section = {"backend": "scripted", "requests_per_batch": 1, "replicas": 2}
    changed = [
        each.model_copy(update={"backend": ReplicatedSection.model_validate(section)})
        if hasattr(each, "backend")
        else each
        for each in phase.recipe.judges.values()
    ]
    judges = dict(zip(phase.recipe.judges, changed, strict=True))
    again = open_phase(phase.recipe.model_copy(update={"judges": judges}), phase.name)
    found, continued = judged(again)
    assert found == expected
    assert continued.counts["scored"] == receipt.counts["scored"]


def test_what_a_child_refuses_is_the_stages_own_message(two_models):
    # the rubric's prompt has more words than this
    with pytest.raises(
        JudgeError, match=r"prompts are too long for the judge's model: ferry-0/left#0 .*overflow: skip"
    ):
        judged(two_models("refused", max_model_len=64))


def test_a_recipe_that_was_broken_meanwhile_is_the_stages_own_message(two_models):
    phase = two_models("broken")
    with work_in(phase.recipe) as resolved:
        resolved.write_text("judges: [")
        with pytest.raises(RecipeError, match=r"broken/recipe\.yaml"):
            judge(phase)


def tree_megabytes():
    """Resident memory of this process and all below it."""
    found = 0
    for each in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            found += each.memory_info().rss
    return found / 2**20


@pytest.mark.slow
def test_two_vllm_engines_never_meet_and_their_memory_is_given_back(two_models, tiny_model, tmp_path, monkeypatch):
    pytest.importorskip("vllm")
    from sentencepiece_models import save_mistral

    save_mistral(tmp_path / "mistral")
    phase = two_models(
        "engines", [tiny_model, tmp_path / "mistral"], backend="vllm", max_model_len=1024, requests_per_batch=5
    )
    before = tree_megabytes()
    # process of a child -> most memory of the tree while it was there
    most, together = {}, [0]

    def look():
        alive = [child.pid for child in children()]
        together.append(len(alive))
        for pid in alive:
            most[pid] = max(most.get(pid, 0.0), tree_megabytes())

    done = watch(look)
    _, receipt = judged(phase)
    done.set()
    after = tree_megabytes()
    assert receipt.counts["scored"] == dict.fromkeys(phase.recipe.judges, 10)
    assert receipt.counts["left_out"] == []
    assert (len(most), max(together)) == (2, 1)
    first, second = most.values()
    # an engine takes hundreds of MB; the second finds none of the first's, and the stage ends with what it began with
    assert min(first, second) > before + 300
    assert second < first * 1.3
    assert after < before + 50
