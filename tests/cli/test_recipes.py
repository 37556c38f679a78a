"""`evenhand recipes` and `evenhand recipes accelerate` as a user meets them."""

from pathlib import Path

import pytest
from commands import started

from evenhand.config.lacking import usable_names
from evenhand.config.recipe_file import load_recipe

pytestmark = pytest.mark.usefixtures("quick_commands")


def evenhand(*arguments, cwd=None, columns=100):
    return started(*arguments, cwd=cwd, COLUMNS=str(columns))


def test_all_recipes_are_listed():
    done = evenhand("recipes", columns=80)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.split()
    assert all(name.rpartition("/")[2] in shown for name in usable_names())
    assert {f"{name.rpartition('/')[0]}/" for name in usable_names() if "/" in name} <= set(shown)


def test_a_narrow_terminal_has_a_line_or_two_of_each_recipe_and_a_wide_one_all_of_its_head():
    narrow, wide = (evenhand("recipes", columns=columns).stdout for columns in (100, 180))
    assert narrow.splitlines()[0].split() == ["recipe", "what", "for"]
    assert len(narrow.splitlines()) < 1.6 * len(usable_names())
    assert wide.splitlines()[0].split() == ["recipe", "what", "for", "data", "needs", "time", "expected"]
    assert "not known" in wide and "not known; nobody" not in wide


def test_a_recipe_is_shown_as_it_is_and_whole():
    name = "methods/dpo-rouge-proxy"
    shown, whole = evenhand("recipes", "show", name).stdout, evenhand("recipes", "show", name, "--whole").stdout
    assert "extends: dpo.yaml" in shown
    assert "extends" not in whole
    assert shown.splitlines()[0] == whole.splitlines()[0] == f"# evenhand loop {name}"


@pytest.mark.parametrize("name", ["methods/dpo-rouge-proxy", "quickstart", "polisum/llama-3.1-8b/dpo"])
def test_a_copy_is_the_same_recipe_without_the_others(name, tmp_path):
    done = evenhand("recipes", "copy", name, "mine.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # but for its folder: two copies do not write into one
    assert load_recipe(tmp_path / "mine.yaml") == load_recipe(Path(name), ["output=runs/mine"])
    assert done.stdout.splitlines()[1] == "run it: evenhand loop mine.yaml"
    assert (tmp_path / "mine.yaml").read_text().splitlines()[0] == "# evenhand loop mine.yaml"


def test_the_head_of_a_copy_speaks_of_the_copys_folder(tmp_path):
    assert evenhand("recipes", "copy", "rerank", "mine.yaml", cwd=tmp_path).returncode == 0
    text = (tmp_path / "mine.yaml").read_text()
    assert "are in runs/mine/evaluation/base/best.jsonl" in text and "runs/rerank" not in text


def test_a_copy_whose_command_compares_writes_where_it_says(tmp_path):
    said = evenhand("recipes", "copy", "fairness/length", "len.yaml", cwd=tmp_path).stdout.splitlines()
    assert said[0].endswith("which writes into runs/len") and said[1].endswith(" --out runs/len")
    # a run of its own does not lie where the comparison does
    assert str(load_recipe(tmp_path / "len.yaml").output) == "runs/len/alone"


def test_times_are_not_cut_within_an_option():
    said = evenhand("recipes", columns=400).stdout
    assert "not measured; about 1 minute on two cores" in said and "--gpu" not in said


def test_a_copy_overwrites_nothing_unasked(tmp_path):
    (tmp_path / "rerank.yaml").write_text("mine")
    done = evenhand("recipes", "copy", "methods/rerank", cwd=tmp_path)
    assert done.returncode == 2
    assert "rerank.yaml: is there already" in done.stderr
    assert (tmp_path / "rerank.yaml").read_text() == "mine"
    assert evenhand("recipes", "copy", "methods/rerank", "--force", cwd=tmp_path).returncode == 0
    assert load_recipe(tmp_path / "rerank.yaml").name == "methods"


def test_an_unknown_name_is_refused():
    done = evenhand("recipes", "show", "methods/debat")
    assert done.returncode == 2
    assert "did you mean 'methods/debate'" in done.stderr


@pytest.mark.needs("plugins/bias")
def test_a_name_is_taken_where_a_recipe_is_asked_for(tmp_path):
    done = evenhand("bias-study", "bias/simulated", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_accelerate_configurations_are_listed_and_found(tmp_path):
    listed = evenhand("recipes", "accelerate", cwd=tmp_path, columns=80).stdout
    assert {"cpu", "zero2", "zero3", "fsdp2"} <= set(listed.split())
    found = evenhand("recipes", "accelerate", "zero2", cwd=tmp_path)
    assert Path(found.stdout.rstrip("\n")).is_file()
    absent = evenhand("recipes", "accelerate", "zero9", cwd=tmp_path)
    assert absent.returncode == 2
    assert "zero2" in absent.stderr
    assert "argument NAME" in absent.stderr
