import json
import os
import sys
from functools import partial

import pytest
import yaml
from commands import started
from method_runs import make_recipe

import evenhand
from evenhand.errors import MissingExtra
from evenhand.runfolder.processes import COMMAND, hold

pytestmark = pytest.mark.usefixtures("quick_commands")


compare = partial(started, "compare")


def write_recipe(folder, method, **generate):
    values = make_recipe(method, **generate).model_dump(mode="json", exclude_unset=True)
    values["corpus"] = {"path": "sample", "test": {"split": "test", "limit": 3}}
    path = folder / f"{method}.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


@pytest.fixture
def recipes(tmp_path):
    return [
        write_recipe(tmp_path, "zero-shot"),
        write_recipe(tmp_path, "debate", debate={"agents": 2, "rounds": 1}),
    ]


@pytest.mark.needs("plugins/debate")
@pytest.mark.slow
def test_methods_and_sweep_are_run_and_compared_and_then_reused(recipes, tmp_path):
    command = (*recipes, "--out", tmp_path / "out", "--over", "generate.debate.agents=2,3")
    first = compare(*command)
    assert first.returncode == 0, first.stderr
    found = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert [entry["label"] for entry in found["entries"]] == ["zero-shot", "debate agents 2", "debate agents 3"]
    # debates ask each of their agents twice; a zero-shot candidate takes one call
    assert [cost["calls"] for cost in found["costs"]] == [1, 4, 6]
    assert (found["n_requests"], found["sides"]) == (6, ["left", "right"])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        ".lock", "runs", "comparison.json", "comparison.md", "details.html", "index.html", "tables",
    }  # fmt: skip
    pages = (tmp_path / "out" / "index.html").read_bytes()
    again = compare(*command)
    assert again.returncode == 0
    # four steps of each of three runs
    assert again.stdout.count("reused") == 12
    assert (tmp_path / "out" / "index.html").read_bytes() == pages
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("id,summary,score\nsupervised-clinic,words that no system wrote,3\n")
    refused = compare(*command, "--ratings", ratings, "--dry-run")
    assert refused.returncode == 2
    assert "none of its 1 rated texts is a summary of zero-shot, debate agents 2" in refused.stderr


@pytest.mark.needs("plugins/debate")
@pytest.mark.slow
def test_runs_that_differ_in_their_reward_alone_share_candidates_and_judgements(recipes, tmp_path):
    shown = compare(recipes[0], "--out", tmp_path / "out", "--over", "reward.combine=mean,z_mean")
    assert shown.returncode == 0, shown.stderr
    # generate and judge of the second run are the first's
    assert shown.stdout.count("reused") == 2
    first, second = sorted((tmp_path / "out" / "runs").iterdir())
    for name in ("candidates.jsonl", "judgements.jsonl"):
        assert (first / "evaluation/base" / name).read_bytes() == (second / "evaluation/base" / name).read_bytes()


@pytest.mark.needs("plugins/debate")
def test_compare_that_is_refused_because_a_run_is_under_way_changes_nothing(recipes, tmp_path):
    busy = tmp_path / "out" / "runs" / "debate"
    with hold(busy):
        # else it would pass for a child
        del os.environ[COMMAND]
        shown = compare(*recipes, "--out", tmp_path / "out")
    assert shown.returncode == 1
    assert f"{busy}: " in shown.stderr
    assert "is at work there" in shown.stderr
    assert {path.name for path in (tmp_path / "out").rglob("*")} == {"runs", "debate", ".lock"}
    assert not (tmp_path / "out" / ".lock").exists()


@pytest.mark.needs("plugins/debate")
def test_what_cannot_be_compared_for_want_of_a_library_is_said_before_any_run(recipes, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "choix", None)
    with pytest.raises(MissingExtra, match=r"needs choix.* 'evenhand\[compare\]'"):
        evenhand.compare(recipes, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.needs("plugins/debate", "plugins/judge_studies")
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("clinics,debate,words,3", "no document set has the id 'clinics'"),
        ("supervised-clinic,debate,words,three", "three"),
    ],
)
def test_wrong_ratings_are_refused_before_any_run(recipes, tmp_path, row, said):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text(f"id,system,summary,score\n{row}\n")
    shown = compare(*recipes, "--out", tmp_path / "out", "--ratings", ratings)
    assert shown.returncode == 2
    assert said in shown.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.needs("plugins/debate", "plugins/judge_studies")
def test_ratings_by_system_are_taken_before_it_has_written(recipes, tmp_path):
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("id,system,score\nsupervised-clinic,debate,3\n")
    shown = compare(*recipes, "--out", tmp_path / "out", "--ratings", ratings, "--dry-run")
    assert shown.returncode == 0, shown.stderr


@pytest.mark.needs("plugins/debate")
def test_dry_run_shows_every_run_and_writes_nothing(recipes, tmp_path):
    shown = compare(*recipes, "--out", tmp_path / "out", "--dry-run")
    assert shown.returncode == 0, shown.stderr
    assert "zero-shot:" in shown.stdout
    assert "6 requests x 2 candidates = 12" in shown.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.needs("plugins/debate")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--budgets", "1,²"), "write whole numbers of at least 1"),
        (("--budgets", "9"), "no recipe asks for more than 2 candidates"),
        (("--over", "generate.self_refine.rounds=1,2"), "no recipe has the section 'generate.self_refine'"),
        (("--set", "rounds=x"), "whole number"),
    ],
)
def test_wrong_options_are_one_message_and_exit_code_2(recipes, tmp_path, arguments, said):
    found = compare(*recipes, "--out", tmp_path / "out", *arguments)
    assert found.returncode == 2
    assert said in found.stderr
    assert "Traceback" not in found.stderr
    assert not (tmp_path / "out").exists()
