"""The judging benchmark: its layouts, its least number of tokens, and a small run."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.judging import ONE_BY_ONE, TOGETHER, long_documents, main, rubric_first, shared_minimum
from evenhand.judges.rubric import PROMPTS
from evenhand.prompts import load_template


@pytest.mark.parametrize(
    ("prompts", "least"),
    [
        ([], 0),
        ([[1, 2, 3]], 3),
        # equal prompts once
        ([[1, 2, 3], [1, 2, 3]], 3),
        # 1 2 | 3 | 4: two shared, one each
        ([[1, 2, 3], [1, 2, 4]], 4),
        # one is the beginning of another
        ([[1, 2], [1, 2, 3]], 3),
        # document 1 2, rubrics 3 and 4, candidates 5 and 6 under each; another document 7
        ([[1, 2, 3, 5], [1, 2, 4, 5], [1, 2, 3, 6], [1, 2, 4, 6], [7]], 9),
    ],
)
def test_shared_beginnings_are_counted_once(prompts, least):
    assert shared_minimum(prompts) == least


@given(st.lists(st.lists(st.integers(0, 2), max_size=6), max_size=12))
def test_least_is_the_number_of_distinct_beginnings(prompts):
    assert shared_minimum(prompts) == len({tuple(p[:end]) for p in prompts for end in range(1, len(p) + 1)})


@pytest.mark.parametrize("rubric", ["coverage", "faithfulness"])
def test_usual_layout_has_the_same_words_with_the_source_behind_the_rubric(rubric):
    ours = load_template(rubric, PROMPTS)
    usual = rubric_first(ours)
    assert sorted(usual.text.split()) == sorted(ours.text.split())
    places = [usual.text.index(mark) for mark in ("Your task", "Steps:", "{source}", "{summary}")]
    assert places == sorted(places)
    assert ours.text.index("{source}") < ours.text.index("Your task")


class WordTokenizer:
    """Takes words for tokens."""

    def encode(self, text, add_special_tokens):
        return text.split()


def test_documents_are_long_enough_and_differ_from_their_first_words_on():
    documents = long_documents(WordTokenizer(), 20, 300)
    # a text of the sample corpus has about 76 words
    assert all(300 <= len(document.split()) < 420 for document in documents)
    assert len({tuple(document.split()[:3]) for document in documents}) == 20


def test_quick_run_compares_equal_work(tiny_model, tmp_path, capsys):
    pytest.importorskip("torch")
    output = tmp_path / "judging.json"
    main(["--quick", "--backends", "transformers", "--model", str(tiny_model), "--output", str(output)])
    found = json.loads(output.read_text(encoding="utf-8"))
    (table,) = found["tables"]
    together, one_by_one = table["rows"]
    assert (together["name"], one_by_one["name"]) == (TOGETHER, ONE_BY_ONE)
    # the other way judges one of the two documents
    assert one_by_one["extrapolated"]["factor"] == 2
    assert one_by_one["counts"]["asked"] == pytest.approx(together["counts"]["asked"] / 2, rel=0.1)
    assert together["counts"]["prefilled"] <= together["counts"]["asked"]
    assert together["counts"]["of least"] >= 1
    # nothing is shared between calls
    assert one_by_one["counts"]["prefilled"] == one_by_one["counts"]["asked"]
    assert one_by_one["counts"]["of least"] > together["counts"]["of least"]
    assert str(tiny_model) not in output.read_text(encoding="utf-8")
    shown = capsys.readouterr().out
    assert "2 documents x 2 candidates x 2 rubrics, backend transformers" in shown
    assert "extrapolated from 1 of 2 documents" in shown


@pytest.mark.slow
@pytest.mark.usefixtures("quick_engines")
def test_vllm_that_keeps_its_cache_runs_a_document_once_for_each_rubric(tiny_model, tmp_path):
    output = tmp_path / "judging.json"
    arguments = ["--quick", "--backends", "vllm", "--model", str(tiny_model), "--output", str(output)]
    done = subprocess.run(
        [sys.executable, "-m", "evenhand.benchmarks.judging", *arguments],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (table,) = json.loads(output.read_text(encoding="utf-8"))["tables"]
    together, apart, cached = (row["counts"] for row in table["rows"])
    assert apart["asked"] == pytest.approx(together["asked"] / 2, rel=0.1)
    assert apart["prefilled"] == apart["asked"] == cached["asked"]
    # two candidates under each rubric: the second finds rubric and document
    assert 0.5 * apart["prefilled"] <= cached["prefilled"] < 0.7 * apart["prefilled"]
    assert together["of least"] < cached["of least"] < apart["of least"]


@pytest.mark.parametrize(
    "arguments", [["--model", "./no-such-model"], pytest.param(["--model", "nowhere/none"], marks=pytest.mark.slow)]
)
def test_model_that_is_not_there_is_one_message(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "evenhand.benchmarks.judging", "--quick", *arguments],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.count("error:") == 1
    assert "Traceback" not in done.stderr
