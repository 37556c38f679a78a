"""Judges on several models: each model in a process of its own, and the same judgements as in one."""

import contextlib
import threading

import psutil
import pytest
from conftest import make_candidate, make_request

from evenhand.config import Recipe
from evenhand.errors import JudgeError, RecipeError
from evenhand.judges import open_judges
from evenhand.judges.stage import judge, judge_by
from evenhand.loop import work_in
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, open_phase
from evenhand.storage import write_jsonl

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


def test_killed_child_is_one_message_and_the_same_command_continues(two_models):
    expected, _ = in_this_process(two_models("whole"))
    phase = two_models("broken", engine={"seconds_per_batch": 0.2})

    def kill():
        """Kill the second model's process once it has written something."""
        lines = sum(path.read_bytes().count(b"\n") for path in phase.folder.glob("receipts/*.partial.jsonl"))
        # a line for each batch of the judge without a model and of the first model
        if lines > 10:
            for child in children():
                child.kill()
            done.set()

    done = watch(kill)
    with pytest.raises(JudgeError, match=r"judges coverage-1, faithfulness-1 was killed by signal 9.* same command"):
        judged(phase)
    assert children() == []
    assert not (phase.folder / JUDGEMENTS).exists()
    assert judged(phase)[0] == expected


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

    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
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
