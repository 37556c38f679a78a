"""Controlled summaries before judges."""

from pathlib import Path

import pytest
from answering import AnsweringBackend, GivenModels, grades

from evenhand.config.fairness import EqualCoverageJudge
from evenhand.config.judges import PythonJudge, RougeJudge, RubricJudge, RuleJudge
from evenhand.corpora.controlled import read_controlled
from evenhand.errors import RecipeError
from evenhand.judges import open_judge, open_judges
from evenhand.judges.judge import Verdict
from evenhand.judges.python_code import FunctionJudge
from evenhand.plugins.judge_studies.scoring import BASELINES, has_nothing_to_judge, judge_sets, with_baselines


class Counting:
    """Scores by the number of words and remembers what it was asked."""

    low, high = 0.0, 100.0
    requests_per_batch = 1

    def __init__(self, name="counting", against="source", loads="", log=None):
        self.name = self.signature = name
        self.against = against
        self.loads = loads
        self.log = [] if log is None else log

    def score(self, inputs):
        self.log.append((self.name, [each.text for each in inputs]))
        return [
            Verdict(None, "taxes") if "taxes" in each.text else Verdict(float(len(each.text.split())))
            for each in inputs
        ]

    def close(self):
        self.log.append((self.name, "closed"))


def test_baselines_score_every_summary_in_order(sets):
    found = judge_sets(open_judges({"length": BASELINES["length"], "rouge1-recall": BASELINES["rouge1-recall"]}), sets)
    assert [(j.judge, j.candidate_id, j.score) for j in found[:5]] == [
        ("length", "keep#0", 3.0), ("length", "keep#1", 5.0), ("length", "keep#2", 1.0),
        ("length", "close#0", 2.0), ("length", "close#1", 4.0),
    ]  # fmt: skip
    # cheap of the ferry is cheap nurses need it; dear of the ferry is dear; ferry and is of those four
    assert [j.score for j in found[5:]] == pytest.approx([1 / 7, 1 / 7, 0, 1 / 4, 2 / 4])


def test_judges_go_batch_by_batch_and_ask_the_cache_first(sets):
    first, second = Counting(), Counting()
    scores = [j.score for j in judge_sets([first], sets)]
    assert scores == [3.0, None, 1.0, 2.0, 4.0]
    assert [texts if texts == "closed" else len(texts) for _, texts in first.log] == [3, 2, "closed"]
    assert [j.score for j in judge_sets([second], sets)] == scores
    # scores come from the cache; what is unscored is asked again
    assert second.log == [("counting", ["Cheap, but taxes are high."]), ("counting", "closed")]


def many(sets, n):
    """The first set under as many names, its summaries made distinct, and its failing one whole."""
    article = sets[0]
    texts = [summary.text.replace("taxes", "prices") for summary in article.summaries]
    return [
        article.model_copy(
            update={
                "id": f"s{place}",
                "summaries": tuple(
                    summary.model_copy(update={"text": f"{text} {place}"})
                    for summary, text in zip(article.summaries, texts, strict=True)
                ),
            }
        )
        for place in range(n)
    ]


def test_batches_have_few_judgements_however_many_requests_a_judge_takes(sets, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    judge = Counting()
    judge.requests_per_batch = 1000
    judge_sets([judge], many(sets, 25))
    # of three summaries 10 sets have 30, and 11 would have 33
    assert [len(texts) for _, texts in judge.log[:-1]] == [30, 30, 15]


def test_a_gpu_is_filled(sets, monkeypatch, tmp_path):
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 'GPU 0: made up'\n", "utf-8")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    judge = Counting()
    judge.requests_per_batch = 20
    judge_sets([judge], many(sets, 25))
    assert [len(texts) for _, texts in judge.log[:-1]] == [60, 15]


def test_what_is_interrupted_loses_the_batch_that_was_in_flight_and_goes_on_in_the_same_batches(
    sets, tmp_path, monkeypatch
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    class Stopped(Exception):
        """A kill."""

    class Mortal(Counting):
        def score(self, inputs):
            if len(self.log) == 2:
                raise Stopped
            return super().score(inputs)

    first, second, whole = Mortal(), Counting(), Counting()
    first.requests_per_batch = second.requests_per_batch = whole.requests_per_batch = 1000
    with pytest.raises(Stopped):
        judge_sets([first], many(sets, 40))
    judgements = judge_sets([second], many(sets, 40))
    assert judge_sets([whole], many(sets, 40), cache_file=tmp_path / "other.sqlite") == judgements
    assert [len(texts) for _, texts in first.log[:-1]] == [30, 30]
    assert second.log == whole.log[2:]


@pytest.mark.needs("plugins/server")
@pytest.mark.parametrize("is_deferred", [True, False])
def test_a_server_is_asked_for_all_at_once(sets, is_deferred):
    backend = AnsweringBackend(lambda ask: grades(1, 0, 0, 0, 0))
    server = {"base_url": "http://localhost:1/v1", "batches": is_deferred}
    section = {"backend": "openai", "server": server, "requests_per_batch": 1000}
    judge = open_judge(
        "coverage",
        RubricJudge(kind="rubric", rubric="coverage", model={"name": "none"}, backend=section),
        GivenModels(backend),
    )
    judge_sets([judge], many(sets, 50))
    assert [len(asked) for asked in backend.batches] == [150]


def test_a_text_that_is_not_there_leaves_the_summary_unscored(sets):
    judge = Counting(against="key_points")
    found = judge_sets([judge], sets)
    assert [j.unscored for j in found] == [None, "taxes", None, "no key points listed", "no key points listed"]


def test_judges_on_one_model_follow_each_other_before_it_is_closed(sets):
    log = []
    judges = [Counting(name, loads=loads, log=log) for name, loads in (("a", "one"), ("b", "two"), ("c", "one"))]
    found = judge_sets(judges, sets)
    assert [name for name, what in log if what == "closed"] == ["c", "a", "b"]
    assert list(dict.fromkeys(j.judge for j in found)) == ["a", "b", "c"]


def test_rubrics_on_one_model_are_asked_in_one_call_article_first(sets):
    def answer(ask):
        return grades(1, 0, 0, 0, 0) if "grade coverage" in ask.prompt[0].content else grades(0, 0, 0, 0, 1)

    backend = AnsweringBackend(answer)
    models = GivenModels(backend)
    judges = [
        open_judge(
            name,
            RubricJudge(kind="rubric", rubric=name, model={"name": "none"}, backend={"backend": "scripted"}),
            models,
        )
        for name in ("coverage", "faithfulness")
    ]
    found = judge_sets(judges, sets)
    assert [(j.judge, j.score) for j in found] == [("coverage", 1.0)] * 5 + [("faithfulness", 5.0)] * 5
    # both articles fit into one batch: five summaries by two rubrics
    (asked,) = backend.batches
    prompts = [ask.prompt[0].content for ask in asked]
    assert len(prompts) == 10
    # prompts of one article stand together, and within them those of one rubric
    about = [("cheap.\nNurses" in prompt, "grade coverage" in prompt) for prompt in prompts]
    assert [a for i, a in enumerate(about) if a not in about[:i]] == [
        a for i, a in enumerate(about) if a != about[i - 1]
    ]
    assert backend.is_closed


def test_a_name_of_a_baseline_is_taken():
    assert with_baselines({"length": RuleJudge(kind="length")}) == BASELINES
    with pytest.raises(RecipeError, match="'length' has the name of a baseline"):
        with_baselines({"length": RougeJudge(kind="rouge")})


def test_judges_that_have_nothing_to_look_at_are_told():
    assert "no output contract" in has_nothing_to_judge(RuleJudge(kind="contract"))
    assert "other sides" in has_nothing_to_judge(RougeJudge(kind="rouge", against="opposing"))
    assert "attribute values" in has_nothing_to_judge(EqualCoverageJudge(kind="equal-coverage"))
    assert {has_nothing_to_judge(each) for each in BASELINES.values()} == {None}


def test_functions_judge_controlled_summaries_with_their_source():
    sets = read_controlled(Path("sample"))[:2]

    def score(summary, sources, request):
        return sources == [request["documents"][0]["text"]] and len(sources[0]) / 1e6

    section = PythonJudge(kind="python", file="x", function="score", better="higher", range=[0, 1], means="Nothing.")
    judgements = judge_sets([FunctionJudge("mine", section, score)], sets)
    assert len(judgements) == sum(len(each.summaries) for each in sets)
    assert {each.score for each in judgements} == {len(each.source) / 1e6 for each in sets}
