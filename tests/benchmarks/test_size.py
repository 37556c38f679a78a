"""Memory and time by the number of requests."""

import json
import shutil
import tracemalloc

import pytest

from evenhand.benchmarks.size import PHASE, document_sets, main, recipe_in, steps
from evenhand.evaluation import verdicts
from evenhand.evaluation.report.checkpoint.report import report
from evenhand.generate import requests
from evenhand.generate.stage import generate
from evenhand.judges.stage import judge
from evenhand.rerank.stage import rerank
from evenhand.runfolder.phases import CANDIDATES, JUDGEMENTS, REQUESTS, open_phase
from evenhand.storage import write_jsonl

# bytes that a stage may hold for each request more: a few numbers and ids; the corpus too where requests are made
MOST_BYTES = {"generate": 6_000, "judge": 15_000, "rerank": 5_000, "rerank with pairs": 5_000, "report": 15_000}


def peaks(folder, n_requests):
    """Most bytes that Python held in each step of a run of that size."""
    folder.mkdir()
    write_jsonl(folder / "corpus.jsonl", document_sets(n_requests // 2))
    recipe = recipe_in(folder, 9)
    # draws stand in blocks, and candidates are made in batches, which so few sets would not fill
    recipe = recipe.model_copy(
        update={
            "evaluation": recipe.evaluation.model_copy(update={"resamples": 100}),
            "generate": recipe.generate.model_copy(update={"requests_per_batch": 32}),
        }
    )
    evaluation = open_phase(recipe, PHASE)
    training = open_phase(recipe.model_copy(update={"rounds": 1}), "round-00")

    def rerank_for_training():
        training.folder.mkdir()
        for name in (REQUESTS, CANDIDATES, JUDGEMENTS):
            shutil.copy(evaluation.folder / name, training.folder / name)
        rerank(training)

    steps = {
        "generate": lambda: generate(evaluation),
        "judge": lambda: judge(evaluation),
        "rerank": lambda: rerank(evaluation),
        "rerank with pairs": rerank_for_training,
        "report": lambda: report(recipe),
    }
    found = {}
    for name, step in steps.items():
        tracemalloc.start()
        step()
        found[name] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


@pytest.mark.slow
def test_no_stage_holds_texts_of_all_requests(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    # the requests of so few sets would all be kept
    monkeypatch.setattr(requests, "MOST_HELD", 8)
    # patterns of exchanges stand in blocks, too
    monkeypatch.setattr(verdicts, "LEAST_EXCHANGES", 100)
    # the first loads modules; a batch of the judges is 64 requests
    _, small, large = (peaks(tmp_path / str(n), n) for n in (4, 70, 140))
    growth = {name: (large[name] - small[name]) / 70 for name in MOST_BYTES}
    assert all(growth[name] < most for name, most in MOST_BYTES.items()), growth


def test_document_sets_are_always_the_same_and_all_different():
    first, second = list(document_sets(20)), list(document_sets(20))
    assert first == second
    assert len({documents.documents[0].text for documents in first}) == 20
    assert sum(len(d.text.split()) for d in first[0].documents) == 96


def test_shards_are_made_one_by_one_and_then_merged():
    assert list(steps(1)) == ["generate", "judge", "rerank", "report"]
    shared = steps(2)
    assert list(shared) == ["generate, shards", "generate, merge", "judge, shards", "judge, merge", "rerank", "report"]
    assert [words[-1] for words in shared["judge, shards"]] == ["0/2", "1/2"]


@pytest.mark.slow
def test_quick_run_measures_every_step(tmp_path, capsys):
    output = tmp_path / "size.json"
    main(["--quick", "--shards", "2", "--folder", str(tmp_path / "runs"), "--output", str(output)])
    (table,) = json.loads(output.read_text())["breakdowns"]
    assert [(row["step"], row["requests"]) for row in table["rows"]] == [
        (step, n) for step in steps(2) for n in (20, 40)
    ]
    assert all(row["peak MiB"] > 30 and row["seconds"] > 0 and row["disk MB"] > 0 for row in table["rows"])
    assert not list((tmp_path / "runs").iterdir()), "runs are deleted"
    assert "generate" in capsys.readouterr().out
